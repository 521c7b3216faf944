// GoogLeNet (Szegedy et al. 2014), without LRN and auxiliary heads.

#include "models/columns.h"
#include "models/zoo.h"

namespace muster::zoo {
namespace {

// Filters of the 1x1 column, of the 3x3 and the 5x5 with their reductions before them, and behind the pool.
struct Widths {
  int64_t one, reduce3, three, reduce5, five, pool;
};

Output Module(ModelBuilder& b, Output x, const Widths& w) {
  return b.InceptionModule(x, "incept_v1",
                           {{Conv(w.one, 1, 1)},
                            {Conv(w.reduce3, 1, 1), Conv(w.three, 3, 3)},
                            {Conv(w.reduce5, 1, 1), Conv(w.five, 5, 5)},
                            {MaxPoolSame(), Conv(w.pool, 1, 1)}});
}

}  // namespace

Output Googlenet(ModelBuilder& b, Output x) {
  const PoolOptions half{.padding = Padding::kSame};
  x = b.Conv(x, 64, 7, 7, {.strides = {2, 2}});
  x = b.MaxPool(x, 3, 3, half);
  x = b.Conv(x, 64, 1, 1);
  x = b.Conv(x, 192, 3, 3);
  x = b.MaxPool(x, 3, 3, half);
  x = Module(b, x, {64, 96, 128, 16, 32, 32});
  x = Module(b, x, {128, 128, 192, 32, 96, 64});
  x = b.MaxPool(x, 3, 3, half);
  x = Module(b, x, {192, 96, 208, 16, 48, 64});
  x = Module(b, x, {160, 112, 224, 24, 64, 64});
  x = Module(b, x, {128, 128, 256, 24, 64, 64});
  x = Module(b, x, {112, 144, 288, 32, 64, 64});
  x = Module(b, x, {256, 160, 320, 32, 128, 128});
  x = b.MaxPool(x, 3, 3, half);
  x = Module(b, x, {256, 160, 320, 32, 128, 128});
  x = Module(b, x, {384, 192, 384, 48, 128, 128});
  x = b.AvgPool(x, 7, 7, {.strides = {1, 1}});
  return b.Flatten(x);
}

}  // namespace muster::zoo
