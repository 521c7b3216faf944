#include <algorithm>
#include <cstring>

#include "backend/cpu/dense.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/matvec_simd.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/primitive_kernel.h"

namespace muster::cpu {
namespace {

using onednn::MatMulProblem;

// Pieces of long dot products: fixed, so that sums do not depend on the number of threads.
constexpr int64_t kDotPiece = 8192;

MatMulProblem ProblemOf(const KernelRequest& r) {
  const MatMulAttrs& attrs = r.attr<MatMulAttrs>();
  const Shape &a = r.in(0), &c = r.out(0);
  return {.dtype = r.inputs[0].dtype,
          .m = c[0],
          .k = a[attrs.transpose_a ? 0 : 1],
          .n = c[1],
          .transpose_a = attrs.transpose_a,
          .transpose_b = attrs.transpose_b,
          .bias = r.inputs.size() > 2,
          .relu = attrs.activation == Activation::kRelu,
          .float32_result = r.outputs[0].dtype == DType::kFloat32};
}

// Bias and ReLU behind a matrix-vector product, whose result is small. The bias is a vector when the result is a row
// (m == 1) and one value when it is a column.
void Finish(const MatMulProblem& p, const float* bias, float* out) {
  const int64_t n = p.m * p.n;
  for (int64_t i = 0; i < n; ++i) {
    if (p.bias) out[i] += bias[p.m == 1 ? i : 0];
    if (p.relu && out[i] < 0) out[i] = 0;
  }
}

// matrix [rows, k] x vector [k].
PreparedKernel RowDots(const MatMulProblem& p, int matrix, int64_t rows, int threads) {
  const int64_t pieces = std::max<int64_t>((p.k + kDotPiece - 1) / kDotPiece, 1),
                groups = (rows + kDotRows - 1) / kDotRows;
  auto launch = [=, simd = &GetMatVecSimd()](const LaunchArgs& args) {
    const float *a = args.in<float>(matrix), *v = args.in<float>(1 - matrix);
    float *out = args.out<float>(0), *partial = static_cast<float*>(args.workspace);  // [pieces][rows]
    const auto run = [&](int64_t i) {
      const int64_t piece = i / groups, row = i % groups * kDotRows, begin = piece * kDotPiece;
      simd->dots(a + row * p.k + begin, std::min(kDotRows, rows - row), std::min(kDotPiece, p.k - begin), p.k,
                 v + begin, partial + piece * rows + row);
    };
    ParallelItems(threads, pieces * groups, rows * p.k * 4 <= 2 * kGrainBytes, run);
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < pieces; ++i) sum += static_cast<double>(partial[i * rows + r]);
      out[r] = static_cast<float>(sum);
    }
    Finish(p, p.bias ? args.in<float>(2) : nullptr, out);
  };
  return {MakeKernel(launch), pieces * rows * static_cast<int64_t>(sizeof(float))};
}

// transposed matrix [k, columns] x vector [k].
PreparedKernel WeightedRows(const MatMulProblem& p, int matrix, int64_t columns, int threads) {
  return {MakeKernel([=, simd = &GetMatVecSimd()](const LaunchArgs& args) {
    const float *a = args.in<float>(matrix), *v = args.in<float>(1 - matrix);
    float* out = args.out<float>(0);
    ParallelFor(threads, columns, GrainFor(p.k * 4), [&](int64_t begin, int64_t end) {
      simd->weighted_rows(a + begin, p.k, end - begin, columns, v, out + begin);
    });
    Finish(p, p.bias ? args.in<float>(2) : nullptr, out);
  })};
}

// column [m] x row [n].
PreparedKernel OuterProduct(const MatMulProblem& p, int threads) {
  return {MakeKernel([=, simd = &GetMatVecSimd()](const LaunchArgs& args) {
    const float *a = args.in<float>(0), *b = args.in<float>(1), *bias = p.bias ? args.in<float>(2) : nullptr;
    float* out = args.out<float>(0);
    if (p.n == 1) {  // a column: scale the other way round; its bias is one value
      ParallelFor(threads, p.m, GrainFor(8), [&](int64_t begin, int64_t end) {
        simd->scaled(b[0], a + begin, nullptr, false, end - begin, out + begin);
      });
      return Finish(p, bias, out);
    }
    ParallelFor(threads, p.m, GrainFor(p.n * 4), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) simd->scaled(a[i], b, bias, p.relu, p.n, out + i * p.n);
    });
  })};
}

// Products that read a matrix once gain nothing from blocking; what they need is bandwidth.
bool IsMatrixVector(const MatMulProblem& p) { return p.dtype == DType::kFloat32 && (p.m == 1 || p.n == 1 || p.k == 1); }

PreparedKernel PrepareMatrixVector(const MatMulProblem& p, int threads) {
  if (p.k == 1) return OuterProduct(p, threads);
  if (p.n == 1) return p.transpose_a ? WeightedRows(p, 0, p.m, threads) : RowDots(p, 0, p.m, threads);
  return p.transpose_b ? RowDots(p, 1, p.n, threads) : WeightedRows(p, 1, p.n, threads);
}

// A sum over nothing is the bias alone.
PreparedKernel PrepareEmpty(const MatMulProblem& p) {
  return {MakeKernel([p](const LaunchArgs& args) {
    for (int64_t i = 0; i < p.m * p.n; ++i) {
      const float value = p.bias ? args.in<float>(2)[i % p.n] : 0;
      args.out<float>(0)[i] = p.relu ? std::max(value, 0.0f) : value;
    }
  })};
}

}  // namespace

// The weights, or their gradient, are in the form of dense layers; all three passes want it.
LayoutWish MatMulLayout(const KernelRequest& r, const DeviceCaps&) {
  LayoutWish wish{std::vector<Layout>(r.inputs.size()), std::vector<Layout>(1), true};
  const MatMulProblem p = ProblemOf(r);
  if (IsMatrixVector(p) || p.m * p.k * p.n == 0) return wish;
  if (p.transpose_a) {
    if (!p.transpose_b && !p.bias) wish.outputs[0] = DenseLayout(p.dtype, p.m, p.n);
  } else if (p.transpose_b) {
    if (!p.bias) wish.inputs[1] = DenseLayout(p.dtype, p.n, p.k);
  } else {
    wish.inputs[1] = DenseLayout(p.dtype, p.k, p.n);
  }
  return wish;
}

PreparedKernel PrepareMatMul(const KernelRequest& r, const DeviceCaps& caps) {
  const MatMulProblem p = ProblemOf(r);
  if (IsDense(r.inputs[1].layout) || IsDense(r.outputs[0].layout)) return PrepareDense(r, caps);
  if (p.m * p.k * p.n == 0) return PrepareEmpty(p);
  if (IsMatrixVector(p)) return PrepareMatrixVector(p, caps.threads);
  if (p.bias) return PrimitiveKernel(MakeMatMul(p, caps.threads), {In(0), In(1), In(2), Out(0)});
  return PrimitiveKernel(MakeMatMul(p, caps.threads), {In(0), In(1), Out(0)});
}

}  // namespace muster::cpu
