#include "muster/error.h"

namespace muster {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kOk: return "OK";
    case Code::kCancelled: return "CANCELLED";
    case Code::kUnknown: return "UNKNOWN";
    case Code::kInvalidArgument: return "INVALID_ARGUMENT";
    case Code::kDeadlineExceeded: return "DEADLINE_EXCEEDED";
    case Code::kNotFound: return "NOT_FOUND";
    case Code::kAlreadyExists: return "ALREADY_EXISTS";
    case Code::kPermissionDenied: return "PERMISSION_DENIED";
    case Code::kResourceExhausted: return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition: return "FAILED_PRECONDITION";
    case Code::kAborted: return "ABORTED";
    case Code::kOutOfRange: return "OUT_OF_RANGE";
    case Code::kUnimplemented: return "UNIMPLEMENTED";
    case Code::kInternal: return "INTERNAL";
    case Code::kUnavailable: return "UNAVAILABLE";
    case Code::kDataLoss: return "DATA_LOSS";
  }
  return "UNKNOWN";
}

namespace {

// Names out of files may hold anything: a line break would make two lines of one, an escape sequence command the terminal.
std::string Printable(const std::string& text) {
  std::string printable;
  printable.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      printable += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char kDigits[] = "0123456789abcdef";
      printable += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      printable += c;
    }
  }
  return printable;
}

std::string WithContext(const std::string& message, const std::string& context) {
  return Printable(context.empty() ? message : message + " (at " + context + ")");
}

}  // namespace

Error::Error(Code code, std::string message, std::string context)
    : std::runtime_error(WithContext(message, context)),
      code_(code),
      message_(Printable(message)),
      context_(Printable(context)) {}

Error Error::Within(const std::string& context) const {
  return Error(code_, message_, context_.empty() ? context : context_ + ", " + context);
}

OutOfMemory::OutOfMemory(std::string message, std::string dump)
    : Error(Code::kResourceExhausted, std::move(message)), dump_(std::move(dump)) {}

}  // namespace muster
