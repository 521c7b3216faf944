#pragma once

#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "data/batch.h"

namespace muster::data {

// Fills the batches of a source ahead of their use; all threads work on the same batch, each on rows of its own, so
// that the next batch is ready soon and few are in memory. Batches arrive in order of their number and with the same
// content for any number of threads. One consumer calls Next; the destructor lets the threads finish the rows they are
// at and joins them.
class Prefetcher {
 public:
  struct Options {
    int threads = 1;    // 0: Next fills the batch itself
    int depth = 3;      // batches in memory, the consumer's included; at least 2 with threads
    int64_t first = 0;  // number of the first batch
  };
  // The source must outlive the prefetcher.
  Prefetcher(const BatchSource& source, const Options& options);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The next batch, or null after the source's last. It stays valid until the following call. If filling a batch threw,
  // the call for that batch throws the same exception, and so does every later call.
  const Batch* Next();

  // How long Next has kept its caller waiting so far.
  double wait_seconds() const { return wait_seconds_; }

 private:
  struct Slot {
    Batch batch;
    int64_t pieces_left = 0;  // that are not filled yet
    bool ready = false;
    std::exception_ptr error;
    int64_t error_row = 0;  // of rows that failed, the first is reported
  };
  // Some rows of one batch: what a thread takes on.
  struct Piece {
    int64_t number = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };

  Slot& SlotOf(int64_t number) { return slots_[static_cast<size_t>(number) % slots_.size()]; }
  bool IsPastEnd(int64_t number) const { return source_.count() >= 0 && number >= source_.count(); }
  Piece PieceAt(int64_t index) const;
  void FillPiece(const Piece& piece);
  void Work();
  void ReleasePrevious();
  bool IsReady(int64_t number);

  const BatchSource& source_;
  int64_t piece_rows_;  // rows of a piece
  int64_t pieces_per_batch_;

  // The consumer's.
  int64_t next_ = 0;
  double wait_seconds_ = 0;

  // Guarded: all but the batch, whose rows belong to the threads that claimed them until ready is set, then to the
  // consumer.
  std::vector<Slot> slots_;

  Mutex mutex_;
  CondVar filled_;
  CondVar freed_;
  int64_t claimed_ MUSTER_GUARDED_BY(mutex_) = 0;   // the next piece that a thread takes, counted through all batches
  int64_t consumed_ MUSTER_GUARDED_BY(mutex_) = 0;  // batches below it are done with
  bool stop_ MUSTER_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;  // last: they use everything above
};

}  // namespace muster::data
