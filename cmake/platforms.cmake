# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# The list of platforms: platforms/platforms.txt.
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/platforms/platforms.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/platforms/platforms.txt" weft_platforms REGEX "^[a-z]")

# weft_platform_list(name platform ...)
#
# Static library weft_<name> with cli::platforms(), which the commands loop over: these platforms, in this order.
function(weft_platform_list name)
    foreach(platform IN LISTS ARGN)
        string(APPEND declared "extern const platform_info k_${platform}_info;\n")
        string(APPEND listed "&k_${platform}_info, ")
        list(APPEND libraries weft::platforms_${platform})
    endforeach()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT [[// Made from platforms/platforms.txt.
#include "platforms/cli/cli.h"

namespace weft {
@declared@}

namespace weft::cli {

const std::vector<const platform_info*>& platforms()
{
    static const std::vector<const platform_info*> all{@listed@};
    return all;
}

} // namespace weft::cli
]] @ONLY)
    weft_library(${name} SOURCES "${source}" LINKS weft::platforms_workload weft::platforms_config CLI11::CLI11 ${libraries} SYSTEMC)
endfunction()
