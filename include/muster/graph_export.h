#pragma once

#include <cstdint>
#include <string>

#include "muster/graph.h"

namespace muster {

// Graphs for people, tools and comparison. All functions only read the graph; any thread.

// A summary line, then one line per node in order of construction, for example
//   conv0/Conv2D = Conv2D(images, conv0/kernel, ^init) {strides=[1,1] padding=SAME} : float32[2,24,24,8] @/device:GPU:0
// Inputs name their output where it is not the first ("node:1"); large constants are shown as a hash.
std::string GraphToText(const Graph& graph);
// The line of one node, without the line end.
std::string NodeToText(const Graph& graph, NodeId node);

// Graphviz source: name scopes as nested clusters, a colour per device, shapes on the edges, control edges dashed.
std::string GraphToDot(const Graph& graph);

// TensorFlow's GraphDef, which TensorBoard shows and TensorFlow imports: operations by its names, with its attributes
// and "_output_shapes". What is an attribute here but an input there (the shape of a Reshape, the axes of a Sum)
// becomes a constant named as TensorFlow names it. Operations that only Muster's compiler makes keep their names, which
// begin with "_". Binary or protobuf text. Throws OutOfRange if the result would exceed protobuf's 2 GiB.
std::string GraphToGraphDef(const Graph& graph);
std::string GraphToGraphDefText(const Graph& graph);

// A hash of everything that decides what the graph computes and where: operations, names (they key random streams),
// attributes, constants, inputs, control inputs, devices, colocation, the order of construction, variables, update
// operations and the seed. Equal for equal constructions in every process; different (but for chance, 2^-64) after any
// change.
uint64_t GraphFingerprint(const Graph& graph);

}  // namespace muster
