// The graphs that --dump_passes writes: before the first pass, after each, and the plan.

#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "tests/testing/idx_files.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DumpPasses, ShowsWhatIsThereBeforeAndAfterEachPass) {
  const testing::TempFolder folder;
  Graph graph;
  const Scope scope(&graph);
  const Output x = ops::Placeholder(scope, DType::kFloat32, {4});
  const Output wanted = ops::Square(scope.WithName("wanted"), x);
  ops::Exp(scope.WithName("unused"), x);
  Session session(&graph, {.dump_passes_dir = folder.path().string()});
  session.Run({{x, Tensor(DType::kFloat32, {4})}}, {wanted});

  const std::filesystem::path dumps = folder.path() / "plan_0";
  EXPECT_THAT(ReadFile((dumps / "00_graph.txt").string()), AllOf(HasSubstr("wanted"), HasSubstr("unused")));
  EXPECT_THAT(ReadFile((dumps / "01_prune.txt").string()), AllOf(HasSubstr("wanted"), Not(HasSubstr("unused"))));
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dumps))
    names.insert(entry.path().filename().string().substr(3));
  for (const char* pass : {"fold_constants.txt", "partition.txt", "layout.txt", "plan.txt"})
    EXPECT_TRUE(names.contains(pass)) << pass;
}

}  // namespace
}  // namespace muster
