#include "data/prefetch.h"

#include <algorithm>

#include "base/clock.h"

namespace muster::data {

namespace {

// A piece is worth a lock from about so many values on.
constexpr int64_t kPieceElements = 16384;

}  // namespace

Prefetcher::Prefetcher(const BatchSource& source, const Options& options)
    : source_(source),
      piece_rows_(std::clamp<int64_t>(kPieceElements / std::max<int64_t>(source.dataset().image_elements(), 1), 1,
                                      source.batch_size())),
      pieces_per_batch_((source.batch_size() + piece_rows_ - 1) / piece_rows_),
      next_(options.first),
      claimed_(options.first * pieces_per_batch_),
      consumed_(options.first) {
  const int depth = options.threads == 0 ? 1 : std::max(options.depth, 2);
  for (int i = 0; i < depth; ++i) slots_.push_back({source.Allocate(), pieces_per_batch_, false, nullptr, 0});
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { Work(); });
}

Prefetcher::~Prefetcher() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  freed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

const Batch* Prefetcher::Next() {
  if (IsPastEnd(next_)) return nullptr;
  const double begin = SteadySeconds();
  ReleasePrevious();
  if (threads_.empty() && !IsReady(next_)) FillPiece({next_, 0, source_.batch_size()});
  Slot& slot = SlotOf(next_);
  {
    MutexLock lock(mutex_);
    while (!slot.ready) filled_.Wait(mutex_);
  }
  wait_seconds_ += SteadySeconds() - begin;
  if (slot.error) std::rethrow_exception(slot.error);  // next_ stays, so that the next call ends here too
  ++next_;
  return &slot.batch;
}

// Gives back the slot of the batch that the last call handed out, if any.
void Prefetcher::ReleasePrevious() {
  MutexLock lock(mutex_);
  if (consumed_ == next_) return;
  Slot& slot = SlotOf(consumed_);
  slot.ready = false;
  slot.pieces_left = pieces_per_batch_;
  consumed_ = next_;
  freed_.NotifyAll();
}

bool Prefetcher::IsReady(int64_t number) {
  MutexLock lock(mutex_);
  return SlotOf(number).ready;
}

Prefetcher::Piece Prefetcher::PieceAt(int64_t index) const {
  const int64_t begin = index % pieces_per_batch_ * piece_rows_;
  return {index / pieces_per_batch_, begin, std::min(begin + piece_rows_, source_.batch_size())};
}

void Prefetcher::FillPiece(const Piece& piece) {
  Slot& slot = SlotOf(piece.number);
  std::exception_ptr error;
  try {
    source_.FillRows(piece.number, piece.begin, piece.end, &slot.batch);
  } catch (...) {
    error = std::current_exception();
  }
  MutexLock lock(mutex_);
  if (error && (!slot.error || piece.begin < slot.error_row)) {
    slot.error = error;
    slot.error_row = piece.begin;
  }
  const int64_t pieces = (piece.end - piece.begin + piece_rows_ - 1) / piece_rows_;
  if (slot.pieces_left -= pieces; slot.pieces_left > 0) return;
  slot.batch.valid = source_.Valid(piece.number);
  slot.ready = true;
  filled_.NotifyOne();
}

void Prefetcher::Work() {
  for (;;) {
    Piece piece;
    {
      MutexLock lock(mutex_);
      const auto number = [this]() MUSTER_REQUIRES(mutex_) { return claimed_ / pieces_per_batch_; };
      while (!stop_ && !IsPastEnd(number()) && number() >= consumed_ + static_cast<int64_t>(slots_.size()))
        freed_.Wait(mutex_);
      if (stop_ || IsPastEnd(number())) return;
      piece = PieceAt(claimed_++);
    }
    FillPiece(piece);
  }
}

}  // namespace muster::data
