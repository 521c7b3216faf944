#include "backend/cpu/onednn_adapter.h"

#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <omp.h>

#include "backend/cpu/parallel.h"
#include "base/check.h"
#include "muster/error.h"

namespace muster::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

// A primitive that was made before, for the same descriptor and number of threads, comes from the library's own cache.
// Large networks have a few thousand.
constexpr int kPrimitiveCacheCapacity = 8192;

template <typename F>
auto Guarded(const char* what, F f) {
  try {
    return f();
  } catch (const dnnl::error& e) {
    const bool memory_ran_out = e.status == dnnl_out_of_memory;
    throw Error(memory_ran_out ? Code::kResourceExhausted : Code::kInternal,
                fmt::format("oneDNN {} cannot {}: {}", Version(), what, e.what()));
  }
}

struct Library {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  Library() { dnnl::set_primitive_cache_capacity(kPrimitiveCacheCapacity); }
};

// The CPU stream of oneDNN has no state: one serves all driver threads.
Library& Lib() {
  static Library library = Guarded("start", [] { return Library(); });
  return library;
}

// oneDNN asks OpenMP how many threads there are, both when it makes a primitive and when it runs it.
void UseThreads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

class ThreadsScope {
 public:
  explicit ThreadsScope(int threads) : before_(omp_get_max_threads()) { UseThreads(threads); }
  ~ThreadsScope() { UseThreads(before_); }
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
  int before_;
};

memory::data_type TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return memory::data_type::f32;
    case DType::kBFloat16: return memory::data_type::bf16;
    case DType::kFloat16: return memory::data_type::f16;
    default: MUSTER_CHECK(false);
  }
}

std::string KeyOf(const memory::desc& desc) {
  return fmt::format("onednn:type{}:dims{}:padded{}:strides{}:blocks{}of{}", static_cast<int>(desc.get_data_type()),
                     fmt::join(desc.get_dims(), ","), fmt::join(desc.get_padded_dims(), ","),
                     fmt::join(desc.get_strides(), ","), fmt::join(desc.get_inner_blks(), ","),
                     fmt::join(desc.get_inner_idxs(), ","));
}

// A form of oneDNN's, beside the plain form of the same tensor as oneDNN describes it.
class OneDnnFormat final : public OpaqueFormat {
 public:
  OneDnnFormat(memory::desc packed, memory::desc plain)
      : packed_(std::move(packed)), plain_(std::move(plain)), key_(KeyOf(packed_)) {}

  const std::string& key() const override { return key_; }
  int64_t byte_size() const override { return static_cast<int64_t>(packed_.get_size()); }
  void Pack(const void* plain, void* packed) const override { Copy(plain_, plain, packed_, packed); }
  void Unpack(const void* packed, void* plain) const override { Copy(packed_, packed, plain_, plain); }

  const memory::desc& packed() const { return packed_; }
  const memory::desc& plain() const { return plain_; }

 private:
  static void Copy(const memory::desc& from_desc, const void* from, const memory::desc& to_desc, void* to) {
    Guarded("change a layout", [&] {
      const memory source(from_desc, Lib().engine, const_cast<void*>(from));  // read only, but the type has no const
      memory target(to_desc, Lib().engine, to);
      dnnl::reorder(source, target).execute(Lib().stream, const_cast<memory&>(source), target);
      Lib().stream.wait();
    });
  }

  memory::desc packed_, plain_;
  std::string key_;
};

const OneDnnFormat* FormatOf(const Layout& layout) { return dynamic_cast<const OneDnnFormat*>(layout.format()); }

// The descriptions of one convolution, before its primitive is chosen.
struct ConvDescs {
  memory::desc x, y, filter, bias, plain_filter;
};

memory::dims FilterDims(const ConvProblem& p) {
  if (p.groups == 1) return {p.out_c, p.in_c, p.kernel_h, p.kernel_w};
  return {p.groups, p.out_c / p.groups, p.in_c / p.groups, p.kernel_h, p.kernel_w};
}

// filter: nullptr lets the primitive choose.
ConvDescs Describe(const ConvProblem& p, const ConvExtras& extras, const Layout* filter) {
  const auto type = TypeOf(p.dtype), filter_type = TypeOf(p.filter_dtype);
  ConvDescs d;
  d.x = memory::desc({p.batch, p.in_c, p.in_h, p.in_w}, type, Tag::nhwc);
  d.y = memory::desc({p.batch, p.out_c, p.out_h, p.out_w}, type, Tag::nhwc);
  d.plain_filter = memory::desc(FilterDims(p), filter_type, p.groups == 1 ? Tag::hwio : Tag::hwigo);
  if (filter == nullptr) {
    d.filter = memory::desc(FilterDims(p), filter_type, Tag::any);
  } else if (filter->is_plain()) {
    d.filter = d.plain_filter;
  } else {
    const OneDnnFormat* format = FormatOf(*filter);
    MUSTER_CHECK(format != nullptr);
    d.filter = format->packed();
  }
  if (extras.bias) d.bias = memory::desc({p.out_c}, filter_type, Tag::a);
  return d;
}

