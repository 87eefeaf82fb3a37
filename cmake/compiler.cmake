# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Language, flags and warnings. One language standard for all: the packaged SystemC links with C++17 objects only.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# The same source gives the same simulated result on every host: no host-specific instructions, no reordered or fused
# floating-point arithmetic.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-ffp-contract=off)

# AddressSanitizer does not see SystemC's switch between thread stacks: an exception in an SC_THREAD leaves its marks on
# the wrong stack, and later calls fail on them. Hence no marks on stacks; heap, globals and (UBSan) array bounds are
# checked.
if(WEFT_SANITIZE)
    add_compile_options(-fsanitize=address,undefined --param=asan-stack=0
        -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
if(WEFT_COVERAGE)
    add_compile_options(--coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()

if(NOT WEFT_CACHE_HINTS)
    add_compile_definitions(WEFT_NO_CACHE_HINTS)
endif()

# No precompiled headers: they save a tenth of the CPU time, and a forced include hides missing ones. WEFT_UNITY saves
# more: nine sources of hw/dma take 12 s of CPU one by one and 4.7 s together, eleven of hw/fabric 18.5 s and 4.6 s.
find_program(WEFT_CCACHE ccache)
mark_as_advanced(WEFT_CCACHE)
if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WEFT_CCACHE}")
endif()

add_library(weft_warnings INTERFACE)
add_library(weft::warnings ALIAS weft_warnings)
# Sources that are compiled together see names of each other, which nothing is wrong with.
# A number that is narrowed in braces is most often one in the place of another: a field was put in between.
target_compile_options(weft_warnings INTERFACE -Wall -Wextra $<$<NOT:$<BOOL:${WEFT_UNITY}>>:-Wshadow> -Wconversion -Werror=narrowing $<$<BOOL:${WEFT_WERROR}>:-Werror>)
