// A checkpoint is written over one of the same name by a process that dies at each of its system calls in turn.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"
#include "data/format/bundle_reader.h"
#include "data/format/bundle_writer.h"
#include "tests/testing/idx_files.h"

namespace muster::data {
namespace {

constexpr int kFirst = 1, kSecond = 2;  // what the two checkpoints hold

void WriteCheckpoint(const std::string& prefix, int value, int num_shards) {
  BundleWriter writer(prefix, num_shards);
  for (int shard = 0; shard < num_shards; ++shard)
    writer.Add("t" + std::to_string(shard),
               Tensor::Of<float>({2}, {static_cast<float>(value), static_cast<float>(num_shards)}), shard);
  writer.Finish();
}

// What the checkpoint holds; throws if it is not whole.
int ReadCheckpoint(const std::string& prefix) {
  const BundleReader bundle(prefix);
  int value = 0;
  for (const BundleEntry& entry : bundle.entries()) {
    const Tensor tensor = bundle.Read(entry.name);
    value = static_cast<int>(tensor.data<float>()[0]);
    EXPECT_EQ(tensor.data<float>()[1], static_cast<float>(bundle.entries().size()));
  }
  return value;
}

enum class End { kDone, kKilled, kCannotTrace };

// Runs the action in a process of its own that is killed as it enters or leaves its system call number "calls".
End RunUntilCall(int calls, const std::function<void()>& action) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    ::raise(SIGSTOP);
    action();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFSTOPPED(status)) return End::kCannotTrace;
  for (; calls > 0; --calls) {
    if (::ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr) != 0) break;
    ::waitpid(pid, &status, 0);
    if (WIFEXITED(status)) return End::kDone;
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, &status, 0);
  return End::kKilled;
}

// Some hundred checkpoints, each of which is synced: in memory where the system has a folder there.
class BundleCrash : public ::testing::TestWithParam<std::pair<int, int>> {
 protected:
  void SetUp() override {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
  }
};

TEST_P(BundleCrash, LeavesTheOldCheckpointOrTheNewOneAtAnyMoment) {
  const auto [old_shards, new_shards] = GetParam();
  bool was_old = false, was_new = false;
  for (int calls = 1;; ++calls) {
    const testing::TempFolder folder;
    const std::string prefix = (folder.path() / "model.ckpt-7").string();
    WriteCheckpoint(prefix, kFirst, old_shards);
    const End end = RunUntilCall(calls, [&] { WriteCheckpoint(prefix, kSecond, new_shards); });
    if (end == End::kCannotTrace) GTEST_SKIP() << "processes must not be traced here";
    int value = 0;
    ASSERT_NO_THROW(value = ReadCheckpoint(prefix)) << "killed at call " << calls;
    (value == kFirst ? was_old : was_new) =
        true;  // in this order but for system calls of the allocator, which come when they want
    if (end == End::kDone) break;
    // The next writer ends with the same files as one that nobody disturbed.
    WriteCheckpoint(prefix, 3, new_shards);
    EXPECT_EQ(ReadCheckpoint(prefix), 3);
    RemoveAbandonedFiles(folder.path().string(), "model.ckpt");
    int files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder.path())) ++files;
    EXPECT_EQ(files, new_shards + 1) << "killed at call " << calls;
    EXPECT_TRUE(std::filesystem::exists(ShardPath(prefix, 0, new_shards)));
  }
  EXPECT_TRUE(was_old && was_new);
}

INSTANTIATE_TEST_SUITE_P(Shards, BundleCrash,
                         ::testing::Values(std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 1}, std::pair{1, 2}));

}  // namespace
}  // namespace muster::data
