// Placement: TensorFlow 1's rules, sentence by sentence, on devices of several tasks that exist by name only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/placement.h"
#include "muster/ops.h"
#include "muster/optimizer.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A table with a row for every operation of these types but for "without".
KernelTable TableOf(const std::vector<DType>& dtypes, OpKind without = OpKind::kNoOp) {
  std::vector<KernelRow> rows;
  for (size_t kind = 0; kind < kNumOpKinds; ++kind)
    for (DType dtype : dtypes)
      if (static_cast<OpKind>(kind) != without) rows.push_back({static_cast<OpKind>(kind), dtype, nullptr});
  return KernelTable({rows});
}

class Placing : public testing::Test {
 protected:
  // Short names for devices of this process, full ones for those of other tasks.
  void Devices(const std::vector<std::string>& names) {
    request_.devices.clear();
    for (const std::string& text : names) {
      const DeviceName name = DeviceName::Parse(text).MergedInto(DeviceName::Parse("/job:localhost/replica:0/task:0"));
      request_.devices.push_back({name, *name.type == "GPU" ? &gpu_ : &cpu_, {}});
    }
  }

  Placement Run() {
    request_.graph = &graph_;
    request_.variables = &variables_;
    variables_.Update(graph_);
    return PlaceGraph(request_);
  }

  // "GPU:1", or with the task if it is not this process: "ps/1/CPU:0".
  std::string At(const Placement& placement, NodeId id) {
    const DeviceName& name = placement.NameOf(id);
    const std::string device = *name.type + ":" + std::to_string(*name.index);
    return *name.job == "localhost" ? device : *name.job + "/" + std::to_string(*name.task) + "/" + device;
  }
  std::string At(Output output) { return At(Run(), output.node); }
  std::string At(NodeId id) { return At(Run(), id); }

  std::string ErrorOf(NodeId id) {
    try {
      Run().DeviceOf(id);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::string ErrorOf(Output output) { return ErrorOf(output.node); }

  Output Float(const Scope& scope) { return ops::Fill(scope, DType::kFloat32, Shape{2}, 1); }
  // A float value that is no generator.
  Output Value(const Scope& scope) { return ops::Neg(scope, Float(scope)); }
  Output Int(const Scope& scope) { return ops::Cast(scope, Value(scope), DType::kInt32); }

  KernelTable cpu_ = TableOf({DType::kFloat32, DType::kInt32, DType::kInt64, DType::kBool});
  KernelTable gpu_ = TableOf({DType::kFloat32}, OpKind::kArgMax);
  Graph graph_;
  Scope root_{&graph_};
  VariableTable variables_;
  CompileRequest request_;
};

}  // namespace

TEST_F(Placing, GpusComeBeforeCpus) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  EXPECT_EQ(At(Value(root_)), "GPU:0");
}

TEST_F(Placing, DevicesOfOneTypeAreTriedInTheOrderOfTheirNamesAsText) {
  Devices({"/cpu:2", "/cpu:10"});
  EXPECT_EQ(At(Value(root_)), "CPU:10");
}

TEST_F(Placing, WithoutAnOwnTaskTheFirstNameOfTheClusterIsTaken) {
  Devices({"/job:worker/task:0/cpu:0", "/job:ps/task:2/cpu:0", "/job:ps/task:10/cpu:0"});
  EXPECT_EQ(At(Value(root_)), "ps/10/CPU:0");  // "ps" < "worker", "task:10" < "task:2"
  EXPECT_EQ(At(Value(root_.WithDevice("/task:0"))), "worker/0/CPU:0");
}

TEST_F(Placing, ADeviceWithoutAJobMeansTheOwnTask) {
  Devices({"/job:ps/task:0/cpu:0", "/job:ps/task:0/gpu:0", "/job:worker/task:1/cpu:0", "/job:worker/task:0/cpu:0",
           "/job:worker/task:0/gpu:0"});
  request_.own_task = DeviceName::Parse("/job:worker/replica:0/task:1");
  EXPECT_EQ(At(Value(root_.WithDevice("/cpu:0"))), "worker/1/CPU:0");
  EXPECT_EQ(At(Value(root_)), "worker/1/CPU:0");  // although other tasks have a GPU
  EXPECT_EQ(At(Value(root_.WithDevice("/job:ps"))), "ps/0/GPU:0");
  EXPECT_EQ(At(Value(root_.WithDevice("/task:0"))), "worker/0/GPU:0");
}

