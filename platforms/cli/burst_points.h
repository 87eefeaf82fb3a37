// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The points at which transport in bursts is compared with single packets: those of the families of all platforms. A
// point is a shipped file with some keys changed, so that anybody can run it again by hand. Points are data and are
// numbered; nothing here simulates.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/workload/burst_family.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::cli {

/// The value of `burst` that `weft bursts` and the tests judge.
inline constexpr const char* k_burst_under_test = "auto";
/// What it is compared with.
inline constexpr const char* k_burst_reference = "1 packet";

/// All families, in the order of platforms. New values move the numbers of points behind them.
const std::vector<sweep_family>& sweep_families();

/// One point of a family.
struct sweep_point {
    const sweep_family* family = nullptr;
    std::uint64_t index = 0; ///< below family->count()

    std::string name() const;                       ///< "tpu_v3 mesh 17"
    std::vector<const sweep_value*> values() const; ///< one of each axis
    std::string where() const;                      ///< "mesh 4x4, buffer 4 KiB, ...": the names of its values
    std::vector<std::string> sizes() const;
    sweep_work work() const; ///< of the values that have one
    /// Of 16 MiB, in which trains are long; 0 where the values have work of their own.
    std::uint32_t large_cases() const;
};

/// Which points of the table.
enum class sweep_subset : std::uint8_t { corner, sample, all };
/// `sample` takes at most `count` points: the share of each family, drawn by `seed` so that the values of an axis occur
/// equally often. The same arguments give the same points, in the order of the table.
std::vector<sweep_point> sweep_points(sweep_subset subset, std::uint64_t count, std::uint64_t seed,
                                      const std::vector<sweep_family>& families = sweep_families());

/// Finds, and keeps, which collectives and algorithms the machine of a point can run. What goes through an aggregating
/// switch knows no bursts and is left out.
class sweep_workloads {
public:
    explicit sweep_workloads(std::string config_dir) : config_dir_(std::move(config_dir)) {}
    /// The platform file of the point without `burst`: file and overrides.
    platform_source source_of(const sweep_point& point);

private:
    std::vector<std::pair<std::string, std::string>> collectives_of(const sweep_point& point);
    std::string config_dir_;
    std::map<std::string, std::vector<std::pair<std::string, std::string>>> known_;
};

/// `weft run FILE --set ...` for a shell.
std::string run_command(const platform_source& source, const std::string& burst);

} // namespace weft::cli