dnnl::primitive_attr AttrFor(bool relu) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (relu) {
    dnnl::post_ops ops;
    ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.f, 0.f);
    attr.set_post_ops(ops);
  }
  return attr;
}

struct ConvShape {
  memory::dims strides, dilations, pad_before, pad_after;
  explicit ConvShape(const ConvProblem& p)
      : strides{p.strides[0], p.strides[1]},
        dilations{p.dilations[0] - 1, p.dilations[1] - 1},
        pad_before{p.paddings[0], p.paddings[2]},
        pad_after{p.paddings[1], p.paddings[3]} {}
};

dnnl::convolution_forward::primitive_desc ForwardDesc(const ConvProblem& p, const ConvExtras& extras,
                                                      const ConvDescs& d) {
  const ConvShape s(p);
  return {Lib().engine,
          dnnl::prop_kind::forward_training,
          dnnl::algorithm::convolution_direct,
          d.x,
          d.filter,
          d.bias,
          d.y,
          s.strides,
          s.dilations,
          s.pad_before,
          s.pad_after,
          AttrFor(extras.relu)};
}

// The backward descriptors want a forward one as a hint; which filter it likes does not matter. Its filter has the type
// of the activations, also where the filter's gradient is float32.
dnnl::convolution_forward::primitive_desc HintFor(ConvProblem p) {
  p.filter_dtype = p.dtype;
  return ForwardDesc(p, {}, Describe(p, {}, nullptr));
}

dnnl::convolution_backward_data::primitive_desc BackwardDataDesc(const ConvProblem& p, const ConvDescs& d) {
  const ConvShape s(p);
  return {Lib().engine,  dnnl::algorithm::convolution_direct,
          d.x,           d.filter,
          d.y,           s.strides,
          s.dilations,   s.pad_before,
          s.pad_after,   HintFor(p),
          AttrFor(false)};
}

dnnl::convolution_backward_weights::primitive_desc BackwardFilterDesc(const ConvProblem& p, const ConvDescs& d) {
  const ConvShape s(p);
  const auto hint = HintFor(p);  // next_impl reads it too
  dnnl::convolution_backward_weights::primitive_desc desc{Lib().engine, dnnl::algorithm::convolution_direct,
                                                          d.x,          d.filter,
                                                          d.bias,       d.y,
                                                          s.strides,    s.dilations,
                                                          s.pad_before, s.pad_after,
                                                          hint,         AttrFor(false)};
  // In oneDNN 3.2 the matrix-product implementation of a grouped filter gradient writes beyond a plain filter when
  // several threads share the work.
  while (p.groups > 1 && std::string_view(desc.impl_info_str()).find("gemm") != std::string_view::npos &&
         desc.next_impl()) {
  }
  return desc;
}

// The filter as a primitive takes it, as a Layout: plain if that is what it is.
Layout LayoutOf(const memory::desc& filter, const memory::desc& plain) {
  if (filter == plain) return {};
  return Layout(std::make_shared<OneDnnFormat>(filter, plain));
}

template <typename Use>
auto WithConvDesc(ConvKind kind, const ConvProblem& p, const ConvExtras& extras, const ConvDescs& d, const Use& use) {
  switch (kind) {
    case ConvKind::kForward: {
      const auto desc = ForwardDesc(p, extras, d);
      return use(desc, desc.weights_desc());
    }
    case ConvKind::kBackwardData: {
      const auto desc = BackwardDataDesc(p, d);
      return use(desc, desc.weights_desc());
    }
    case ConvKind::kBackwardFilter: {
      const auto desc = BackwardFilterDesc(p, d);
      return use(desc, desc.diff_weights_desc());
    }
  }
  MUSTER_CHECK(false);
}

}  // namespace

struct Primitive::Impl {
  dnnl::primitive primitive;
  std::vector<memory> arguments;       // the last one is the scratchpad
  std::vector<dnnl_exec_arg_t> bound;  // the same, as the C interface wants them
  int64_t scratchpad_bytes = 0;
  int threads = 1;
  bool packs_on_heap = false;  // its threads take buffers from the heap at each call
};

