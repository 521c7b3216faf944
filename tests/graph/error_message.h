#pragma once

#include <string>

#include "muster/error.h"

namespace muster::testing {

// The message of the Error that "call" throws; empty if it throws none.
template <typename F>
std::string ErrorMessage(F call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace muster::testing
