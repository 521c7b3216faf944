#pragma once

#include <string>

namespace muster::data {

// TensorFlow's MetaGraphDef around a GraphDef: the content of a checkpoint's ".meta" file, which its tools list graphs from.
std::string MetaGraphBytes(const std::string& graph_def);

}  // namespace muster::data
