#include "cli/spin_limit.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace muster::cli {
namespace {

constexpr const char* kVariable = "GOMP_SPINCOUNT";

std::string ReadLoad() {
  std::string line;
  std::getline(std::ifstream("/proc/loadavg"), line);
  return line;
}

}  // namespace

int RunnableTasks(std::string_view loadavg) {
  const size_t slash = loadavg.find('/'), before = loadavg.rfind(' ', slash);
  if (slash == std::string_view::npos || before == std::string_view::npos) return 0;
  int tasks = 0;
  std::from_chars(loadavg.data() + before + 1, loadavg.data() + slash, tasks);
  return tasks;
}

bool WantsSpinLimit(const std::function<std::string()>& loadavg) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv(kVariable) != nullptr) return false;
  constexpr int kLooks = 5;
  int busy = 0;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    busy += RunnableTasks(loadavg()) > 1;
  }
  return busy > kLooks / 2;
}

void LimitSpinning(char** argv) {
  if (!WantsSpinLimit(ReadLoad)) return;
  // The file's own path, so that the process keeps its name in lists of processes.
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error || setenv(kVariable, "10000", 1) != 0) return;
  execv(self.c_str(), argv);
}

}  // namespace muster::cli
