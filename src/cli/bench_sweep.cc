#include "cli/bench_sweep.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/output_flags.h"
#include "base/standard_output.h"
#include "bench/console.h"
#include "bench/sweep.h"
#include "cli/dispatch.h"
#include "muster/error.h"

namespace muster::cli {
namespace {

// A folder for the files of one sweep, gone when the sweep is.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "muster_sweep_XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw Error(Code::kUnavailable, fmt::format("cannot create {}: {}", path_, std::strerror(errno)));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string File(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// This program with other words; standard output is dropped, standard error goes to a file. Returns its exit code.
int RunSelf(const std::vector<std::string>& words, const std::string& errors) {
  std::vector<std::string> all = {"/proc/self/exe"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawnattr_t attributes;  // this thread blocks Ctrl-C (base/interrupt.h); the child begins without
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failure = posix_spawn(&child, all[0].c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw Error(Code::kUnavailable, fmt::format("cannot start a point of the sweep: {}", std::strerror(failure)));
  // Ctrl-C on a terminal reaches both processes; a signal that was sent to this one alone is handed on.
  int status = 0;
  for (bool told = false; waitpid(child, &status, WNOHANG) == 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!Interrupted() || told) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(child, SIGINT);
    told = true;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The error line that a point left: its last line, without the program's name.
std::string LastLine(const std::string& text) {
  std::string line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) line = text.substr(begin, end - begin);
    begin = end + 1;
  }
  const std::string prefix = "muster bench: ";
  return line.rfind(prefix, 0) == 0 ? line.substr(prefix.size()) : line;
}

// The words of one point: the sweep's own, less the flags that belong to the sweep, then the point's values, which win.
std::vector<std::string> PointWords(const FlagTable& table, const FlagValues& values,
                                    const std::vector<bench::SweepAxis>& axes, const bench::SweepPoint& point,
                                    bool batch_is_largest, const std::string& result) {
  std::vector<std::string> words = {"bench"};
  if (batch_is_largest) words.push_back("--batch_size=auto");
  for (const FlagSpec& spec : table.specs()) {
    const bool is_of_sweep = spec.name == "sweep" || spec.name == "sweep_csv" || spec.name == "json";
    if (values.is_set(spec.name) && !is_of_sweep)
      words.push_back(fmt::format("--{}={}", spec.name, FlagValueText(values.Get(spec.name))));
  }
  for (size_t i = 0; i < axes.size(); ++i) words.push_back(fmt::format("--{}={}", axes[i].flag, point[i]));
  words.push_back("--json=" + result);
  return words;
}

}  // namespace

int BenchSweep(const FlagTable& table, const FlagValues& values, bool batch_is_largest) {
  const std::vector<bench::SweepAxis> axes = bench::ParseSweep(values.GetString("sweep"), table);
  // What each point would write to the same place, or, worse, go on from.
  for (const char* flag : {"train_dir", "trace_file", "graph_file", "partitioned_graph_file_prefix", "tfprof_file",
                           "benchmark_log_dir", "dump_passes"})
    if (values.is_set(flag))
      throw InvalidArgument(fmt::format("flag --{} cannot be combined with --sweep: its points would share it", flag));
  const std::optional<std::string> csv = values.FindString("sweep_csv"), json = values.FindString("json");
  if (csv) CheckFileFlag("sweep_csv", *csv);
  if (json) CheckJsonFlag("json", *json);
  CheckDistinctFiles({{"sweep_csv", csv.value_or("")}, {"json", json.value_or("")}});

  InterruptScope interrupts;
  bench::StandardConsole console("muster bench: ");
  const TemporaryFolder folder;
  int exit_code = kSuccess;
  const auto run = [&](const std::vector<bench::SweepAxis>& all, const bench::SweepPoint& point) {
    const std::string result = folder.File("result.json"), errors = folder.File("errors.txt");
    std::filesystem::remove(result);
    const int code = RunSelf(PointWords(table, values, all, point, batch_is_largest, result), errors);
    if (code == kSuccess) return bench::MeasurementFromJson(ReadFile(result));
    if (exit_code == kSuccess) exit_code = code;
    bench::SweepMeasurement failed;
    failed.error = LastLine(ReadFile(errors));
    if (failed.error.empty()) failed.error = fmt::format("ended with exit code {}", code);
    return failed;
  };
  const bench::SweepResult result = bench::RunSweep(axes, run, [&](const std::string& text) { console.Note(text); });
  for (const bench::SweepRow& row : result.rows)
    if (!row.measured.error.empty() && exit_code == kSuccess) exit_code = kFailure;
  WriteStandardOutput(bench::SweepTable(result));
  if (csv) WriteFileAtomically(*csv, bench::SweepCsv(result));
  if (json) WriteFileAtomically(*json, bench::SweepJson(result, values.words()));
  return result.interrupted ? kInterruptedExitCode : exit_code;
}

}  // namespace muster::cli
