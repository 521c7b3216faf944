#include "data/imagenet/reading_order.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "data/shuffle.h"

namespace muster::data {
namespace {

constexpr uint64_t kSampleSeed = 0;  // not the run's: accuracies of runs with different seeds are to be compared

class Reordered : public ImageSource {
 public:
  Reordered(std::unique_ptr<ImageSource> images, std::vector<int64_t> order)
      : images_(std::move(images)), order_(std::move(order)) {
    MUSTER_CHECK(static_cast<int64_t>(order_.size()) == images_->size());
  }
  int64_t size() const override { return images_->size(); }
  EncodedImage Get(int64_t index) const override { return images_->Get(order_[static_cast<size_t>(index)]); }
  std::string Where(int64_t index) const override { return images_->Where(order_[static_cast<size_t>(index)]); }

 private:
  std::unique_ptr<ImageSource> images_;
  std::vector<int64_t> order_;
};

std::vector<int64_t> SampledOrder(int64_t size) {
  std::vector<int64_t> order;
  if (size == 0) return order;
  const Permutation permutation(kSampleSeed, 0, size);
  for (int64_t i = 0; i < size; ++i) order.push_back(permutation(i));
  return order;
}

}  // namespace

std::vector<int64_t> InterleavedOrder(const std::vector<int64_t>& file_sizes, int64_t cycle_length) {
  MUSTER_CHECK(cycle_length > 0);
  struct Open {
    int64_t next, end;  // records
  };
  std::vector<Open> files;
  int64_t records = 0;
  for (const int64_t size : file_sizes) {
    files.push_back({records, records + size});
    records += size;
  }
  const size_t open = std::min(files.size(), static_cast<size_t>(cycle_length));
  std::vector<Open> slots(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(open));
  std::vector<int64_t> order;
  for (size_t turn = 0, waiting = open; static_cast<int64_t>(order.size()) < records; turn = (turn + 1) % open) {
    Open& slot = slots[turn];
    if (slot.next < slot.end) order.push_back(slot.next++);
    else if (waiting < files.size()) slot = files[waiting++];
  }
  return order;
}

std::unique_ptr<ImageSource> InEvaluationOrder(std::unique_ptr<ImageSource> images, int64_t cycle_length) {
  const std::vector<int64_t> sizes = images->record_file_sizes();
  std::vector<int64_t> order = sizes.empty() ? SampledOrder(images->size()) : InterleavedOrder(sizes, cycle_length);
  return std::make_unique<Reordered>(std::move(images), std::move(order));
}

}  // namespace muster::data
