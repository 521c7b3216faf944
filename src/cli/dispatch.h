#pragma once

#include <string>
#include <vector>

#include "muster/error.h"

namespace muster::cli {

// Exit codes: 0 success, 1 a failure while running, 2 bad input (anything the user can put right), 130 Ctrl-C.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kBadInput = 2;

// Runs "muster words...": a command, --help or --version. Errors become one line on standard error,
// "muster COMMAND: message", and the exit code; nothing is thrown.
int Dispatch(const std::vector<std::string>& words);

// kBadInput for errors that the request or its files caused, kFailure for the rest.
int ExitCodeOf(const Error& error);

}  // namespace muster::cli
