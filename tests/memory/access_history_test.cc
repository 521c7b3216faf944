#include "memory/access_history.h"

#include <array>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace muster {
namespace {

// The same by the byte.
class ByteHistory {
 public:
  struct Byte {
    uint64_t write = 0;               // its time is unique; 0: none
    std::array<uint64_t, 3> reads{};  // since, by lane
  };

  std::set<uint64_t> Conflicts(size_t begin, size_t end, bool is_write) const {
    std::set<uint64_t> times;
    for (size_t b = begin; b < end; ++b) {
      if (bytes_[b].write > 0) times.insert(bytes_[b].write);
      for (uint64_t read : bytes_[b].reads)
        if (is_write && read > 0) times.insert(read);
    }
    return times;
  }
  void Enter(int lane, uint64_t time, size_t begin, size_t end, bool is_write) {
    for (size_t b = begin; b < end; ++b) {
      if (is_write) bytes_[b] = {time, {}};
      else bytes_[b].reads[static_cast<size_t>(lane)] = time;
    }
  }

 private:
  std::array<Byte, 64> bytes_;
};

}  // namespace

TEST(AccessHistory, FindsTheConflictsThatAByteByByteHistoryFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    AccessHistory history;
    ByteHistory bytes;
    for (uint64_t time = 1; time < 100; ++time) {
      const size_t begin = random() % 60, end = begin + 1 + random() % (64 - begin);
      const int lane = static_cast<int>(random() % 3);
      const bool is_write = random() % 3 == 0;
      std::set<uint64_t> found;
      history.VisitConflicts(begin, end, is_write,
                             [&](const AccessHistory::Access& access, bool) { found.insert(access.time); });
      ASSERT_EQ(found, bytes.Conflicts(begin, end, is_write)) << "round " << round << ", access " << time;
      history.Enter({lane, time, 0}, begin, end, is_write);
      bytes.Enter(lane, time, begin, end, is_write);
    }
  }
}

TEST(AccessHistory, ForgetsWhatTheCallerSaysIsDone) {
  AccessHistory history;
  history.Enter({0, 1, 0}, 0, 8, true);
  history.Enter({1, 1, 0}, 4, 8, false);
  history.Forget([](const AccessHistory::Access& access) { return access.lane == 0; });
  EXPECT_EQ(history.num_segments(), 1u);  // the part that was read
}

}  // namespace muster
