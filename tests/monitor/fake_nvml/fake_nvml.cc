// Answers as NVML would on a machine with as many GPUs as FAKE_NVML_GPUS says; "error" makes it fail to start. The
// second GPU does not tell its memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

struct FakeMemory {
  unsigned long long total, free, used;
};

int nvmlInit_v2() {
  const char* gpus = std::getenv("FAKE_NVML_GPUS");
  return gpus != nullptr && std::strcmp(gpus, "error") == 0 ? 9 : 0;
}
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "Driver Not Loaded"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { return std::snprintf(text, size, "535.1") > 0 ? 0 : 1; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  const char* gpus = std::getenv("FAKE_NVML_GPUS");
  *count = gpus == nullptr ? 0 : static_cast<unsigned>(std::atoi(gpus));
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static char devices[8];
  *device = devices + index;
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) { return std::snprintf(text, size, "Test GPU") > 0 ? 0 : 1; }
int nvmlDeviceGetMemoryInfo(void* device, FakeMemory* memory) {
  void* first = nullptr;
  nvmlDeviceGetHandleByIndex_v2(0, &first);
  if (device != first) return 3;
  *memory = {8ULL << 30, 6ULL << 30, 2ULL << 30};
  return 0;
}

}  // extern "C"
