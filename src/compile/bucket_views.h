#pragma once

#include <functional>
#include <vector>

#include "compile/compile_graph.h"
#include "compile/lifetimes.h"

namespace muster {

// A value that lies inside another one's memory, so that Bucket and Unbucket need not copy it.
struct BucketView {
  Output value, bucket;  // roots
  int64_t offset = 0;    // bytes
};

// The tensors of a partition that may lie in their bucket: those that only their Bucket still reads when it runs, and
// those that an Unbucket takes out of a bucket which nothing reads later. "nodes": the node of each step; "owns" says
// whether a root is a value of this partition's own. To be asked while lifetimes are those of the readers, before
// others extend them.
std::vector<BucketView> FindBucketViews(const CompileGraph& graph, const Lifetimes& lifetimes,
                                        const std::vector<NodeId>& nodes, const std::function<bool(Output root)>& owns);

}  // namespace muster
