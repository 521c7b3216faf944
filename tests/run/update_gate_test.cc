#include "run/update_gate.h"

#include <gtest/gtest.h>

#include <thread>

#include "muster/error.h"

namespace muster {
namespace {

// What Enter does on a thread of its own.
Code EnterOf(UpdateGate& gate, std::exception_ptr failure = nullptr) try {
  gate.Enter(failure);
  return Code::kOk;
} catch (const Error& error) {
  return error.code();
}

TEST(UpdateGates, LetDevicesBeginTogether) {
  UpdateGate gate(2);
  gate.Reopen(false, 2);
  Code first = Code::kInternal;
  std::thread other([&] { first = EnterOf(gate); });
  EXPECT_EQ(EnterOf(gate), Code::kOk);
  other.join();
  EXPECT_EQ(first, Code::kOk);
  EXPECT_FALSE(gate.MayCancel());
}

TEST(UpdateGates, LetNobodyUpdateOnceCancelled) {
  UpdateGate gate(2);
  gate.Reopen(false, 2);
  Code first = Code::kInternal;
  std::thread other([&] { first = EnterOf(gate); });
  EXPECT_TRUE(gate.MayCancel());
  EXPECT_TRUE(gate.MayCancel());
  other.join();
  EXPECT_EQ(first, Code::kCancelled);
  EXPECT_EQ(EnterOf(gate), Code::kCancelled);
}

TEST(UpdateGates, LetNobodyUpdateWhenADeviceFailed) {
  UpdateGate gate(2);
  gate.Reopen(false, 2);
  Code first = Code::kInternal;
  std::thread other([&] { first = EnterOf(gate); });
  EXPECT_EQ(EnterOf(gate, std::make_exception_ptr(InvalidArgument("a label"))), Code::kInvalidArgument);
  other.join();
  EXPECT_EQ(first, Code::kInvalidArgument);
  EXPECT_FALSE(gate.MayCancel());
  gate.Reopen(false, 1);
  EXPECT_EQ(EnterOf(gate), Code::kOk);
}

}  // namespace
}  // namespace muster
