// Several jobs in one program, one on each device, each with hyperparameters of its own: a search for the best of them.
// Every job has its graph, its session and its thread, and they share nothing, so that none waits for another.
//
//   example_one_job_per_device        CPU devices
//   example_one_job_per_device gpu    simulated GPUs: each job sees one card, which is /gpu:0 for it

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "muster/losses.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/session.h"
#include "muster/variables.h"

using namespace muster;  // NOLINT: an example should be short

namespace {

constexpr int kSteps = 300;
constexpr int64_t kTestSize = 1000;

struct Job {
  double rate;
  int64_t batch, hidden;
  std::string device;  // filled in by the job, with the rest of its results
  float loss = 0, accuracy = 0;
};

// Points in the square from -1 to 1; the class of a point is whether it lies in the circle of radius 0.8.
void MakePoints(std::mt19937& random, Tensor* points, Tensor* labels) {
  std::uniform_real_distribution<float> coordinate(-1, 1);
  for (float& x : points->data<float>()) x = coordinate(random);
  for (size_t i = 0; i < labels->data<int32_t>().size(); ++i)
    labels->data<int32_t>()[i] =
        std::hypot(points->data<float>()[2 * i], points->data<float>()[2 * i + 1]) < 0.8F ? 1 : 0;
}

// A layer of this many units with a tanh, and the two classes.
Output Classify(const Scope& scope, Output points, int64_t hidden) {
  auto dense = [&](const char* name, Output x, int64_t units) {
    const Scope layer = scope.WithVariableScope(name);
    Variable w = GetVariable(
        layer, {"w", DType::kFloat32, Shape{scope.shape(x)[1], units}, initializers::GlorotUniform()}, Reuse::kAuto);
    Variable b = GetVariable(layer, {"b", DType::kFloat32, Shape{units}, initializers::Zeros()}, Reuse::kAuto);
    return ops::BiasAdd(layer, ops::MatMul(layer, x, w), b);
  };
  return dense("classes", ops::Tanh(scope, dense("hidden", points, hidden)), 2);
}

void Train(int number, bool on_gpus, int num_jobs, Job* job) {
  Graph graph;
  Scope scope = Scope(&graph).WithDevice(on_gpus ? "/gpu:0" : "/cpu:" + std::to_string(number));
  Output points = ops::Placeholder(scope, DType::kFloat32, Shape{job->batch, 2});
  Output labels = ops::Placeholder(scope, DType::kInt32, Shape{job->batch});
  Output loss = SoftmaxCrossEntropyMean(scope, Classify(scope, points, job->hidden), labels);
  NodeId train = AdamOptimizer(job->rate)->Minimize(scope, loss);
  Output test_points = ops::Placeholder(scope, DType::kFloat32, Shape{kTestSize, 2});
  Output test_labels = ops::Placeholder(scope, DType::kInt32, Shape{kTestSize});
  Output correct = TopKCorrect(scope, Classify(scope, test_points, job->hidden), test_labels, 1);

  SessionOptions options;
  if (on_gpus) {
    options.gpu.simulated_gpus = num_jobs;
    options.gpu.visible_device_list = std::to_string(number);
  } else {
    options.num_cpu_devices = num_jobs;
  }
  options.intra_op_threads = 1;
  Session session(&graph, options);
  session.Initialize();
  job->device = session.PlacedGraph().node(train).device.ToString();

  std::mt19937 random(1);  // the same points for each job
  Tensor x(DType::kFloat32, Shape{job->batch, 2}), y(DType::kInt32, Shape{job->batch});
  for (int step = 0; step < kSteps; ++step) {
    MakePoints(random, &x, &y);
    job->loss = session.Run({{points, x}, {labels, y}}, {loss}, {train})[0].scalar<float>();
  }
  Tensor test_x(DType::kFloat32, Shape{kTestSize, 2}), test_y(DType::kInt32, Shape{kTestSize});
  std::mt19937 test_random(2);
  MakePoints(test_random, &test_x, &test_y);
  job->accuracy = session.Run({{test_points, test_x}, {test_labels, test_y}}, {correct})[0].scalar<float>() / kTestSize;
}

}  // namespace

int main(int argc, char** argv) {
  const bool on_gpus = argc > 1 && std::strcmp(argv[1], "gpu") == 0;
  std::vector<Job> jobs = {{.rate = 0.0003, .batch = 64, .hidden = 16},
                           {.rate = 0.03, .batch = 64, .hidden = 16},
                           {.rate = 0.03, .batch = 16, .hidden = 2}};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < jobs.size(); ++i)
    threads.emplace_back(Train, static_cast<int>(i), on_gpus, static_cast<int>(jobs.size()), &jobs[i]);
  for (std::thread& thread : threads) thread.join();

  const Job* best = &jobs[0];
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    std::printf("job %zu on %s%s: rate %g, batch %lld, %lld hidden units: loss %.4f, accuracy %.3f\n", i,
                job.device.c_str(), on_gpus ? (" of card " + std::to_string(i)).c_str() : "", job.rate,
                static_cast<long long>(job.batch), static_cast<long long>(job.hidden), static_cast<double>(job.loss),
                static_cast<double>(job.accuracy));
    if (job.accuracy > best->accuracy) best = &job;
  }
  std::printf("best: job %td\n", best - jobs.data());
  return best == &jobs[1] && best->accuracy > 0.95F ? 0 : 1;
}
