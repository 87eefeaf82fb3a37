# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs into a folder of its own, then configures, builds and runs a SystemC project outside the tree that knows that
# folder only:
#   cmake -D BUILD=<build tree> -D PROJECT=<folder> -D WORK=<folder to use> -D CXX=<compiler> -P package.cmake
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(COPY "${PROJECT}/" DESTINATION "${WORK}/project")
function(step)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${ARGN} ended with ${code}:\n${said}")
    endif()
    set(said "${said}" PARENT_SCOPE)
endfunction()
step("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/installed")
# Nothing of it may lead back into the tree that it was built from.
file(GLOB_RECURSE files "${WORK}/installed/*.cmake")
foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(FIND "${text}" "${SOURCE}" at)
    if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} names ${SOURCE}")
    endif()
endforeach()
step("${CMAKE_COMMAND}" -S "${WORK}/project" -B "${WORK}/build" "-DCMAKE_PREFIX_PATH=${WORK}/installed" "-DCMAKE_CXX_COMPILER=${CXX}"
    -DCMAKE_BUILD_TYPE=Release)
step("${CMAKE_COMMAND}" --build "${WORK}/build")
step("${CMAKE_COMMAND}" -E env SC_COPYRIGHT_MESSAGE=DISABLE "${WORK}/build/outside")
message("${said}")
if(NOT said MATCHES "4096 bytes, 0 wrong, read in 160960 ps|4096 bytes, 0 wrong, read in 160.96 ns")
    message(FATAL_ERROR "the project outside printed: ${said}")
endif()
# The program that was installed runs from there, with its files.
step("${CMAKE_COMMAND}" -E chdir "${WORK}" "${WORK}/installed/bin/weft" check installed/share/weft/configs/ub_mesh/board.yaml)
foreach(file share/man/man1/weft.1 share/bash-completion/completions/weft)
    if(NOT EXISTS "${WORK}/installed/${file}")
        message(FATAL_ERROR "${file} was not installed")
    endif()
endforeach()
