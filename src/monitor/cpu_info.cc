#include "monitor/cpu_info.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/proc_file.h"

namespace muster {
namespace {

struct KnownFeature {
  std::string_view flag;  // in /proc/cpuinfo
  const char* name;
};

// What oneDNN and our own kernels choose their code by.
// clang-format off
constexpr KnownFeature kX86[] = {
    {"sse4_2", "SSE4.2"},          {"avx", "AVX"},
    {"f16c", "F16C"},              {"fma", "FMA"},
    {"avx2", "AVX2"},              {"avx_vnni", "AVX_VNNI"},
    {"avx512f", "AVX512F"},        {"avx512bw", "AVX512BW"},
    {"avx512vl", "AVX512VL"},      {"avx512dq", "AVX512DQ"},
    {"avx512_vnni", "AVX512_VNNI"}, {"avx512_bf16", "AVX512_BF16"},
    {"avx512_fp16", "AVX512_FP16"}, {"amx_tile", "AMX_TILE"},
    {"amx_bf16", "AMX_BF16"},      {"amx_int8", "AMX_INT8"},
};
// clang-format on
constexpr KnownFeature kArm[] = {
    {"asimd", "NEON"}, {"asimdhp", "FP16"}, {"asimddp", "DOTPROD"}, {"sve", "SVE"},
    {"sve2", "SVE2"},  {"bf16", "BF16"},    {"i8mm", "I8MM"},
};

// The value of a line "key   : value".
std::optional<std::string_view> Field(std::string_view line, std::string_view key) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || Trimmed(line.substr(0, colon)) != key) return std::nullopt;
  return Trimmed(line.substr(colon + 1));
}

bool HasWord(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

std::vector<CpuFeature> FeaturesIn(std::string_view words, std::span<const KnownFeature> known) {
  std::vector<CpuFeature> features;
  for (const KnownFeature& feature : known) features.push_back({feature.name, HasWord(words, feature.flag)});
  return features;
}

void AddFrequency(std::string_view value, CpuInfo* info) {
  double mhz = 0;
  std::from_chars(value.data(), value.data() + value.size(), mhz);
  if (mhz <= 0) return;
  info->slowest_mhz = info->slowest_mhz == 0 ? mhz : std::min(info->slowest_mhz, mhz);
  info->fastest_mhz = std::max(info->fastest_mhz, mhz);
}

void AddLine(std::string_view line, CpuInfo* info) {
  if (const auto mhz = Field(line, "cpu MHz")) AddFrequency(*mhz, info);
  if (const auto model = Field(line, "model name"); model && info->model.empty()) info->model = *model;
  if (!info->features.empty()) return;  // the first CPU speaks for all
  if (const auto flags = Field(line, "flags")) info->features = FeaturesIn(*flags, kX86);
  if (const auto flags = Field(line, "Features")) info->features = FeaturesIn(*flags, kArm);
}

}  // namespace

bool CpuInfo::Has(std::string_view feature) const {
  return std::any_of(features.begin(), features.end(),
                     [&](const CpuFeature& known) { return known.name == feature && known.available; });
}

CpuInfo ParseCpuInfo(std::string_view text) {
  CpuInfo info;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    AddLine(text.substr(0, end), &info);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (info.model.empty()) info.model = "unknown";
  return info;
}

CpuInfo ReadCpuInfo() { return ParseCpuInfo(ReadSmallFile("/proc/cpuinfo").value_or("")); }

}  // namespace muster
