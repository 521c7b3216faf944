#pragma once

#include <string_view>

#include "muster/error.h"

namespace muster {

// Standard output took no more: a full disk, or a pipe whose reader went away (the program ignores SIGPIPE). Code
// Unavailable; callers that have a result file to write still write it.
class OutputError : public Error {
 public:
  using Error::Error;
};

// Writes the text and flushes, so that a pipe sees it at once. Throws OutputError "cannot write standard output: why".
// One thread at a time.
void WriteStandardOutput(std::string_view text);

// What is left to flush, and whether any earlier write failed that nobody looked at. Throws like WriteStandardOutput.
void FinishStandardOutput();

}  // namespace muster
