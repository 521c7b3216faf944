#include <google/protobuf/stubs/common.h>

#include "backend/cpu/onednn_adapter.h"
#include "base/flags.h"
#include "base/flags_help.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "monitor/host_info.h"

namespace muster::cli {
namespace {

const char kUsage[] = "muster devices [flags]: what this machine has to compute with, and what Muster would use of it\n";

FlagTable DevicesFlags() {
  return FlagTable({{.name = "json",
                     .type = FlagType::kBoolean,
                     .default_value = false,
                     .help = "print one JSON object instead of text; src/monitor/README.md lists its fields",
                     .important = true}});
}

}  // namespace

int DevicesCommand(const std::vector<std::string>& words) {
  const FlagTable table = DevicesFlags();
  const FlagValues values = ParseFlags(table, words);
  if (values.help() || values.helpfull()) {
    const std::string text = values.help() ? HelpText(kUsage, table) : HelpFullText(kUsage, table);
    WriteStandardOutput(text);
    return kSuccess;
  }
  RejectPositional(values);

  const std::string protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  const HostInfo info = ReadHostInfo({{"Muster", Version()}, {"oneDNN", onednn::Version()}, {"protobuf", protobuf}});
  const std::string text = values.GetBool("json") ? HostInfoJson(info) : HostInfoText(info);
  WriteStandardOutput(text);
  return kSuccess;
}

}  // namespace muster::cli
