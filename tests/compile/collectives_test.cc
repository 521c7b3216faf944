// CollectiveReduce: one sum for all nodes of an instance, whatever of them a plan asks for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "muster/error.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

template <typename F>
std::string MessageOf(F run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

SessionOptions TwoCpus() { return {.num_cpu_devices = 2, .intra_op_threads = 1}; }

TEST(Collectives, GiveEveryDeviceTheSum) {
  Graph graph;
  const Scope root(&graph);
  std::vector<Output> sums;
  for (int rank = 0; rank < 2; ++rank) {
    const Scope here = root.WithDevice("/cpu:" + std::to_string(rank));
    const Output x = ops::Add(here, ops::Const(here, Tensor::Of<float>({2}, {1.0f + static_cast<float>(rank), 10})),
                              ops::Scalar<float>(here, 1));
    sums.push_back(ops::Neg(here, ops::CollectiveReduce(here, x, "sum", 2, rank, 0.5)));
  }
  Session session(&graph, TwoCpus());
  for (const Output& sum : sums) {  // the other device's term is needed too
    const Tensor value = session.Run({}, {sum})[0];
    EXPECT_EQ(value.data<float>()[0], -2.5f);
    EXPECT_EQ(value.data<float>()[1], -11);
  }
}

TEST(Collectives, NeedOneTermOfEachRankAndOneShape) {
  Graph graph;
  const Scope root(&graph);
  const Output x = ops::Fill(root, DType::kFloat32, {2}, 1), y = ops::Fill(root, DType::kFloat32, {3}, 1);
  const Output alone = ops::CollectiveReduce(root, x, "alone", 3, 1);
  const Output twice = ops::CollectiveReduce(root, x, "twice", 2, 0);
  ops::CollectiveReduce(root, y, "twice", 2, 0);
  const Output differ = ops::CollectiveReduce(root, x, "differ", 2, 0);
  ops::CollectiveReduce(root, y, "differ", 2, 1);
  Session session(&graph, TwoCpus());
  EXPECT_THAT(MessageOf([&] { session.Run({}, {alone}); }),
              HasSubstr("the sum alone has 3 terms, but nothing has rank 0"));
  EXPECT_THAT(MessageOf([&] { session.Run({}, {twice}); }), HasSubstr("have one rank of the sum twice"));
  EXPECT_THAT(MessageOf([&] { session.Run({}, {differ}); }), HasSubstr("cannot be terms of one sum"));
  EXPECT_THROW(ops::CollectiveReduce(root, x, "rank", 2, 2), Error);
}

}  // namespace
}  // namespace muster
