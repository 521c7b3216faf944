// A library that lacks NVML's functions.
extern "C" int nvmlSomethingElse() { return 0; }
