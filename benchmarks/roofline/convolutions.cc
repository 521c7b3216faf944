#include "benchmarks/roofline/convolutions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "benchmarks/roofline/bandwidth.h"
#include "muster/dtype.h"

namespace muster::roofline {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

dnnl::engine& Cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Median seconds of a run, after one that is not counted.
double MedianSeconds(int repetitions, const std::function<void()>& run) {
  run();
  std::vector<double> seconds;
  for (int i = 0; i < std::max(repetitions, 1); ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

Type TypeOf(Precision precision) { return precision == Precision::kFloat32 ? Type::f32 : Type::bf16; }

// Small numbers of both signs: zeros would let some CPUs run at another clock.
void Fill(HugeBuffer& buffer, const memory::desc& desc) {
  uint32_t state = 12345;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int32_t>(state)) * (0.25f / 2147483648.0f);
  };
  if (desc.get_data_type() == Type::f32) {
    for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i) buffer.as<float>()[i] = next();
  } else {
    for (size_t i = 0; i < desc.get_size() / sizeof(BFloat16); ++i) buffer.as<BFloat16>()[i] = ToBFloat16(next());
  }
}

// Arguments of a primitive with the memory behind them.
class Arguments {
 public:
  void Add(int argument, const memory::desc& desc) {
    buffers_.emplace_back(desc.get_size());
    Fill(buffers_.back(), desc);
    map_.emplace(argument, memory(desc, Cpu(), buffers_.back().data()));
  }
  double Time(const dnnl::primitive& primitive, int repetitions) {
    dnnl::stream stream(Cpu());
    return MedianSeconds(repetitions, [&] {
      primitive.execute(stream, map_);
      stream.wait();
    });
  }

 private:
  std::vector<HugeBuffer> buffers_;
  std::unordered_map<int, memory> map_;
};

// Everything that oneDNN wants to know about a convolution, with one layout for the activations.
struct Problem {
  memory::desc source, weights, weights_gradient, destination;
  memory::dims strides, padding;

  Problem(const Convolution& c, Precision precision, int64_t batch, Tag layout)
      : source({batch, c.in_channels, c.in_size, c.in_size}, TypeOf(precision), layout),
        weights({c.out_channels, c.in_channels, c.kernel, c.kernel}, TypeOf(precision), Tag::any),
        weights_gradient({c.out_channels, c.in_channels, c.kernel, c.kernel}, Type::f32, Tag::any),
        destination({batch, c.out_channels, c.out_size(), c.out_size()}, TypeOf(precision), layout),
        strides{c.stride, c.stride},
        padding{c.padding(), c.padding()} {}

  dnnl::convolution_forward::primitive_desc Forward() const {
    return {Cpu(),
            dnnl::prop_kind::forward_training,
            dnnl::algorithm::convolution_direct,
            source,
            weights,
            destination,
            strides,
            padding,
            padding};
  }
};

PassTime Forward(const Problem& problem, int repetitions) {
  const auto desc = problem.Forward();
  Arguments arguments;
  arguments.Add(DNNL_ARG_SRC, desc.src_desc());
  arguments.Add(DNNL_ARG_WEIGHTS, desc.weights_desc());
  arguments.Add(DNNL_ARG_DST, desc.dst_desc());
  return {arguments.Time(dnnl::convolution_forward(desc), repetitions), "", desc.impl_info_str()};
}

PassTime BackwardData(const Problem& problem, int repetitions) {
  const dnnl::convolution_backward_data::primitive_desc desc(Cpu(), dnnl::algorithm::convolution_direct, problem.source,
                                                             problem.weights, problem.destination, problem.strides,
                                                             problem.padding, problem.padding, problem.Forward());
  Arguments arguments;
  arguments.Add(DNNL_ARG_DIFF_DST, desc.diff_dst_desc());
  arguments.Add(DNNL_ARG_WEIGHTS, desc.weights_desc());
  arguments.Add(DNNL_ARG_DIFF_SRC, desc.diff_src_desc());
  return {arguments.Time(dnnl::convolution_backward_data(desc), repetitions), "", desc.impl_info_str()};
}

PassTime BackwardWeights(const Problem& problem, int repetitions) {
  const dnnl::convolution_backward_weights::primitive_desc desc(
      Cpu(), dnnl::algorithm::convolution_direct, problem.source, problem.weights_gradient, problem.destination,
      problem.strides, problem.padding, problem.padding, problem.Forward());
  Arguments arguments;
  arguments.Add(DNNL_ARG_SRC, desc.src_desc());
  arguments.Add(DNNL_ARG_DIFF_DST, desc.diff_dst_desc());
  arguments.Add(DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc());
  return {arguments.Time(dnnl::convolution_backward_weights(desc), repetitions), "", desc.impl_info_str()};
}

double MeasureProduct(int64_t rows, int64_t inner, int64_t columns, Type type, Type result, int repetitions) {
  const dnnl::matmul::primitive_desc desc(Cpu(), memory::desc({rows, inner}, type, Tag::any),
                                          memory::desc({inner, columns}, type, Tag::any),
                                          memory::desc({rows, columns}, result, Tag::any));
  Arguments arguments;
  arguments.Add(DNNL_ARG_SRC, desc.src_desc());
  arguments.Add(DNNL_ARG_WEIGHTS, desc.weights_desc());
  arguments.Add(DNNL_ARG_DST, desc.dst_desc());
  return arguments.Time(dnnl::matmul(desc), repetitions);
}

const char* InstructionSet() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41: return "SSE4.1";
    case dnnl::cpu_isa::avx: return "AVX";
    case dnnl::cpu_isa::avx2: return "AVX2";
    case dnnl::cpu_isa::avx2_vnni: return "AVX2 VNNI";
    case dnnl::cpu_isa::avx512_core: return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni: return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16: return "AVX-512 BF16";
    default: return "AVX-512 AMX or newer";
  }
}

}  // namespace

const char* PassName(Pass pass) {
  constexpr const char* kNames[] = {"forward", "backward data", "backward weights"};
  return kNames[static_cast<int>(pass)];
}

const char* PrecisionName(Precision precision) { return precision == Precision::kFloat32 ? "float32" : "bfloat16"; }

int64_t BytesOf(Precision precision) { return precision == Precision::kFloat32 ? 4 : 2; }

PassTime MeasurePass(const Convolution& convolution, Pass pass, Precision precision, int64_t batch, int repetitions) {
  PassTime best;
  for (const auto& [tag, name] : {std::pair(Tag::nhwc, "nhwc"), std::pair(Tag::any, "any")}) {
    const Problem problem(convolution, precision, batch, tag);
    PassTime time = pass == Pass::kForward        ? Forward(problem, repetitions)
                    : pass == Pass::kBackwardData ? BackwardData(problem, repetitions)
                                                  : BackwardWeights(problem, repetitions);
    time.layout = name;
    if (best.layout.empty() || time.seconds < best.seconds) best = time;
  }
  return best;
}

double MeasureDense(int64_t features, int64_t classes, Precision precision, int64_t batch, int repetitions) {
  const Type type = TypeOf(precision);
  return MeasureProduct(batch, features, classes, type, type, repetitions) +
         MeasureProduct(batch, classes, features, type, type, repetitions) +
         MeasureProduct(features, batch, classes, type, Type::f32, repetitions);
}

std::string OneDnnVersion() {
  const dnnl_version_t* v = dnnl::version();
  return fmt::format("{}.{}.{} ({})", v->major, v->minor, v->patch, InstructionSet());
}

}  // namespace muster::roofline
