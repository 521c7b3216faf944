#include "cli/dispatch.h"

#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "base/interrupt.h"
#include "base/nearest.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "cli/commands.h"

namespace muster::cli {
namespace {

// Errors are one line, whatever a library put into its message.
void PrintError(const std::string& command, std::string message) {
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  const std::string name = command.empty() ? "muster" : "muster " + command;
  std::fflush(stdout);
  std::fputs(fmt::format("{}: {}\n", name, message).c_str(), stderr);
}

std::string Help() {
  std::string text =
      "muster - trains and benchmarks convolutional networks, and says what a machine is worth at it\n\n"
      "  muster COMMAND [flags]      muster COMMAND --help      muster --version\n\n";
  for (const Command& command : Commands()) text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  return text;
}

Error UnknownCommand(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.emplace_back(command.name);
  const std::string known = fmt::format("there are {}", fmt::join(names, ", "));
  names.insert(names.end(), {"--help", "--version"});
  const std::vector<std::string> nearest = NearestWords(word, names);
  const std::string advice = nearest.empty() ? known : fmt::format("did you mean {}?", fmt::join(nearest, " or "));
  return InvalidArgument(fmt::format("unknown command '{}': {}", word, advice));
}

int Run(const std::vector<std::string>& words, std::string& command_name) {
  if (words.empty()) {
    std::fputs(Help().c_str(), stderr);
    return kBadInput;
  }
  const std::string& first = words[0];
  if (first == "--help" || first == "-h" || first == "-help" || first == "--helpfull" || first == "help") {
    WriteStandardOutput(Help());
    return kSuccess;
  }
  if (first == "--version" || first == "-version" || first == "version") {
    WriteStandardOutput(fmt::format("muster {} ({})\n", Version(), Commit()));
    return kSuccess;
  }
  for (const Command& command : Commands()) {
    if (first != command.name) continue;
    command_name = first;
    return command.run({words.begin() + 1, words.end()});
  }
  throw UnknownCommand(first);
}

}  // namespace

int ExitCodeOf(const Error& error) {
  switch (error.code()) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kPermissionDenied:
    case Code::kResourceExhausted:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
    case Code::kUnimplemented:
    case Code::kDataLoss: return kBadInput;
    case Code::kCancelled:  // before a command had anything of its own to say about it
      return kInterruptedExitCode;
    default: return kFailure;
  }
}

int Dispatch(const std::vector<std::string>& words) {
  std::string command;
  try {
    const int exit_code = Run(words, command);
    FinishStandardOutput();
    return exit_code;
  } catch (const Error& error) {
    PrintError(command, error.what());
    return ExitCodeOf(error);
  } catch (const std::bad_alloc&) {
    PrintError(command, "out of memory");
  } catch (const std::exception& error) {
    PrintError(command, error.what());
  }
  return kFailure;
}

}  // namespace muster::cli
