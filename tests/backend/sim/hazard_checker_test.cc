#include "backend/sim/hazard_checker.h"

#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster {
namespace {

class Hazards : public testing::Test {
 protected:
  void Read(int lane, size_t begin, size_t end) { Access(lane, "read", begin, end, false); }
  void Write(int lane, size_t begin, size_t end) { Access(lane, "write", begin, end, true); }
  void Access(int lane, const char* what, size_t begin, size_t end, bool is_write) {
    const MemoryAccess access{memory_ + begin, static_cast<int64_t>(end - begin), is_write, "input 0"};
    checker_.OnWork(lane, what, {&access, 1});
  }
  // Lane "to" waits for an event recorded on "from" now.
  void Order(int from, int to) { checker_.OnWait(to, checker_.OnRecord(from)); }

  char memory_[64] = {};
  HazardChecker checker_;
  const int a_ = checker_.AddLane("GPU:0 compute stream"), b_ = checker_.AddLane("GPU:0 exchange stream"),
            c_ = checker_.AddLane("GPU:1");
};

}  // namespace

TEST_F(Hazards, AReadOfWhatAnotherStreamWritesNeedsAWait) {
  Write(a_, 0, 16);
  EXPECT_THROW(Read(b_, 8, 24), Error);
  Order(a_, b_);
  Read(b_, 8, 24);
}

TEST_F(Hazards, MemoryThatIsStillReadMustNotBeOverwritten) {
  Write(a_, 0, 16);
  Order(a_, b_);
  Read(b_, 0, 16);
  EXPECT_THROW(Write(a_, 15, 17), Error);
  Write(a_, 16, 20);
  Order(b_, a_);
  Write(a_, 15, 17);
}

TEST_F(Hazards, TwoReadsNeedNoOrder) {
  Read(a_, 0, 16);
  EXPECT_NO_THROW(Read(b_, 0, 16));
}

TEST_F(Hazards, AnEventStandsForWhatWasEnqueuedBeforeItOnly) {
  Write(a_, 0, 8);
  const VectorClock event = checker_.OnRecord(a_);
  Write(a_, 8, 16);
  checker_.OnWait(b_, event);
  Read(b_, 0, 8);
  EXPECT_THROW(Read(b_, 8, 16), Error);
}

TEST_F(Hazards, OrderGoesThroughThirdStreams) {
  Write(a_, 0, 8);
  Order(a_, b_);
  Order(b_, c_);
  EXPECT_NO_THROW(Read(c_, 0, 8));
}

TEST_F(Hazards, WhatTheHostWaitedForIsOrderedBeforeEverythingLater) {
  Write(a_, 0, 8);
  checker_.OnHostWait(a_);
  EXPECT_NO_THROW(Write(b_, 0, 8));
}

TEST_F(Hazards, TheMessageNamesBothSides) {
  Access(a_, "MatMul dense", 0, 8, true);
  try {
    Access(b_, "copy", 0, 8, false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "hazard: copy on GPU:0 exchange stream reads its input 0 (8 bytes) while MatMul dense on GPU:0 compute "
              "stream may still be "
              "writing it: a wait is missing");
  }
}

}  // namespace muster
