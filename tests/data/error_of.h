#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "muster/error.h"

namespace muster::data {

// what() of the Error that "action" throws; a test failure if it throws none or if the text is not one line.
inline std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace muster::data
