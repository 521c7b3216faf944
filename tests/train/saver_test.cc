#include "muster/saver.h"

#include <sys/resource.h>

#include <gmock/gmock.h>

#include "data/format/bundle_reader.h"
#include "data/format/checkpoint_state.h"
#include "tests/data/error_of.h"
#include "tests/train/saver_fixture.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_hook.h"

namespace muster::train {
namespace {

namespace fs = std::filesystem;
using data::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SaverTest, WhatIsSavedIsRestoredWithTheStepOfRandomStreams) {
  Saver saver(&model_.graph);
  SaveAt(saver, 7);
  model_.Set(0, 0);
  const std::string latest = Saver::LatestCheckpoint(Folder());
  EXPECT_EQ(latest, Prefix() + "-7");
  saver.Restore(*model_.session, latest);
  EXPECT_EQ(model_.value(), 7.0f);
  EXPECT_EQ(model_.session->ReadVariable(model_.step).scalar<int64_t>(), 7);
  EXPECT_EQ(model_.session->step(), 7);
  EXPECT_THAT(Files(),
              ElementsAre("checkpoint", "model.ckpt-7.data-00000-of-00001", "model.ckpt-7.index", "model.ckpt-7.meta"));
}

// Serialised VariableDef messages begin with the names of the variable and of its initializer.
TEST_F(SaverTest, TheMetaGraphTellsVariablesAndHowTheyAreRestored) {
  Saver saver(&model_.graph, {{model_.weights.ref, "saved/w", {}}});
  SaveAt(saver, 7);
  const std::string meta = ReadFile(Prefix() + "-7.meta");
  const size_t local = meta.find("local_variables"), trainable = meta.find("trainable_variables"),
               global = meta.find("\tvariables");
  ASSERT_TRUE(local < trainable && trainable < global && global != std::string::npos);
  EXPECT_THAT(meta.substr(local, trainable - local), HasSubstr("\n\x0dglobal_step:0\x12\x12global_step/Assign"));
  EXPECT_THAT(meta.substr(trainable, global - trainable), HasSubstr("\n\x03w:0\x12\x08w/Assign\x1a\x08w/read:0"));
  EXPECT_THAT(meta.substr(global), HasSubstr("\n\x03w:0\x12\x08w/Assign\x1a\x08w/read:0"));
  EXPECT_THAT(meta, HasSubstr("\x1a\x10save/restore_all"));
  EXPECT_THAT(meta, HasSubstr("saved/w"));
}

// The rule of tf_cnn_benchmarks' own test: every 2 steps, keep 3, 20 steps.
TEST_F(SaverTest, TheNewestAreKept) {
  Saver saver(&model_.graph, {.max_to_keep = 3, .write_meta_graph = false});
  for (int64_t step = 2; step <= 20; step += 2) SaveAt(saver, step);
  EXPECT_THAT(CheckpointsIn(Folder()), ElementsAre(Prefix() + "-20", Prefix() + "-18", Prefix() + "-16"));
  EXPECT_EQ(ReadFile(Folder() + "/checkpoint"),
            "model_checkpoint_path: \"model.ckpt-20\"\nall_model_checkpoint_paths: \"model.ckpt-16\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-18\"\nall_model_checkpoint_paths: \"model.ckpt-20\"\n");
  EXPECT_EQ(Files().size(), 7u);
}

TEST_F(SaverTest, CheckpointsOfAnEarlierRunCount) {
  for (const int64_t first : {1, 3}) {
    Saver saver(&model_.graph, {.max_to_keep = 3, .write_meta_graph = false});
    SaveAt(saver, first);
    SaveAt(saver, first + 1);
  }
  EXPECT_THAT(CheckpointsIn(Folder()), ElementsAre(Prefix() + "-4", Prefix() + "-3", Prefix() + "-2"));
}

// A "checkpoint" file that was copied from elsewhere names that place.
TEST_F(SaverTest, NothingOutsideTheFolderIsRemoved) {
  const testing::TempFolder other;
  const std::string theirs = (other.path() / "model.ckpt").string();
  Saver saver(&model_.graph, SaverOptions{.max_to_keep = 0});
  saver.Save(*model_.session, theirs, 1);
  saver.Save(*model_.session, (other.path() / "b.ckpt").string(), 2);
  fs::create_directory(folder_.path() / "sub");
  saver.Save(*model_.session, Folder() + "/sub/model.ckpt", 3);
  std::ofstream(folder_.path() / "checkpoint")
      << "model_checkpoint_path: \"" << theirs << "-1\"\nall_model_checkpoint_paths: \"../"
      << other.path().filename().string() << "/b.ckpt-2\"\n"
      << "all_model_checkpoint_paths: \"sub/model.ckpt-3\"\nall_model_checkpoint_paths: \"" << theirs << "-1\"\n";
  Saver second(&model_.graph, SaverOptions{.max_to_keep = 1});
  SaveAt(second, 10);
  SaveAt(second, 11);
  EXPECT_THAT(CheckpointsIn(other.path().string()),
              ElementsAre((other.path() / "b.ckpt").string() + "-2", theirs + "-1"));
  EXPECT_THAT(CheckpointsIn(Folder() + "/sub"), ElementsAre(Folder() + "/sub/model.ckpt-3"));
  EXPECT_THAT(CheckpointsIn(Folder()), ElementsAre(Prefix() + "-11"));
}

// As TensorFlow writes it; the folder has other names too.
TEST_F(SaverTest, AbsolutePathsIntoTheFolderCount) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2}) SaveAt(saver, step);
  const fs::path link = folder_.path().string() + "_link";
  fs::create_directory_symlink(folder_.path(), link);
  std::ofstream(folder_.path() / "checkpoint")
      << "model_checkpoint_path: \"" << Prefix() << "-2\"\nall_model_checkpoint_paths: \"" << Prefix() << "-1\"\n";
  model_.Set(3, 3);
  Saver(&model_.graph, SaverOptions{.max_to_keep = 2}).Save(*model_.session, (link / "model.ckpt").string(), 3);
  fs::remove(link);
  EXPECT_THAT(CheckpointsIn(Folder()), ElementsAre(Prefix() + "-3", Prefix() + "-2"));
}

