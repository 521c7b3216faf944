# One INTERFACE target carries the warnings and sanitizers that every Muster target is built with.
set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")

add_library(muster_options INTERFACE)
target_compile_options(muster_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(muster_options INTERFACE -Wthread-safety)
endif()
if(MUSTER_SANITIZE)
  target_compile_options(muster_options INTERFACE -fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(muster_options INTERFACE -fsanitize=${MUSTER_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
