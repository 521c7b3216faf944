#include "compile/recompute.h"

#include <algorithm>
#include <map>
#include <set>

#include "compile/cost.h"
#include "compile/passes.h"
#include "compile/phase.h"

namespace muster {
namespace {

// Saving less is not worth a step.
constexpr int64_t kLeastBytes = 16 << 10;
// A stage lowers the peak by this part of it.
constexpr int64_t kStages = 20;

}  // namespace

// Which steps to drop.
class Recomputer::Chooser {
 public:
  Chooser(const CompileGraph& graph, LiveBytes& live)
      : graph_(graph), live_(live), open_(Candidates()), dropped_(static_cast<size_t>(live.size()), 0) {
    for (int step : open_) rank_.emplace(step, rank_.size());
  }

  // Lowers the peak bit by bit: aiming at the limit at once would spend time on steps that are not the peak's.
  bool Run(int64_t limit) {
    int64_t peak = live_.Ask(dropped_, 0).peak_bytes;
    while (peak > limit && Stage(std::max(limit, peak - peak / kStages))) peak = live_.Ask(dropped_, 0).peak_bytes;
    limit_ = std::max(limit, peak);
    KeepWhatFits();
    live_.Ask(dropped_, limit_);
    return peak <= limit;
  }

 private:
  // False, and nothing is changed, if it cannot be done.
  bool Stage(int64_t limit) {
    const std::vector<char> before = dropped_;
    limit_ = limit;
    excess_ = live_.Ask(dropped_, limit_).excess;
    for (size_t open = open_.size() + 1; excess_ > 0 && open_.size() < open;) {
      open = open_.size();
      std::erase_if(open_, [&](int step) { return excess_ > 0 && TryDrop(step); });
    }
    if (excess_ > 0) dropped_ = before;
    return excess_ <= 0;
  }

  bool HasLateReader(int v) const {
    const std::vector<int>& readers = live_.value(v).readers;
    return std::any_of(readers.begin(), readers.end(), [&](int reader) { return live_.step(reader).is_late; });
  }

  int64_t SavedBytes(int step) const {
    int64_t bytes = 0;
    for (int v : live_.step(step).outputs)
      if (live_.value(v).may_drop && HasLateReader(v)) bytes += live_.value(v).bytes;
    return bytes;
  }

  // By bytes saved per time lost, the best first.
  std::vector<int> Candidates() const {
    std::vector<std::pair<double, int>> rated;
    for (int i = 0; i < live_.size(); ++i)
      if (const int64_t bytes = SavedBytes(i); bytes >= kLeastBytes)
        rated.emplace_back(-static_cast<double>(bytes) / EstimatedSeconds(graph_, graph_.node(live_.step(i).node)), i);
    std::sort(rated.begin(), rated.end());
    std::vector<int> steps;
    for (const auto& [rate, step] : rated) steps.push_back(step);
    return steps;
  }

  // What has to run again for this step: itself, and what made inputs that the backward pass would not have otherwise.
  void Close(int step, std::vector<int>* steps) const {
    steps->push_back(step);
    for (int v : live_.step(step).inputs) {
      if (v < 0 || HasLateReader(v) || !live_.value(v).may_drop) continue;
      const int producer = live_.value(v).producer;
      if (!dropped_[static_cast<size_t>(producer)] && std::find(steps->begin(), steps->end(), producer) == steps->end())
        Close(producer, steps);
    }
  }

  bool TryDrop(int step) {
    if (dropped_[static_cast<size_t>(step)]) return true;
    std::vector<int> steps;
    Close(step, &steps);
    return TrySet(steps, 1, [&](double excess) { return excess < excess_; });
  }

  // The dearest steps that turn out not to be needed are kept after all.
  void KeepWhatFits() {
    std::vector<std::pair<double, int>> rated;
    for (int i = 0; i < live_.size(); ++i)
      if (dropped_[static_cast<size_t>(i)])
        rated.emplace_back(-EstimatedSeconds(graph_, graph_.node(live_.step(i).node)), i);
    std::sort(rated.begin(), rated.end());
    for (const auto& [seconds, step] : rated)
      if (TrySet({step}, 0, [&](double excess) { return excess <= 0; }) && rank_.count(step) > 0) open_.push_back(step);
    std::sort(open_.begin(), open_.end(), [this](int a, int b) { return rank_.at(a) < rank_.at(b); });
  }

  template <typename IsGood>
  bool TrySet(const std::vector<int>& steps, char value, const IsGood& is_good) {
    for (int step : steps) dropped_[static_cast<size_t>(step)] = value;
    const LiveBytes::Answer answer = live_.Ask(dropped_, limit_);
    if (answer.is_possible && is_good(answer.excess)) {
      excess_ = answer.excess;
      return true;
    }
    for (int step : steps) dropped_[static_cast<size_t>(step)] = static_cast<char>(1 - value);
    return false;
  }

  const CompileGraph& graph_;
  LiveBytes& live_;
  std::vector<int> open_;       // candidates that are not dropped, the best first
  std::map<int, size_t> rank_;  // of candidates
  std::vector<char> dropped_;
  int64_t limit_ = 0;
  double excess_ = 0;  // over limit_, with these dropped
};

namespace {

// Changes the graph as LiveBytes was last asked about it.
class Cloner {
 public:
  Cloner(CompileGraph& graph, const LiveBytes& live) : graph_(graph), live_(live) {}