TEST_F(SaverTest, AFolderThatIsMovedStillWorks) {
  Saver saver(&model_.graph);
  SaveAt(saver, 1);
  const testing::TempFolder other;
  for (const std::string& file : Files()) fs::copy(folder_.path() / file, other.path() / file);
  EXPECT_EQ(Saver::LatestCheckpoint(other.path().string()), (other.path() / "model.ckpt-1").string());
}

TEST_F(SaverTest, InTheBackgroundTheValuesAreThoseOfTheCall) {
  Saver saver(&model_.graph);
  model_.Set(5, 5);
  saver.SaveInBackground(*model_.session, Prefix(), 5);
  model_.Set(6, 6);
  saver.Wait();
  EXPECT_EQ(data::BundleReader(Prefix() + "-5").Read("w").data<float>()[0], 5.0f);
}

TEST_F(SaverTest, WhatFailsInTheBackgroundIsThrownByTheNextCall) {
  Saver saver(&model_.graph);
  saver.SaveInBackground(*model_.session, Folder() + "/nowhere/model.ckpt", 1);
  EXPECT_THAT(ErrorOf([&] { saver.Wait(); }), HasSubstr("nowhere/model.ckpt-1.data-00000-of-00001: No such file"));
  EXPECT_NO_THROW(SaveAt(saver, 2));
}

