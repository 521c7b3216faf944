#pragma once

#include <functional>
#include <string>
#include <vector>

namespace muster::testing {

// What a finished process left.
struct Finished {
  int exit_code = -1;  // 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

// The program under test: environment MUSTER_BINARY, or the one that this build made.
std::string ProgramPath();

// Runs the program with these words in "folder" and waits for its end. "watch", if given, is called about every 10 ms
// with the output so far and the process id, and may send signals. Throws if the program cannot be started or runs
// longer than "limit_seconds" (it is killed then).
Finished RunProgram(const std::vector<std::string>& words, const std::string& folder, double limit_seconds = 300,
                    const std::function<void(const std::string& out, int pid)>& watch = nullptr);

// A folder that exists as long as this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> Lines(const std::string& text);

// A recorded command, for ours: "tf_cnn_benchmarks.py --a --b" → {"bench", "--a", "--b"}.
std::vector<std::string> Words(const std::string& command);

}  // namespace muster::testing
