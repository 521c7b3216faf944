#pragma once

#include <vector>

#include "run/session_impl.h"

namespace muster {

// The devices that the options ask for, with the kernel tables of their backend: the one place where backends meet
// run/.
std::vector<LocalDevice> MakeLocalDevices(const SessionOptions& options);

// Name and version of the libraries that these backends stand on.
std::vector<std::pair<std::string, std::string>> BackendLibraries();

}  // namespace muster
