// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The points at which transport in bursts is compared with single packets: families of machines, each the cross product
// of its axes. A point is a shipped file with some keys changed, so that anybody can run it again by hand. Points are
// data and are numbered; nothing here simulates.
#pragma once

#include "platforms/cli/cli.h"

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

/// What a point runs in place of all collectives of its machine by all sizes of its family. Empty: those.
struct sweep_work {
    std::vector<std::pair<std::string, std::string>> collectives; ///< op, algorithm
    std::vector<std::string> sizes;
    std::string entry_keys; ///< further keys of every entry of the workload: "chunk: 16 KiB"
};

struct sweep_value {
    std::string name;                   ///< "4 KiB"
    std::vector<std::string> overrides; ///< key.path=value
    sweep_work work;
};

struct sweep_axis {
    std::string name; ///< "buffer"
    std::vector<sweep_value> values;
    bool decides_collectives = false; ///< its values differ in which algorithms can run
};

struct sweep_family {
    std::string name;                   ///< "tpu_v3 mesh"
    std::string platform;               ///< "tpu_v3"
    std::string file;                   ///< below the folder of shipped files: "tpu_v3/mesh_4x4.yaml"
    std::vector<std::string> overrides; ///< of every point, before those of the axes
    std::vector<sweep_axis> axes;
    std::vector<std::string> sizes{"4 KiB", "64 KiB", "1 MiB"};
    std::uint32_t large_cases = 0;        ///< so many of its collectives run with 16 MiB, too, others at each point
    bool corner = false;                  ///< its points are the corner, too
    std::uint32_t share = 0;              ///< of a sample, relative to other families; 0: not in samples
    std::uint32_t seconds_of_host = 900;  ///< bound of one run of one point

    std::uint64_t count() const; ///< of its points
};

/// All families. The order and the numbers of points are stable.
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