  Recomputation Run() {
    std::vector<std::pair<int, int>> repetitions;  // in the order in which they run
    for (int i = 0; i < live_.size(); ++i)
      if (live_.RepeatedBefore(i) != LiveBytes::kNever) repetitions.emplace_back(live_.RepeatedBefore(i), i);
    std::sort(repetitions.begin(), repetitions.end());
    for (auto [before, step] : repetitions) CloneStep(step, before);
    for (int i = 0; i < live_.size(); ++i)
      if (live_.step(i).is_late) Redirect(live_.step(i).node);
    return done_;
  }

 private:
  void CloneStep(int step, int before) {
    const Node& node = graph_.node(live_.step(step).node);
    const NodeId near = live_.step(before).node;
    std::vector<Output> inputs;
    for (Output in : node.inputs) inputs.push_back(Late(in, near));
    const NodeId clone =
        CanRedo(node) ? AddRedone(node, std::move(inputs), near) : AddClone(node, std::move(inputs), near);
    WaitFor(clone, before);
    for (int writer : live_.step(step).overwritten)
      if (writer > step) graph_.AddControlInput(live_.step(writer).node, clone);
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i)
      if (live_.value(live_.step(step).outputs[static_cast<size_t>(i)]).may_drop) late_[{node.id, i}] = {clone, i};
    ++done_.num_nodes;
    done_.flops += EstimatedFlops(graph_, node);
  }

  static std::string NameFor(const Node& node) { return "gradients/recompute/" + node.name; }

  NodeId AddClone(const Node& node, std::vector<Output> inputs, NodeId near) {
    const NodeId clone = graph_.Add(node.kind, NameFor(node), std::move(inputs), node.attrs, near);
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i)
      graph_.mutable_desc({clone, i}).layout = node.outputs[static_cast<size_t>(i)].layout;
    return clone;
  }

  // Kernels apply a batch norm once more from the statistics that the first time left if they are asked for y alone.
  static bool CanRedo(const Node& node) {
    const bool is_norm = node.kind == OpKind::kFusedBatchNorm || node.kind == OpKind::k_FusedBatchNormEx;
    return is_norm && node.attr<BatchNormAttrs>().is_training;
  }

  NodeId AddRedone(const Node& node, std::vector<Output> inputs, NodeId near) {
    BatchNormAttrs attrs = node.attr<BatchNormAttrs>();
    if (node.kind == OpKind::kFusedBatchNorm) {  // whose attributes mean nothing
      attrs.activation = Activation::kNone;
      attrs.has_side_input = false;
    }
    inputs[3] = {node.id, 3}, inputs[4] = {node.id, 4};
    const NodeId clone = graph_.Add(OpKind::k_FusedBatchNormEx, NameFor(node), std::move(inputs), attrs, near);
    graph_.DropOutputs(clone, 1);
    return clone;
  }

  // Without this a clone could run as soon as its inputs are there, in the forward pass.
  void WaitFor(NodeId clone, int reader) {
    std::set<NodeId> late;
    for (int v : live_.step(reader).inputs)
      if (v >= 0 && live_.step(live_.value(v).producer).is_late) late.insert(live_.step(live_.value(v).producer).node);
    graph_.SetControlInputs(clone, {late.begin(), late.end()});
  }

  // What a late reader of the value reads: its clone if there is one; views are cloned with it.
  Output Late(Output value, NodeId near) {
    if (const auto found = late_.find(value); found != late_.end()) return found->second;
    if (!GetOpDef(graph_.node(value.node).kind).is_alias || IsLateNode(value.node)) return value;
    const Node& view = graph_.node(value.node);
    const Output of = Late(view.inputs[0], near);
    return late_[value] = of == view.inputs[0] ? value : Output{AddClone(view, {of}, near), 0};
  }

  // Views in the backward pass belong there already, and Redirect has to visit them.
  bool IsLateNode(NodeId id) const { return PhaseOf(graph_.node(id)) != kForward; }

  void Redirect(NodeId reader) {
    for (size_t i = 0; i < graph_.node(reader).inputs.size(); ++i) {
      graph_.SetInput(reader, i, RedirectedView(graph_.node(reader).inputs[i], reader));
    }
  }

  // A view made in the backward pass is turned to the clone in place.
  Output RedirectedView(Output value, NodeId reader) {
    if (GetOpDef(graph_.node(value.node).kind).is_alias && IsLateNode(value.node)) {
      const Output of = RedirectedView(graph_.node(value.node).inputs[0], reader);
      graph_.SetInput(value.node, 0, of);
      return value;
    }
    return Late(value, reader);
  }

  CompileGraph& graph_;
  const LiveBytes& live_;
  std::map<Output, Output> late_;
  Recomputation done_;
};

}  // namespace

Recomputer::Recomputer(const CompileGraph& graph, const CompileRequest& request, int device,
                       const std::vector<NodeId>& order)
    : live_(graph, request, device, order), chooser_(std::make_unique<Chooser>(graph, live_)) {}

Recomputer::~Recomputer() = default;

bool Recomputer::LowerTo(int64_t live_bytes) { return chooser_->Run(live_bytes); }

Recomputation Recomputer::Apply(CompileGraph& copy) const { return Cloner(copy, live_).Run(); }

}  // namespace muster
