#include "base/temporary_name.h"

#include <signal.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/proc_file.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp";  // followed by the owner: PROCESS-SPACE
constexpr auto kSurelyLeft = std::chrono::hours(1);

struct Owner {
  pid_t process = 0;
  uint32_t space = 0;
};

// Within it a number means one process: that of this start of this machine, in this container.
uint32_t ProcessSpace() {
  static const uint32_t space = [] {
    StableHash hash;
    std::error_code ignored;
    hash.Add(ReadSmallFile("/proc/sys/kernel/random/boot_id").value_or(""));
    hash.Add(fs::read_symlink("/proc/self/ns/pid", ignored).string());
    char host[256] = {};
    if (::gethostname(host, sizeof host - 1) == 0)
      hash.Add(std::string_view(host));  // where /proc does not tell, and for copies of a running machine
    return static_cast<uint32_t>(hash.value());
  }();
  return space;
}

// None: the name is not that of a temporary file. Names without a space, of earlier versions, are of space 0.
std::optional<Owner> OwnerOf(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const char *begin = name.data() + mark + kMark.size(), *end = name.data() + name.size();
  Owner owner;
  auto [rest, error] = std::from_chars(begin, end, owner.process);
  if (error == std::errc() && rest != end && *rest == '-') {
    const auto space = std::from_chars(rest + 1, end, owner.space, 16);
    rest = space.ptr;
    error = space.ec;
  }
  return error == std::errc() && rest == end && owner.process > 0 ? std::optional(owner) : std::nullopt;
}

bool IsGone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

bool IsOld(const fs::path& file) {
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  return !error && fs::file_time_type::clock::now() - written > kSurelyLeft;
}

}  // namespace

std::string TemporaryName(const std::string& path, pid_t process) {
  return fmt::format("{}{}{}-{:08x}", path, kMark, process, ProcessSpace());
}

bool IsAbandoned(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::optional<Owner> owner = OwnerOf(name);
  if (!owner) return false;
  return owner->space == ProcessSpace() ? IsGone(owner->process) : IsOld(file);
}

}  // namespace muster
