// What a failed or killed save leaves behind.

#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>

#include <gmock/gmock.h>

#include "base/temporary_name.h"
#include "data/format/checkpoint_state.h"
#include "tests/data/error_of.h"
#include "tests/train/saver_fixture.h"
#include "train/checkpoint_folder.h"

namespace muster::train {
namespace {

namespace fs = std::filesystem;
using data::ErrorOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

// A folder in the place of a temporary file is as good as a full disk.
TEST_F(SaverTest, WhateverFailsLeavesNothingOfTheNewCheckpoint) {
  for (const char* file : {"model.ckpt-4.index", "model.ckpt-4.meta", "checkpoint"}) {
    SCOPED_TRACE(file);
    const fs::path blocked = TemporaryName((folder_.path() / file).string());
    for (const int64_t earlier : {0, 3}) {  // in an empty folder, and behind another checkpoint
      if (earlier > 0 && std::string(file) == "checkpoint") continue;  // see AListThatCannotBeWrittenCostsNoCheckpoint
      Saver saver(&model_.graph);
      if (earlier > 0) SaveAt(saver, earlier);
      const std::vector<std::string> before = Files();
      fs::create_directory(blocked);
      EXPECT_THAT(ErrorOf([&] { SaveAt(saver, 4); }), HasSubstr(std::string(file) + ": Is a directory"));
      fs::remove(blocked);
      EXPECT_EQ(Files(), before);
      SaveAt(saver, 5);
      EXPECT_EQ(CheckpointsIn(Folder()).size(), earlier > 0 ? 2u : 1u);
      for (const std::string& name : Files()) fs::remove(folder_.path() / name);
    }
  }
}

// However many are kept: none goes before the list names the new one.
TEST_F(SaverTest, AListThatCannotBeWrittenCostsNoCheckpoint) {
  for (const int max_to_keep : {1, 5}) {
    SCOPED_TRACE(max_to_keep);
    Saver saver(&model_.graph, SaverOptions{.max_to_keep = max_to_keep});
    SaveAt(saver, 3);
    const fs::path blocked = TemporaryName((folder_.path() / "checkpoint").string());
    fs::create_directory(blocked);
    EXPECT_EQ(ErrorOf([&] { SaveAt(saver, 4); }),
              "cannot write " + Folder() + "/checkpoint: Is a directory; checkpoint " + Prefix() +
                  "-4 is whole, but not in that list: write 'model_checkpoint_path: \"model.ckpt-4\"' into " +
                  Folder() + "/checkpoint to go on from it");
    fs::remove(blocked);
    EXPECT_FALSE(WrongWithCheckpoint(Prefix() + "-4").has_value());
    EXPECT_EQ(Saver::LatestCheckpoint(Folder()), Prefix() + "-3");
    const std::string before = ReadFile(Folder() + "/checkpoint");
    folder_.Write("checkpoint", "model_checkpoint_path: \"model.ckpt-4\"");  // as it says
    EXPECT_EQ(Saver::LatestCheckpoint(Folder()), Prefix() + "-4");
    folder_.Write("checkpoint", before);
    SaveAt(saver, 5);  // the same saver has not forgotten it
    EXPECT_EQ(data::ReadCheckpointState(Folder()).all,
              max_to_keep == 1 ? std::vector<std::string>({"model.ckpt-5"})
                               : std::vector<std::string>({"model.ckpt-3", "model.ckpt-4", "model.ckpt-5"}));
    for (const std::string& name : Files()) fs::remove(folder_.path() / name);
  }
}

// How often a file appears in the folder under this name, moved there, while "action" runs. (Two moves with nothing
// watched in between would be one event.)
int TimesMovedTo(const std::string& folder, const std::string& name, const std::function<void()>& action) {
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  EXPECT_GE(::inotify_add_watch(watch, folder.c_str(), IN_MOVED_TO | IN_DELETE), 0);
  action();
  int times = 0;
  alignas(inotify_event) char events[1 << 14];
  for (ssize_t got; (got = ::read(watch, events, sizeof events)) > 0;)
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      std::memcpy(&event, events + at, sizeof event);
      times += (event.mask & IN_MOVED_TO) != 0 && event.len > 0 && name == events + at + sizeof event ? 1 : 0;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  ::close(watch);
  return times;
}

// In a folder's first checkpoint it stands before the checkpoint is there, and must not fail afterwards.
TEST_F(SaverTest, TheListIsWrittenOnceForEachCheckpointAndAgainWhenOneGoes) {
  Saver saver(&model_.graph, SaverOptions{.max_to_keep = 2});
  const std::map<int64_t, int> expected{{1, 1}, {2, 1}, {3, 2}};
  for (const auto& [step, times] : expected)
    EXPECT_EQ(TimesMovedTo(Folder(), "checkpoint", [&] { SaveAt(saver, step); }), times) << step;
  EXPECT_EQ(data::ReadCheckpointState(Folder()).all, std::vector<std::string>({"model.ckpt-2", "model.ckpt-3"}));
}

// As a process leaves them that is killed while it writes the newest checkpoint or removes the oldest.
TEST_F(SaverTest, DataAndGraphsWithoutAnIndexAreRemovedByTheNextRun) {
  SaveAt(*std::make_unique<Saver>(&model_.graph), 3);
  for (const char* file : {"model.ckpt-2.data-00000-of-00001", "model.ckpt-2.meta", "model.ckpt-4.data-00000-of-00002"})
    folder_.Write(file, "left");
  const std::vector<std::string> others = {"model.ckpt-x.meta", "model.ckpt.meta", "other-2.meta", "notes"};
  for (const std::string& file : others) folder_.Write(file, "somebody's");
  Saver saver(&model_.graph);
  SaveAt(saver, 5);
  std::vector<std::string> expected = others;
  for (const char* step : {"3", "5"})
    for (const char* ending : {".index", ".data-00000-of-00001", ".meta"})
      expected.push_back(std::string("model.ckpt-") + step + ending);
  expected.push_back("checkpoint");
  EXPECT_THAT(Files(), UnorderedElementsAreArray(expected));
}

// Nobody can tell why it is gone; what is left of it stays.
TEST_F(SaverTest, DataOfTheNewestCheckpointStayWithoutItsIndex) {
  SaveAt(*std::make_unique<Saver>(&model_.graph), 3);
  fs::remove(Prefix() + "-3.index");
  Saver saver(&model_.graph);
  SaveAt(saver, 5);
  EXPECT_TRUE(fs::exists(Prefix() + "-3.data-00000-of-00001"));
}

}  // namespace
}  // namespace muster::train
