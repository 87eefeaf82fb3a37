# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Everything from outside, found once, here. All of it is in Debian 12: cmake/debian-packages.txt.
#   SystemC::systemc  fmt::fmt  yaml-cpp  nlohmann_json::nlohmann_json  CLI11::CLI11
#   with WEFT_UNICORN: WEFT::unicorn, and the cross compiler in WEFT_RV64_CXX
#   where libdw is installed: WEFT::libdw
#   with WEFT_RTL: function verilate(), ZLIB::ZLIB
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

# Unicorn executes RV64 firmware, and the cross compiler builds it.
if(WEFT_UNICORN)
    pkg_check_modules(WEFT_UNICORN_LIBRARY QUIET IMPORTED_TARGET unicorn>=2.0.1)
    find_program(WEFT_RV64_CXX riscv64-linux-gnu-g++)
    mark_as_advanced(WEFT_RV64_CXX)
    if(NOT WEFT_UNICORN_LIBRARY_FOUND OR NOT WEFT_RV64_CXX)
        message(FATAL_ERROR "Unicorn 2.0.1 or the RISC-V compiler was not found. On Debian 12: apt-get install libunicorn-dev "
            "g++-riscv64-linux-gnu (or configure with -DWEFT_UNICORN=OFF, for native cores only).")
    endif()
    add_library(WEFT::unicorn INTERFACE IMPORTED)
    target_link_libraries(WEFT::unicorn INTERFACE PkgConfig::WEFT_UNICORN_LIBRARY)
endif()

# libdw reads the line table of firmware, for its coverage.
pkg_check_modules(WEFT_LIBDW QUIET IMPORTED_TARGET libdw)
if(WEFT_LIBDW_FOUND)
    add_library(WEFT::libdw INTERFACE IMPORTED)
    target_link_libraries(WEFT::libdw INTERFACE PkgConfig::WEFT_LIBDW)
else()
    message(STATUS "libdw was not found: --coverage-firmware will be refused. On Debian 12: apt-get install libdw-dev")
endif()

weft_find(fmt libfmt-dev)
weft_find(yaml-cpp libyaml-cpp-dev)
weft_find(nlohmann_json nlohmann-json3-dev)
weft_find(CLI11 libcli11-dev)
if(WEFT_RTL)
    weft_find(verilator verilator HINTS /usr/share/verilator "$ENV{VERILATOR_ROOT}")
    weft_find(ZLIB zlib1g-dev) # of FST waves
endif()
if(WEFT_TESTS)
    weft_find(Catch2 catch2 2.13)
    weft_find(benchmark libbenchmark-dev)
endif()
