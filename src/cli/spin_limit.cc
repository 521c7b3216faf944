#include "cli/spin_limit.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace muster::cli {

void LimitSpinning(char** argv) {
  constexpr const char* kVariable = "GOMP_SPINCOUNT";
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv(kVariable) != nullptr) return;
  // The file's own path, so that the process keeps its name in lists of processes.
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error || setenv(kVariable, "10000", 1) != 0) return;
  execv(self.c_str(), argv);
}

}  // namespace muster::cli