TEST_F(SaverTest, RestoringIsAllOrNothing) {
  Saver saver(&model_.graph);
  SaveAt(saver, 7);
  model_.Set(1, 1);
  Damage("model.ckpt-7.data-00000-of-00001");  // global_step comes first, w is damaged
  EXPECT_THAT(ErrorOf([&] { saver.Restore(*model_.session, Prefix() + "-7"); }),
              HasSubstr("tensor w at byte 8: the checksum of its 24 bytes is wrong"));
  EXPECT_EQ(model_.session->ReadVariable(model_.step).scalar<int64_t>(), 1);
}

TEST_F(SaverTest, AnotherModelsCheckpointIsRefusedWithWhatDiffers) {
  Saver saver(&model_.graph);
  SaveAt(saver, 1);
  SavedModel larger({4, 3});
  EXPECT_THAT(ErrorOf([&] { Saver(&larger.graph).Restore(*larger.session, Prefix() + "-1"); }),
              HasSubstr("model.ckpt-1.index: tensor w is float32[2,3], but the model's variable is float32[4,3]"));
  Saver renamed(&larger.graph, std::vector<SavedVariable>{{larger.weights, "weights", {}}});
  EXPECT_THAT(ErrorOf([&] { renamed.Restore(*larger.session, Prefix() + "-1"); }),
              HasSubstr("holds no tensor weights (1 of the model's 1 variables are missing; it has global_step, which "
                        "the model lacks)"));
}

TEST_F(SaverTest, AVariableIsFoundUnderItsOtherNames) {
  Saver saver(&model_.graph);
  SaveAt(saver, 9);
  model_.Set(0, 0);
  Saver other(&model_.graph, std::vector<SavedVariable>{{model_.weights, "v0/w", {"v/w", "w"}}});
  other.Restore(*model_.session, Prefix() + "-9");
  EXPECT_EQ(model_.value(), 9.0f);
}

TEST_F(SaverTest, AnOptionalVariableThatTheCheckpointLacksKeepsItsValueAndIsNamed) {
  Saver saver(&model_.graph);
  SaveAt(saver, 9);
  model_.Set(4, 2);
  Saver other(&model_.graph, std::vector<SavedVariable>{{.ref = model_.step, .name = "global_step"},
                                                        {.ref = model_.weights, .name = "scale", .is_optional = true}});
  other.Restore(*model_.session, Prefix() + "-9");
  EXPECT_EQ(model_.value(), 4.0f);
  EXPECT_EQ(model_.session->ReadVariable(model_.step).scalar<int64_t>(), 9);
  EXPECT_THAT(other.missing(), ElementsAre("scale"));
  saver.Restore(*model_.session, Prefix() + "-9");
  EXPECT_TRUE(saver.missing().empty());
  Saver needed(&model_.graph,
               std::vector<SavedVariable>{{.ref = model_.weights, .name = "w2"},
                                          {.ref = model_.weights, .name = "scale", .is_optional = true}});
  EXPECT_THAT(ErrorOf([&] { needed.Restore(*model_.session, Prefix() + "-9"); }),
              HasSubstr("holds no tensor w2 (1 of the model's 2 variables are missing"));
}

// With right checksums.
TEST_F(SaverTest, ANumberOfStepsBelowZeroIsRefused) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, -5}) {
    model_.Set(8, step);
    saver.Save(*model_.session, Prefix(), step < 0 ? 2 : step);
  }
  model_.Set(3, 7);
  const std::string wrong = Prefix() + "-2.index: tensor global_step is -5, but a number of steps is at least 0";
  EXPECT_EQ(ErrorOf([&] { saver.Restore(*model_.session, Prefix() + "-2"); }), wrong);
  EXPECT_EQ(model_.value(), 3.0f);
  EXPECT_EQ(
      ErrorOf([&] { RestoreNewest(saver, *model_.session, Folder(), "", ""); }),
      wrong + "; the newest intact checkpoint is " + Prefix() + "-1: remove " + Prefix() + "-2.* to go on from it");
}

