#include "bench/flags.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "bench/checks.h"
#include "bench/later.h"
#include "bench/param_table.h"
#include "bench/peer_models.h"
#include "muster/error.h"
#include "tests/testing/golden.h"

namespace muster::bench {
namespace {

nlohmann::json DefaultAsJson(const FlagSpec& spec) {
  return std::visit(
      [](const auto& value) -> nlohmann::json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      spec.default_value);
}

TEST(GoldenBenchFlags, NamesTypesDefaultsValuesAndBoundsAreThoseOfThePeer) {
  const nlohmann::json golden = testing::GoldenJson("cnn_benchmarks/flags.json");
  const FlagTable table = PeerFlags();
  std::set<std::string> names;
  for (const nlohmann::json& flag : golden.at("flags")) {
    const std::string name = flag.at("name");
    names.insert(name);
    const FlagSpec* spec = table.Find(name);
    ASSERT_NE(spec, nullptr) << name;
    EXPECT_EQ(FlagTypeName(spec->type), flag.at("type").get<std::string>()) << name;
    EXPECT_TRUE(name == "device" || DefaultAsJson(*spec) == flag.at("default")) << name;
    EXPECT_EQ(nlohmann::json(spec->enum_values), flag.value("enum_values", nlohmann::json::array())) << name;
    EXPECT_EQ(spec->lower.has_value(), flag.contains("lower_bound")) << name;
    EXPECT_EQ(spec->upper.has_value(), flag.contains("upper_bound")) << name;
    EXPECT_EQ(spec->lower.value_or(0), flag.value("lower_bound", 0.0)) << name;
    EXPECT_EQ(spec->upper.value_or(0), flag.value("upper_bound", 0.0)) << name;
  }
  for (const FlagSpec& spec : table.specs()) EXPECT_EQ(names.count(spec.name), 1u) << spec.name;
}

TEST(BenchFlags, TheRecordOfAnEmptyCommandLineIsTheDefaultRecord) {
  const FlagValues values = ParseFlags(PeerFlags().Plus(OwnFlags()), {});
  EXPECT_EQ(ParamsFromFlags(values), BenchParams{});
  EXPECT_EQ(OwnParamsFromFlags(values), OwnParams{});
}

TEST(BenchFlags, EveryFlagReachesItsMember) {
  for (const ParamField& field : BenchParamTable().fields()) {
    std::string text = "7";
    if (field.spec.type == FlagType::kBoolean) text = field.spec.default_value == FlagValue(true) ? "false" : "true";
    if (field.spec.type == FlagType::kFloat) text = field.spec.upper ? "0.5" : "7.5";
    if (field.spec.type == FlagType::kEnum) {
      for (const std::string& value : field.spec.enum_values) {
        if (FlagValue(value) != field.spec.default_value) text = value;
      }
    }
    const FlagValues values = ParseFlags(PeerFlags().Plus(OwnFlags()), {"--" + field.spec.name + "=" + text});
    const BenchParams params = ParamsFromFlags(values);
    EXPECT_EQ(GetParam(params, field), values.Get(field.spec.name)) << field.spec.name;
    EXPECT_NE(params, BenchParams{}) << field.spec.name;
    BenchParams restored = params;
    SetParam(restored, field, field.spec.default_value);
    EXPECT_EQ(restored, BenchParams{}) << field.spec.name << " changed another member too";
  }
}

TEST(BenchFlags, EveryFlagHasHelpAndTheSupportTableKnowsOnlyFlags) {
  const FlagTable table = PeerFlags(), all = table.Plus(OwnFlags());
  for (const FlagSpec& spec : all.specs()) EXPECT_FALSE(spec.help.empty()) << spec.name;
  std::set<std::string> seen;
  for (const FlagSupport& support : SupportTable()) {
    EXPECT_NE(table.Find(support.name), nullptr) << support.name;
    EXPECT_TRUE(seen.insert(support.name).second) << support.name << " is listed twice";
  }
}

// Every flag either works, or is refused, or is noted: never ignored in silence.
TEST(BenchFlags, TheDocumentedTableSaysWhatTheProgramDoes) {
  const std::string text = ReadFile(std::string(MUSTER_SOURCE_DIR) + "/docs/bench_flags.md");
  const FlagTable table = PeerFlags();
  for (const FlagSpec& spec : table.specs()) {
    const size_t row = text.find("\n| " + spec.name + " | ");
    ASSERT_NE(row, std::string::npos) << spec.name;
    const std::string line = text.substr(row + 1, text.find('\n', row + 1) - row - 1);
    const FlagSupport support = SupportOf(spec.name);
    const char* word = support.support == Support::kWorks   ? "works"
                       : support.support == Support::kLater ? "later"
                                                            : "no effect";
    EXPECT_NE(line.find(std::string("| ") + word + " |"), std::string::npos) << line;
    EXPECT_NE(line.find(std::string("| ") + FlagTypeName(spec.type) + " |"), std::string::npos) << line;
    EXPECT_NE(line.find(support.note), std::string::npos) << line;
  }
}

TEST(BenchFlags, ALaterFlagIsRefusedUnlessItHasItsDefault) {
  EXPECT_NO_THROW(CheckSupported(BenchParams{}));
  for (const ParamField& field : BenchParamTable().fields()) {
    if (SupportOf(field.spec.name).support != Support::kLater) continue;
    BenchParams params;
    FlagValue other = int64_t{7};
    if (field.spec.type == FlagType::kBoolean) other = field.spec.default_value != FlagValue(true);
    if (field.spec.type == FlagType::kFloat) other = 7.5;
    if (field.spec.type == FlagType::kString) other = std::string("x");
    if (field.spec.type == FlagType::kList) other = std::vector<std::string>{"1"};
    if (field.spec.type == FlagType::kEnum) {
      for (const std::string& value : field.spec.enum_values) {
        if (FlagValue(value) != field.spec.default_value) other = value;
      }
    }
    SetParam(params, field, other);
    try {
      CheckSupported(params);
      FAIL() << field.spec.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kUnimplemented);
      EXPECT_EQ(error.message().find("flag --" + field.spec.name + "="), 0u) << error.what();
    }
  }
}

TEST(BenchFlags, AFlagWithoutEffectIsAcceptedAndNoted) {
  BenchParams params;
  EXPECT_EQ(NoEffectNote(params), "");
  params.winograd_nonfused = false;
  params.distortions = true;
  EXPECT_NO_THROW(CheckSupported(params));
  EXPECT_EQ(NoEffectNote(params),
            "without effect: --winograd_nonfused (without a real GPU), --distortions (for synthetic data)");
}

TEST(BenchFlags, AGpuIsRefusedUnlessItIsSimulated) {
  BenchParams params;
  params.device = "gpu";
  EXPECT_THROW(CheckSupported(params), Error);
  EXPECT_NO_THROW(CheckSupported(params, {.simulated_gpus = 1}));
  params.num_gpus = 4;
  try {
    CheckSupported(params, {.simulated_gpus = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "flag --num_gpus=4: there are 2 GPUs: --simulated_gpus=2");
  }
  params.device = "CPU";
  EXPECT_NO_THROW(CheckSupported(params));
}

TEST(GoldenPeerModels, EveryModelOfThePeerIsThereOrSaidToComeLater) {
  const nlohmann::json golden = testing::GoldenJson("models.json");
  for (const nlohmann::json& entry : golden.at("models")) {
    const std::string name = entry.at("model"), dataset = entry.at("dataset");
    try {
      FindBenchDataset(dataset);
      const Model& model = FindBenchModel(name, dataset);
      EXPECT_EQ(model.printed_name, entry.at("printed_name").get<std::string>());
      if (dataset == "coco") continue;  // there it has no batch size of its own
      EXPECT_EQ(model.default_batch_size, entry.at("default_batch_size").get<int>());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kUnimplemented) << error.what();
    }
  }
}

TEST(PeerModels, UnknownNamesAreRefusedWithTheList) {
  EXPECT_THROW(FindBenchModel("cnn", "imagenet"), Error);
  try {
    FindBenchDataset("mnist");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Unknown dataset 'mnist'. Must be one of cifar10, coco, imagenet");
  }
}

}  // namespace
}  // namespace muster::bench
