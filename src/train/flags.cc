#include "train/flags.h"

#include <fmt/format.h>

#include "data/dataset_files.h"
#include "muster/error.h"

namespace muster::train {
namespace {

// Adds flags to a list: name, default, help, then what is special about it.
class Builder {
 public:
  void Group(std::string group) { group_ = std::move(group); }
  FlagSpec& Bool(std::string name, bool value, std::string help) {
    return Add(std::move(name), FlagType::kBoolean, value, std::move(help));
  }
  FlagSpec& Int(std::string name, int64_t value, std::string help, double lower, double upper = 1e12) {
    return Bounded(Add(std::move(name), FlagType::kInteger, value, std::move(help)), lower, upper);
  }
  FlagSpec& Float(std::string name, double value, std::string help, double lower, double upper = 1e12) {
    return Bounded(Add(std::move(name), FlagType::kFloat, value, std::move(help)), lower, upper);
  }
  FlagSpec& String(std::string name, std::string value, std::string help) {
    return Add(std::move(name), FlagType::kString, std::move(value), std::move(help));
  }
  FlagSpec& Enum(std::string name, std::string value, std::vector<std::string> values, std::string help) {
    FlagSpec& spec = Add(std::move(name), FlagType::kEnum, std::move(value), std::move(help));
    spec.enum_values = std::move(values);
    return spec;
  }
  std::vector<FlagSpec> Take() { return std::move(specs_); }

 private:
  FlagSpec& Add(std::string name, FlagType type, FlagValue value, std::string help) {
    specs_.push_back({.name = std::move(name),
                      .type = type,
                      .default_value = std::move(value),
                      .help = std::move(help),
                      .group = group_});
    return specs_.back();
  }
  static FlagSpec& Bounded(FlagSpec& spec, double lower, double upper) {
    spec.lower = lower;
    spec.upper = upper;
    return spec;
  }

