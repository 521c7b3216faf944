#include "base/proto_bytes.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

#include "base/check.h"

namespace muster {

std::string ProtoBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    MUSTER_CHECK(message.SerializeToCodedStream(&coded));
  }  // which writes what the streams still hold
  return bytes;
}

}  // namespace muster
