#pragma once

#include <stdexcept>
#include <string>

namespace muster {

// What went wrong, in TensorFlow's (and gRPC's) vocabulary and numbering.
enum class Code {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};

// The code's name as TensorFlow spells it, for example "INVALID_ARGUMENT".
const char* CodeName(Code code);

// Every user, configuration or resource error. what() is one line: the message, then the context from the inside out,
// for example "Conv2D: input has 3 channels, filter expects 4 (at tower_0/cg/conv0/Conv2D)". Control characters, which
// names out of files and flags may hold, come out escaped (a line break as \n, others as \x1b) in all three texts.
class Error : public std::runtime_error {
 public:
  Error(Code code, std::string message, std::string context = "");

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& context() const { return context_; }

  // The same error seen from further out: "context" is appended to the context so far.
  Error Within(const std::string& context) const;

 private:
  Code code_;
  std::string message_;
  std::string context_;
};

// Memory ran out. "dump" is the allocator's multi-line report; what() stays one line.
class OutOfMemory : public Error {
 public:
  OutOfMemory(std::string message, std::string dump);
  const std::string& dump() const { return dump_; }

 private:
  std::string dump_;
};

// Shorthands for the codes that input errors use: throw InvalidArgument("...").
inline Error InvalidArgument(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }
inline Error NotFound(std::string message) { return {Code::kNotFound, std::move(message)}; }
inline Error FailedPrecondition(std::string message) { return {Code::kFailedPrecondition, std::move(message)}; }
inline Error Unimplemented(std::string message) { return {Code::kUnimplemented, std::move(message)}; }
inline Error DataLoss(std::string message) { return {Code::kDataLoss, std::move(message)}; }
inline Error OutOfRange(std::string message) { return {Code::kOutOfRange, std::move(message)}; }
inline Error Internal(std::string message) { return {Code::kInternal, std::move(message)}; }

}  // namespace muster
