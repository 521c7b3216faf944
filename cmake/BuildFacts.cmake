# Script run at each build (cmake -P): writes version and git commit into HEADER if they changed since the last time.
execute_process(COMMAND git describe --always --abbrev=40 --dirty --exclude=* WORKING_DIRECTORY ${SOURCE_DIR}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
  set(commit unknown)
endif()
set(text "#pragma once\n#define MUSTER_BUILD_VERSION \"${VERSION}\"\n#define MUSTER_BUILD_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