TEST_F(Placing, WhatIsAskedForIsGiven) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  EXPECT_EQ(At(Value(root_.WithDevice("/gpu:1"))), "GPU:1");
  EXPECT_EQ(At(Value(root_.WithDevice("/cpu:0"))), "CPU:0");
  EXPECT_EQ(At(Value(root_.WithDevice("/device:CPU:*"))), "CPU:0");
  EXPECT_THAT(Run().moved(), IsEmpty());
}

TEST_F(Placing, AnOperationGoesOnlyWhereItHasAKernel) {
  Devices({"/cpu:0", "/gpu:0"});
  EXPECT_EQ(At(Int(root_)), "GPU:0");  // a Cast is chosen by what it reads
  EXPECT_EQ(At(ops::Neg(root_, Int(root_))), "CPU:0");
  EXPECT_EQ(At(ops::ArgMax(root_, Value(root_), 0)), "CPU:0");
  EXPECT_THAT(Run().moved(), IsEmpty());  // nobody asked for the GPU
}

TEST_F(Placing, AnUpdateRunsWhereItsVariableLives) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Variable v = ops::MakeVariable(root_.WithDevice("/gpu:1"), "v", Float(root_));
  const Output update = ops::AssignAdd(root_, v, Value(root_.WithDevice("/cpu:0")));
  EXPECT_EQ(At(update), "GPU:1");
  EXPECT_EQ(At(v.initializer), "GPU:1");
  EXPECT_EQ(At(ops::Neg(root_, v)), "GPU:0");  // reading is not updating
}

TEST_F(Placing, AVariableGoesWhereAllItsUpdatesHaveKernels) {
  Devices({"/cpu:0", "/gpu:0"});
  const Variable count = ops::MakeVariable(root_, "count", ops::Scalar<int64_t>(root_, 0));
  const Variable weight = ops::MakeVariable(root_, "weight", Float(root_));
  EXPECT_EQ(At(count), "CPU:0");  // the GPU has no int64 kernels
  EXPECT_EQ(At(weight), "GPU:0");
}

TEST_F(Placing, ColocationFollowsANodeOrAName) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Output a = Value(root_.WithDevice("/gpu:1"));
  const Output b = ops::Neg(root_.ColocatedWith(a.node), Value(root_));
  EXPECT_EQ(At(b), "GPU:1");
  // A group whose name no node has.
  const Output c = Value(root_.WithDevice("/gpu:1")), d = Value(root_);
  for (Output o : {c, d}) graph_.mutable_node(o.node).colocate_with = {"group"};
  EXPECT_EQ(At(d), "GPU:1");
}

TEST_F(Placing, ColocationIsTransitive) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Output a = Value(root_), b = ops::Neg(root_.ColocatedWith(a.node), a);
  const Output c = ops::Neg(root_.ColocatedWith(b.node), b);
  graph_.mutable_node(c.node).device = DeviceName::Parse("/gpu:1");
  EXPECT_EQ(At(a), "GPU:1");
}

TEST_F(Placing, AGroupTakesTheIntersectionOfItsKernels) {
  Devices({"/cpu:0", "/gpu:0"});
  const Output a = Value(root_);
  const Output b = ops::ArgMax(root_.ColocatedWith(a.node), a, 0);
  EXPECT_EQ(At(b), "CPU:0");
  EXPECT_EQ(At(a), "CPU:0");
}

TEST_F(Placing, SlotsLiveBesideTheirVariable) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Variable v = ops::MakeVariable(root_.WithDevice("/gpu:1"), "v", Float(root_));
  auto optimizer = AdamOptimizer(0.1);
  const NodeId train = optimizer->Minimize(root_, ops::Sum(root_, ops::Square(root_, v)));
  for (const auto& [name, slot] : optimizer->Slots(v)) EXPECT_EQ(At(slot), "GPU:1") << name;
  EXPECT_EQ(At(train), "GPU:0");
}

TEST_F(Placing, AGeneratorGoesWhereItsReadersAre) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Output one = Float(root_), two = Float(root_), split = Float(root_), alone = Float(root_);
  ops::Neg(root_.WithDevice("/gpu:1"), one);
  ops::Add(root_.WithDevice("/gpu:1"), two, ops::Neg(root_.WithDevice("/gpu:1"), two));
  ops::Neg(root_.WithDevice("/gpu:1"), split);
  ops::Neg(root_.WithDevice("/cpu:0"), split);
  EXPECT_EQ(At(one), "GPU:1");
  EXPECT_EQ(At(two), "GPU:1");
  EXPECT_EQ(At(split), "GPU:0");  // they do not agree: the first candidate
  EXPECT_EQ(At(alone), "GPU:0");
}