TEST_F(SaverTest, FoldersWithoutACheckpointHaveNoLatest) {
  EXPECT_EQ(Saver::LatestCheckpoint(Folder()), "");
  EXPECT_EQ(Saver::LatestCheckpoint(Folder() + "/nowhere"), "");
}

TEST_F(SaverTest, TheNewestWhoseFilesAreThereIsTheLatest) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2, 3}) SaveAt(saver, step);
  fs::remove(Prefix() + "-3.index");
  EXPECT_EQ(Saver::LatestCheckpoint(Folder()), Prefix() + "-2");
}

// Killed between removing the only old checkpoint and listing the new one.
TEST_F(SaverTest, ANewCheckpointThatNobodyListedYetIsFoundIfItIsTheOnlyOne) {
  Saver saver(&model_.graph, SaverOptions{.max_to_keep = 1});
  SaveAt(saver, 1);
  const std::string state = ReadFile(Folder() + "/checkpoint");
  SaveAt(saver, 2);
  WriteFileAtomically(Folder() + "/checkpoint", state);
  EXPECT_EQ(Saver::LatestCheckpoint(Folder()), Prefix() + "-2");
}

TEST_F(SaverTest, ADamagedCheckpointIsNamedAndTheNewestIntactOneOffered) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2, 3}) SaveAt(saver, step);
  for (const char* step : {"2", "3"}) Damage(std::string("model.ckpt-") + step + ".data-00000-of-00001");
  EXPECT_THAT(ErrorOf([&] { RestoreNewest(saver, *model_.session, Folder(), "", "restore_from"); }),
              ::testing::AllOf(
                  HasSubstr("model.ckpt-3.data-00000-of-00001: tensor w at byte 8"),
                  HasSubstr("the newest intact checkpoint is " + Prefix() + "-1: --restore_from=" + Prefix() + "-1")));
  EXPECT_EQ(RestoreNewest(saver, *model_.session, Folder(), Prefix() + "-1", "restore_from"), Prefix() + "-1");
  std::ofstream(folder_.path() / "checkpoint") << "nonsense";
  EXPECT_THAT(ErrorOf([&] { RestoreNewest(saver, *model_.session, Folder(), "", "restore_from"); }),
              ::testing::AllOf(HasSubstr("checkpoint: line 1"),
                               HasSubstr("the newest intact checkpoint is " + Prefix() + "-1")));
}

TEST_F(SaverTest, AllThatARunWouldTakeBeforeTheIntactOneIsNamedForRemoval) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2, 3, 4}) SaveAt(saver, step);
  Damage("model.ckpt-4.data-00000-of-00001");
  fs::remove(Prefix() + "-3.data-00000-of-00001");
  Damage("model.ckpt-2.index");
  EXPECT_THAT(ErrorOf([&] { RestoreNewest(saver, *model_.session, Folder(), "", ""); }),
              ::testing::EndsWith("; the newest intact checkpoint is " + Prefix() + "-1: remove " + Prefix() +
                                  "-4.* and " + Prefix() + "-3.* and " + Prefix() + "-2.* to go on from it"));
  for (const std::string& name : Files())
    if (name.starts_with("model.ckpt-") && !name.starts_with("model.ckpt-1.")) fs::remove(folder_.path() / name);
  EXPECT_EQ(RestoreNewest(saver, *model_.session, Folder(), "", ""), Prefix() + "-1");
}

// The process has as many open files as it may.
TEST_F(SaverTest, NothingIsToBeRemovedBecauseItCannotBeReadNow) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2}) SaveAt(saver, step);
  struct rlimit limit {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  struct rlimit none = limit;
  none.rlim_cur = 0;
  std::string of_list, of_checkpoint;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  of_list = ErrorOf([&] { RestoreNewest(saver, *model_.session, Folder(), "", ""); });
  of_checkpoint = ErrorOf([&] { RestoreNewest(saver, *model_.session, Folder(), Prefix() + "-2", ""); });
  ::setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(of_list, "cannot open " + Folder() + "/checkpoint: Too many open files");
  EXPECT_EQ(of_checkpoint, "cannot open " + Prefix() + "-2.index: Too many open files");
  EXPECT_EQ(RestoreNewest(saver, *model_.session, Folder(), "", ""), Prefix() + "-2");
}

