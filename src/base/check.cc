#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\nThis is a bug in Muster; please report it.\n", file, line, condition);
  std::abort();
}

}  // namespace muster
