#include "train/image_fit.h"

#include <algorithm>

#include <fmt/format.h>

#include "muster/error.h"
#include "muster/graph.h"
#include "muster/ops/array.h"

namespace muster::train {
namespace {

// Whether the model can be built; a graph of its own, which takes no memory for images or variables.
bool Fits(const Model& model, const Shape& image_shape) {
  try {
    Graph graph;
    const Scope scope(&graph);
    const Output images = ops::Placeholder(scope.Named("images"), DType::kFloat32, image_shape.Inserted(0, 1));
    const Output labels = ops::Placeholder(scope.Named("labels"), DType::kInt32, {1});
    BuildTrainingTower(scope, model, images, labels, {.num_classes = 2});
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The least side of a square image that fits, up to "largest", which does: what fits stays fitting when it grows.
int64_t LeastSide(const Model& model, int64_t largest, int64_t channels) {
  int64_t too_small = 0, fits = largest;
  while (fits - too_small > 1) {
    const int64_t middle = (too_small + fits) / 2;
    (Fits(model, {middle, middle, channels}) ? fits : too_small) = middle;
  }
  return fits;
}

}  // namespace

void CheckImageSize(const Model& model, const Shape& image_shape, std::string_view dataset) {
  const int64_t height = image_shape[0], width = image_shape[1], channels = image_shape[2];
  if (std::min(height, width) >= model.image_size || Fits(model, image_shape)) return;
  if (!Fits(model, {model.image_size, model.image_size, channels}))
    return;  // the size is not to blame; building says what is
  const int64_t least = LeastSide(model, model.image_size, channels);
  throw InvalidArgument(
      fmt::format("--model={} needs images of at least {}x{} (it is made for {}x{}); those of --dataset={} are {}x{}",
                  model.name, least, least, model.image_size, model.image_size, dataset, height, width));
}

}  // namespace muster::train