Primitive::Primitive() = default;
Primitive::Primitive(Primitive&&) noexcept = default;
Primitive& Primitive::operator=(Primitive&&) noexcept = default;
Primitive::~Primitive() = default;

int64_t Primitive::scratchpad_bytes() const { return impl_->scratchpad_bytes; }

void Primitive::Run(std::span<void* const> addresses, void* scratchpad) {
  Impl& impl = *impl_;
  MUSTER_CHECK(addresses.size() + 1 == impl.bound.size());
  const ThreadsScope scope(impl.threads);
  cpu::FlushInTeam(impl.threads);
  if (impl.packs_on_heap) cpu::KeepHeapWholeInTeam(impl.threads);
  for (size_t i = 0; i < addresses.size(); ++i) dnnl_memory_set_data_handle(impl.bound[i].memory, addresses[i]);
  dnnl_memory_set_data_handle(impl.bound.back().memory, scratchpad);
  // The C interface: the C++ one builds a hash map per call.
  const dnnl_status_t status = dnnl_primitive_execute(impl.primitive.get(), Lib().stream.get(),
                                                      static_cast<int>(impl.bound.size()), impl.bound.data());
  if (status != dnnl_success) Guarded("run a primitive", [&] { throw dnnl::error(status, "execution failed"); });
}

// The first matrix product of a process makes the machine code for all of them, 2 MiB. Made with the plan, it counts
// among what the program holds when the plan is ready, and the first step does not wait for it.
void MakeProductCode() {
  [[maybe_unused]] static const dnnl_status_t made = [] {
    constexpr int kSide = 16;  // one column or row would be another kernel's
    std::array<float, kSide * kSide> a{}, b{}, c{};
    return dnnl_sgemm('N', 'N', kSide, kSide, kSide, 1, a.data(), kSide, b.data(), kSide, 0, c.data(), kSide);
  }();  // should it fail, so will the products themselves
}

// Puts primitives together; a struct so that it can be Primitive's friend without oneDNN's types in the header.
struct Maker {
  struct Argument {
    int name;
    memory::desc desc;
  };

  static Primitive Make(const dnnl::primitive& primitive, const std::vector<Argument>& arguments,
                        const dnnl::primitive_desc_base& chosen, int threads) {
    const memory::desc scratchpad = chosen.scratchpad_desc();
    Primitive made;
    made.impl_ = std::make_unique<Primitive::Impl>();
    Primitive::Impl& impl = *made.impl_;
    impl.primitive = primitive;
    impl.threads = threads;
    impl.scratchpad_bytes = static_cast<int64_t>(scratchpad.get_size());
    impl.packs_on_heap = std::string_view(chosen.impl_info_str()).find("gemm:jit") != std::string_view::npos;
    if (impl.packs_on_heap) MakeProductCode();
    auto add = [&](int name, const memory::desc& desc) {
      impl.arguments.emplace_back(desc, Lib().engine, nullptr);
      impl.bound.push_back({name, impl.arguments.back().get()});
    };
    for (const Argument& argument : arguments) add(argument.name, argument.desc);
    add(DNNL_ARG_SCRATCHPAD, scratchpad);
    return made;
  }
};

namespace {

FilterChoice Choose(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, int threads) {
  const ThreadsScope scope(threads);
  return Guarded("choose a convolution", [&] {
    const ConvDescs descs = Describe(problem, extras, nullptr);
    return WithConvDesc(kind, problem, extras, descs, [&](const auto& desc, const memory::desc& filter) {
      return FilterChoice{LayoutOf(filter, descs.plain_filter), desc.impl_info_str()};
    });
  });
}

std::string KeyOf(ConvKind kind, const ConvProblem& p, const ConvExtras& extras, int threads) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(kind),
                     static_cast<int>(p.dtype), static_cast<int>(p.filter_dtype), p.batch, p.in_h, p.in_w, p.in_c,
                     p.out_h, p.out_w, p.out_c, p.kernel_h, p.kernel_w, p.groups, fmt::join(p.strides, ","),
                     fmt::join(p.dilations, ","), fmt::join(p.paddings, ","), extras.bias, extras.relu, threads);
}

}  // namespace

// Networks repeat their layers, the backward passes ask for the forward one's choice, and several plans are made of one
// graph, so choices are remembered.
FilterChoice ChooseFilter(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, int threads) {
  static std::mutex mutex;
  static std::unordered_map<std::string, FilterChoice> choices;
  const std::string key = KeyOf(kind, problem, extras, threads);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = choices.find(key); found != choices.end()) return found->second;
  }
  FilterChoice choice = Choose(kind, problem, extras, threads);
  const std::lock_guard lock(mutex);
  return choices.emplace(key, std::move(choice)).first->second;
}