TEST_F(Placing, AGeneratorThatAsksForADeviceStaysThere) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Output x = Float(root_.WithDevice("/cpu:0"));
  ops::Neg(root_.WithDevice("/gpu:1"), x);
  EXPECT_EQ(At(x), "CPU:0");
}

TEST_F(Placing, AGeneratorDoesNotFollowToWhereItHasNoKernel) {
  Devices({"/cpu:0", "/gpu:0"});
  const Output x = ops::Fill(root_, DType::kInt32, Shape{2}, 1);
  ops::Reshape(root_.WithDevice("/gpu:0"), x, {1, 2});
  EXPECT_EQ(At(x), "CPU:0");
}

TEST_F(Placing, AGeneratorThatAnotherGeneratorWaitsForFollowsItToo) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Output first = Float(root_);
  const Output second = Float(root_.WithControlDependencies({first.node}));
  ops::Neg(root_.WithDevice("/gpu:1"), second);
  EXPECT_EQ(At(first), "GPU:1");
}

TEST_F(Placing, InitialValuesAreMadeWhereTheirVariableIs) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Output initial = Float(root_);
  ops::MakeVariable(root_.WithDevice("/cpu:0"), "v", initial);
  EXPECT_EQ(At(initial), "CPU:0");
}

TEST_F(Placing, WhatOnlyRelabelsItsInputStaysWithIt) {
  Devices({"/cpu:0", "/gpu:0"});
  const Output x = Value(root_.WithDevice("/cpu:0"));
  EXPECT_EQ(At(ops::Reshape(root_, x, {1, 2})), "CPU:0");
  EXPECT_EQ(At(ops::Identity(root_, x)), "CPU:0");
  EXPECT_EQ(At(ops::Reshape(root_.WithDevice("/gpu:0"), x, {2, 1})), "GPU:0");
}

TEST_F(Placing, WhoAsksForNothingMayFollowToAnotherTask) {
  Devices({"/job:worker/task:0/cpu:0", "/job:ps/task:0/cpu:0"});
  request_.own_task = DeviceName::Parse("/job:worker/replica:0/task:0");
  const Output initial = Float(root_), pinned = Float(root_.WithDevice("/cpu:0"));
  ops::MakeVariable(root_.WithDevice("/job:ps"), "v", initial);
  ops::MakeVariable(root_.WithDevice("/job:ps"), "w", pinned);
  EXPECT_EQ(At(initial), "ps/0/CPU:0");
  EXPECT_EQ(At(pinned), "worker/0/CPU:0");
}

TEST_F(Placing, AVariableStaysWhereItWasPlacedFirst) {
  Devices({"/cpu:0", "/gpu:0"});
  const Variable v = ops::MakeVariable(root_, "v", Float(root_));
  EXPECT_EQ(At(v), "GPU:0");
  // The graph grows by an operation that would have kept the variable off the GPU: it follows, or cannot be placed.
  const Output follows = ops::Neg(root_.ColocatedWith(v.ref.node), v);
  const Output cannot = ops::ArgMax(root_.WithDevice("/cpu:0"), v, 0);
  EXPECT_EQ(At(v), "GPU:0");
  EXPECT_EQ(At(follows), "GPU:0");
  EXPECT_EQ(At(cannot), "CPU:0");
  graph_.mutable_node(cannot.node).colocate_with = {"v"};
  EXPECT_THAT(ErrorOf(v), HasSubstr("has kernels for all that must share it"));
}

TEST_F(Placing, SoftPlacementDropsTypeAndIndexAndSaysWhatMoved) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  const Output absent = ops::Neg(root_.WithDevice("/gpu:7").Named("absent"), Value(root_));
  const Output no_kernel = ops::Neg(root_.WithDevice("/gpu:1").Named("no_kernel"), Int(root_));
  const Placement placement = Run();
  EXPECT_EQ(At(placement, absent.node), "GPU:0");
  EXPECT_EQ(At(placement, no_kernel.node), "CPU:0");
  const std::string task = "/job:localhost/replica:0/task:0";
  EXPECT_THAT(placement.moved(),
              ElementsAre(SoftPlacement{"absent", "Neg", "/device:GPU:7", task + "/device:GPU:0", "no such device"},
                          SoftPlacement{"no_kernel", "Neg", "/device:GPU:1", task + "/device:CPU:0",
                                        "no kernel for int32 there"}));
  EXPECT_EQ(placement.moved()[0].ToString(),
            "absent: (Neg): asked for /device:GPU:7, got " + task + "/device:GPU:0: no such device");
}

