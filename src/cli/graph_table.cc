#include "cli/graph_table.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "graph/flops.h"

namespace muster::cli {
namespace {

LayerSummary Total(const std::vector<LayerSummary>& rows) {
  LayerSummary total{.name = "total"};
  for (const LayerSummary& row : rows) {
    total.num_ops += row.num_ops;
    total.parameters += row.parameters;
    total.other_values += row.other_values;
    total.multiply_adds += row.multiply_adds;
    total.float_ops += row.float_ops;
    total.activation_bytes += row.activation_bytes;
  }
  return total;
}

// "1,234,567".
std::string Grouped(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (ptrdiff_t at = static_cast<ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string Millions(int64_t number) { return fmt::format("{:.2f}", static_cast<double>(number) * 1e-6); }
std::string Mebibytes(int64_t bytes) { return fmt::format("{:.2f}", static_cast<double>(bytes) / (1 << 20)); }

std::string Line(const std::string& name, const std::string& output, const std::string& device,
                 const LayerSummary& row) {
  return fmt::format("{:<28} {:<24} {:<14} {:>5} {:>12} {:>10} {:>10} {:>11}\n", name, output, device, row.num_ops,
                     Grouped(row.parameters), Millions(row.multiply_adds), Millions(row.float_ops),
                     Mebibytes(row.activation_bytes));
}

// The figures of a row behind what names it.
Json RowJson(Json name, const LayerSummary& row) {
  Json json = std::move(name);
  json["num_ops"] = row.num_ops;
  json["parameters"] = row.parameters;
  json["other_values"] = row.other_values;
  json["multiply_adds"] = row.multiply_adds;
  json["float_ops"] = row.float_ops;
  json["activation_bytes"] = row.activation_bytes;
  return json;
}

// Layers that hold nothing and compute nothing, such as a scope with a constant alone, would only be noise.
std::vector<LayerSummary> Rows(const ModelGraph& model) {
  std::vector<LayerSummary> rows = SummarizeLayers(model.graph, model.step);
  std::erase_if(rows, [](const LayerSummary& row) {
    return row.parameters == 0 && row.float_ops == 0 && row.activation_bytes == 0 && row.other_values == 0;
  });
  return rows;
}

LayerSummary TotalOfOneImage(const Model& model) {
  const auto graph = BuildModelGraph({.model = model.name, .dataset = model.dataset, .batch_size = 1});
  return Total(SummarizeLayers(graph->graph, graph->step));
}

}  // namespace

std::string LayerTable(const ModelGraph& model) {
  const std::vector<LayerSummary> rows = Rows(model);
  const LayerSummary total = Total(rows);
  std::string text = fmt::format("{} for {}: batch {}, {} parameters and {} other values, {:.3f} GFLOP per step\n\n",
                                 model.model->name, model.model->dataset, model.batch_size, Grouped(total.parameters),
                                 Grouped(total.other_values), static_cast<double>(total.float_ops) * 1e-9);
  text += fmt::format("{:<28} {:<24} {:<14} {:>5} {:>12} {:>10} {:>10} {:>11}\n", "layer", "output", "device", "ops",
                      "parameters", "M mul-adds", "MFLOP", "MiB outputs");
  for (const LayerSummary& row : rows)
    text += Line(row.name, row.num_ops > 0 ? row.output.ToString() : "", row.device.empty() ? "any" : row.device, row);
  return text + Line("total", "", "", total);
}

Json LayerTableJson(const ModelGraph& model) {
  const std::vector<LayerSummary> rows = Rows(model);
  Json layers = Json::Array();
  for (const LayerSummary& row : rows) {
    const auto dims = row.output.shape.dims();
    layers.push_back(RowJson({{"name", row.name},
                              {"device", row.device},
                              {"dtype", DTypeName(row.output.dtype)},
                              {"output", std::vector<int64_t>(dims.begin(), dims.end())}},
                             row));
  }
  Json json = {{"model", model.model->name}, {"dataset", model.model->dataset}, {"batch_size", model.batch_size}};
  json["layers"] = std::move(layers);
  json["total"] = RowJson({{"name", "total"}}, Total(rows));
  return json;
}

std::string ModelList() {
  constexpr std::string_view kLine = "{:<9} {:<21} {:>5} {:>5} {:>13} {:>11} {:>11} {:>11}\n";
  std::string text =
      fmt::format(kLine, "data set", "model", "image", "batch", "parameters", "M mul-adds", "MFLOP", "MiB outputs");
  for (const Model& model : Models()) {
    const LayerSummary total = TotalOfOneImage(model);
    text += fmt::format(kLine, model.dataset, model.name, model.image_size, model.default_batch_size,
                        Grouped(total.parameters), Millions(total.multiply_adds), Millions(total.float_ops),
                        Mebibytes(total.activation_bytes));
  }
  return text + "\nThe last three columns: inference of one image.\n";
}

Json ModelListJson() {
  Json models = Json::Array();
  for (const Model& model : Models()) {
    models.push_back(RowJson({{"model", model.name},
                              {"dataset", model.dataset},
                              {"image_size", model.image_size},
                              {"default_batch_size", model.default_batch_size}},
                             TotalOfOneImage(model)));
  }
  return {{"models", models}};
}

}  // namespace muster::cli
