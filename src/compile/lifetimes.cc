#include "compile/lifetimes.h"

#include <algorithm>

#include "base/check.h"

namespace muster {

void Lifetimes::Define(Output value, int step) {
  const int group = static_cast<int>(lives_.size());
  group_of_[value] = group;
  lives_.push_back({group, graph_.desc(value).byte_size(), step, step});
  members_.push_back(1);
}

void Lifetimes::Alias(Output value, Output of) { alias_[value] = Root(of); }

void Lifetimes::Use(Output value, int step) {
  auto it = group_of_.find(Root(value));
  if (it == group_of_.end()) return;  // a variable, constant or feed
  Life& life = lives_[static_cast<size_t>(it->second)];
  life.last = std::max(life.last, step);
}

void Lifetimes::Merge(Output input, Output output) {
  const int into = group_of_.at(input), from = group_of_.at(output);
  MUSTER_CHECK(into != from && members_[static_cast<size_t>(from)] == 1);
  Life& life = lives_[static_cast<size_t>(into)];
  life.last = std::max(life.last, lives_[static_cast<size_t>(from)].last);
  group_of_[output] = into;
  ++members_[static_cast<size_t>(into)];
  members_[static_cast<size_t>(from)] = 0;
}

Output Lifetimes::Root(Output value) const {
  auto it = alias_.find(value);
  return it == alias_.end() ? value : it->second;
}

int Lifetimes::Group(Output root) const { return group_of_.at(root); }
int Lifetimes::LastUse(Output root) const { return lives_[static_cast<size_t>(group_of_.at(root))].last; }
bool Lifetimes::IsMerged(Output root) const { return members_[static_cast<size_t>(group_of_.at(root))] > 1; }

std::vector<Lifetimes::Life> Lifetimes::Groups() const {
  std::vector<Life> live;
  for (const Life& life : lives_)
    if (members_[static_cast<size_t>(life.group)] > 0) live.push_back(life);
  return live;
}

}  // namespace muster
