// VGG (Simonyan and Zisserman 2014).

#include "models/zoo.h"

namespace muster::zoo {

Output Vgg(ModelBuilder& b, Output x, const std::array<int, 5>& stages) {
  constexpr std::array<int64_t, 5> kFilters{64, 128, 256, 512, 512};
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    for (int i = 0; i < stages[stage]; ++i) x = b.Conv(x, kFilters[stage], 3, 3);
    x = b.MaxPool(x, 2, 2);
  }
  x = b.Dropout(b.Affine(b.Flatten(x), 4096));
  return b.Dropout(b.Affine(x, 4096));
}

}  // namespace muster::zoo
