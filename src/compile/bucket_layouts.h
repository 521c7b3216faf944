#pragma once

#include <map>
#include <vector>

#include "compile/compile_graph.h"
#include "compile/pipeline.h"

namespace muster {

// The BucketFormat of each Bucket that can be passed on whole: between it and the Unbuckets that its elements reach lie
// only element-wise operations and transfers. Each tensor is to have the form of the variable that it updates, if that
// is the same one wherever the bucket arrives and all devices on the way know it; otherwise it is plain. Other Buckets
// are not in the map: they are plain vectors, copied together. "uses" are the graph's; forms of variables have been
// chosen.
std::map<NodeId, Layout> BucketLayouts(const CompileGraph& graph, const CompileRequest& request,
                                       const std::vector<std::vector<std::vector<Use>>>& uses);

}  // namespace muster
