// How many training images a core prepares: record → checksum → part of the JPEG → mirror → resize → colours → -1 to 1,
// as muster bench does it.
//
//   input_speed [--seconds=5] [--threads=1] [--size=224] [--batch=32] [--distortions] [--nofuse] [--hsv] FOLDER
//
// FOLDER is what --data_dir takes. Prints images per second of wall time and per second of processor time; the latter
// does not depend on what else the machine does. benchmarks/input runs it beside TensorFlow's tf.data.
#include <fmt/format.h>
#include <time.h>

#include <cstdio>

#include "base/clock.h"
#include "base/flags.h"
#include "data/imagenet/imagenet_dataset.h"
#include "data/imagenet/open_images.h"
#include "data/prefetch.h"

namespace {

using namespace muster;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

FlagTable Flags() {
  const auto number = [](const char* name, int64_t value, const char* help) {
    return FlagSpec{
        .name = name, .type = FlagType::kInteger, .default_value = value, .help = help, .lower = 1, .upper = 4096};
  };
  const auto choice = [](const char* name, bool value, const char* help) {
    return FlagSpec{.name = name, .type = FlagType::kBoolean, .default_value = value, .help = help};
  };
  return FlagTable({number("seconds", 5, "how long"), number("threads", 1, "that prepare images"),
                    number("size", 224, "of the result"), number("batch", 32, "images per batch"),
                    choice("distortions", false, "change colours"), choice("fuse", true, "decode only what is used"),
                    choice("hsv", false, "hue and saturation in HSV")});
}

int Measure(const std::string& folder, const FlagValues& flags) {
  const data::PreprocessOptions options{.size = static_cast<int>(flags.GetInt("size")),
                                        .train = true,
                                        .distortions = flags.GetBool("distortions"),
                                        .distort_color_in_yiq = !flags.GetBool("hsv"),
                                        .fuse_decode_and_crop = flags.GetBool("fuse")};
  const auto dataset =
      data::MakeImagenetDataset(data::OpenImages(folder, data::Subset::kTrain, 1001, "FOLDER"), 1001, options);
  const data::TrainBatches batches(*dataset, flags.GetInt("batch"), 1);
  data::Prefetcher input(batches, {.threads = static_cast<int>(flags.GetInt("threads")), .depth = 3});
  for (int i = 0; i < 3; ++i) input.Next();  // warm-up, and the prefetcher is full
  const double begin = SteadySeconds(), cpu_begin = CpuSeconds();
  int64_t images = 0;
  while (SteadySeconds() - begin < static_cast<double>(flags.GetInt("seconds"))) {
    input.Next();
    images += batches.batch_size();
  }
  const double wall = SteadySeconds() - begin, cpu = CpuSeconds() - cpu_begin;
  fmt::print("muster: {:.1f} images/s, {:.1f} images per processor second\n", static_cast<double>(images) / wall,
             static_cast<double>(images) / cpu);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const FlagValues flags = ParseFlags(Flags(), {argv + 1, argv + argc});
  if (flags.positional().size() != 1) throw InvalidArgument("expected one FOLDER");
  return Measure(flags.positional()[0], flags);
} catch (const Error& error) {
  fmt::print(stderr, "input_speed: {}\n", error.what());
  return 2;
}
