#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

// Number of single-character insertions, deletions, replacements and swaps of neighbours that turn one word into the
// other (Damerau-Levenshtein distance, optimal string alignment).
int EditDistance(std::string_view a, std::string_view b);

// The known words nearest to a mistyped one: all with the least distance, sorted; none when half of the typed
// characters or more are wrong. The distance is the smaller of that to the whole word and that to as much of the word
// as was typed (absl, which Python programs use, knows only the second, and misses "tain" for "train").
std::vector<std::string> NearestWords(std::string_view typed, const std::vector<std::string>& known);

}  // namespace muster
