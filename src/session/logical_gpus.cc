#include "session/logical_gpus.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "muster/error.h"

namespace muster {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

std::string Cards(int num_cards) {
  if (num_cards == 0) return "there are no cards";
  return num_cards == 1 ? "there is only card 0" : fmt::format("there are cards 0 to {}", num_cards - 1);
}

int CardOf(std::string_view entry, const std::string& list, int num_cards) {
  int card = -1;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), card);
  if (error != std::errc{} || end != entry.data() + entry.size())
    throw InvalidArgument(fmt::format(
        "visible_device_list \"{}\" must be numbers of cards with commas between them, but has \"{}\"", list, entry));
  if (card < 0 || card >= num_cards)
    throw InvalidArgument(
        fmt::format("visible_device_list \"{}\" names card {}, but {}", list, card, Cards(num_cards)));
  return card;
}

std::vector<int> VisibleCards(const std::string& list, int num_cards) {
  std::vector<int> cards;
  if (list.empty()) {
    cards.resize(static_cast<size_t>(num_cards));
    std::iota(cards.begin(), cards.end(), 0);
    return cards;
  }
  for (std::string_view rest = list;;) {
    const size_t comma = rest.find(',');
    const int card = CardOf(rest.substr(0, comma), list, num_cards);
    if (std::find(cards.begin(), cards.end(), card) != cards.end())
      throw InvalidArgument(fmt::format("visible_device_list \"{}\" names card {} twice", list, card));
    cards.push_back(card);
    if (comma == std::string_view::npos) return cards;
    rest.remove_prefix(comma + 1);
  }
}

// What a whole card gives its device.
int64_t WholeCardLimit(const GpuOptions& options, int64_t card_memory) {
  const double fraction = options.per_process_gpu_memory_fraction;
  if (fraction < 0 || fraction > 1)
    throw InvalidArgument(
        fmt::format("per_process_gpu_memory_fraction is {}, but must be above 0 and at most 1", fraction));
  if (options.memory_limit_mb < 0 || options.memory_limit_mb > card_memory / kMiB)
    throw InvalidArgument(fmt::format("gpu_memory_limit_mb is {}, but must be between 1 and the {} MiB of a card",
                                      options.memory_limit_mb, card_memory / kMiB));
  if (fraction > 0 && options.memory_limit_mb > 0)
    throw InvalidArgument(
        "per_process_gpu_memory_fraction and gpu_memory_limit_mb exclude each other: give one of them");
  if (fraction > 0) return static_cast<int64_t>(fraction * static_cast<double>(card_memory));
  return options.memory_limit_mb > 0 ? options.memory_limit_mb * kMiB : card_memory;
}

void CheckVirtualDevices(const GpuOptions& options, const std::vector<int>& cards, int64_t card_memory) {
  const auto& lists = options.virtual_devices_mb;
  if (lists.empty()) return;
  if (options.per_process_gpu_memory_fraction > 0 || options.memory_limit_mb > 0)
    throw InvalidArgument(
        "virtual devices have limits of their own: per_process_gpu_memory_fraction and gpu_memory_limit_mb must not be "
        "given with them");
  if (lists.size() > cards.size())
    throw InvalidArgument(
        fmt::format("virtual devices are given for {} cards, but {} are visible", lists.size(), cards.size()));
  for (size_t c = 0; c < lists.size(); ++c) {
    const int64_t card_mb = card_memory / kMiB;
    int64_t left = card_mb;
    const auto refuse = [&](const std::string& why) {
      throw InvalidArgument(
          fmt::format("virtual devices of card {} with {} MiB: {}", cards[c], fmt::join(lists[c], "+"), why));
    };
    for (int64_t limit : lists[c]) {
      if (limit < 1) refuse(fmt::format("one of {} MiB is none; each needs at least 1", limit));
      if (limit > card_mb) refuse(fmt::format("one of {} MiB does not fit the card's {} MiB", limit, card_mb));
      if (limit > left) refuse(fmt::format("together they do not fit the card's {} MiB", card_mb));
      left -= limit;
    }
  }
}

std::string Listing(const std::vector<LogicalGpu>& gpus) {
  std::string text;
  for (size_t i = 0; i < gpus.size(); ++i)
    text += fmt::format("{}/device:GPU:{} (card {})", i == 0 ? "" : ", ", i, gpus[i].card);
  return text;
}

}  // namespace

std::vector<std::vector<int64_t>> ParseVirtualGpus(const std::string& text) {
  std::vector<std::vector<int64_t>> cards;
  if (text.empty()) return cards;
  cards.emplace_back();
  for (const char *at = text.data(), *const end = at + text.size();;) {
    int64_t limit = 0;
    const auto [next, error] = std::from_chars(at, end, limit);
    if (error != std::errc{} || (next != end && *next != '+' && *next != ','))
      throw InvalidArgument(fmt::format(
          "--virtual_gpus_mb={}: at character {} there must be a number of MiB; 512+512,1024 splits card 0 in two and "
          "gives card 1 one device",
          text, at - text.data() + 1));
    cards.back().push_back(limit);
    if (next == end) return cards;
    if (*next == ',') cards.emplace_back();
    at = next + 1;
  }
}

std::vector<LogicalGpu> LogicalGpus(const GpuOptions& options, int num_cards, int64_t card_memory, int num_gpus) {
  const std::vector<int> cards = VisibleCards(options.visible_device_list, num_cards);
  const int64_t whole = WholeCardLimit(options, card_memory);
  CheckVirtualDevices(options, cards, card_memory);
  std::vector<LogicalGpu> gpus;
  for (size_t c = 0; c < cards.size(); ++c) {
    if (c >= options.virtual_devices_mb.size() || options.virtual_devices_mb[c].empty())
      gpus.push_back({cards[c], whole});
    else
      for (int64_t limit : options.virtual_devices_mb[c]) gpus.push_back({cards[c], limit * kMiB});
  }
  if (num_gpus < -1) throw InvalidArgument(fmt::format("num_gpus is {}, but must be at least 0", num_gpus));
  if (num_gpus > 0 && gpus.empty())
    throw InvalidArgument(fmt::format(
        "num_gpus is {}, but there is no GPU; --simulated_gpus={} simulates as many on the CPU", num_gpus, num_gpus));
  if (num_gpus > static_cast<int>(gpus.size()))
    throw InvalidArgument(fmt::format("num_gpus is {}, but there {} only {}: {}", num_gpus,
                                      gpus.size() == 1 ? "is" : "are", gpus.size(), Listing(gpus)));
  if (num_gpus >= 0) gpus.resize(static_cast<size_t>(num_gpus));
  return gpus;
}

}  // namespace muster
