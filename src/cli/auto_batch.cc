#include "cli/auto_batch.h"

namespace muster::cli {

bool TakeAutoBatch(std::vector<std::string>* words) {
  bool is_auto = false;
  for (size_t i = 0; i < words->size() && (*words)[i] != "--";) {
    const std::string& word = (*words)[i];
    const std::string name = word.starts_with("--") ? word.substr(2) : word.starts_with("-") ? word.substr(1) : "";
    const bool in_next_word = name == "batch_size" && i + 1 < words->size();
    if (name == "batch_size=auto" || (in_next_word && (*words)[i + 1] == "auto")) {
      is_auto = true;
      words->erase(words->begin() + static_cast<long>(i),
                   words->begin() + static_cast<long>(i + (in_next_word ? 2 : 1)));
      continue;
    }
    if (name.starts_with("batch_size=") || in_next_word) is_auto = false;
    ++i;
  }
  return is_auto;
}

}  // namespace muster::cli
