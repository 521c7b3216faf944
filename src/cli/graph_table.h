#pragma once

#include <string>

#include "base/json.h"
#include "cli/model_graph.h"

namespace muster::cli {

// A line about the model, then one line per layer: output, device, operations, parameters, multiply-adds,
// activations; and the totals.
std::string LayerTable(const ModelGraph& model);
// The same as JSON: {"model", "dataset", "batch_size", "layers": [{"name", "output", …}], "total": {…}}.
Json LayerTableJson(const ModelGraph& model);

// All models with image size, default batch size, parameters, and for the inference of one image multiply-adds,
// floating-point operations and bytes of activations.
std::string ModelList();
// The same as JSON: {"models": [{"model", "dataset", "parameters", …}]}.
Json ModelListJson();

}  // namespace muster::cli
