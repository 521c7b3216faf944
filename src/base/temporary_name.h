#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

namespace muster {

// The name beside "path" under which its bytes are written before they appear there: no other process has the same, be
// it in another container or on another machine that shares the folder.
std::string TemporaryName(const std::string& path, pid_t process = ::getpid());

// Whether a file has such a name and nobody will write it any more: its process is gone. What another machine or
// container left (or this one before it was started again) has a process that cannot be asked for, and counts after an
// hour without a change.
bool IsAbandoned(const std::filesystem::path& file);

}  // namespace muster
