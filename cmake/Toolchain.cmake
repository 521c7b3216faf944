# One INTERFACE target carries the flags that every Muster target is built with. All of them are the same everywhere
# (OpenMP and -fPIC too), because GCC takes a precompiled header only for the flags it was made with.
set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")

add_library(muster_options INTERFACE)
target_compile_options(muster_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
                       -fPIC -fno-semantic-interposition)
target_link_libraries(muster_options INTERFACE OpenMP::OpenMP_CXX)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of GCC 12 inside std::string and std::vector at -O3.
  target_compile_options(muster_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(muster_options INTERFACE -Wthread-safety)
endif()
if(MUSTER_SANITIZE)
  target_compile_options(muster_options INTERFACE -fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=undefined)
  target_link_options(muster_options INTERFACE -fsanitize=${MUSTER_SANITIZE})
endif()

# Paths are hashed relative to the source, so that several checkouts share one cache.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()
