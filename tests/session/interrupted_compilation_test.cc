// Ctrl-C while a graph is built or compiled, which takes minutes for many towers, ends it at the next node or pass.

#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "muster/error.h"
#include "muster/ops.h"
#include "muster/session.h"

namespace muster {
namespace {

template <typename F>
void ExpectCancelled(F f) {
  const InterruptScope scope;  // its end takes the interrupt back
  RequestInterrupt();
  try {
    f();
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled);
  }
}

TEST(Interrupt, EndsTheBuildingOfAGraphAtTheNextNode) {
  Graph graph;
  const Scope scope(&graph);
  ExpectCancelled([&] { ops::Scalar<float>(scope, 1); });
  ops::Scalar<float>(scope, 1);  // and it can go on afterwards
  EXPECT_EQ(graph.num_nodes(), 1);
}

TEST(Interrupt, EndsTheCompilationOfAPlan) {
  Graph graph;
  const Output x = ops::Placeholder(Scope(&graph), DType::kFloat32, {2, 2}), y = ops::MatMul(Scope(&graph), x, x);
  Session session(&graph);
  ExpectCancelled([&] { session.Prepare({x}, {y}); });
  EXPECT_EQ(session.Prepare({x}, {y})->Run({Tensor::Of<float>({2, 2}, {1.0f, 0.0f, 0.0f, 1.0f})})[0].data<float>()[3],
            1);
}

}  // namespace
}  // namespace muster
