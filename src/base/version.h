#pragma once

namespace muster {

const char* Version();  // "0.1.0"
const char* Commit();   // the git commit of the build, with "-dirty" after it if sources had been changed; or "unknown"

}  // namespace muster
