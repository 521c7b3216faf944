// kill -9 at moments that nobody chose. Label slow: 200 kills take some minutes.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "data/format/bundle_reader.h"
#include "data/format/checkpoint_state.h"
#include "data/format/event_file.h"
#include "tests/contract/run_program.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using testing::Finished;

constexpr int64_t kForever = 100000000;

std::vector<std::string> Bench(const std::string& train_dir, int64_t num_batches) {
  return {"bench",
          "--device=cpu",
          "--data_format=NHWC",
          "--model=trivial",
          "--data_name=cifar10",
          "--batch_size=2",
          "--num_warmup_batches=0",
          "--num_intra_threads=1",
          "--optimizer=momentum",
          "--init_learning_rate=0.0001",
          "--save_model_steps=5",
          "--max_ckpts_to_keep=2",
          "--save_summaries_steps=1",
          "--summary_verbosity=1",
          "--train_dir=" + train_dir,
          "--num_batches=" + std::to_string(num_batches)};
}

// The number of checkpoints, each of which is read whole.
int VerifyCheckpoints(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".index") continue;
    ++count;
    const data::BundleReader bundle((folder / entry.path().stem()).string());
    for (const data::BundleEntry& tensor : bundle.entries()) bundle.Verify(tensor);
  }
  return count;
}

int64_t NewestStep(const fs::path& folder) {
  const std::string newest = data::ReadCheckpointState(folder.string()).newest;
  return std::stoll(newest.substr(newest.rfind('-') + 1));
}

// Loss by step, of all event files of a folder; a step that was trained several times must have had the same loss each
// time. A file may end in half a record, but hold no broken one.
std::map<int64_t, float> Curve(const fs::path& folder) {
  std::map<int64_t, float> losses;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("events.")) continue;
    data::EventFileReader reader(entry.path().string());
    try {
      while (const std::optional<data::Event> event = reader.Next())
        for (const data::SummaryValue& value : event->values)
          if (value.tag == "total_loss") {
            const float loss = std::get<float>(value.value);
            EXPECT_EQ(losses.emplace(event->step, loss).first->second, loss) << "step " << event->step;
          }
    } catch (const Error& error) {
      EXPECT_TRUE(reader.records().is_lost() && std::string(error.what()).find("the file ends") != std::string::npos)
          << error.what();
    }
  }
  return losses;
}

// MUSTER_KILLS sets how often.
TEST(SlowKill, TwoHundredTimesItGoesOnWithoutATornFileAndWithTheCurveOfAnUnbrokenRun) {
  const char* wanted = std::getenv("MUSTER_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 200;
  const testing::TemporaryFolder folder;
  const fs::path parts = fs::path(folder.path()) / "parts", whole = fs::path(folder.path()) / "whole";
  // The first run tells how long this machine takes to the first checkpoint; the others end at any moment up to twice
  // that.
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  testing::RunProgram(Bench("parts", kForever), folder.path(), 300, [&](const std::string&, int pid) {
    if (fs::exists(parts / "checkpoint")) ::kill(pid, SIGKILL);
  });
  const auto first = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> microseconds(0, 2 * first.count());
  int64_t steps = 0;
  int resumed = 0;
  for (int i = 0; i < kills; ++i) {
    bool is_killed = false;
    const Finished run =
        testing::RunProgram(Bench("parts", kForever), folder.path(), 300, [&](const std::string&, int pid) {
          if (is_killed) return;
          std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
          ::kill(pid, SIGKILL);
          is_killed = true;
        });
    ASSERT_EQ(run.exit_code, 128 + SIGKILL) << run.err;
    if (!fs::exists(parts)) continue;
    ASSERT_NO_THROW(VerifyCheckpoints(parts)) << "kill " << i;
    if (!fs::exists(parts / "checkpoint")) continue;
    const int64_t now = NewestStep(parts);
    EXPECT_GE(now, steps) << "kill " << i;
    resumed += now > steps ? 1 : 0;
    steps = now;
  }
  RecordProperty("checkpointed_steps", static_cast<int>(steps));
  RecordProperty("kills_behind_a_new_checkpoint", resumed);
  std::printf("%d kills, %d of them behind a new checkpoint, %d steps\n", kills, resumed, static_cast<int>(steps));

  const int64_t end = steps + 7;
  for (const char* train_dir : {"parts", "whole"}) {
    const Finished run = testing::RunProgram(Bench(train_dir, end), folder.path(), 600);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  EXPECT_EQ(VerifyCheckpoints(parts), 2);
  const std::string last = "model.ckpt-" + std::to_string(end);
  const Finished compared =
      testing::RunProgram({"checkpoint", "compare", "whole/" + last, "parts/" + last}, folder.path());
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;

  const std::map<int64_t, float> expected = Curve(whole), curve = Curve(parts);
  EXPECT_EQ(static_cast<int64_t>(expected.size()), end);
  for (const auto& [step, loss] : curve) {
    if (step > end) continue;
    EXPECT_EQ(loss, expected.at(step)) << "step " << step;
  }
  // A kill between a checkpoint and the event of its step loses that event.
  EXPECT_GE(static_cast<int64_t>(curve.size()), end - kills - 1);
  for (const auto& entry : fs::directory_iterator(parts))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
}

}  // namespace
}  // namespace muster