TEST_F(Placing, SoftPlacementNeverLeavesTheTask) {
  Devices({"/job:worker/task:0/cpu:0", "/job:worker/task:0/gpu:0", "/job:worker/task:1/cpu:0"});
  EXPECT_EQ(At(Value(root_.WithDevice("/job:worker/task:1/gpu:0"))), "worker/1/CPU:0");
  const Output nowhere = Value(root_.WithDevice("/job:worker/task:2/gpu:0"));
  EXPECT_EQ(
      ErrorOf(nowhere),
      "cannot place Neg_1: could not satisfy explicit device specification /job:worker/task:2/device:GPU:0; devices: "
      "/job:worker/replica:0/task:0/device:GPU:0, /job:worker/replica:0/task:0/device:CPU:0, "
      "/job:worker/replica:0/task:1/device:CPU:0; kernels: Neg float32 Neg_1: GPU, CPU");
  EXPECT_THAT(ErrorOf(Value(root_.WithDevice("/job:ps"))),
              HasSubstr("could not satisfy explicit device specification /job:ps;"));
}

TEST_F(Placing, WithoutSoftPlacementAnUnsatisfiableRequestIsAnError) {
  request_.allow_soft_placement = false;
  Devices({"/cpu:0", "/gpu:0"});
  EXPECT_EQ(ErrorOf(ops::Neg(root_.WithDevice("/gpu:1").Named("b"), Value(root_))),
            "cannot place b: could not satisfy explicit device specification /device:GPU:1; devices: "
            "/job:localhost/replica:0/task:0/device:GPU:0, /job:localhost/replica:0/task:0/device:CPU:0; kernels: Neg "
            "float32 b: GPU, CPU");
  EXPECT_THAT(ErrorOf(ops::Neg(root_.WithDevice("/gpu:0").Named("i"), Int(root_))),
              AllOf(HasSubstr("cannot place i: no device that matches /device:GPU:0 has kernels"),
                    HasSubstr("Neg int32 i: CPU")));
}

TEST_F(Placing, ErrorsListWhatEachOperationOfTheGroupSupports) {
  request_.allow_soft_placement = false;
  Devices({"/cpu:0", "/gpu:0"});
  const Variable v = ops::MakeVariable(root_.WithDevice("/gpu:0"), "v", ops::Scalar<int32_t>(root_, 0));
  EXPECT_EQ(ErrorOf(v),
            "cannot place v: no device that matches /device:GPU:0 has kernels for all that must share it; devices: "
            "/job:localhost/replica:0/task:0/device:GPU:0, /job:localhost/replica:0/task:0/device:CPU:0; operations "
            "that share its "
            "device, with their kernels: Variable int32 v: GPU, CPU; Assign int32 v/Assign: CPU");
}

TEST_F(Placing, AnOperationThatNoDeviceCanRunIsUnimplemented) {
  Devices({"/gpu:0"});
  const Output x = ops::ArgMax(root_.Named("best"), Value(root_), 0);
  try {
    Run().DeviceOf(x.node);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnimplemented);
    EXPECT_STREQ(error.what(),
                 "cannot place best: no device has a kernel for ArgMax float32; devices: "
                 "/job:localhost/replica:0/task:0/device:GPU:0");
  }
}

TEST_F(Placing, WhatCannotBePlacedIsNoErrorForTheRest) {
  request_.allow_soft_placement = false;
  Devices({"/cpu:0"});
  const Output bad = ops::Neg(root_.WithDevice("/gpu:0").Named("bad"), Value(root_)), good = Value(root_);
  EXPECT_EQ(At(good), "CPU:0");
  EXPECT_THAT(ErrorOf(bad), HasSubstr("cannot place bad"));
  EXPECT_THAT(Run().Line(graph_, bad.node), AllOf(HasSubstr("bad: (Neg): none: "), HasSubstr("/device:GPU:0")));
}

TEST_F(Placing, AVariableThatCannotBePlacedIsAnErrorAtOnce) {
  request_.allow_soft_placement = false;
  Devices({"/cpu:0"});
  ops::MakeVariable(root_.WithDevice("/gpu:0"), "v", Float(root_));
  EXPECT_THROW(Run(), Error);
  EXPECT_THROW(Run(), Error);  // and again: nothing was remembered
}

