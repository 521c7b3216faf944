#include "tests/contract/run_program.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/file.h"

namespace muster::testing {
namespace {

// In the child: only calls that are safe between fork and exec. Without the capabilities that let root read and write
// what others may not, so that tests mean the same for everybody.
[[noreturn]] void Become(char** argv, const char* folder, const char* out, const char* err) {
  const int out_fd = ::open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666),
            err_fd = ::open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (out_fd < 0 || err_fd < 0 || ::chdir(folder) != 0) ::_exit(127);
  ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
  ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
  ::dup2(out_fd, STDOUT_FILENO);
  ::dup2(err_fd, STDERR_FILENO);
  ::execv(argv[0], argv);
  ::_exit(127);
}

}  // namespace

std::string ProgramPath() {
  const char* path = std::getenv("MUSTER_BINARY");
  return path != nullptr ? path : MUSTER_BINARY_PATH;
}

Finished RunProgram(const std::vector<std::string>& words, const std::string& folder, double limit_seconds,
                    const std::function<void(const std::string& out, int pid)>& watch) {
  TemporaryFolder outputs;
  const std::string out = outputs.path() + "/out", err = outputs.path() + "/err";
  std::vector<std::string> all = {ProgramPath()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) Become(argv.data(), folder.c_str(), out.c_str(), err.c_str());

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::duration<double>(Clock::now() - start).count() > limit_seconds) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      throw std::runtime_error("the program ran longer than its limit; so far it printed:\n" + ReadFile(out) +
                               ReadFile(err));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (watch && std::filesystem::exists(out)) watch(ReadFile(out), pid);
  }
  Finished finished;
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = ReadFile(out);
  finished.err = ReadFile(err);
  return finished;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster_contract_XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  std::string line;
  while (std::getline(stream, line)) lines.push_back(line);
  return lines;
}

std::vector<std::string> Words(const std::string& command) {
  std::vector<std::string> words = {"bench"};
  std::istringstream stream(command);
  std::string word;
  stream >> word;
  while (stream >> word) words.push_back(word);
  return words;
}

}  // namespace muster::testing
