# Everything outside Muster, found on the system; scripts/install_deps is the only place that installs it.
# Names for LIBS: fmt::fmt Threads::Threads nlohmann_json::nlohmann_json ZLIB::ZLIB JPEG::JPEG PNG::PNG DNNL::dnnl PkgConfig::hwloc
# PkgConfig::libhwy protobuf::libprotobuf benchmark::benchmark. OpenMP is on everywhere (Toolchain.cmake).
macro(muster_find name)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} not found: run scripts/install_deps once, then configure again")
  endif()
endmacro()

muster_find(Threads)
muster_find(OpenMP COMPONENTS CXX)
muster_find(fmt)
muster_find(nlohmann_json)
muster_find(ZLIB)
muster_find(JPEG)
muster_find(PNG)
muster_find(Protobuf)
muster_find(GTest)
find_package(benchmark QUIET)  # for benchmarks/ only
muster_find(PkgConfig)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(libhwy REQUIRED IMPORTED_TARGET libhwy)

# oneDNN: an OpenMP build of 3.2 or newer that CMake finds by itself (or in CMAKE_PREFIX_PATH) comes first, then the one
# that scripts/install_deps unpacked. A sub-directory looks first, because a build for another threading runtime must not
# leave its targets here.
add_subdirectory(cmake/probe_onednn)
if(NOT MUSTER_SYSTEM_ONEDNN)
  set(dnnl_DIR ${CMAKE_SOURCE_DIR}/build/deps/onednn/lib/cmake/dnnl CACHE PATH "oneDNN's CMake files" FORCE)
endif()
muster_find(dnnl 3.2 CONFIG)
message(STATUS "oneDNN ${dnnl_VERSION} in ${dnnl_DIR}")

# Programs look beside their build folder first, so that a checkout that was moved still runs.
list(PREPEND CMAKE_BUILD_RPATH $ORIGIN/../../deps/onednn/lib)
