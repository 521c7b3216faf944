# muster_library(NAME [DEPS room...] [LIBS library...])
# The static library of one folder of src/, from the folder's .cc files. DEPS are other rooms, as the architecture's include
# table allows; LIBS are libraries outside Muster.
function(muster_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  add_library(muster_${name} STATIC ${sources})
  target_include_directories(muster_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPS PREPEND muster_)
  target_link_libraries(muster_${name} PUBLIC muster_options ${ARG_DEPS} ${ARG_LIBS})
  target_precompile_headers(muster_${name} REUSE_FROM muster_pch)
endfunction()

# muster_proto(NAME PATH...)
# Protobuf messages of the room NAME: src/PATH.proto becomes "PATH.pb.h" in the build folder, for who links the room.
function(muster_proto name)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated})
  foreach(proto ${ARGN})
    add_custom_command(
      OUTPUT ${generated}/${proto}.pb.cc ${generated}/${proto}.pb.h
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR}/src --cpp_out=${generated} ${CMAKE_SOURCE_DIR}/src/${proto}.proto
      DEPENDS ${CMAKE_SOURCE_DIR}/src/${proto}.proto
      VERBATIM)
    target_sources(muster_${name} PRIVATE ${generated}/${proto}.pb.cc ${generated}/${proto}.pb.h)
    set_source_files_properties(${generated}/${proto}.pb.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -w)
  endforeach()
  target_include_directories(muster_${name} SYSTEM PUBLIC ${generated})
endfunction()

# muster_test(NAME [DEPS room...] [LIBS library...] [LABELS label...] [GOLDEN] [SLOW] [SHARDS n])
# The test binary <NAME>_test of one folder of tests/. CTest lists each test case as NAME.Suite.Case, but for
#   GOLDEN  suites named Golden...: one CTest entry NAME.golden, label golden. Their cases come from JSON files that are read
#           when the test runs, so they cannot be listed when it is built.
#   SLOW    suites named Slow...: one CTest entry NAME.slow, label slow, which ./test leaves out unless asked.
# SHARDS splits these entries into n that run in parallel. LABELS go to all entries of the binary; the binaries labelled tsan
# make up the target tsan_tests.
add_custom_target(tsan_tests)
function(muster_test name)
  cmake_parse_arguments(ARG "GOLDEN;SLOW" "SHARDS" "DEPS;LIBS;LABELS;LABEL" ${ARGN})
  set(labels ${ARG_LABELS} ${ARG_LABEL})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  add_executable(${name}_test ${sources})
  list(TRANSFORM ARG_DEPS PREPEND muster_)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE MUSTER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} ${ARG_LIBS} muster_options fmt::fmt
                        GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name}_test REUSE_FROM muster_test_pch)

  if("tsan" IN_LIST labels)
    add_dependencies(tsan_tests ${name}_test)
  endif()

  set(listed *)
  if(ARG_GOLDEN OR ARG_SLOW)
    set(listed "-")
  endif()
  if(ARG_GOLDEN)
    string(APPEND listed "Golden*:*/Golden*:")
    muster_whole_test(${name} golden "Golden*:*/Golden*" "${ARG_SHARDS}" "${labels}")
  endif()
  if(ARG_SLOW)
    string(APPEND listed "Slow*:*/Slow*:")
    muster_whole_test(${name} slow "Slow*:*/Slow*" "${ARG_SHARDS}" "${labels}")
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. TEST_FILTER ${listed} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${labels}")
endfunction()

# One CTest entry (or SHARDS many) that runs all suites matching FILTER; none at all is a failure.
function(muster_whole_test name kind filter shards labels)
  if(NOT shards)
    set(shards 1)
  endif()
  foreach(shard RANGE 1 ${shards})
    set(test ${name}.${kind})
    if(shards GREATER 1)
      string(APPEND test .${shard}of${shards})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${name}_test --gtest_filter=${filter} --gtest_brief=1)
    set_tests_properties(${test} PROPERTIES LABELS "${kind};${labels}"
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}"
                         FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites ran")
  endforeach()
endfunction()