std::string ImplementationFor(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, const Layout& filter,
                              int threads) {
  const ThreadsScope scope(threads);
  return Guarded("choose a convolution", [&] {
    return WithConvDesc(kind, problem, extras, Describe(problem, extras, &filter),
                        [](const auto& desc, const memory::desc&) { return std::string(desc.impl_info_str()); });
  });
}

Primitive MakeConv(ConvKind kind, const ConvProblem& problem, const ConvExtras& extras, const Layout& filter,
                   int threads) {
  const ThreadsScope scope(threads);
  return Guarded("make a convolution", [&] {
    const ConvDescs d = Describe(problem, extras, &filter);
    std::vector<Maker::Argument> arguments;
    switch (kind) {
      case ConvKind::kForward: {
        const auto desc = ForwardDesc(problem, extras, d);
        arguments = {{DNNL_ARG_SRC, d.x}, {DNNL_ARG_WEIGHTS, d.filter}};
        if (extras.bias) arguments.push_back({DNNL_ARG_BIAS, d.bias});
        arguments.push_back({DNNL_ARG_DST, d.y});
        return Maker::Make(dnnl::convolution_forward(desc), arguments, desc, threads);
      }
      case ConvKind::kBackwardData: {
        const auto desc = BackwardDataDesc(problem, d);
        arguments = {{DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_WEIGHTS, d.filter}, {DNNL_ARG_DIFF_SRC, d.x}};
        return Maker::Make(dnnl::convolution_backward_data(desc), arguments, desc, threads);
      }
      case ConvKind::kBackwardFilter: {
        const auto desc = BackwardFilterDesc(problem, d);
        arguments = {{DNNL_ARG_SRC, d.x}, {DNNL_ARG_DIFF_DST, d.y}, {DNNL_ARG_DIFF_WEIGHTS, d.filter}};
        if (extras.bias) arguments.push_back({DNNL_ARG_DIFF_BIAS, d.bias});
        return Maker::Make(dnnl::convolution_backward_weights(desc), arguments, desc, threads);
      }
    }
    MUSTER_CHECK(false);
  });
}

Primitive MakeMatMul(const MatMulProblem& p, int threads) {
  const ThreadsScope scope(threads);
  return Guarded("make a matrix product", [&] {
    const auto type = TypeOf(p.dtype);
    const memory::desc a({p.m, p.k}, type, p.transpose_a ? Tag::ba : Tag::ab);
    const memory::desc b({p.k, p.n}, type, p.transpose_b ? Tag::ba : Tag::ab);
    const memory::desc bias = p.bias ? memory::desc({1, p.n}, type, Tag::ab) : memory::desc();
    const memory::desc c({p.m, p.n}, p.float32_result ? memory::data_type::f32 : type, Tag::ab);
    const dnnl::matmul::primitive_desc desc(Lib().engine, a, b, bias, c, AttrFor(p.relu));
    std::vector<Maker::Argument> arguments = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}};
    if (p.bias) arguments.push_back({DNNL_ARG_BIAS, bias});
    arguments.push_back({DNNL_ARG_DST, c});
    return Maker::Make(dnnl::matmul(desc), arguments, desc, threads);
  });
}

bool IsOneDnn(const Layout& layout) { return FormatOf(layout) != nullptr; }

Primitive MakeReorder(const Layout& from, const Layout& to, int threads) {
  const OneDnnFormat* from_format = FormatOf(from);
  const OneDnnFormat* to_format = FormatOf(to);
  MUSTER_CHECK(from_format != nullptr || to_format != nullptr);
  const ThreadsScope scope(threads);
  return Guarded("make a layout change", [&] {
    const memory::desc source = from_format != nullptr ? from_format->packed() : to_format->plain();
    const memory::desc target = to_format != nullptr ? to_format->packed() : from_format->plain();
    const dnnl::reorder::primitive_desc desc(Lib().engine, source, Lib().engine, target, AttrFor(false));
    return Maker::Make(dnnl::reorder(desc), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}}, desc, threads);
  });
}

bool HasBFloat16() {
  constexpr unsigned kWanted = dnnl_cpu_isa_avx512_core_bf16;
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & kWanted) == kWanted;
}

std::string Version() {
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("{}.{}.{}", v->major, v->minor, v->patch);
}

}  // namespace muster::onednn
