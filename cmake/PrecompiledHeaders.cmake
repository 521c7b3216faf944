# Two precompiled headers: muster_pch for the libraries, muster_test_pch for the tests. They hold what most files include
# and nobody edits; Muster's own headers stay out, or each edit would rebuild everything. Files still include what they
# use. A file that needs compiler flags of its own sets SKIP_PRECOMPILE_HEADERS.
set(MUSTER_PCH_HEADERS
    <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstddef> <cstdint> <cstring> <deque> <fstream>
    <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string>
    <string_view> <thread> <tuple> <type_traits> <unordered_map> <unordered_set> <utility> <variant> <vector>
    <fmt/format.h> <fmt/ranges.h>)

function(muster_precompile target)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/${target}.cc
       CONTENT "// A precompiled header needs a target with a source to belong to.\n")
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/pch/${target}.cc)
  target_link_libraries(${target} PRIVATE muster_options fmt::fmt)
  target_precompile_headers(${target} PRIVATE ${MUSTER_PCH_HEADERS} ${ARGN})
endfunction()

muster_precompile(muster_pch)
muster_precompile(muster_test_pch <gtest/gtest.h> <gmock/gmock.h> <nlohmann/json.hpp>)
target_link_libraries(muster_test_pch PRIVATE GTest::gtest GTest::gmock nlohmann_json::nlohmann_json)
