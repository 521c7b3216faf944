#pragma once

#include <string>

namespace google::protobuf {
class MessageLite;
}

namespace muster {

// A protobuf message as bytes, equal for equal messages: maps are written in the order of their keys. The message must
// be smaller than 2 GiB.
std::string ProtoBytes(const google::protobuf::MessageLite& message);

}  // namespace muster