  std::string group_;
  std::vector<FlagSpec> specs_;
};

void AddDataFlags(Builder& add) {
  add.Group("Data");
  add.String("dataset", "fashion-mnist",
             std::string(data::kDatasetSpecs) + "; named sets are searched in $MUSTER_DATA_DIR if it is set")
      .important = true;
  add.String("data_name", "",
             "the same as --dataset in the words of muster bench: a name, with the folder in --data_dir");
  add.String("data_dir", "", "folder of the data set that --data_name names");
  add.Bool("random_flip", false, "mirror half of the training images").important = true;
  add.Int("shift_crop", 0, "shift training images by up to N pixels, zeros at the edges", 0, 64).important = true;
  add.Int("pad_to", 0, "put images in the middle of a square of N pixels, zeros around them; 0: no", 0, 4096);
  add.Enum("normalization", "standardize", {"standardize", "unit"},
           "pixels to mean 0 and deviation 1 of the training set, or to 0..1");
  add.Int("num_prefetch_threads", 1, "threads that prepare batches; 0: none beside training", 0, 256);
  add.Int("prefetch_batches", 3, "batches in memory", 2, 64);
}

void AddModelFlags(Builder& add) {
  add.Group("Model and optimization");
  add.String("model", "cnn", "the network; an unknown name lists them").important = true;
  add.Int("batch_size", 128, "images per step; auto: as many as fit", 1, 1 << 24).important = true;
  add.Enum("optimizer", "adam", OptimizerNames(), "rule").important = true;
  add.Float("init_learning_rate", 0.004, "learning rate at the start; --learning_rate_schedule changes it", 0)
      .important = true;
  add.Enum("learning_rate_schedule", "polynomial", ScheduleNames(), "how the rate changes");
  add.Float("num_learning_rate_warmup_epochs", 0, "linear ramp from 0 at the start", 0);
  add.Float("num_epochs_per_decay", 1, "exponential, staircase: epochs between decays", 1e-6);
  add.Float("learning_rate_decay_factor", 0.9, "exponential, staircase: what a decay multiplies the rate by", 0, 1);
  add.Float("minimum_learning_rate", 0, "floor (exponential, staircase) or end (polynomial, cosine) of the rate", 0);
  add.Float("learning_rate_decay_epochs", 0, "polynomial, cosine: epochs to the end of the decay; 0: all", 0);
  add.Float("learning_rate_power", 1, "polynomial: exponent", 1e-3, 100);
  add.String("piecewise_learning_rate_schedule", "", "LR0;E1;LR1;...;En;LRn: rate LRi from epoch Ei on");
  add.Float("momentum", 0.9, "momentum, nesterov, lars", 0, 1);
  add.Float("rmsprop_decay", 0.9, "decay of the mean square", 0, 1);
  add.Float("rmsprop_momentum", 0.9, "momentum of RMSProp", 0, 1);
  add.Float("rmsprop_epsilon", 1.0, "added to the mean square, inside the root", 0);
  add.Float("adam_beta1", 0.9, "decay of the first moment", 0, 1);
  add.Float("adam_beta2", 0.999, "decay of the second moment", 0, 1);
  add.Float("adam_epsilon", 1e-8, "added to the root of the second moment", 0);
  add.Float("weight_decay", 0, "factor of the L2 loss; of the decay itself for adamw and lars", 0).important = true;
  add.Float("label_smoothing", 0, "share of the target spread over all classes", 0, 1);
}

void AddRunFlags(Builder& add) {
  add.Group("Run");
  add.Int("num_epochs", 4, "passes over the training images at most", 1, 1e6).important = true;
  add.Float("target_accuracy", 0.9, "test accuracy that ends the run; 0: train all epochs", 0, 1).important = true;
  add.Float("eval_every_n_epochs", 1, "epochs between evaluations of the test images", 1e-4);
  add.Int("eval_batch_size", 500, "images per evaluation step", 1, 1 << 24);
  add.Int("seed", 1, "of weights, order and augmentation", 0).important = true;
  add.Int("num_intra_threads", 0, "threads of an operation; 0: one per core", 0, 4096).important = true;
  add.Enum("backend", "cpu", {"cpu", "reference"}, "kernels: fast ones, or the plain loops that tests trust");
  add.Enum("recompute", "none", {"none", "auto"},
           "auto: compute activations again in the backward pass if they do not fit")
      .important = true;
  add.Int("host_memory_limit_mb", 0, "memory of the host to stay within, in MiB; 0: what is free", 0, 1 << 30);
  add.Bool("check_nan", true, "stop at the first loss that is not finite, naming step and layer");
}

void AddOutputFlags(Builder& add) {
  add.Group("Output");
  add.Int("display_every", 100, "steps between lines where output is no terminal; 0: none", 0);
  add.String("json", "", "file for the result (docs/train_json.md)").important = true;
  add.String("train_dir", "", "folder for what the run leaves behind; gets the result as train.json").important = true;
}

void AddCheckpointFlags(Builder& add) {
  add.Group("Checkpoints and TensorBoard");
  add.String("checkpoint_dir", "", "folder for checkpoints in TensorFlow's format; a run goes on from the newest in it")
      .important = true;
  add.String("restore_from", "", "the checkpoint to go on from instead, as PREFIX of PREFIX.index");
  add.Int("save_model_steps", 0, "write a checkpoint every so many steps; 0: no", 0);
  add.Int("save_model_secs", 600, "write a checkpoint every so many seconds; 0: no", 0);
  add.Int("max_ckpts_to_keep", 5, "newest checkpoints that stay; 0: all", 0);
  add.Int("save_summaries_steps", 0, "write TensorBoard's event file into --train_dir every so many steps; 0: no", 0);
  add.Int("summary_verbosity", 1,
          "1: loss, accuracy, learning rate, graph; 2: and a histogram of all gradients; 3: and of each weight", 0, 3);
}

void CheckBelowOne(std::string_view flag, double value) {
  if (value >= 1) throw InvalidArgument(fmt::format("--{}={}: must be below 1", flag, value));
}

void CheckSet(const FlagValues& values, std::string_view flag, bool fits, const std::string& needs) {
  if (values.is_set(flag) && !fits) throw InvalidArgument(fmt::format("--{} has no effect without {}", flag, needs));
}

// A flag that the chosen optimizer or schedule would ignore is a mistake.
void CheckCombinations(const FlagValues& values, const TrainOptions& options) {
  const auto schedule_is = [&](auto... kinds) { return ((options.schedule.kind == kinds) || ...); };
  const auto optimizer_is = [&](auto... names) { return ((options.optimizer.name == names) || ...); };
  for (const char* flag : {"num_epochs_per_decay", "learning_rate_decay_factor"})
    CheckSet(values, flag, schedule_is("exponential", "staircase"),
             "--learning_rate_schedule=exponential or staircase");
  CheckSet(values, "minimum_learning_rate", schedule_is("exponential", "staircase", "polynomial", "cosine"),
           "--learning_rate_schedule=exponential, staircase, polynomial or cosine");
  CheckSet(values, "learning_rate_decay_epochs", schedule_is("polynomial", "cosine"),
           "--learning_rate_schedule=polynomial or cosine");
  CheckSet(values, "learning_rate_power", schedule_is("polynomial"), "--learning_rate_schedule=polynomial");
  CheckSet(values, "momentum", optimizer_is("momentum", "nesterov", "lars"), "--optimizer=momentum, nesterov or lars");
  for (const char* flag : {"rmsprop_decay", "rmsprop_momentum", "rmsprop_epsilon"})
    CheckSet(values, flag, optimizer_is("rmsprop"), "--optimizer=rmsprop");
  for (const char* flag : {"adam_beta1", "adam_beta2", "adam_epsilon"})
    CheckSet(values, flag, optimizer_is("adam", "adamw"), "--optimizer=adam or adamw");
  for (const char* flag : {"save_model_steps", "save_model_secs", "max_ckpts_to_keep"})
    CheckSet(values, flag, !options.checkpoint_dir.empty(), "--checkpoint_dir");
  CheckSet(values, "save_summaries_steps", !options.train_dir.empty(), "--train_dir");
  CheckSet(values, "summary_verbosity", options.save_summaries_steps > 0, "--save_summaries_steps");
  CheckBelowOne("adam_beta1", options.optimizer.adam_beta1);  // the bias correction divides by 1 - beta
  CheckBelowOne("adam_beta2", options.optimizer.adam_beta2);
  if (options.schedule.minimum_rate > options.schedule.init_rate)
    throw InvalidArgument(fmt::format("--minimum_learning_rate={} is above --init_learning_rate={}",
                                      options.schedule.minimum_rate, options.schedule.init_rate));
}

ScheduleOptions ScheduleFromFlags(const FlagValues& values) {
  ScheduleOptions schedule{.kind = values.GetString("learning_rate_schedule"),
                           .init_rate = values.GetFloat("init_learning_rate"),
                           .warmup_epochs = values.GetFloat("num_learning_rate_warmup_epochs"),
                           .epochs_per_decay = values.GetFloat("num_epochs_per_decay"),
                           .decay_factor = values.GetFloat("learning_rate_decay_factor"),
                           .minimum_rate = values.GetFloat("minimum_learning_rate"),
                           .decay_epochs = values.GetFloat("learning_rate_decay_epochs"),
                           .power = values.GetFloat("learning_rate_power")};
  const std::string& piecewise = values.GetString("piecewise_learning_rate_schedule");
  if (piecewise.empty()) {
    if (schedule.kind == "piecewise")
      throw InvalidArgument(
          "--learning_rate_schedule=piecewise needs --piecewise_learning_rate_schedule=LR0;E1;LR1;...");
    return schedule;
  }
  if (values.is_set("init_learning_rate"))
    throw InvalidArgument("--init_learning_rate and --piecewise_learning_rate_schedule exclude each other");
  if (values.is_set("learning_rate_schedule") && schedule.kind != "piecewise")
    throw InvalidArgument(fmt::format(
        "--learning_rate_schedule={} and --piecewise_learning_rate_schedule exclude each other", schedule.kind));
  ParsePiecewise(piecewise, &schedule);
  return schedule;
}

OptimizerOptions OptimizerFromFlags(const FlagValues& values) {
  return {.name = values.GetString("optimizer"),
          .momentum = values.GetFloat("momentum"),
          .rmsprop_decay = values.GetFloat("rmsprop_decay"),
          .rmsprop_momentum = values.GetFloat("rmsprop_momentum"),
          .rmsprop_epsilon = values.GetFloat("rmsprop_epsilon"),
          .adam_beta1 = values.GetFloat("adam_beta1"),
          .adam_beta2 = values.GetFloat("adam_beta2"),
          .adam_epsilon = values.GetFloat("adam_epsilon"),
          .weight_decay = values.GetFloat("weight_decay")};
}

// "cifar10:DIR" may also be written --data_name=cifar10 --data_dir=DIR.
std::string DatasetFrom(const FlagValues& values) {
  const std::string name = values.GetString("data_name"), dir = values.GetString("data_dir");
  if (name.empty() && dir.empty()) return values.GetString("dataset");
  if (values.is_set("dataset"))
    throw InvalidArgument("flag --dataset cannot go with --data_name and --data_dir, which mean the same");
  if (name.empty()) throw InvalidArgument(fmt::format("flag --data_dir={}: needs --data_name (cifar10 or idx)", dir));
  return dir.empty() ? name : name + ":" + dir;
}

}  // namespace

const std::vector<std::string>& OptimizerNames() {
  static const std::vector<std::string> names{"sgd",   "momentum", "nesterov", "rmsprop", "adam",
                                              "adamw", "adagrad",  "adadelta", "ftrl",    "lars"};
  return names;
}

FlagTable TrainFlags() {
  Builder add;
  AddDataFlags(add);
  AddModelFlags(add);
  AddRunFlags(add);
  AddOutputFlags(add);
  AddCheckpointFlags(add);
  return FlagTable(add.Take());
}

TrainOptions OptionsFromFlags(const FlagValues& values) {
  TrainOptions options;
  options.seed = static_cast<uint64_t>(values.GetInt("seed"));
  options.dataset = DatasetFrom(values);
  options.pipeline.scaling =
      values.GetString("normalization") == "unit" ? data::Scaling::kUnit : data::Scaling::kStandardize;
  options.pipeline.augment = {.flip = values.GetBool("random_flip"),
                              .max_shift = static_cast<int>(values.GetInt("shift_crop")),
                              .seed = options.seed};
  options.pipeline.pad_to = values.GetInt("pad_to");
  options.prefetch_threads = static_cast<int>(values.GetInt("num_prefetch_threads"));
  options.prefetch_depth = static_cast<int>(values.GetInt("prefetch_batches"));
  options.model = values.GetString("model");
  options.optimizer = OptimizerFromFlags(values);
  options.schedule = ScheduleFromFlags(values);
  options.label_smoothing = values.GetFloat("label_smoothing");
  options.batch_size = values.GetInt("batch_size");
  options.eval_batch_size = values.GetInt("eval_batch_size");
  options.num_epochs = values.GetInt("num_epochs");
  options.target_accuracy = values.GetFloat("target_accuracy");
  options.eval_every_n_epochs = values.GetFloat("eval_every_n_epochs");
  options.num_intra_threads = static_cast<int>(values.GetInt("num_intra_threads"));
  options.backend = values.GetString("backend");
  options.recompute = values.GetString("recompute") == "auto";
  options.host_memory_limit_mb = values.GetInt("host_memory_limit_mb");
  options.check_nan = values.GetBool("check_nan");
  options.display_every = values.GetInt("display_every");
  options.train_dir = values.GetString("train_dir");
  options.json_path = values.GetString("json");
  options.checkpoint_dir = values.GetString("checkpoint_dir");
  options.restore_from = values.GetString("restore_from");
  options.save_model_steps = values.GetInt("save_model_steps");
  options.save_model_secs = values.GetInt("save_model_secs");
  options.max_ckpts_to_keep = values.GetInt("max_ckpts_to_keep");
  options.save_summaries_steps = values.GetInt("save_summaries_steps");
  options.summary_verbosity = values.GetInt("summary_verbosity");
  options.flag_words = values.words();
  CheckCombinations(values, options);
  return options;
}

}  // namespace muster::train