TEST_F(Placing, AnUpdatePinnedElsewhereThanItsVariableIsAnErrorWithoutSoftPlacement) {
  request_.allow_soft_placement = false;
  Devices({"/cpu:0", "/gpu:0"});
  const Variable v = ops::MakeVariable(root_.WithDevice("/cpu:0"), "v", Float(root_));
  ops::AssignAdd(root_.WithDevice("/gpu:0").Named("add"), v, Float(root_));
  EXPECT_EQ(ErrorOf(v),
            "add asks for /device:GPU:0, but v, with which it must share a device, asks for /device:CPU:0; ask for one "
            "device, or "
            "allow soft placement");
}

TEST_F(Placing, WithSoftPlacementTheUpdateGoesToItsVariable) {
  Devices({"/cpu:0", "/gpu:0"});
  const Variable v = ops::MakeVariable(root_.WithDevice("/cpu:0"), "v", Float(root_));
  const Output add = ops::AssignAdd(root_.WithDevice("/gpu:0").Named("add"), v, Float(root_));
  const Placement placement = Run();
  EXPECT_EQ(At(placement, v.ref.node), "CPU:0");
  EXPECT_EQ(At(placement, add.node), "CPU:0");
  ASSERT_EQ(placement.moved().size(), 1u);
  EXPECT_EQ(placement.moved()[0].reason, "it shares its device with v");
}

TEST_F(Placing, ContradictingOperationsLeaveTypeOrIndexOpenWhateverTheirOrder) {
  Devices({"/cpu:0", "/gpu:0", "/gpu:1"});
  auto group = [&](const std::vector<const char*>& devices) {
    static int count = 0;
    const std::string name = "group" + std::to_string(count++);
    Output last;
    for (const char* device : devices) {
      last = Value(root_.WithDevice(device));
      graph_.mutable_node(last.node).colocate_with = {name};
    }
    return At(last);
  };
  EXPECT_EQ(group({"/gpu:1", "/gpu:0"}), "GPU:0");  // a GPU, but whichever
  EXPECT_EQ(group({"/gpu:1", "/cpu:0"}), "GPU:0");  // any device
  EXPECT_EQ(group({"/cpu:0", "/gpu:1"}), "GPU:0");
  EXPECT_EQ(group({"/cpu:0", "/gpu:1", "/cpu:0"}), "GPU:0");
  EXPECT_EQ(group({"/gpu", "/device:*:1"}), "GPU:1");  // no contradiction
}

TEST_F(Placing, AConflictOfJobsOrTasksIsAlwaysAnError) {
  Devices({"/job:ps/task:0/cpu:0", "/job:ps/task:1/cpu:0", "/job:worker/task:0/cpu:0"});
  const Variable v = ops::MakeVariable(root_.WithDevice("/job:ps/task:0"), "v", Float(root_));
  const Output a = Value(root_.WithDevice("/job:ps/task:0")), b = Value(root_.WithDevice("/job:ps/task:1"));
  for (Output o : {a, b}) graph_.mutable_node(o.node).colocate_with = {"group"};
  EXPECT_EQ(ErrorOf(a),
            "Neg_1 asks for /job:ps/task:1, but Neg, with which it must share a device, asks for /job:ps/task:0; soft "
            "placement "
            "never moves an operation to another task");
  ops::AssignAdd(root_.WithDevice("/job:worker").Named("add"), v, Float(root_));
  EXPECT_THAT(
      ErrorOf(v),
      HasSubstr("add asks for /job:worker, but v, with which it must share a device, is on /job:ps/replica:0/task:0/"));
}

TEST_F(Placing, VariablesThatLiveApartCannotBeJoinedLater) {
  Devices({"/gpu:0", "/gpu:1"});
  ops::MakeVariable(root_.WithDevice("/gpu:0"), "v", Float(root_));
  const Variable w = ops::MakeVariable(root_.WithDevice("/gpu:1"), "w", Float(root_));
  Run();
  graph_.mutable_node(w.ref.node).colocate_with = {"v"};
  EXPECT_THAT(ErrorOf(w), HasSubstr("variables v and w must share a device, but live on "));
}

TEST_F(Placing, TheLogNamesEachOperationOnceInTensorFlowsForm) {
  Devices({"/cpu:0", "/gpu:0"});
  const Output y =
      ops::Neg(root_.WithDevice("/gpu:0").Named("y"), ops::Fill(root_.Named("x"), DType::kFloat32, Shape{2}, 1));
  const Placement placement = Run();
  EXPECT_EQ(placement.Line(graph_, y.node), "y: (Neg): /job:localhost/replica:0/task:0/device:GPU:0");
  EXPECT_EQ(placement.Line(graph_, graph_.Find("x")), "x: (Fill): /job:localhost/replica:0/task:0/device:GPU:0");
}

}  // namespace muster
