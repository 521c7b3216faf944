#include "compile/group_request.h"

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

template <typename T>
bool Differ(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a != *b;
}

bool TasksDiffer(const DeviceName& a, const DeviceName& b) {
  return Differ(a.job, b.job) || Differ(a.replica, b.replica) || Differ(a.task, b.task);
}

bool DevicesDiffer(const DeviceName& a, const DeviceName& b) {
  return Differ(a.type, b.type) || Differ(a.index, b.index);
}

struct Wish {
  DeviceName device;
  std::string who;
  bool is_home = false;  // a variable's, which is there already
};

[[noreturn]] void ThrowConflict(const Wish& first, const Wish& second, bool could_soften) {
  throw InvalidArgument(fmt::format("{} asks for {}, but {}, with which it must share a device, {} {}; {}", second.who,
                                    second.device.ToString(), first.who, first.is_home ? "is on" : "asks for",
                                    first.device.ToString(),
                                    could_soften ? "ask for one device, or allow soft placement"
                                                 : "soft placement never moves an operation to another task"));
}

// Wishes of equal rank, added in any order with the same result.
class Merged {
 public:
  explicit Merged(bool soft) : soft_(soft) {}

  void Add(Wish wish) {
    for (const Wish& earlier : wishes_)
      if (TasksDiffer(earlier.device, wish.device)) ThrowConflict(earlier, wish, false);
    for (const Wish& earlier : wishes_)
      if (DevicesDiffer(earlier.device, wish.device)) Contest(earlier, wish);
    device_ = device_.MergedInto(wish.device);
    if (!Knows(wish.device)) wishes_.push_back(std::move(wish));
  }

  DeviceName result() const {
    DeviceName open = device_;
    if (type_contested_) open.type.reset();
    if (type_contested_ || index_contested_) open.index.reset();
    return open;
  }
  const std::vector<Wish>& wishes() const { return wishes_; }

 private:
  void Contest(const Wish& a, const Wish& b) {
    if (!soft_) ThrowConflict(a, b, true);
    (Differ(a.device.type, b.device.type) ? type_contested_ : index_contested_) = true;
  }
  bool Knows(const DeviceName& device) const {
    for (const Wish& wish : wishes_)
      if (wish.device == device) return true;
    return false;
  }

  bool soft_;
  DeviceName device_;
  std::vector<Wish> wishes_;  // the distinct ones
  bool type_contested_ = false, index_contested_ = false;
};

void CheckAgainst(const Merged& variables, const Merged& operations, bool soft) {
  for (const Wish& v : variables.wishes())
    for (const Wish& o : operations.wishes()) {
      if (TasksDiffer(v.device, o.device)) ThrowConflict(v, o, false);
      if (!soft && DevicesDiffer(v.device, o.device)) ThrowConflict(v, o, true);
    }
}

}  // namespace

DeviceName GroupRequest(const Graph& graph, const std::vector<NodeId>& members, const std::optional<DeviceName>& home,
                        bool allow_soft_placement) {
  Merged variables(allow_soft_placement), operations(allow_soft_placement);
  for (NodeId id : members) {
    const Node& node = graph.node(id);
    const bool is_variable = node.kind == OpKind::kVariable;
    if (is_variable && home) variables.Add({*home, node.name, true});
    else if (!node.device.is_empty()) (is_variable ? variables : operations).Add({node.device, node.name});
  }
  CheckAgainst(variables, operations, allow_soft_placement);
  const DeviceName first = variables.result();
  DeviceName second = operations.result();
  if (Differ(first.type, second.type)) second.type.reset(), second.index.reset();
  return first.MergedInto(second);
}

}  // namespace muster
