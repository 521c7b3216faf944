#include "train/result_json.h"

#include "base/version.h"

namespace muster::train {
namespace {

constexpr int kSchemaVersion = 1;

Json OptimizerJson(const OptimizerOptions& optimizer) {
  Json result = {{"name", optimizer.name}, {"weight_decay", optimizer.weight_decay}};
  if (optimizer.name == "momentum" || optimizer.name == "nesterov" || optimizer.name == "lars")
    result["momentum"] = optimizer.momentum;
  if (optimizer.name == "rmsprop") {
    result["decay"] = optimizer.rmsprop_decay;
    result["momentum"] = optimizer.rmsprop_momentum;
    result["epsilon"] = optimizer.rmsprop_epsilon;
  }
  if (optimizer.name == "adam" || optimizer.name == "adamw") {
    result["beta1"] = optimizer.adam_beta1;
    result["beta2"] = optimizer.adam_beta2;
    result["epsilon"] = optimizer.adam_epsilon;
  }
  return result;
}

Json ScheduleJson(const ScheduleOptions& schedule) {
  Json result = {{"kind", schedule.kind}, {"warmup_epochs", schedule.warmup_epochs}};
  if (schedule.kind == "piecewise") {
    result["rates"] = schedule.rates;
    result["boundaries_epochs"] = schedule.boundaries;
    return result;
  }
  result["init_rate"] = schedule.init_rate;
  if (schedule.kind == "exponential" || schedule.kind == "staircase") {
    result["epochs_per_decay"] = schedule.epochs_per_decay;
    result["decay_factor"] = schedule.decay_factor;
    result["minimum_rate"] = schedule.minimum_rate;
  }
  if (schedule.kind == "polynomial" || schedule.kind == "cosine") {
    result["decay_epochs"] = schedule.decay_epochs;
    result["minimum_rate"] = schedule.minimum_rate;
  }
  if (schedule.kind == "polynomial") result["power"] = schedule.power;
  return result;
}

Json DatasetJson(const TrainOptions& options, const RunFacts& facts) {
  return {{"spec", options.dataset},
          {"folder", facts.dataset_folder},
          {"train_images", facts.train_images},
          {"test_images", facts.test_images},
          {"image_shape", facts.image_shape},
          {"num_classes", facts.num_classes},
          {"normalization", options.pipeline.scaling == data::Scaling::kUnit ? "unit" : "standardize"},
          {"random_flip", options.pipeline.augment.flip},
          {"shift_crop", options.pipeline.augment.max_shift},
          {"pad_to", options.pipeline.pad_to}};
}

Json EvaluationJson(const Evaluation& evaluation) {
  return {{"epoch", evaluation.epoch},
          {"step", evaluation.step},
          {"train_loss", evaluation.train_loss},
          {"train_accuracy", evaluation.train_accuracy},
          {"test_loss", evaluation.test_loss},
          {"test_accuracy", evaluation.test_accuracy},
          {"learning_rate", evaluation.learning_rate},
          {"images_per_sec", evaluation.images_per_sec},
          {"train_seconds", evaluation.train_seconds},
          {"eval_seconds", evaluation.eval_seconds},
          {"input_wait_share", evaluation.input_wait_share},
          {"at_seconds", evaluation.at_seconds}};
}

Json SummaryJson(const TrainResult& result) {
  const Evaluation* best = result.best();
  return {{"outcome", OutcomeName(result.outcome)},
          {"target_accuracy", result.target_accuracy > 0 ? Json(result.target_accuracy) : Json()},
          {"time_to_accuracy", result.time_to_accuracy()},
          {"epochs", result.epochs},
          {"steps", result.steps},
          {"first_step", result.first_step},
          {"images", result.images},
          {"best_test_accuracy", best != nullptr ? Json(best->test_accuracy) : Json()},
          {"best_epoch", best != nullptr ? Json(best->epoch) : Json()},
          {"images_per_sec", result.images_per_sec()},
          {"first_step_at_seconds", result.first_step_at_seconds},
          {"end_at_seconds", result.end_at_seconds},
          {"train_seconds", result.train_seconds},
          {"eval_seconds", result.eval_seconds},
          {"input_wait_seconds", result.input_wait_seconds},
          {"input_wait_share", result.input_wait_share()}};
}

}  // namespace

Json ResultJson(const TrainOptions& options, const RunFacts& facts, const TrainResult& result) {
  Json evaluations = Json::Array();
  for (const Evaluation& evaluation : result.evaluations) evaluations.push_back(EvaluationJson(evaluation));
  return {{"schema", "muster.train"},
          {"schema_version", kSchemaVersion},
          {"muster", {{"version", Version()}, {"commit", Commit()}}},
          {"host", {{"name", facts.host}, {"cpu_model", facts.cpu_model}, {"num_cpus", facts.num_cpus}}},
          {"flags", options.flag_words},
          {"dataset", DatasetJson(options, facts)},
          {"model", {{"name", options.model}, {"trainable_parameters", facts.trainable_parameters}}},
          {"optimizer", OptimizerJson(options.optimizer)},
          {"learning_rate", ScheduleJson(options.schedule)},
          {"label_smoothing", options.label_smoothing},
          {"batch_size", options.batch_size},
          {"num_epochs", options.num_epochs},
          {"seed", options.seed},
          {"num_intra_threads", options.num_intra_threads},
          {"backend", options.backend},
          {"planned_peak_bytes", facts.planned_peak_bytes},
          {"measured_peak_bytes", facts.measured_peak_bytes},
          {"result", SummaryJson(result)},
          {"evaluations", std::move(evaluations)}};
}

}  // namespace muster::train
