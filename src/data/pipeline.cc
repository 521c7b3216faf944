#include "data/pipeline.h"

#include <utility>

#include "data/normalize.h"
#include "data/pad.h"

namespace muster::data {

TrainTest BuildPipeline(TrainTest raw, const PipelineOptions& options) {
  const Normalization scaling = options.scaling == Scaling::kUnit ? UnitScale(raw.train->image_shape()[2])
                                                                  : Standardization(*raw.train, options.pad_to);
  if (options.pad_to > 0) raw = {Pad(std::move(raw.train), options.pad_to), Pad(std::move(raw.test), options.pad_to)};
  if (options.augment.changes_anything()) raw.train = Augment(std::move(raw.train), options.augment);
  return {Normalize(std::move(raw.train), scaling), Normalize(std::move(raw.test), scaling)};
}

}  // namespace muster::data
