// Speed of single kernels of the CPU backend, for those who work on them: build/release/bin/cpu_kernels
// --benchmark_filter=bn Sizes are those of ResNet-50 at batch 32 unless a name says otherwise. "bytes" counts what must
// be read and written once.
#include <algorithm>
#include <functional>
#include <thread>

#include <benchmark/benchmark.h>

#include "backend/cpu/cpu_table.h"
#include "memory/host_memory.h"
#include "muster/layout.h"
#include "plan/kernel.h"

namespace muster {
namespace {

constexpr int64_t kBatch = 32;

// Memory as the arenas of a session have it.
std::shared_ptr<void> HugePages(int64_t bytes) {
  static HostMemory memory;
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 64));
  return {memory.Alloc(size), [size](void* data) { memory.Free(data, size); }};
}

// A prepared kernel with memory of its own, in its own layouts.
class Bench {
 public:
  // "activations": the type of what has more than one axis.
  Bench(OpKind kind, Attrs attrs, std::vector<Shape> inputs, std::vector<Shape> outputs,
        DType activations = DType::kFloat32)
      : attrs_(std::move(attrs)) {
    static const KernelTable table({CpuRows()});
    const DeviceCaps caps{static_cast<int>(std::thread::hardware_concurrency())};
    KernelRequest request{.kind = kind, .attrs = &attrs_, .name = "benchmark"};
    const auto desc = [&](const Shape& shape) {
      return TensorDesc{shape.rank() > 1 ? activations : DType::kFloat32, shape, {}};
    };
    for (const Shape& shape : inputs) request.inputs.push_back(desc(shape));
    for (const Shape& shape : outputs) request.outputs.push_back(desc(shape));
    const KernelRow* row = table.Find(kind, KernelDType(request));
    if (row->layout != nullptr) {
      const LayoutWish wish = row->layout(request, caps);
      for (size_t i = 0; i < inputs.size(); ++i) request.inputs[i].layout = wish.inputs[i];
      for (size_t i = 0; i < outputs.size(); ++i) request.outputs[i].layout = wish.outputs[i];
    }
    prepared_ = row->prepare(request, caps);
    for (const TensorDesc& desc : request.inputs) Add(desc, &in_);
    for (const TensorDesc& desc : request.outputs) Add(desc, &out_);
    workspace_ = HugePages(prepared_.workspace_bytes);
  }

  void Run() { prepared_.kernel->Launch({in_.data(), out_.data(), workspace_.get(), 0, nullptr}); }
  int64_t bytes() const { return bytes_; }

 private:
  void Add(const TensorDesc& desc, std::vector<void*>* addresses) {
    buffers_.push_back(HugePages(desc.byte_size()));
    void* data = buffers_.back().get();
    for (int64_t i = 0; i < desc.byte_size() / static_cast<int64_t>(SizeOf(desc.dtype)); ++i) {
      const float value = 0.5f + static_cast<float>(i % 1021) / 2048;
      if (desc.dtype == DType::kFloat32) static_cast<float*>(data)[i] = value;
      else static_cast<BFloat16*>(data)[i] = ToBFloat16(value);
    }
    addresses->push_back(data);
    bytes_ += desc.byte_size();
  }

  const Attrs attrs_;
  PreparedKernel prepared_;
  std::vector<std::shared_ptr<void>> buffers_;
  std::shared_ptr<void> workspace_;
  std::vector<void*> in_, out_;
  int64_t bytes_ = 0;
};

void Register(const std::string& name, std::function<Bench()> make, double flops = 0) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [=](benchmark::State& state) {
        Bench bench = make();
        bench.Run();
        for (auto _ : state) bench.Run();
        using benchmark::Counter;
        state.counters["bytes"] =
            Counter(static_cast<double>(bench.bytes()), Counter::kIsIterationInvariantRate, Counter::kIs1000);
        if (flops > 0) state.counters["flops"] = Counter(flops, Counter::kIsIterationInvariantRate, Counter::kIs1000);
      })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

void RegisterConv(const std::string& name, int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  const int64_t out_size = (size + stride - 1) / stride;
  const Shape x{kBatch, size, size, in}, filter{kernel, kernel, in, out}, y{kBatch, out_size, out_size, out};
  const ConvAttrs attrs{.strides = {stride, stride}};
  const double flops = 2.0 * static_cast<double>(y.num_elements() * kernel * kernel * in);
  Register(
      "conv_forward/" + name,
      [=] {
        return Bench(OpKind::kConv2D, attrs, {x, filter}, {y});
      },
      flops);
  Register(
      "conv_input_gradient/" + name,
      [=] {
        return Bench(OpKind::kConv2DBackpropInput, attrs, {filter, y}, {x});
      },
      flops);
  Register(
      "conv_filter_gradient/" + name,
      [=] {
        return Bench(OpKind::kConv2DBackpropFilter, attrs, {x, y}, {filter});
      },
      flops);
}

