#pragma once

#include <array>
#include <vector>

#include "muster/models.h"

namespace muster::zoo {

// The networks of the zoo, one file per family. Each takes images in the builder's format and returns the input of
// the last dense layer. Structures are those of tf_cnn_benchmarks, whose names and numbers
// tests/data/golden/models.json lists.

Output Trivial(ModelBuilder& b, Output x);
Output Lenet(ModelBuilder& b, Output x);
// Two convolutions and a dense layer of 128, for 28x28 images: 3x3, the default of "muster train", and 5x5.
Output SmallCnn(ModelBuilder& b, Output x);
Output SmallCnn5x5(ModelBuilder& b, Output x);
Output Alexnet(ModelBuilder& b, Output x);
Output AlexnetCifar(ModelBuilder& b, Output x);
Output Overfeat(ModelBuilder& b, Output x);
// Convolutions in each of the five stages.
Output Vgg(ModelBuilder& b, Output x, const std::array<int, 5>& stages);
Output Googlenet(ModelBuilder& b, Output x);
Output Inception3(ModelBuilder& b, Output x);
Output Inception4(ModelBuilder& b, Output x);

// v1: He et al. 2015, stride on the first 1x1. v1.5: stride on the 3x3. v2: pre-activation (He et al. 2016).
enum class ResnetVersion { kV1, kV15, kV2 };
// Bottleneck blocks in each of the four stages.
Output Resnet(ModelBuilder& b, Output x, const std::array<int, 4>& stages, ResnetVersion version);
// Basic blocks: "blocks" in each of three stages; v1 or v2.
Output ResnetCifar(ModelBuilder& b, Output x, int blocks, ResnetVersion version);

// "layers_per_block" in each of three blocks, every one adding "growth" channels.
Output Densenet(ModelBuilder& b, Output x, int layers_per_block, int64_t growth);
// TensorFlow's model garden: 18, 34, 50, 101, 152 or 200 layers, v1 or v2; a whole network, up to the logits.
Output OfficialResnet(ModelBuilder& b, Output x, int num_classes, int size, ResnetVersion version);

Output Mobilenet(ModelBuilder& b, Output x);
Output NasnetMobile(ModelBuilder& b, Output x);
Output NasnetLarge(ModelBuilder& b, Output x);
Output NasnetCifar(ModelBuilder& b, Output x);

// Warm-up over 5 epochs to learning_rate at 256 images per step, then tenths at epochs 30, 60, 80 and 90.
Schedule ResnetSchedule(const Model& model, const RateContext& context);
// 0.1, 0.01, 0.001, 0.0002 from epochs 0, 82, 123, 300.
Schedule ResnetCifarSchedule(const Model& model, const RateContext& context);
// 0.1, 0.01, 0.001, 0.0001 from epochs 0, 150, 225, 300.
Schedule DensenetSchedule(const Model& model, const RateContext& context);
// learning_rate at the model's own batch size, in proportion otherwise; tenths at epochs 30, 60, 80 and 90.
Schedule OfficialResnetSchedule(const Model& model, const RateContext& context);
// A tenth every 100 epochs.
Schedule AlexnetCifarSchedule(const Model& model, const RateContext& context);

}  // namespace muster::zoo
