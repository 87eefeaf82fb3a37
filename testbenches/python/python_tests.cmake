# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests of the Python module, platforms/python: one ctest test for each testbenches/python/test_*.py, in a virtual
# environment into which pip has installed it. Debian's Python comes first: another one in PATH has no python3-numpy.
find_program(WEFT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(WEFT_PYTHON python3)
mark_as_advanced(WEFT_PYTHON)
if(NOT WEFT_PYTHON)
    message(STATUS "Python was not found: its module is not tested. On Debian 12: apt-get install python3-numpy python3-pip")
    return()
endif()

set(environment "${PROJECT_BINARY_DIR}/python_environment")
set(folder "${CMAKE_CURRENT_LIST_DIR}")
file(GLOB tests RELATIVE "${folder}" CONFIGURE_DEPENDS "${folder}/test_*.py")
list(TRANSFORM tests REPLACE "\\.py$" "")
foreach(test IN LISTS tests ITEMS install)
    string(REGEX REPLACE "^test_" "" name "${test}")
    add_test(NAME python/${name} COMMAND "${WEFT_PYTHON}" -B "${folder}/run.py" ${test} "${environment}")
    set_tests_properties(python/${name} PROPERTIES
        LABELS system TIMEOUT 600 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED weft_python
        ENVIRONMENT "WEFT=$<TARGET_FILE:weft>;MPLBACKEND=Agg;MPLCONFIGDIR=${PROJECT_BINARY_DIR}/matplotlib;PYTHONDONTWRITEBYTECODE=1")
endforeach()
set_tests_properties(python/install PROPERTIES FIXTURES_REQUIRED "" FIXTURES_SETUP weft_python)
