#pragma once

#include <cstdint>

namespace muster::cpu {

// What a row's log softmax needs: log softmax[j] = x[j] - max - log_sum, softmax[j] = exp(x[j] - max) * inverse_sum.
struct SoftmaxRow {
  float max, log_sum, inverse_sum;
};

struct SoftmaxSimd {
  // The row's numbers; exp(x - max) is left in "exps" unless that is nullptr ("exps" may be x).
  SoftmaxRow (*prepare)(const float* x, int64_t n, float* exps);
  // y[j] = exps[j] * factor; y may be exps.
  void (*scale)(const float* exps, float factor, int64_t n, float* y);
  // y[j] = x[j] - shift; y may be x.
  void (*shift)(const float* x, float shift, int64_t n, float* y);
  // Dense labels p: returns sum of p[j] * (x[j] - shift), terms with p[j] = 0 left out.
  float (*weighted)(const float* p, const float* x, float shift, int64_t n);
  // y[j] = exps[j] * factor - p[j]; y may be exps.
  void (*difference)(const float* exps, float factor, const float* p, int64_t n, float* y);
};

// For this CPU.
const SoftmaxSimd& GetSoftmaxSimd();

}  // namespace muster::cpu
