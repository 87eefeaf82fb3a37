# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake --install: the program with its man page, completion and platform files, and the CMake package `weft` with the
# libraries of tlm/ and hw/ (targets.cmake), for SystemC projects that bind a component of ours to modules of their own:
#
#   find_package(weft 0.1 REQUIRED)
#   target_link_libraries(mine PRIVATE weft::hw_memory)      # #include "hw/memory/hbm.h"
#
# testbenches/package has such a project.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(EXPORT weft FILE weft-targets.cmake NAMESPACE weft:: DESTINATION "${package}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/weft-config.cmake.in" "${PROJECT_BINARY_DIR}/weft-config.cmake"
    INSTALL_DESTINATION "${package}")
# Before 1.0 a minor version may change interfaces.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weft-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weft-config.cmake" "${PROJECT_BINARY_DIR}/weft-config-version.cmake" DESTINATION "${package}")
install(DIRECTORY tlm hw DESTINATION include/weft FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

install(DIRECTORY configs DESTINATION "${CMAKE_INSTALL_DATADIR}/weft")
install(FILES docs/weft.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES docs/weft.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME weft)
install(FILES LICENSE NOTICE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
