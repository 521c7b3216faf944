// Inception v3 (Szegedy et al. 2015) without its auxiliary head, and Inception v4 (2016). Module letters are those of
// tf_cnn_benchmarks, because variable names contain them.

#include "models/columns.h"
#include "models/zoo.h"

namespace muster::zoo {
namespace {

constexpr ConvPadding kValid = ConvPadding::kValid;

Output V3A(ModelBuilder& b, Output x, int64_t pool_filters) {
  return b.InceptionModule(x, "incept_v3_a",
                           {{Conv(64, 1, 1)},
                            {Conv(48, 1, 1), Conv(64, 5, 5)},
                            {Conv(64, 1, 1), Conv(96, 3, 3), Conv(96, 3, 3)},
                            {AvgPoolSame(), Conv(pool_filters, 1, 1)}});
}

Output V3B(ModelBuilder& b, Output x) {
  return b.InceptionModule(x, "incept_v3_b",
                           {{ConvHalf(384)}, {Conv(64, 1, 1), Conv(96, 3, 3), ConvHalf(96)}, {MaxPoolHalf()}});
}

Output V3C(ModelBuilder& b, Output x, int64_t n) {
  return b.InceptionModule(x, "incept_v3_c",
                           {{Conv(192, 1, 1)},
                            {Conv(n, 1, 1), Conv(n, 1, 7), Conv(192, 7, 1)},
                            {Conv(n, 1, 1), Conv(n, 7, 1), Conv(n, 1, 7), Conv(n, 7, 1), Conv(192, 1, 7)},
                            {AvgPoolSame(), Conv(192, 1, 1)}});
}

Output V3D(ModelBuilder& b, Output x) {
  return b.InceptionModule(x, "incept_v3_d",
                           {{Conv(192, 1, 1), ConvHalf(320)},
                            {Conv(192, 1, 1), Conv(192, 1, 7), Conv(192, 7, 1), ConvHalf(192)},
                            {MaxPoolHalf()}});
}

Output V3E(ModelBuilder& b, Output x, const ColumnLayer& pool) {
  return b.InceptionModule(x, "incept_v3_e",
                           {{Conv(320, 1, 1)},
                            {Conv(384, 1, 1), Conv(384, 1, 3)},
                            {Share(), Conv(384, 3, 1)},
                            {Conv(448, 1, 1), Conv(384, 3, 3), Conv(384, 1, 3)},
                            {Share(), Share(), Conv(384, 3, 1)},
                            {pool, Conv(192, 1, 1)}});
}

Output V4Stem(ModelBuilder& b, Output x) {
  x = b.InceptionModule(x, "incept_v4_sa", {{MaxPoolHalf()}, {ConvHalf(96)}});
  x = b.InceptionModule(
      x, "incept_v4_sb",
      {{Conv(64, 1, 1), ConvValid(96, 3, 1)}, {Conv(64, 1, 1), Conv(64, 7, 1), Conv(64, 1, 7), ConvValid(96, 3, 1)}});
  return b.InceptionModule(x, "incept_v4_sc", {{ConvHalf(192)}, {MaxPoolHalf()}});
}

Output V4A(ModelBuilder& b, Output x) {
  return b.InceptionModule(x, "incept_v4_a",
                           {{AvgPoolSame(), Conv(96, 1, 1)},
                            {Conv(96, 1, 1)},
                            {Conv(64, 1, 1), Conv(96, 3, 3)},
                            {Conv(64, 1, 1), Conv(96, 3, 3), Conv(96, 3, 3)}});
}

Output V4B(ModelBuilder& b, Output x) {
  return b.InceptionModule(x, "incept_v4_b",
                           {{AvgPoolSame(), Conv(128, 1, 1)},
                            {Conv(384, 1, 1)},
                            {Conv(192, 1, 1), Conv(224, 1, 7), Conv(256, 7, 1)},
                            {Conv(192, 1, 1), Conv(192, 1, 7), Conv(224, 7, 1), Conv(224, 1, 7), Conv(256, 7, 1)}});
}

Output V4C(ModelBuilder& b, Output x) {
  return b.InceptionModule(x, "incept_v4_c",
                           {{AvgPoolSame(), Conv(256, 1, 1)},
                            {Conv(256, 1, 1)},
                            {Conv(384, 1, 1), Conv(256, 1, 3)},
                            {Share(), Conv(256, 3, 1)},
                            {Conv(384, 1, 1), Conv(448, 1, 3), Conv(512, 3, 1), Conv(256, 3, 1)},
                            {Share(), Share(), Share(), Conv(256, 1, 3)}});
}

Output V4ReductionA(ModelBuilder& b, Output x) {
  return b.InceptionModule(x, "incept_v4_ra",
                           {{MaxPoolHalf()}, {ConvHalf(384)}, {Conv(192, 1, 1), Conv(224, 3, 3), ConvHalf(256)}});
}

Output V4ReductionB(ModelBuilder& b, Output x) {
  return b.InceptionModule(x, "incept_v4_rb",
                           {{MaxPoolHalf()},
                            {Conv(192, 1, 1), ConvHalf(192)},
                            {Conv(256, 1, 1), Conv(256, 1, 7), Conv(320, 7, 1), ConvHalf(320)}});
}

}  // namespace

Output Inception3(ModelBuilder& b, Output x) {
  b.UseBatchNorm({});
  x = b.Conv(x, 32, 3, 3, {.strides = {2, 2}, .padding = kValid});
  x = b.Conv(x, 32, 3, 3, {.padding = kValid});
  x = b.Conv(x, 64, 3, 3);
  x = b.MaxPool(x, 3, 3);
  x = b.Conv(x, 80, 1, 1, {.padding = kValid});
  x = b.Conv(x, 192, 3, 3, {.padding = kValid});
  x = b.MaxPool(x, 3, 3);
  for (int64_t pool_filters : {32, 64, 64}) x = V3A(b, x, pool_filters);
  x = V3B(b, x);
  for (int64_t n : {128, 160, 160, 192}) x = V3C(b, x, n);
  x = V3D(b, x);
  x = V3E(b, x, AvgPoolSame());
  x = V3E(b, x, MaxPoolSame());
  return b.Flatten(b.AvgPool(x, 8, 8, {.strides = {1, 1}}));
}

Output Inception4(ModelBuilder& b, Output x) {
  b.UseBatchNorm({});
  x = b.Conv(x, 32, 3, 3, {.strides = {2, 2}, .padding = kValid});
  x = b.Conv(x, 32, 3, 3, {.padding = kValid});
  x = b.Conv(x, 64, 3, 3);
  x = V4Stem(b, x);
  for (int i = 0; i < 4; ++i) x = V4A(b, x);
  x = V4ReductionA(b, x);
  for (int i = 0; i < 7; ++i) x = V4B(b, x);
  x = V4ReductionB(b, x);
  for (int i = 0; i < 3; ++i) x = V4C(b, x);
  return b.Dropout(b.SpatialMean(x), 0.8);
}

}  // namespace muster::zoo
