# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# The commands of README and docs, run by run_commands.py: those whose output the page shows in every test of the
# system, all of them in a night. One ctest test for each page.
if(NOT WEFT_PYTHON)
    find_program(WEFT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
    find_program(WEFT_PYTHON python3)
    mark_as_advanced(WEFT_PYTHON)
endif()
if(NOT WEFT_PYTHON)
    message(STATUS "Python was not found: the commands of the pages are not tested")
    return()
endif()
file(GLOB pages RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/docs/*.md" "${PROJECT_SOURCE_DIR}/rtl/README.md")
foreach(page IN LISTS pages)
    file(STRINGS "${PROJECT_SOURCE_DIR}/${page}" commands REGEX "^    (\\$ .*)?\\./weft ")
    if(NOT commands)
        continue()
    endif()
    get_filename_component(name "${page}" NAME_WE)
    string(REPLACE "rtl/README" "rtl_README" path "${page}")
    if(path MATCHES "^rtl_")
        set(name rtl_README)
    endif()
    add_test(NAME docs/all_commands_of_${name}
        COMMAND "${WEFT_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/run_commands.py" $<TARGET_FILE:weft> ${page} all)
    set_tests_properties(docs/all_commands_of_${name} PROPERTIES LABELS slow TIMEOUT 7200)
    file(STRINGS "${PROJECT_SOURCE_DIR}/${page}" compared REGEX "^    \\$ .*\\./weft ")
    if(compared)
        add_test(NAME docs/outputs_of_${name}
            COMMAND "${WEFT_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/run_commands.py" $<TARGET_FILE:weft> ${page} fast)
        set_tests_properties(docs/outputs_of_${name} PROPERTIES LABELS system TIMEOUT 900)
    endif()
endforeach()

add_test(NAME docs/names COMMAND "${WEFT_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/check_names.py")
add_test(NAME docs/tools COMMAND "${WEFT_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/test_tools.py")
add_test(NAME docs/sentences COMMAND "${WEFT_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/check_sentences.py")
set_tests_properties(docs/names docs/sentences docs/tools PROPERTIES LABELS fast TIMEOUT 60)
add_test(NAME docs/key_limits COMMAND "${WEFT_PYTHON}" -B "${CMAKE_CURRENT_LIST_DIR}/key_limits.py" $<TARGET_FILE:weft>)
set_tests_properties(docs/key_limits PROPERTIES LABELS system TIMEOUT 900)
