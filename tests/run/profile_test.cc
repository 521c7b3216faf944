// The graphs of a plan's partitions, and the profile that is made over them.

#include "muster/profile.h"

#include <gtest/gtest.h>

#include "muster/gradients.h"
#include "muster/graph_export.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "run/proto/profile.pb.h"

namespace muster {
namespace {

// relu(x w + b) on the first device, its square on the second.
class TwoDevices : public testing::Test {
 protected:
  TwoDevices() {
    const Scope first = Scope(&graph_).WithDevice("/cpu:0"), second = Scope(&graph_).WithDevice("/gpu:0");
    const Output w = ops::MakeVariable(first, "w", ops::Fill(first, DType::kFloat32, Shape{3, 4}, 1), true);
    const Output b = ops::MakeVariable(first, "b", ops::Fill(first, DType::kFloat32, Shape{4}, 2), true);
    x_ = ops::Placeholder(first.Named("x"), DType::kFloat32, Shape{2, 3});
    y_ = ops::Square(second.Named("y"), ops::Relu(first, ops::BiasAdd(first, ops::MatMul(first, x_, w), b)));
  }

  std::unique_ptr<Session> MakeSession(bool keeps) {
    // One thread: the thread sanitizer does not know how OpenMP keeps its threads in order.
    SessionOptions options{.intra_op_threads = 1, .keep_partition_graphs = keeps};
    options.gpu = {.simulated_gpus = 1, .card_memory_mb = 16};
    auto session = std::make_unique<Session>(&graph_, options);
    session->Initialize();
    return session;
  }

  static std::vector<std::string> OpsOf(const Graph& graph) {
    std::vector<std::string> ops;
    for (NodeId id = 0; id < graph.num_nodes(); ++id) ops.emplace_back(OpName(graph.node(id).kind));
    std::sort(ops.begin(), ops.end());
    return ops;
  }

  Graph graph_;
  Output x_, y_;
};

}  // namespace

TEST_F(TwoDevices, PartitionGraphsAreWhatEachDeviceComputesAfterFusion) {
  const auto session = MakeSession(true);
  const auto runner = session->Prepare({x_}, {y_});
  for (int when : {0, 1}) {  // compiled, and bound to memory
    const std::vector<Graph> graphs = runner->PartitionGraphs();
    ASSERT_EQ(graphs.size(), 2) << when;
    EXPECT_EQ(OpsOf(graphs[0]),
              (std::vector<std::string>{"Placeholder", "Variable", "Variable", "_FusedMatMul", "_Send"}));
    EXPECT_EQ(OpsOf(graphs[1]), (std::vector<std::string>{"Square", "_Recv"}));
    EXPECT_EQ(graphs[1].node(0).device.ToString(), "/job:localhost/replica:0/task:0/device:GPU:0");
    EXPECT_NE(GraphToGraphDefText(graphs[1]).find("op: \"_Recv\""), std::string::npos);
    runner->Run({Tensor(DType::kFloat32, Shape{2, 3})});
  }
}

TEST_F(TwoDevices, PartitionGraphsAreKeptOnlyIfAskedFor) {
  EXPECT_TRUE(MakeSession(false)->Prepare({x_}, {y_})->PartitionGraphs().empty());
}

// Times are made up, so that every figure of the profile has a closed form.
TEST_F(TwoDevices, AProfileHoldsEachStepOfEachOperation) {
  const auto session = MakeSession(true);
  const auto runner = session->Prepare({x_}, {y_});
  Profile profile(runner->PartitionGraphs());
  for (int64_t step : {0, 1}) {
    Timeline timeline;
    runner->RunTraced({Tensor(DType::kFloat32, Shape{2, 3})}, &timeline);
    for (TimelineSpan& span : timeline.spans) {
      span.start = 1e-3;
      span.seconds = span.op == "Square" ? 20e-6 + 20e-6 * static_cast<double>(step) : 10e-6;
    }
    profile.AddStep(step, timeline);
  }
  tfprof::ProfileProto proto;
  ASSERT_TRUE(proto.ParseFromString(profile.ToProfileProto()));
  EXPECT_EQ(proto.steps_size(), 2);
  EXPECT_EQ(proto.nodes_size(), 7);
  int found = 0;
  for (const auto& [id, node] : proto.nodes()) {
    if (node.op() == "_Recv") {
      EXPECT_EQ(node.execs_size(), 0) << "a receive only waits";
    }
    if (node.op() == "Square") {
      ++found;
      EXPECT_EQ(node.name(), "y");
      EXPECT_EQ(proto.nodes().at(node.inputs().at(0)).op(), "_Recv");
      const tfprof::ExecProfile& second = node.execs().at(1);
      EXPECT_EQ(second.all_start_micros(), 1000);
      EXPECT_EQ(second.latest_end_micros(), 1040);
      EXPECT_EQ(second.accelerator_execs()
                    .at("/job:localhost/replica:0/task:0/device:gpu:0/stream:all")
                    .times(0)
                    .int64_values(1),
                40);
      EXPECT_EQ(second.memory_execs(0).output_bytes(), 2 * 4 * 4);
    }
    if (node.op() == "_FusedMatMul") {
      ++found;
      EXPECT_EQ(node.float_ops(), 2 * 2 * 3 * 4);
      EXPECT_EQ(
          node.execs().at(0).cpu_execs().at("/job:localhost/replica:0/task:0/device:cpu:0").times(0).int64_values(1),
          10);
    }
  }
  EXPECT_EQ(found, 2);
  const std::string table = profile.OperationTable(1);
  EXPECT_NE(table.find("Square"), std::string::npos);
  EXPECT_NE(table.find("30us (100.00%, 100.00%)"), std::string::npos) << table;  // its accelerator time
  EXPECT_EQ(table.find("_FusedMatMul"), std::string::npos) << "one row only";
}

}  // namespace muster
