#include "base/random_stream.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/check.h"
#include "base/random_transform.h"

namespace muster {
namespace {

// Elements are made in chunks that start at multiples of kChunk: loops of fixed length, which the compiler vectorises.
constexpr int64_t kChunk = 64;

template <typename T>
using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// The words of elements [first, first + kChunk); first is a multiple of kChunk.
void DrawWords(const Philox& philox, int64_t step, int64_t first, uint32_t* words) {
  for (int64_t b = 0; b < kChunk / 4; ++b) {
    const Philox::Block block = philox(static_cast<uint64_t>(step), static_cast<uint64_t>(first / 4 + b));
    for (size_t j = 0; j < 4; ++j) words[4 * b + static_cast<int64_t>(j)] = block[j];
  }
}

void DrawWords(const Philox& philox, int64_t step, int64_t first, uint64_t* words) {
  for (int64_t b = 0; b < kChunk / 2; ++b) {
    const Philox::Block block = philox(static_cast<uint64_t>(step), static_cast<uint64_t>(first / 2 + b));
    words[2 * b] = uint64_t{block[0]} << 32 | block[1];
    words[2 * b + 1] = uint64_t{block[2]} << 32 | block[3];
  }
}

// Runs "transform(words, elements)" on each chunk that "out" touches and keeps the part that was asked for.
template <typename T, typename Transform>
void FillChunks(const Philox& philox, int64_t step, int64_t first, std::span<T> out, Transform transform) {
  Word<T> words[kChunk];
  T elements[kChunk];
  const int64_t end = first + static_cast<int64_t>(out.size());
  for (int64_t chunk = first / kChunk * kChunk; chunk < end; chunk += kChunk) {
    DrawWords(philox, step, chunk, words);
    transform(words, elements);
    const int64_t from = std::max(chunk, first), to = std::min(chunk + kChunk, end);
    std::copy(elements + (from - chunk), elements + (to - chunk), out.data() + (from - first));
  }
}

template <typename T>
void Uniform(const Word<T>* words, T* out) {
  for (int64_t i = 0; i < kChunk; ++i) {
    if constexpr (sizeof(T) == 4) out[i] = UniformFloat(words[i]);
    else out[i] = UniformDouble(static_cast<uint32_t>(words[i] >> 32), static_cast<uint32_t>(words[i]));
  }
}

template <typename T>
void Normal(const Word<T>* words, T* out) {
  for (int64_t i = 0; i < kChunk; i += 2) NormalPair(words[i], words[i + 1], out + i);
}

template <typename T>
void Truncated(const Word<T>* words, T* out) {
  for (int64_t i = 0; i < kChunk; ++i) out[i] = TruncatedNormal(words[i]);
}

// floor(word * range / 2^32) and floor(word * range / 2^64).
uint64_t Scale(uint32_t word, uint64_t range) { return word * range >> 32; }
uint64_t Scale(uint64_t word, uint64_t range) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(word) * range >> 64);
}

template <typename T>
void UniformInt(const Philox& philox, int64_t step, int64_t first, int64_t low, int64_t high, std::span<T> out) {
  MUSTER_CHECK(low < high);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  MUSTER_CHECK(sizeof(T) == 8 || range <= uint64_t{1} << 32);
  FillChunks(philox, step, first, out, [=](const Word<T>* words, T* elements) {
    for (int64_t i = 0; i < kChunk; ++i)
      elements[i] = static_cast<T>(static_cast<uint64_t>(low) + Scale(words[i], range));
  });
}

}  // namespace

uint64_t MixSeeds(uint64_t graph_seed, int64_t op_seed) {
  // The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
  uint64_t z = static_cast<uint64_t>(op_seed);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return graph_seed ^ z ^ (z >> 31);
}

RandomStream::RandomStream(uint64_t graph_seed, int64_t op_seed, std::string_view node_name)
    : philox_(MixSeeds(graph_seed, op_seed), HashName(node_name.data(), node_name.size())) {}

void RandomStream::FillUniform(int64_t step, int64_t first, std::span<float> out) const {
  FillChunks(philox_, step, first, out, Uniform<float>);
}
void RandomStream::FillUniform(int64_t step, int64_t first, std::span<double> out) const {
  FillChunks(philox_, step, first, out, Uniform<double>);
}
void RandomStream::FillUniformInt(int64_t step, int64_t first, int64_t low, int64_t high,
                                  std::span<int32_t> out) const {
  UniformInt(philox_, step, first, low, high, out);
}
void RandomStream::FillUniformInt(int64_t step, int64_t first, int64_t low, int64_t high,
                                  std::span<int64_t> out) const {
  UniformInt(philox_, step, first, low, high, out);
}
void RandomStream::FillNormal(int64_t step, int64_t first, std::span<float> out) const {
  FillChunks(philox_, step, first, out, Normal<float>);
}
void RandomStream::FillNormal(int64_t step, int64_t first, std::span<double> out) const {
  FillChunks(philox_, step, first, out, Normal<double>);
}
void RandomStream::FillTruncatedNormal(int64_t step, int64_t first, std::span<float> out) const {
  FillChunks(philox_, step, first, out, Truncated<float>);
}
void RandomStream::FillTruncatedNormal(int64_t step, int64_t first, std::span<double> out) const {
  FillChunks(philox_, step, first, out, Truncated<double>);
}

}  // namespace muster
