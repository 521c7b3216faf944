#include <gmock/gmock.h>

#include "tests/train/fakes.h"
#include "tests/train/saver_fixture.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_hook.h"

namespace muster::train {
namespace {

using ::testing::ElementsAre;

class CheckpointerTest : public SaverTest {
 protected:
  // The steps that have a checkpoint after a run of 20 steps of a second each.
  std::vector<std::string> StepsOf(CheckpointOptions options) {
    options.folder = Folder();
    Saver saver(&model_.graph, {.max_to_keep = 0, .write_meta_graph = false});
    Checkpointer checkpointer(saver, *model_.session, options, clock_);
    checkpointer.Begin(0);
    for (int64_t step = 1; step <= 20; ++step) {
      clock_.now += 1;
      checkpointer.AfterStep(step);
    }
    checkpointer.End(20);
    std::vector<std::string> steps;
    for (const std::string& path : CheckpointsIn(Folder())) steps.push_back(path.substr(path.rfind('-') + 1));
    return steps;
  }
  FakeClock clock_;
};

TEST_F(CheckpointerTest, TheEndAlwaysHasACheckpoint) { EXPECT_THAT(StepsOf({}), ElementsAre("20")); }
TEST_F(CheckpointerTest, EveryNSteps) { EXPECT_THAT(StepsOf({.every_steps = 7}), ElementsAre("20", "14", "7")); }
TEST_F(CheckpointerTest, EveryNSecondsAndAtTheStart) {
  EXPECT_THAT(StepsOf({.every_seconds = 6}), ElementsAre("20", "18", "12", "6", "0"));
}
TEST_F(CheckpointerTest, BothReasonsTogether) {
  EXPECT_THAT(StepsOf({.every_steps = 10, .every_seconds = 8}), ElementsAre("20", "18", "10", "8", "0"));
}

}  // namespace
}  // namespace muster::train
