// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Families of machines at which transport in trains is compared with single packets (`weft bursts`): each the cross
// product of its axes, of what an architect turns, on machines so small that a point costs about a second. A platform
// has its own (platform_studies::bursts).
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace weft {

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

    std::uint64_t count() const ///< of its points
    {
        std::uint64_t points = 1;
        for (const sweep_axis& axis : axes)
            points *= axis.values.size();
        return points;
    }
};

namespace bursts {

using burst_list = std::vector<std::string>;

inline sweep_value value(std::string name, burst_list overrides = {}) { return {std::move(name), std::move(overrides), {}}; }

/// One collective by one algorithm, and nothing else; `entry_keys` are further keys of its entry ("root: 5").
inline sweep_value value(std::string name, burst_list overrides, const char* op, const char* algorithm, burst_list sizes, const char* entry_keys = "")
{
    return {std::move(name), std::move(overrides), {{{op, algorithm}}, std::move(sizes), entry_keys}};
}

inline burst_list both(burst_list first, const burst_list& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

inline sweep_value in_chunks_of(const char* chunk)
{
    return {fmt::format("chunk {}", chunk), {}, {{}, {"64 KiB", "1 MiB"}, fmt::format("chunk: {}", chunk)}};
}

/// One value for each text, which stands for {} in all `keys`.
inline std::vector<sweep_value> values(const burst_list& texts, const burst_list& keys, const burst_list& others = {})
{
    std::vector<sweep_value> all;
    for (const std::string& text : texts) {
        sweep_value v = value(text, others);
        for (const std::string& key : keys)
            v.overrides.push_back(key + "=" + text);
        all.push_back(std::move(v));
    }
    return all;
}

inline const burst_list k_buffers{"4 KiB", "8 KiB", "16 KiB", "64 KiB"};
inline const burst_list k_cables{"1 ns", "25 ns", "100 ns", "1000 ns"};

/// DMA engines whose buffers let trains be long; in those of the shipped files most of them are short.
inline sweep_axis dma_buffers(const std::string& dma, burst_list others = {})
{
    others.push_back(dma + ".receive_buffer=4 MiB");
    others.push_back(dma + ".read_ahead=1024");
    return {"DMA", {value("as shipped"), value("1024 packets read ahead, receive buffer 4 MiB", others)}};
}

} // namespace bursts

} // namespace weft
