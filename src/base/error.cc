#include "muster/error.h"

#include "base/printable.h"

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
