#include "tests/testing/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace muster::testing {
namespace {

// The first 32 bits of the fractional part of the root of each of the first primes, which is how the standard defines
// its constants: square roots for the state, cube roots for the rounds.
template <size_t N>
std::array<uint32_t, N> FractionsOfRoots(long double (*root)(long double)) {
  std::array<uint32_t, N> words{};
  size_t count = 0;
  for (int candidate = 2; count < N; ++candidate) {
    bool is_prime = true;
    for (int divisor = 2; divisor * divisor <= candidate; ++divisor) is_prime = is_prime && candidate % divisor != 0;
    if (!is_prime) continue;
    const long double value = root(static_cast<long double>(candidate));
    words[count++] = static_cast<uint32_t>((value - std::floor(value)) * 0x1p32L);
  }
  return words;
}

void AddBlock(const unsigned char* block, std::array<uint32_t, 8>* state) {
  static const auto rounds = FractionsOfRoots<64>([](long double x) { return std::cbrt(x); });
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i)
    for (size_t byte = 0; byte < 4; ++byte) w[i] = w[i] << 8 | block[4 * i + byte];
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = *state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t1 =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + rounds[i] + w[i];
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) (*state)[i] += mixed[i];
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded.push_back(static_cast<char>(0x80));
  padded.resize((padded.size() + 8 + 63) / 64 * 64 - 8, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<char>(uint64_t{bytes.size()} * 8 >> shift));
  std::array<uint32_t, 8> state = FractionsOfRoots<8>([](long double x) { return std::sqrt(x); });
  for (size_t at = 0; at < padded.size(); at += 64)
    AddBlock(reinterpret_cast<const unsigned char*>(padded.data()) + at, &state);
  std::string text;
  for (const uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace muster::testing
