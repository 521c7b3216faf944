#include "base/standard_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace muster {
namespace {

[[noreturn]] void Fail(int error) {
  // Nobody reports this a second time.
  std::clearerr(stdout);
  throw OutputError(Code::kUnavailable, fmt::format("cannot write standard output: {}",
                                                    error == 0 ? "part of it was lost" : std::strerror(error)));
}

}  // namespace

void WriteStandardOutput(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) Fail(errno);
}

void FinishStandardOutput() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) Fail(errno);
}

}  // namespace muster
