#include "base/version.h"

#include "muster_build_facts.h"  // written by cmake/BuildFacts.cmake at each build, touched only when it changes

namespace muster {

const char* Version() { return MUSTER_BUILD_VERSION; }
const char* Commit() { return MUSTER_BUILD_COMMIT; }

}  // namespace muster
