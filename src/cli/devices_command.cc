#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include "backend/cpu/onednn_adapter.h"
#include "base/flags.h"
#include "base/flags_help.h"
#include "base/json.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/dispatch.h"
#include "cli/gpu_flags.h"
#include "monitor/host_info.h"
#include "muster/session.h"

namespace muster::cli {
namespace {

const char kUsage[] =
    "muster devices [flags]: what this machine has to compute with, and what Muster would use of it\n";

FlagTable DevicesFlags() {
  return FlagTable({{.name = "json",
                     .type = FlagType::kBoolean,
                     .default_value = false,
                     .help = "print one JSON object instead of text; src/monitor/README.md lists its fields",
                     .important = true}})
      .Plus(GpuFlags());
}

// The session's devices with GPUs as the flags describe them: logical and physical numbers side by side.
std::vector<DeviceInfo> SessionDevices(const FlagValues& values) {
  SessionOptions options;
  options.gpu = GpuOptionsOf(values);
  const Graph nothing;
  return Session(&nothing, options).Devices();
}

std::string ListText(const std::vector<DeviceInfo>& devices) {
  std::string text = "\nDevices of a session\n";
  for (const DeviceInfo& d : devices) text += fmt::format("  {}  {}\n", d.name, d.description);
  return text;
}

std::string WithDevices(Json json, const std::vector<DeviceInfo>& devices) {
  for (const DeviceInfo& d : devices) {
    Json entry = {
        {"name", d.name}, {"description", d.description}, {"physical_id", nullptr}, {"memory_limit", nullptr}};
    if (d.physical_id >= 0) entry["physical_id"] = d.physical_id;
    if (d.memory_limit > 0) entry["memory_limit"] = d.memory_limit;
    json["devices"].push_back(std::move(entry));
  }
  return json.Text();
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

  const std::vector<DeviceInfo> devices = SessionDevices(values);
  const std::string protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  const HostInfo info = ReadHostInfo({{"Muster", Version()}, {"oneDNN", onednn::Version()}, {"protobuf", protobuf}});
  const std::string text =
      values.GetBool("json") ? WithDevices(HostInfoJson(info), devices) : HostInfoText(info) + ListText(devices);
  WriteStandardOutput(text);
  return kSuccess;
}

}  // namespace muster::cli
