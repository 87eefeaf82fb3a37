# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# weft::version, the library behind cmake/version.h. The text is asked of git at every build, so that a commit shows up
# without a new configure; only when it changed is one small file compiled. This file is also the script that does it:
#   cmake -DSOURCE=<root> -DOUTPUT=<file.cpp> -DVERSION=0.1.0 -P version.cmake
#
#   0.1.0                        no git, or no commit yet
#   0.1.0+g1a2b3c4d5e            that commit
#   0.1.0+g1a2b3c4d5e.modified   with changes that are not committed
#   0.1.0+3.g1a2b3c4d5e          three commits after the tag v0.1.0
if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(version_cpp "${PROJECT_BINARY_DIR}/generated/version.cpp")
    add_custom_target(weft_version_text
        COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${version_cpp}"
            "-DVERSION=${PROJECT_VERSION}" -P "${CMAKE_CURRENT_LIST_FILE}"
        BYPRODUCTS "${version_cpp}"
        COMMENT "Version")
    add_library(weft_version STATIC "${version_cpp}")
    add_library(weft::version ALIAS weft_version)
    add_dependencies(weft_version weft_version_text)
    target_include_directories(weft_version PUBLIC "${PROJECT_SOURCE_DIR}")
    target_link_libraries(weft_version PRIVATE weft::warnings)
    return()
endif()

set(text "${VERSION}")
find_program(git git)
if(git AND EXISTS "${SOURCE}/.git")
    execute_process(COMMAND "${git}" -C "${SOURCE}" describe --tags --match "v[0-9]*" --always --long --abbrev=10
        --dirty=.modified OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
        if(described MATCHES "^v([0-9.]+)-0-(g.*)$")
            set(text "${CMAKE_MATCH_1}+${CMAKE_MATCH_2}")
        elseif(described MATCHES "^v([0-9.]+)-([0-9]+)-(g.*)$")
            set(text "${CMAKE_MATCH_1}+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
        else()
            set(text "${VERSION}+g${described}")
        endif()
    endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
// Made by cmake/version.cmake.
#include "cmake/version.h"

const char* weft::version()
{
    return "@text@";
}
]])
