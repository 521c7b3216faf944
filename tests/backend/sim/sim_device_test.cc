#include "backend/sim/sim_device.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster {
namespace {

DeviceName Gpu(int index) {
  return DeviceName::Parse("/job:localhost/replica:0/task:0/device:GPU:" + std::to_string(index));
}

SimStream& StreamOf(SimGpu& gpu, StreamKind kind) { return static_cast<SimStream&>(*gpu.stream(kind)); }

constexpr int64_t kMiB = 1 << 20;

// One piece of work that is held up, so that what is enqueued behind it has not begun.
class HeldUp {
 public:
  explicit HeldUp(SimStream& stream) {
    stream.Enqueue("held up", {}, [this] { may_run_.wait(false); });
  }
  void Release() {
    may_run_ = true;
    may_run_.notify_all();
  }

 private:
  std::atomic<bool> may_run_{false};
};

}  // namespace

TEST(SimGpu, WorkRunsBehindTheBackOfItsCaller) {
  SimGpu gpu(Gpu(0), kMiB, false, {});
  std::atomic<bool> may_run{false}, has_run{false};
  StreamOf(gpu, StreamKind::kCompute).Enqueue("work", {}, [&] {
    may_run.wait(false);
    has_run = true;
  });
  EXPECT_FALSE(has_run);
  may_run = true;
  may_run.notify_all();
  gpu.stream(StreamKind::kCompute)->Synchronize();
  EXPECT_TRUE(has_run);
}

TEST(SimGpu, AStreamWaitsForTheEventOfAnother) {
  SimGpu first(Gpu(0), kMiB, false, {}), second(Gpu(1), kMiB, false, {});
  int value = 0, seen = 0;
  const std::unique_ptr<Event> event = first.CreateEvent();
  for (int round = 1; round <= 20; ++round) {  // events are recorded again
    StreamOf(first, StreamKind::kExchange).Enqueue("slow", {}, [&value, round] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      value = round;
    });
    first.stream(StreamKind::kExchange)->Record(event.get());
    second.stream(StreamKind::kCompute)->Wait(event.get());
    second.stream(StreamKind::kCompute)->Copy(&seen, &value, sizeof(value));
    second.stream(StreamKind::kCompute)->Synchronize();
    EXPECT_EQ(seen, round);
  }
}

TEST(SimGpu, AnAbandonedStreamSkipsWhatHasNotBegunAndWorksAfterwards) {
  SimGpu gpu(Gpu(0), kMiB, false, {});
  SimStream& stream = StreamOf(gpu, StreamKind::kCompute);
  stream.Abandon(std::make_exception_ptr(Error(Code::kCancelled, "idle")));
  EXPECT_NO_THROW(stream.Synchronize());
  HeldUp first(stream);
  bool has_run = false;
  stream.Enqueue("later", {}, [&] { has_run = true; });
  EXPECT_FALSE(stream.WaitFor(0.001));
  stream.Abandon(std::make_exception_ptr(Error(Code::kCancelled, "interrupted")));
  first.Release();
  EXPECT_THROW(stream.Synchronize(), Error);
  EXPECT_FALSE(has_run);
  EXPECT_TRUE(stream.WaitFor(0));
  stream.Enqueue("again", {}, [&] { has_run = true; });
  EXPECT_NO_THROW(stream.Synchronize());
  EXPECT_TRUE(has_run);
}

TEST(SimGpu, ADecisionSeesWhatFailedAndCanSkipTheRest) {
  SimGpu gpu(Gpu(0), kMiB, false, {});
  SimStream& stream = StreamOf(gpu, StreamKind::kCompute);
  bool has_run = false;
  const auto cancel = [](std::exception_ptr failure) {
    EXPECT_EQ(failure, nullptr);
    throw Error(Code::kCancelled, "interrupted");
  };
  stream.Decide(cancel);
  stream.Enqueue("later", {}, [&] { has_run = true; });
  EXPECT_THROW(stream.Synchronize(), Error);
  EXPECT_FALSE(has_run);
  bool has_failed = false;
  stream.Enqueue("bad", {}, [] { throw InvalidArgument("no"); });
  stream.Decide([&](std::exception_ptr failure) { has_failed = failure != nullptr; });
  EXPECT_THROW(stream.Synchronize(), Error);
  EXPECT_TRUE(has_failed);
}

TEST(SimGpu, AnErrorReachesTheStreamsThatWaitAndIsReportedOnce) {
  SimGpu gpu(Gpu(0), kMiB, false, {});
  SimStream &compute = StreamOf(gpu, StreamKind::kCompute), &copies = StreamOf(gpu, StreamKind::kCopyOut);
  const std::unique_ptr<Event> event = gpu.CreateEvent();
  bool has_run = false;
  compute.Enqueue("Log x", {}, [] { throw InvalidArgument("no"); });
  compute.Record(event.get());
  copies.Wait(event.get());
  copies.Enqueue("later", {}, [&] { has_run = true; });
  try {
    copies.Synchronize();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no (at Log x, GPU:0 compute stream)");
  }
  EXPECT_FALSE(has_run);
  EXPECT_THROW(compute.Synchronize(), Error);
  EXPECT_THROW(event->Synchronize(), Error);
  copies.Enqueue("again", {}, [&] { has_run = true; });
  copies.Synchronize();
  EXPECT_TRUE(has_run);
}

TEST(SimGpu, MemoryLimitsAreStrict) {
  SimGpu gpu(Gpu(0), 2 * kMiB, true, {});
  void* first = gpu.allocator()->Allocate(static_cast<size_t>(kMiB) + 1);
  EXPECT_EQ(gpu.allocator()->Stats().bytes_in_use, kMiB + 256);
  EXPECT_THROW(gpu.allocator()->Allocate(static_cast<size_t>(kMiB)), OutOfMemory);
  void* second = gpu.allocator()->Allocate(static_cast<size_t>(kMiB) - 256);
  EXPECT_EQ(gpu.allocator()->Stats().peak_bytes_in_use, 2 * kMiB);
  gpu.allocator()->Free(first);
  gpu.allocator()->Free(second);
}

TEST(SimGpu, DelaysKeepTheOrderWithinAStream) {
  SimGpu gpu(Gpu(0), kMiB, false, {.delay_seed = 5});
  std::vector<int> order;
  for (int i = 0; i < 50; ++i)
    StreamOf(gpu, StreamKind::kCompute).Enqueue("work", {}, [&order, i] { order.push_back(i); });
  gpu.stream(StreamKind::kCompute)->Synchronize();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(CheckedCpu, WaitsForAGpuBeforeItGoesOn) {
  auto hazards = std::make_shared<HazardChecker>();
  SimGpu gpu(Gpu(0), kMiB, false, {0, hazards});
  CheckedCpu cpu(DeviceName::Parse("/job:localhost/replica:0/task:0/device:CPU:0"), gpu.allocator(), {0, hazards});
  int value = 0, seen = 0;
  const std::unique_ptr<Event> event = gpu.CreateEvent();
  const MemoryAccess access{&value, sizeof(value), true, "output 0"};
  StreamOf(gpu, StreamKind::kCompute).Enqueue("slow", {&access, 1}, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    value = 3;
  });
  gpu.stream(StreamKind::kCompute)->Record(event.get());
  EXPECT_THROW(cpu.stream(StreamKind::kCompute)->Copy(&seen, &value, sizeof(value)), Error);
  cpu.stream(StreamKind::kCompute)->Wait(event.get());
  cpu.stream(StreamKind::kCompute)->Copy(&seen, &value, sizeof(value));
  EXPECT_EQ(seen, 3);
}

}  // namespace muster