void RegisterBatchNorm(int64_t size, int64_t channels, DType dtype) {
  const std::string name = std::to_string(size) + "x" + std::to_string(size) + "x" + std::to_string(channels) +
                           (dtype == DType::kBFloat16 ? "_bfloat16" : "");
  const Shape x{kBatch, size, size, channels}, c{channels};
  for (bool side : {false, true}) {
    const BatchNormAttrs attrs{.epsilon = 1e-5, .activation = Activation::kRelu, .has_side_input = side};
    std::vector<Shape> in{x, c, c, c, c}, out{x, c, c};
    if (side) in.push_back(x), out.push_back(x);
    const std::string prefix = side ? "bn_add_relu" : "bn_relu";
    Register(prefix + "/" + name, [=] { return Bench(OpKind::k_FusedBatchNormEx, attrs, in, {x, c, c, c, c}, dtype); });
    Register(prefix + "_gradient/" + name, [=] {
      return Bench(OpKind::k_FusedBatchNormGradEx, attrs, {x, x, c, c, c, c, x}, out, dtype);
    });
  }
}

void RegisterAll() {
  RegisterConv("7x7_3_64", 224, 3, 64, 7, 2);
  RegisterConv("1x1_64_256", 56, 64, 256, 1, 1);
  RegisterConv("3x3_64", 56, 64, 64, 3, 1);
  RegisterConv("3x3_128_stride2", 56, 128, 128, 3, 2);
  RegisterConv("3x3_128", 28, 128, 128, 3, 1);
  RegisterConv("3x3_256", 14, 256, 256, 3, 1);
  RegisterConv("1x1_1024_256", 14, 1024, 256, 1, 1);
  RegisterConv("3x3_512", 7, 512, 512, 3, 1);
  RegisterConv("1x1_256_512_stride2", 56, 256, 512, 1, 2);
  for (const auto& [size, channels] : {std::pair<int64_t, int64_t>{112, 64},
                                       {56, 64},
                                       {56, 256},
                                       {28, 512},
                                       {14, 256},
                                       {14, 1024},
                                       {7, 512},
                                       {7, 2048}})
    for (DType dtype : {DType::kFloat32, DType::kBFloat16}) RegisterBatchNorm(size, channels, dtype);

  const Shape stem{kBatch, 112, 112, 64}, pooled{kBatch, 56, 56, 64};
  const PoolAttrs pool{.ksize = {3, 3}, .strides = {2, 2}, .padding = Padding::kSame};
  Register("max_pool/112x112x64", [=] { return Bench(OpKind::kMaxPool, pool, {stem}, {pooled}); });
  Register("max_pool_gradient/112x112x64", [=] {
    return Bench(OpKind::kMaxPoolGrad, pool, {stem, pooled, pooled}, {stem});
  });
  Register("global_mean/7x7x2048", [=] {
    return Bench(OpKind::kMean, ReduceAttrs{{1, 2}, false}, {{kBatch, 7, 7, 2048}}, {{kBatch, 2048}});
  });
  Register("bias_gradient/224x224x64_batch4", [=] {
    return Bench(OpKind::kBiasAddGrad, BiasAddAttrs{}, {{4, 224, 224, 64}}, {{64}});
  });
  Register(
      "matmul/32x2048x1001",
      [=] {
        return Bench(OpKind::kMatMul, MatMulAttrs{}, {{32, 2048}, {2048, 1001}}, {{32, 1001}});
      },
      2.0 * 32 * 2048 * 1001);
  Register(
      "matmul/16x25088x4096",
      [=] {
        return Bench(OpKind::kMatMul, MatMulAttrs{}, {{16, 25088}, {25088, 4096}}, {{16, 4096}});
      },
      2.0 * 16 * 25088 * 4096);
  Register("matvec/32x150528", [=] {
    return Bench(OpKind::kMatMul, MatMulAttrs{}, {{32, 150528}, {150528, 1}}, {{32, 1}});
  });
  Register("cross_entropy/32x1001", [=] {
    return Bench(OpKind::kSoftmaxCrossEntropyWithLogits, NoAttrs{}, {{32, 1001}, {32, 1001}}, {{32}, {32, 1001}});
  });
  const Shape weights{25'600'000};
  Register("momentum/25.6M", [=] {
    return Bench(OpKind::kApplyMomentum, ApplyAttrs{}, {weights, weights, {}, weights, {}}, {});
  });
  Register("adam/25.6M", [=] {
    return Bench(OpKind::kApplyAdam, ApplyAttrs{}, {weights, weights, weights, {}, {}, {}, {}, {}, {}, weights}, {});
  });
  Register("truncated_normal/25.6M",
           [=] { return Bench(OpKind::kTruncatedNormal, RandomAttrs{.shape = weights}, {}, {weights}); });
  Register("nchw_to_nhwc/224x224x3", [=] {
    return Bench(OpKind::kTranspose, TransposeAttrs{{0, 2, 3, 1}}, {{kBatch, 3, 224, 224}}, {{kBatch, 224, 224, 3}});
  });
  Register("concat/28x28_64_128_32_32", [=] {
    const auto part = [](int64_t c) { return Shape{kBatch, 28, 28, c}; };
    return Bench(OpKind::kConcat, AxisAttrs{3}, {part(64), part(128), part(32), part(32)}, {part(256)});
  });
  Register("lrn/55x55x64", [=] {
    return Bench(OpKind::kLRN, LRNAttrs{5, 1, 1e-4, 0.75}, {{kBatch, 55, 55, 64}}, {{kBatch, 55, 55, 64}});
  });
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  muster::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
}
