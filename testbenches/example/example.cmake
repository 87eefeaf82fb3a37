# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# The platform that docs/08_add_a_platform.md shows, compiled from the page, in a program of its own: the files of the
# page are the platform's folder, and its name is one more line of the list of platforms. Nothing else knows of it.
set(page "${PROJECT_SOURCE_DIR}/docs/08_add_a_platform.md")
set(example "${CMAKE_CURRENT_BINARY_DIR}/example")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page}")
file(MAKE_DIRECTORY "${example}/new/platforms/ring" "${example}/new/configs/ring" "${example}/platforms/ring" "${example}/configs/ring")
execute_process(COMMAND awk -v dir=${example}/new -f "${CMAKE_CURRENT_SOURCE_DIR}/example/page_files.awk" "${page}" COMMAND_ERROR_IS_FATAL ANY)
foreach(file platforms/ring/CMakeLists.txt platforms/ring/ring.h platforms/ring/ring.cpp platforms/ring/studies.cpp platforms/ring/samples.yaml
        platforms/ring/keys.yaml configs/ring/ring_8.yaml)
    file(COPY_FILE "${example}/new/${file}" "${example}/${file}" ONLY_IF_DIFFERENT)
endforeach()
add_subdirectory("${example}/platforms/ring" "${example}/build")
target_include_directories(weft_platforms_ring PUBLIC "${example}")
weft_platform_list(platform_list_with_ring ${weft_platforms} ring)
weft_program(weft_with_ring SOURCES "${PROJECT_SOURCE_DIR}/platforms/cli/all_commands.cpp" $<TARGET_OBJECTS:weft_program_main>
    LINKS weft::platforms_studies weft::platform_list_with_ring)
weft_add_test(example_tests SOURCES example/ring_test.cpp suite/platform_suite.cpp LINKS ${weft_libraries} yaml-cpp LABELS system TIMEOUT 600 SLOW)
add_dependencies(example_tests weft_with_ring)
target_compile_definitions(example_tests PRIVATE $<$<BOOL:${WEFT_UNICORN}>:WEFT_UNICORN> WEFT_PROGRAM="$<TARGET_FILE:weft_with_ring>" WEFT_EXAMPLE="${example}"
    WEFT_SAMPLES="${example}/platforms/ring/samples.yaml")
