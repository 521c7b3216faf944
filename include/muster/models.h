#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/layers.h"
#include "muster/losses.h"
#include "muster/optimizer.h"
#include "muster/schedule.h"

namespace muster {

// What a data set means to a model.
struct DatasetInfo {
  std::string name;     // "imagenet", "cifar10", "coco", "mnist"
  int num_classes = 0;  // all but mnist have one class more than their labels, as in tf_cnn_benchmarks
  int64_t train_images = 0, validation_images = 0;
  int channels = 3;
};

// What a model's own learning rate depends on.
struct RateContext {
  double images_per_step = 0;  // of all towers (and of all tasks, where the mode counts them)
  int64_t train_images = 0;
  int summed_towers = 1;      // towers whose gradients are added, not averaged (--variable_update=replicated)
  double resnet_base_lr = 0;  // --resnet_base_lr; 0: the model's
};

// One row of the zoo.
struct Model {
  std::string name;  // as --model spells it
  std::string dataset;
  std::string printed_name;    // as the information block prints it
  int image_size = 0;          // height and width
  int default_batch_size = 0;  // per device
  double learning_rate = 0.005;
  double fp16_loss_scale = 128;
  // The layers between the images, in the builder's format, and the last dense layer.
  std::function<Output(ModelBuilder& builder, Output images)> layers;
  // The model's own schedule; empty: the constant learning_rate.
  std::function<Schedule(const Model& model, const RateContext& context)> schedule{};
  // Instead of "layers": a network with a last dense layer of its own, up to the logits [batch, num_classes]. It is
  // not put into the scope "cg".
  std::function<Output(ModelBuilder& builder, Output images, int num_classes)> network{};

  Schedule DefaultSchedule(const RateContext& context) const;
};

// Every model: the zoo's, ordered by data set and name, then those that were registered. References stay good.
const std::deque<Model>& Models();

// Makes a model known to FindModel and with it to every command. Before other threads use the table. Throws
// InvalidArgument for an unknown data set, a model without a name, layers or sizes; AlreadyExists for a name that its
// data set has.
void RegisterModel(Model model);

// The model of this name for a data set ("synthetic" means imagenet; "fashion-mnist" and "idx:…" mean mnist). Throws
// InvalidArgument with the known names.
const Model& FindModel(std::string_view name, std::string_view dataset);
std::vector<std::string> ModelNames(std::string_view dataset);

// The row of a data set, by any of its names. Throws InvalidArgument with the known ones.
const DatasetInfo& FindDataset(std::string_view name);

// Adds the model's network to the builder, inside the scope "cg" unless it is a "network": images [batch, height,
// width, channels] in NHWC, of the builder's dtype -> logits [batch, num_classes], float32 (float64 in a float64
// model).
Output BuildLogits(ModelBuilder& builder, const Model& model, Output images, int num_classes);

struct TowerOptions {
  BuilderOptions layers;
  int num_classes = 0;  // 0: the data set's
  WeightDecay weight_decay;
  double label_smoothing = 0;
  // If valid, a float32 scalar by which the loss is multiplied before differentiation; the gradients are divided by it.
  Output loss_scale{};
};

// One copy of a model on one device, from images and labels to gradients.
struct Tower {
  Output logits;
  Output base_loss;                     // cross entropy
  Output total_loss;                    // with weight decay
  Output top_1_correct, top_5_correct;  // counts over the batch, float32
  std::vector<Variable> variables;      // trainable, in creation order
  std::vector<Output> gradients;        // of total_loss, unscaled, one per variable
  std::vector<NodeId> update_ops;       // of running averages
};

// images as above (cast to the builder's dtype if need be), labels int32 or int64 [batch].
Tower BuildTrainingTower(const Scope& scope, const Model& model, Output images, Output labels,
                         const TowerOptions& options);
// The same without dropout, batch statistics and gradients; it shares the variables of a training tower of this graph.
Tower BuildEvaluationTower(const Scope& scope, const Model& model, Output images, Output labels,
                           const TowerOptions& options);

// The training step of a tower: one node that is done when the optimizer has updated its variables and its running
// averages are updated. Adds one to global_step (int64) if it is valid.
NodeId BuildTrainStep(const Scope& scope, const Tower& tower, Optimizer& optimizer, Output global_step = {});

}  // namespace muster
