#pragma once

#include <string>

#include "base/flags.h"

namespace muster {

// The text of --help: "usage", then the important flags by group, one line each; meant to fit a screen of 100 columns.
std::string HelpText(const std::string& usage, const FlagTable& table);

// The text of --helpfull: every flag with type, default, allowed values and full help.
std::string HelpFullText(const std::string& usage, const FlagTable& table);

}  // namespace muster
