# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Everything from outside, found once, here. All of it is in Debian 12: cmake/debian-packages.txt.
#   SystemC::systemc  fmt::fmt  spdlog::spdlog  yaml-cpp  nlohmann_json::nlohmann_json  CLI11::CLI11
#   with WEFT_TESTS: Catch2::Catch2  benchmark::benchmark

# find_package(REQUIRED), but the message tells what to install.
macro(weft_find package debian_package)
    find_package(${package} QUIET ${ARGN})
    if(NOT ${package}_FOUND)
        message(FATAL_ERROR "${package} was not found. On Debian 12: apt-get install ${debian_package} "
            "(or run ./weft, which installs everything in cmake/debian-packages.txt).")
    endif()
endmacro()

# SystemC ships a pkg-config file and no CMake package. The library owns main() and calls our sc_main().
weft_find(PkgConfig pkg-config)
pkg_check_modules(WEFT_SYSTEMC QUIET IMPORTED_TARGET systemc>=2.3.4)
if(NOT WEFT_SYSTEMC_FOUND)
    message(FATAL_ERROR "SystemC 2.3.4 or later was not found through pkg-config. On Debian 12: apt-get install libsystemc-dev")
endif()
add_library(SystemC::systemc INTERFACE IMPORTED)
target_link_libraries(SystemC::systemc INTERFACE PkgConfig::WEFT_SYSTEMC)

weft_find(fmt libfmt-dev)
weft_find(spdlog libspdlog-dev)
weft_find(yaml-cpp libyaml-cpp-dev)
weft_find(nlohmann_json nlohmann-json3-dev)
weft_find(CLI11 libcli11-dev)
if(WEFT_TESTS)
    weft_find(Catch2 catch2 2.13)
    weft_find(benchmark libbenchmark-dev)
endif()
