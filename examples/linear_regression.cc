// Fits y = 3x + 2 by gradient descent: a graph, its gradients, an update and a session.

#include <cmath>
#include <cstdio>

#include "muster/gradients.h"
#include "muster/ops.h"
#include "muster/session.h"

using namespace muster;  // NOLINT: an example should be short

int main() {
  // Describe: two variables, a prediction, a loss. Nothing is computed yet.
  Graph graph;
  Scope root(&graph);
  Output x = ops::Const(root, Tensor::Of<float>(Shape{4}, {-1, 0, 1, 2}));
  Output y = ops::Const(root, Tensor::Of<float>(Shape{4}, {-1, 2, 5, 8}));
  Variable slope = ops::MakeVariable(root, "slope", ops::Scalar<float>(root, 0));
  Variable offset = ops::MakeVariable(root, "offset", ops::Scalar<float>(root, 0));
  Output prediction = ops::Add(root, ops::Mul(root, x, slope), offset);
  Output loss = ops::Mean(root, ops::Square(root, ops::Sub(root, prediction, y)));

  // Differentiate, and say how the variables follow their gradients.
  std::vector<Output> gradients = Gradients(root, loss, {slope, offset});
  Output rate = ops::Scalar<float>(root, 0.2F);
  NodeId train = ops::Group(root, {ops::ApplyGradientDescent(root, slope, rate, gradients[0]),
                                   ops::ApplyGradientDescent(root, offset, rate, gradients[1])});

  // Run: the first call compiles a plan for (feeds, fetches, targets), the others replay it.
  Session session(&graph);
  session.Initialize();
  for (int step = 0; step <= 100; ++step) {
    const float before = session.Run({}, {loss}, {train})[0].scalar<float>();
    if (step % 25 == 0) std::printf("step %3d  loss %.6f\n", step, before);
  }
  const float a = session.ReadVariable(slope).scalar<float>(), b = session.ReadVariable(offset).scalar<float>();
  std::printf("y = %.3f x + %.3f\n", a, b);
  return std::abs(a - 3) < 1e-3F && std::abs(b - 2) < 1e-3F ? 0 : 1;
}
