// Puts operations on two CPU devices by hand, prints where each one went, and runs the graph: the value that crosses from
// one device to the other travels through a channel that the compiler adds.

#include <cstdio>

#include "muster/ops.h"
#include "muster/session.h"

using namespace muster;  // NOLINT: an example should be short

int main() {
  Graph graph;
  Scope root(&graph);
  Scope first = root.WithDevice("/cpu:0"), second = root.WithDevice("/cpu:1");
  Variable a = ops::MakeVariable(first, "a", ops::Const(first, Tensor::Of<float>(Shape{2, 2}, {1, 2, 3, 4})));
  Output square = ops::MatMul(first.Named("square"), a, a);
  Output cube = ops::MatMul(second.Named("cube"), square, a);
  Output total = ops::Sum(second.Named("total"), cube);

  Session session(&graph, {.num_cpu_devices = 2});
  session.Initialize();
  for (const std::string& line : session.DevicePlacement()) std::printf("%s\n", line.c_str());

  auto runner = session.Prepare({}, {total});
  std::printf("\n%s\n", runner->PlanText().c_str());
  const float sum = runner->Run()[0].scalar<float>();
  std::printf("sum of a^3 = %g\n", sum);  // [[37,54],[81,118]]
  return sum == 290 ? 0 : 1;
}
