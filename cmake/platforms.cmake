# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# The list of platforms: platforms/platforms.txt.
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/platforms/platforms.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/platforms/platforms.txt" weft_platforms REGEX "^[a-z]")

# weft_platform_list(name [MODELS_ONLY] platform ...)
#
# Static library weft_<name> with cli::platforms(), which the commands loop over: these platforms, in this order; and
# with cli::platform_names(), which are all.
# A platform with Verilog has it in a library of its own, weft::platforms_<platform>_rtl; with MODELS_ONLY
# weft::platforms_<platform>_models_only takes its place. Without MODELS_ONLY there is cli::studies(), too: of the
# platforms with a library weft::platforms_<platform>_studies.
function(weft_platform_list name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "MODELS_ONLY" "" "")
    if(arg_MODELS_ONLY)
        set(variant models_only)
    else()
        set(variant rtl)
    endif()
    foreach(platform IN LISTS arg_UNPARSED_ARGUMENTS)
        string(APPEND declared "extern const platform_info k_${platform}_info;\n")
        string(APPEND listed "&k_${platform}_info, ")
        list(APPEND libraries weft::platforms_${platform})
        if(TARGET weft::platforms_${platform}_${variant})
            list(APPEND libraries weft::platforms_${platform}_${variant})
        endif()
        if(NOT arg_MODELS_ONLY AND TARGET weft::platforms_${platform}_studies)
            string(APPEND declared "extern const platform_studies k_${platform}_studies;\n")
            string(APPEND studied "&k_${platform}_studies, ")
            list(PREPEND libraries weft::platforms_${platform}_studies)
        endif()
    endforeach()
    if(NOT arg_MODELS_ONLY)
        set(studies [[

const std::vector<const platform_studies*>& studies()
{
    static const std::vector<const platform_studies*> all{@studied@};
    return all;
}
]])
        string(CONFIGURE "${studies}" studies @ONLY)
    endif()
    list(JOIN weft_platforms "\", \"" all_names)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT [[// Made from platforms/platforms.txt.
#include "platforms/cli/platforms.h"

namespace weft {
@declared@}

namespace weft::cli {

const std::vector<const platform_info*>& platforms()
{
    static const std::vector<const platform_info*> all{@listed@};
    return all;
}

const std::vector<std::string>& platform_names()
{
    static const std::vector<std::string> all{"@all_names@"};
    return all;
}
@studies@
} // namespace weft::cli
]] @ONLY)
    weft_library(${name} SOURCES "${source}" LINKS ${libraries})
endfunction()
