#include "backend/cpu/broadcast.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/parallel.h"
#include "base/check.h"

namespace muster::cpu {
namespace {

BinaryOp BinaryOf(OpKind kind) {
  switch (kind) {
    case OpKind::kAdd:
    case OpKind::kBiasAdd: return BinaryOp::kAdd;
    case OpKind::kSub: return BinaryOp::kSub;
    case OpKind::kMul: return BinaryOp::kMul;
    case OpKind::kDiv: return BinaryOp::kDiv;
    case OpKind::kMaximum: return BinaryOp::kMaximum;
    case OpKind::kMinimum: return BinaryOp::kMinimum;
    case OpKind::kSquaredDifference: return BinaryOp::kSquaredDifference;
    case OpKind::kReluGrad: return BinaryOp::kReluGrad;
    case OpKind::kRelu6Grad: return BinaryOp::kRelu6Grad;
    case OpKind::kSigmoidGrad: return BinaryOp::kSigmoidGrad;
    case OpKind::kTanhGrad: return BinaryOp::kTanhGrad;
    case OpKind::kSoftplusGrad: return BinaryOp::kSoftplusGrad;
    default: MUSTER_CHECK(false);
  }
}

UnaryOp UnaryOf(OpKind kind) {
  switch (kind) {
    case OpKind::kNeg: return UnaryOp::kNeg;
    case OpKind::kSquare: return UnaryOp::kSquare;
    case OpKind::kSqrt: return UnaryOp::kSqrt;
    case OpKind::kRsqrt: return UnaryOp::kRsqrt;
    case OpKind::kReciprocal: return UnaryOp::kReciprocal;
    case OpKind::kAbs: return UnaryOp::kAbs;
    case OpKind::kSign: return UnaryOp::kSign;
    case OpKind::kExp: return UnaryOp::kExp;
    case OpKind::kLog: return UnaryOp::kLog;
    case OpKind::kFloor: return UnaryOp::kFloor;
    case OpKind::kCeil: return UnaryOp::kCeil;
    case OpKind::kRelu: return UnaryOp::kRelu;
    case OpKind::kRelu6: return UnaryOp::kRelu6;
    case OpKind::kSigmoid: return UnaryOp::kSigmoid;
    case OpKind::kTanh: return UnaryOp::kTanh;
    case OpKind::kSoftplus: return UnaryOp::kSoftplus;
    default: MUSTER_CHECK(false);
  }
}

template <typename T>
std::unique_ptr<Kernel> MakeUnary(UnaryOp op, int64_t size, int threads) {
  return MakeKernel([=, loop = GetElementwiseSimd<T>()[op]](const LaunchArgs& args) {
    ParallelFor(threads, size, GrainFor(2 * static_cast<int64_t>(sizeof(T))),
                [&](int64_t begin, int64_t end) { loop(args.in<T>(0) + begin, args.out<T>(0) + begin, end - begin); });
  });
}

template <typename T>
std::unique_ptr<Kernel> MakeAddN(int64_t count, int64_t size, int threads) {
  return MakeKernel([=, simd = &GetElementwiseSimd<T>()](const LaunchArgs& args) {
    ParallelFor(threads, size, GrainFor(static_cast<int64_t>(sizeof(T)) * (count + 1)),
                [&](int64_t begin, int64_t end) { simd->add_n(args.inputs, count, args.out<T>(0), begin, end); });
  });
}

}  // namespace

PreparedKernel PrepareBinary(const KernelRequest& r, const DeviceCaps& caps) {
  MUSTER_CHECK(r.kind != OpKind::kBiasAdd || r.attr<BiasAddAttrs>().data_format == DataFormat::kNHWC);
  return PrepareBroadcast(r, caps, BinaryOf(r.kind));
}

PreparedKernel PrepareUnary(const KernelRequest& r, const DeviceCaps& caps) {
  const UnaryOp op = UnaryOf(r.kind);
  const int64_t size = ValuesIn(r.inputs[0]);
  return {r.inputs[0].dtype == DType::kBFloat16 ? MakeUnary<BFloat16>(op, size, caps.threads)
                                                : MakeUnary<float>(op, size, caps.threads),
          0,
          {{0, 0}}};
}

PreparedKernel PrepareAddN(const KernelRequest& r, const DeviceCaps& caps) {
  const int64_t count = static_cast<int64_t>(r.inputs.size()), size = ValuesIn(r.outputs[0]);
  PreparedKernel prepared{r.outputs[0].dtype == DType::kBFloat16 ? MakeAddN<BFloat16>(count, size, caps.threads)
                                                                 : MakeAddN<float>(count, size, caps.threads)};
  for (int i = 0; i < static_cast<int>(count); ++i) prepared.in_place.push_back({0, i});
  return prepared;
}

}  // namespace muster::cpu