// A data file that is a folder, for one.
TEST_F(SaverTest, WhateverCannotBeReadOfTheNewestTheIntactOneIsOffered) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2}) SaveAt(saver, step);
  const std::string data = Prefix() + "-2.data-00000-of-00001";
  fs::remove(data);
  fs::create_directory(data);
  EXPECT_THAT(ErrorOf([&] { RestoreNewest(saver, *model_.session, Folder(), "", ""); }),
              ::testing::AllOf(HasSubstr(data), HasSubstr("; the newest intact checkpoint is " + Prefix() +
                                                          "-1: remove " + Prefix() + "-2.* to go on from it")));
}

// Nothing is wrong with it.
TEST_F(SaverTest, NoOtherCheckpointIsOfferedForOneOfAnotherModel) {
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2}) SaveAt(saver, step);
  SavedModel larger({4, 3});
  Saver other(&larger.graph);
  EXPECT_THAT(ErrorOf([&] { RestoreNewest(other, *larger.session, Folder(), "", ""); }),
              ::testing::AllOf(HasSubstr("but the model's variable is"), ::testing::Not(HasSubstr("intact"))));
}

TEST_F(SaverTest, ALostListOfCheckpointsIsNoFolderToBeginIn) {
  EXPECT_NO_THROW(CheckNothingIsUnlisted(Folder() + "/nowhere", ""));
  Saver saver(&model_.graph);
  for (const int64_t step : {1, 2}) SaveAt(saver, step);
  EXPECT_NO_THROW(CheckNothingIsUnlisted(Folder(), ""));
  EXPECT_EQ(UnlistedNote(Folder(), ""), "");
  fs::remove(folder_.path() / "checkpoint");
  EXPECT_EQ(UnlistedNote(Folder(), "train_dir"),
            Folder() + "/checkpoint: no such file, but the folder has checkpoints; the newest intact checkpoint is " +
                Prefix() + "-2: --train_dir=" + Prefix() + "-2");
  const std::string begin =
      Folder() +
      "/checkpoint: no such file, but the folder has checkpoints, which a run from the start would replace; ";
  EXPECT_EQ(ErrorOf([&] { CheckNothingIsUnlisted(Folder(), ""); }),
            begin + "the newest intact checkpoint is " + Prefix() +
                "-2: write 'model_checkpoint_path: \"model.ckpt-2\"' into " + Folder() +
                "/checkpoint to go on from it");
  Damage("model.ckpt-2.data-00000-of-00001");
  EXPECT_EQ(ErrorOf([&] { CheckNothingIsUnlisted(Folder(), "restore_from"); }),
            begin + "the newest intact checkpoint is " + Prefix() + "-1: --restore_from=" + Prefix() + "-1");
  Damage("model.ckpt-1.data-00000-of-00001");
  EXPECT_EQ(ErrorOf([&] { CheckNothingIsUnlisted(Folder(), ""); }),
            begin + "there is no intact checkpoint in the folder");
}

// Killed while the first checkpoint of a folder was written.
TEST_F(SaverTest, AListWhoseOnlyCheckpointIsMissingIsAFolderToBeginIn) {
  folder_.Write("checkpoint", "model_checkpoint_path: \"model.ckpt-1\"");
  Saver saver(&model_.graph);
  EXPECT_EQ(RestoreNewest(saver, *model_.session, Folder(), "", ""), "");
  EXPECT_NO_THROW(CheckNothingIsUnlisted(Folder(), ""));
}

}  // namespace
}  // namespace muster::train
