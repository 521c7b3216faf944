#pragma once

#include <string>
#include <vector>

namespace muster::cli {

// --batch_size is a number, but takes the word "auto" too: the largest batch that fits. This takes such flags out of
// the words of a command line; true if the last --batch_size was one of them, as the last one counts.
bool TakeAutoBatch(std::vector<std::string>* words);

}  // namespace muster::cli
