// tower_costs --towers=1,2,4 [flags of muster bench]: what each further tower costs before the first step and between
// the kernels of every step. Plans are made as `muster bench` makes them for that many simulated GPUs, and replayed on
// devices that compute nothing and hold nothing, so that 64 towers need neither 64 cards nor their memory. Each number
// of towers runs in a process of its own. Markdown on standard output; docs/scaling.md explains the columns.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <deque>
#include <numeric>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/process_memory.h"
#include "bench/checks.h"
#include "bench/flags.h"
#include "bench/strategy.h"
#include "bench/train_graph.h"
#include "compile/placement.h"
#include "muster/error.h"
#include "run/executor.h"
#include "session/local_devices.h"

namespace muster {
namespace {

// Addresses without memory behind them until they are touched.
class AddressSpace final : public Allocator {
 public:
  const std::string& name() const override { return name_; }
  void* Allocate(size_t bytes) override {
    if (bytes == 0) return nullptr;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw Error(Code::kResourceExhausted, "no address space");
    sizes_.emplace_back(at, bytes);
    return at;
  }
  void Free(void* data) override {
    for (const auto& [at, bytes] : sizes_)
      if (at == data) munmap(at, bytes);
  }
  AllocatorStats Stats() const override { return {}; }

 private:
  const std::string name_ = "address space";
  std::vector<std::pair<void*, size_t>> sizes_;
};

class NoEvent final : public Event {
 public:
  void Synchronize() override {}
};

class NoStream final : public Stream {
 public:
  void Record(Event*) override {}
  void Wait(Event*) override {}
  void Synchronize() override {}
  void Stamp(double* seconds) override { *seconds = SteadySeconds(); }
  void Copy(void*, const void*, size_t) override {}
  void Clear(void*, size_t) override {}
};

// Stands for a device whose streams take work in no time at all.
class NoDevice final : public Device {
 public:
  NoDevice(DeviceName name, bool is_asynchronous) : name_(std::move(name)), is_asynchronous_(is_asynchronous) {}
  const DeviceName& name() const override { return name_; }
  Allocator* allocator() override { return &allocator_; }
  Stream* stream(StreamKind kind) override { return &streams_[static_cast<size_t>(kind)]; }
  std::unique_ptr<Event> CreateEvent() override { return std::make_unique<NoEvent>(); }
  bool is_asynchronous() const override { return is_asynchronous_; }

