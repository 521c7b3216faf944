#include "base/nearest.h"

#include <algorithm>

namespace muster {

int EditDistance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> before(width), previous(width), current(width);
  for (size_t j = 0; j < width; ++j) previous[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (size_t j = 1; j < width; ++j) {
      const int replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

std::vector<std::string> NearestWords(std::string_view typed, const std::vector<std::string>& known) {
  if (typed.size() <= 2) return {};
  std::vector<std::string> nearest;
  int least = static_cast<int>((typed.size() + 1) / 2);  // from here on half or more is wrong
  for (const std::string& word : known) {
    const int distance =
        std::min(EditDistance(typed, word), EditDistance(typed, std::string_view(word).substr(0, typed.size())));
    if (distance < least) {
      least = distance;
      nearest.clear();
    }
    // Nothing was accepted yet while "nearest" is empty and the distance only equals the limit.
    const bool within_limit = 2 * distance < static_cast<int>(typed.size());
    if (distance == least && within_limit) nearest.push_back(word);
  }
  std::sort(nearest.begin(), nearest.end());
  return nearest;
}

}  // namespace muster
