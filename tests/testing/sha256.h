#pragma once

#include <string>
#include <string_view>

namespace muster::testing {

// SHA-256 (FIPS 180-4) of some bytes, in hexadecimal: golden listings name large arrays by it.
std::string Sha256(std::string_view bytes);

}  // namespace muster::testing
