// The replay loop neither allocates nor locks. Calls are counted by standing in for the C++ and pthread functions and
// looking at who called: oneDNN and the OpenMP runtime do both inside their own libraries, which is not ours to change.

// Sanitizers bring their own allocator, so this file is empty under them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include <gtest/gtest.h>

#include "compile/pipeline.h"
#include "muster/models.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "run/executor.h"
#include "session/local_devices.h"

namespace {

std::atomic<bool> is_counting{false};
std::atomic<int> allocations{0}, locks{0};

// Whether an address lies in this program, not in a shared library.
bool IsOurs(void* address) {
  Dl_info caller{}, self{};
  dladdr(address, &caller);
  dladdr(reinterpret_cast<void*>(&IsOurs), &self);
  return caller.dli_fbase == self.dli_fbase;
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t size) {
  if (is_counting && IsOurs(__builtin_return_address(0))) ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (is_counting && IsOurs(__builtin_return_address(0))) ++locks;
  return real(mutex);
}

namespace muster {

TEST(Replay, NeitherAllocatesNorLocks) {
  Graph graph;
  Scope root(&graph);
  const Model& model = FindModel("resnet20_v2", "cifar10");
  Output images = ops::Fill(root, DType::kFloat32, Shape{4, 32, 32, 3}, 0.5);
  Output labels = ops::RandomUniformInt(root, DType::kInt32, Shape{4}, 0, 10);
  TowerOptions tower_options;
  tower_options.weight_decay.rate = 1e-4;
  const Tower tower = BuildTrainingTower(root, model, images, labels, tower_options);
  const NodeId step = BuildTrainStep(root, tower, *MomentumOptimizer(0.1, 0.9), GlobalStep(root));

  std::vector<LocalDevice> local = MakeLocalDevices({});
  VariableTable table;
  CompileRequest request;
  request.graph = &graph;
  request.fetches = {tower.total_loss};
  request.targets = {step};
  request.devices = {{local[0].device->name(), local[0].kernels, local[0].caps}};
  request.variables = &table;
  Plan plan = Compile(request);
  VariableMemory memory({local[0].device.get()});
  memory.Ensure(table);
  Executor executor(std::move(plan), {local[0].device.get()}, table, memory);
  executor.Run(0, {});
  executor.Run(1, {});
  is_counting = true;
  executor.Run(2, {});
  is_counting = false;
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(locks, 0);
}

}  // namespace muster

#endif
