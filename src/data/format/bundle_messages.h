#pragma once

#include <string>
#include <string_view>

#include "data/format/bundle.h"

namespace muster::data {

// The protobuf messages inside an index, to and from Muster's own types. "path" and "offset" say where the bytes are
// from: what is wrong with them throws DataLoss naming that.
int ParseBundleHeader(std::string_view bytes, const std::string& path);  // the number of shards
std::string BundleHeaderBytes(int num_shards);
BundleEntry ParseBundleEntry(std::string_view bytes, const std::string& path, int64_t offset, std::string_view what);
std::string BundleEntryBytes(const BundleEntry& entry);

}  // namespace muster::data