 private:
  const DeviceName name_;
  const bool is_asynchronous_;
  AddressSpace allocator_;
  NoStream streams_[kNumStreamKinds];
};

struct Costs {
  int nodes = 0, steps = 0, transfers = 0;
  double build = 0, place = 0, compile = 0, first_values = 0, bind = 0, replay = 0;  // seconds
  int64_t bytes = 0;  // the most that graph and plans took of this process' memory while they were made
};

// Seconds that a function takes.
template <typename F>
double Timed(F function) {
  const double start = SteadySeconds();
  function();
  return SteadySeconds() - start;
}

CompileRequest RequestFor(const Graph& graph, const std::vector<LocalDevice>& devices, VariableTable* table) {
  CompileRequest request;
  request.graph = &graph;
  for (const LocalDevice& d : devices)
    request.devices.push_back({d.device->name(), d.kernels, d.caps, d.device->is_asynchronous(), 0});
  request.variables = table;
  request.own_task = devices[0].device->name().Task();
  return request;
}

// Seconds of one replay without work: the shortest of several.
double ReplaySeconds(Executor& executor) {
  constexpr int kReplays = 20;
  const std::vector<Tensor> feeds{Tensor::Scalar<float>(0)};
  double least = 1e9;
  for (int i = 0; i < kReplays; ++i) least = std::min(least, Timed([&] { executor.Run(i, feeds); }));
  return least;
}

Costs Measure(const bench::BenchParams& params, const bench::OwnParams& own) {
  Costs costs;
  const bench::Derived derived = bench::Derive(params);
  const std::vector<LocalDevice> devices = MakeLocalDevices(bench::DevicesOf(params, own, derived));
  const int64_t held = ReadProcessMemoryExactly().anonymous;
  ResetPeakResident();
  std::unique_ptr<bench::TrainGraph> built;
  costs.build = Timed([&] { built = bench::BuildTrainGraph(params, own, derived, derived.batch_size_per_device); });
  costs.nodes = built->graph->num_nodes();
  VariableTable table;
  CompileRequest step = RequestFor(*built->graph, devices, &table), first_values = step;
  step.feeds = {built->learning_rate};
  step.fetches = built->fetches;
  step.targets = built->targets;
  for (const VariableInfo& variable : built->graph->variables()) first_values.targets.push_back(variable.initializer);
  table.Update(*built->graph);
  costs.place = Timed([&] { PlaceGraph(step); });
  Plan plan;
  costs.compile = Timed([&] { plan = Compile(step); });
  costs.steps = plan.stats.num_steps;
  costs.transfers = static_cast<int>(plan.channels.size());
  costs.first_values = Timed([&] { Compile(first_values); });
  costs.bytes = PeakOwnBytes() - held;

  for (Partition& partition : plan.partitions)
    for (Step& s : partition.steps)
      if (s.kernel != nullptr) s.kernel = MakeKernel([](const LaunchArgs&) {});
  std::deque<NoDevice> nowhere;
  std::vector<Device*> pointers;
  for (const LocalDevice& d : devices)
    pointers.push_back(&nowhere.emplace_back(d.device->name(), d.device->is_asynchronous()));
  VariableMemory memory(pointers);
  std::unique_ptr<Executor> executor;
  costs.bind = Timed([&] {
    memory.Ensure(table);
    executor = std::make_unique<Executor>(std::move(plan), pointers, table, memory);
  });
  costs.replay = ReplaySeconds(*executor);
  return costs;
}

constexpr char kHeading[] =
    "| towers | graph nodes | plan steps | transfers | build s | place s | compile s | first values s | bind s | "
    "all, ms per tower | MiB per tower | empty replay ms | us per tower |\n"
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";

std::string Row(int towers, const Costs& c) {
  const double all = c.build + c.place + c.compile + c.first_values + c.bind;
  return fmt::format(
      "| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.1f} | {:.1f} | {:.3f} | {:.1f} |\n",
      towers, c.nodes, c.steps, c.transfers, c.build, c.place, c.compile, c.first_values, c.bind, all * 1e3 / towers,
      static_cast<double>(c.bytes) / towers / (1 << 20), c.replay * 1e3, c.replay * 1e6 / towers);
}

std::vector<int> Numbers(const std::string& list) {
  std::vector<int> numbers;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    int number = 0;
    const auto [at, error] = std::from_chars(list.data() + begin, list.data() + end, number);
    if (error != std::errc() || at != list.data() + end || number < 1)
      throw InvalidArgument(fmt::format("--towers={}: \"{}\" is not a number of towers; write 1,2,4", list,
                                        list.substr(begin, end - begin)));
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

// Prints one row, in a process of its own: what another row left in the heap or in a library's cache must not count.
void PrintRow(const std::vector<std::string>& words, int towers) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw Error(Code::kResourceExhausted, "cannot start a process");
  if (child == 0) {
    int status = 0;
    try {
      std::vector<std::string> all = words;
      all.insert(all.end(),
                 {"--device=gpu", fmt::format("--num_gpus={}", towers), fmt::format("--simulated_gpus={}", towers)});
      const FlagValues values = ParseFlags(bench::PeerFlags().Plus(bench::OwnFlags()), all);
      const bench::BenchParams params = bench::ParamsFromFlags(values);
      bench::CheckParams(params);
      std::fputs(Row(towers, Measure(params, bench::OwnParamsFromFlags(values))).c_str(), stdout);
    } catch (const Error& error) {
      fmt::print(stderr, "tower_costs: {}\n", error.what());
      status = 2;
    }
    std::fflush(stdout);
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(Code::kInternal, fmt::format("{} towers could not be measured", towers));
}

int Main(const std::vector<std::string>& words) {
  constexpr std::string_view kTowers = "--towers=";
  std::vector<int> towers{1, 2, 4, 8, 16, 32, 64};
  std::vector<std::string> others;
  for (const std::string& word : words)
    if (word.starts_with(kTowers)) towers = Numbers(word.substr(kTowers.size()));
    else others.push_back(word);
  std::fputs(kHeading, stdout);
  for (int n : towers) PrintRow(others, n);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  try {
    return muster::Main({argv + 1, argv + argc});
  } catch (const muster::Error& error) {
    fmt::print(stderr, "tower_costs: {}\n", error.what());
    return 2;
  }
}
