// The pictures of a benchmark's event file.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/input.h"
#include "bench/loop.h"
#include "bench/model_runner.h"
#include "data/format/event_file.h"
#include "data/format/png.h"
#include "tests/testing/golden.h"
#include "tests/testing/idx_files.h"

namespace muster::bench {
namespace {

using ::testing::IsEmpty;

class SilentConsole : public Console {
 public:
  void Print(const std::string&) override {}
  void Note(const std::string&) override {}
  void Progress(const std::string&) override {}
};

// Four timed steps, each second one summarised.
BenchParams ParamsFor(const testing::TempFolder& folder, int64_t verbosity) {
  BenchParams params{.model = "trivial",
                     .batch_size = 2,
                     .num_batches = 4,
                     .num_warmup_batches = 0,
                     .device = "cpu",
                     .data_format = "NHWC"};
  params.data_dir = (testing::GoldenDir() / "cifar10/cifar-10-batches-py").string();
  params.data_name = "cifar10";
  params.train_dir = folder.path().string();
  params.save_summaries_steps = 2;
  params.summary_verbosity = verbosity;
  return params;
}

// PNG by step and tag.
using Pictures = std::map<std::pair<int64_t, std::string>, std::string>;

Pictures PicturesOf(const BenchParams& params) {
  SilentConsole console;
  Run(params, {}, MakeModelRunner, {.console = console});
  Pictures pictures;
  for (const auto& entry : std::filesystem::directory_iterator(*params.train_dir)) {
    if (!entry.path().filename().string().starts_with("events.")) continue;
    data::EventFileReader reader(entry.path().string());
    while (const std::optional<data::Event> event = reader.Next())
      for (const data::SummaryValue& value : event->values)
        if (const auto* image = std::get_if<data::SummaryImage>(&value.value))
          pictures[{event->step, value.tag}] = image->encoded;
  }
  return pictures;
}

// The darkest number is black, the brightest white.
std::string PngOf(std::span<const float> image) {
  const auto [low, high] = std::ranges::minmax(image);
  std::vector<uint8_t> bytes;
  for (const float x : image) bytes.push_back(static_cast<uint8_t>(std::lround((x - low) * (255 / (high - low)))));
  return data::EncodePng(bytes, 32, 32, 3);
}

TEST(SummaryImages, AreThoseThatTheModelGetsInTheStep) {
  const testing::TempFolder folder;
  const BenchParams params = ParamsFor(folder, 3);
  const Derived derived = Derive(params);
  TrainInput input(params, derived);
  Pictures expected;
  for (const int64_t step : {2, 4}) {
    const Tensor images = input.BatchAt(step - 1)[0];
    for (size_t i = 0; i < 2; ++i)
      expected[{step, "distorted_image/image/" + std::to_string(i)}] =
          PngOf(images.data<float>().subspan(i * 32 * 32 * 3, 32 * 32 * 3));
  }
  EXPECT_TRUE(PicturesOf(params) == expected);
}

TEST(SummaryImages, NeedLevel3AndRealImages) {
  const testing::TempFolder level_2, synthetic;
  EXPECT_THAT(PicturesOf(ParamsFor(level_2, 2)), IsEmpty());
  BenchParams params = ParamsFor(synthetic, 3);
  params.data_dir.reset();
  EXPECT_THAT(PicturesOf(params), IsEmpty());
}

}  // namespace
}  // namespace muster::bench
