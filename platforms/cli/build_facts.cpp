// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/build_facts.h"

#include "cmake/version.h"
#include "platforms/cli/host_costs.h"
#include "tlm/units.h"

// Of the libraries only what holds their versions: the whole headers take ten seconds.
#include <CLI/Version.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/detail/abi_macros.hpp>
#include <sys/utsname.h>
#include <sysc/kernel/sc_ver.h>
#include <thread>

namespace weft::cli {

std::vector<std::string> built_in()
{
    std::vector<std::string> parts;
    if (WEFT_HAS_RV64)
        parts.emplace_back("RV64 cores");
    if (WEFT_HAS_RTL)
        parts.emplace_back("Verilog models");
    if (WEFT_HAS_LIBDW)
        parts.emplace_back("firmware coverage");
    return parts;
}

std::string build_facts()
{
    const std::vector<std::string> parts = built_in();
    utsname host{};
    const bool known = uname(&host) == 0;
    return fmt::format("weft {}\n"
                       "build       {}{}, {}\n"
                       "with        {}\n"
                       "libraries   SystemC {}, fmt {}.{}.{}, yaml-cpp {}, nlohmann json {}.{}.{}, CLI11 {}\n"
                       "system      {}\n"
                       "host        {} cores, {} of memory free",
                       weft::version(), WEFT_BUILD_TYPE, WEFT_SANITIZED ? " with sanitizers" : "", WEFT_COMPILER,
                       parts.empty() ? "nothing optional" : fmt::format("{}", fmt::join(parts, ", ")),
                       sc_core::sc_release(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
                       WEFT_YAML_CPP, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                       NLOHMANN_JSON_VERSION_PATCH, CLI11_VERSION,
                       known ? fmt::format("{} {} {}", host.sysname, host.release, host.machine) : "unknown",
                       std::thread::hardware_concurrency(), rounded_text(data_size(free_host_memory_bytes())));
}

} // namespace weft::cli
