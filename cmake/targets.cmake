# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# How a folder becomes a target. Every folder of the product has one CMakeLists.txt with one call of weft_library.

# weft_library(name [SOURCES a.cpp ...] [LINKS weft::tlm fmt::fmt ...] [SYSTEMC] [COLD])
#
# Static library weft_<name>, alias weft::<name>; includes start at the root of the repository ("tlm/link.h").
# With WEFT_UNITY up to twelve sources are compiled as one: names in anonymous namespaces are unique in a folder.
# Without SOURCES it is a library of headers only. SYSTEMC: the folder includes <systemc> or <tlm>.
# COLD: code that runs once, before or after a simulation; -O1 compiles it in 0.7 of the time of -O2.
function(weft_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SYSTEMC;COLD" "" "SOURCES;LINKS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "weft_library(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(target weft_${name})
    if(arg_SOURCES)
        set(scope PUBLIC)
        add_library(${target} STATIC ${arg_SOURCES})
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:weft::warnings>)
        if(arg_COLD)
            target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
        endif()
        set_target_properties(${target} PROPERTIES UNITY_BUILD ${WEFT_UNITY} UNITY_BUILD_BATCH_SIZE 12)
    else()
        set(scope INTERFACE)
        add_library(${target} INTERFACE)
    endif()
    add_library(weft::${name} ALIAS ${target})
    target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include/weft>")
    # What others may bind to modules of their own: transport and devices (cmake/install.cmake).
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
    if(folder MATCHES "^(tlm|hw)(/|$)")
        set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
        install(TARGETS ${target} EXPORT weft)
    endif()
    if(arg_SYSTEMC)
        target_link_libraries(${target} ${scope} SystemC::systemc)
    endif()
    weft_link(${target} ${scope} ${arg_LINKS})
endfunction()

# weft_program(name SOURCES main.cpp ... [LINKS ...])
#
# Executable bin/<name> in the build folder.
function(weft_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
    add_executable(${name} ${arg_SOURCES})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE weft::warnings)
    weft_link(${name} PRIVATE ${arg_LINKS})
endfunction()

# target_link_libraries that names a weft:: library which does not exist (a missing folder, a wrong order in the root
# CMakeLists.txt) instead of failing for all targets at once.
function(weft_link target scope)
    foreach(library IN LISTS ARGN)
        if(library MATCHES "^weft::" AND NOT TARGET ${library})
            message(WARNING "${target} wants ${library}, which is not defined before it")
        else()
            target_link_libraries(${target} ${scope} ${library})
        endif()
    endforeach()
endfunction()

# weft_add_test(name SOURCES a_test.cpp ... [LINKS ...] LABELS fast [TIMEOUT seconds] [SLOW])
#
# SLOW: cases with the tag [slow] get that label in place of LABELS, and hours.
# Catch2 executable bin/<name>. Every TEST_CASE is a ctest test "<name>/<test case>" and runs in a process of its own,
# with a fresh SystemC kernel. The shared runner (testbenches/support/catch_main.cpp) provides sc_main and turns kernel
# warnings into failures. Test case names must not contain commas: Catch2 reads a comma as "or". A test in every
# executable checks it.
function(weft_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SLOW" "TIMEOUT" "SOURCES;LINKS;LABELS")
    if(NOT arg_LABELS)
        message(FATAL_ERROR "weft_add_test(${name}) needs LABELS")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    if(WEFT_SANITIZE) # sanitizers and no optimisation cost a factor of ten and more
        math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 10")
    endif()
    if(NOT TARGET weft_catch_main)
        add_library(weft_catch_main OBJECT "${PROJECT_SOURCE_DIR}/testbenches/support/catch_main.cpp"
            "${PROJECT_SOURCE_DIR}/testbenches/support/names_test.cpp")
        target_include_directories(weft_catch_main PUBLIC "${PROJECT_SOURCE_DIR}")
        target_compile_definitions(weft_catch_main PUBLIC WEFT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
        target_link_libraries(weft_catch_main PUBLIC Catch2::Catch2 SystemC::systemc PRIVATE weft::warnings)
    endif()
    add_executable(${name} ${arg_SOURCES})
    # What a bench adds to the libraries runs briefly: -O1 compiles it in 0.75 of the time of -O2.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    target_link_libraries(${name} PRIVATE weft_catch_main weft::warnings)
    weft_link(${name} PRIVATE ${arg_LINKS})
    string(REPLACE ";" "\\;" labels "${arg_LABELS}")
    include(Catch)
    if(arg_SLOW)
        set(spec TEST_SPEC "~[slow]")
        catch_discover_tests(${name}
            TEST_SPEC "[slow]"
            TEST_PREFIX "${name}/"
            WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
            PROPERTIES LABELS slow TIMEOUT 36000 ENVIRONMENT "SC_COPYRIGHT_MESSAGE=DISABLE")
    endif()
    catch_discover_tests(${name}
        ${spec}
        TEST_PREFIX "${name}/"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
        PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "SC_COPYRIGHT_MESSAGE=DISABLE")
endfunction()
