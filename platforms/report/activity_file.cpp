// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/activity_file.h"

#include <cmath>

namespace weft {

namespace {

using json = nlohmann::ordered_json;

double us(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }
/// A ten-thousandth: more digits would only be read.
double rounded(double share) { return std::round(share * 1e4) / 1e4; }

json map_json(const machine_map& map)
{
    json j;
    j["nodes"] = map.nodes;
    j["wires"] = map.wires;
    j["dimensions"] = json::array();
    for (const map_dimension& d : map.dimensions)
        j["dimensions"].push_back({d.size, d.kind});
    j["levels"] = json::array();
    for (const map_level& level : map.levels) {
        json l;
        l["what"] = level.what;
        l["places"] = json::array(); // [name, ranks, first rank, coordinates]
        for (const map_node& n : level.places)
            l["places"].push_back({n.name, n.ranks, n.first_rank, n.at});
        l["bundles"] = json::array(); // [from, to, wires, broken]
        for (const map_bundle& b : level.bundles)
            l["bundles"].push_back({b.from, b.to, b.wires, b.broken});
        j["levels"].push_back(std::move(l));
    }
    return j;
}

json case_json(const case_activity& c)
{
    json j;
    j["op"] = c.op;
    j["algorithm"] = c.algorithm;
    j["type"] = c.type;
    j["redop"] = c.redop;
    j["size_bytes"] = c.size_bytes;
    j["complete"] = c.complete;
    j["start_us"] = us(c.start_ps);
    j["time_us"] = us(c.time_ps);
    j["limited_by"] = c.complete ? limited_by(c.shares) : ""; // a part of a collective has no verdict
    for (const auto& [part, share] : c.shares.listed())
        j["shares"][part] = share;
    j["bins"] = c.bins;
    j["bin_us"] = us(c.bin_ps);
    j["last_bin_us"] = us(c.last_bin_ps);
    j["bundles"] = json::array();
    for (const auto& level : c.bundles)
        j["bundles"].push_back(base64(level));
    j["broken"] = json::array(); // [bundle, wires], at its end
    for (const auto& level : c.broken)
        j["broken"].push_back(level);
    j["work"] = base64(c.work);
    j["machine"] = base64(c.machine);
    j["wires"] = json::array(); // [name, local, bytes, busy, credits, arbitration, failed]
    for (const wire_trouble& w : c.wires)
        j["wires"].push_back({w.name, w.local, w.bytes, rounded(w.busy), rounded(w.credits), rounded(w.arbitration), w.failed});
    j["lanes"] = json::array(); // [wire, vl, credits, fullest, depth in cells]
    for (const lane_trouble& l : c.lanes)
        j["lanes"].push_back({l.wire, l.vl, rounded(l.credits), rounded(l.fullest), l.depth_cells});
    j["bytes_read"] = c.bytes_read;
    j["bytes_written"] = c.bytes_written;
    return j;
}

} // namespace

std::string base64(const std::vector<std::uint8_t>& bytes)
{
    static constexpr char k_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = bytes.size() - i;
        const std::uint32_t three = static_cast<std::uint32_t>(bytes[i]) << 16 |
                                    (left > 1 ? static_cast<std::uint32_t>(bytes[i + 1]) << 8 : 0) |
                                    (left > 2 ? bytes[i + 2] : 0u);
        text += k_letters[three >> 18];
        text += k_letters[three >> 12 & 63];
        text += left > 1 ? k_letters[three >> 6 & 63] : '=';
        text += left > 2 ? k_letters[three & 63] : '=';
    }
    return text;
}

json to_json(const run_activity& a, const std::string& digest)
{
    json j;
    j["schema"] = 1;
    j["digest"] = digest;
    j["map"] = map_json(a.map);
    j["kinds"] = a.kinds;
    j["ranks"] = json::array(); // [rank, name]
    for (std::size_t i = 0; i < a.ranks_shown.size(); ++i)
        j["ranks"].push_back({a.ranks_shown[i], a.rank_names[i]});
    j["memory"] = a.memory;
    j["memory_bytes"] = json::array(); // [read, written], by rank
    for (const auto& [read, written] : a.memory_bytes)
        j["memory_bytes"].push_back({read, written});
    j["cases"] = json::array();
    for (const case_activity& c : a.cases)
        j["cases"].push_back(case_json(c));
    j["left_out"] = a.left_out;
    return j;
}

} // namespace weft
