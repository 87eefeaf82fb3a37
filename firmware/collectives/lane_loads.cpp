// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/lane_loads.h"

namespace weft::firmware {

namespace {
std::uint64_t larger(std::uint64_t a, std::uint64_t b) { return a > b ? a : b; }
} // namespace

std::uint32_t lane_shares::before(std::uint32_t lane) const
{
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < lane; ++i)
        sum += of[i];
    return sum;
}

lane_cut lane_shares::cut(std::uint32_t lane, std::uint32_t parts, std::uint32_t part) const
{
    lane_cut cut;
    cut.first = before(lane);
    cut.share = of[lane];
    cut.parts = parts;
    cut.part = part;
    return cut;
}

lane_shares even_shares(std::uint32_t lanes)
{
    lane_shares s{lanes, {}};
    std::uint32_t before = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t end = lane_cut::k_whole * (lane + 1) / lanes;
        s.of[lane] = end - before;
        before = end;
    }
    return s;
}

lane_loads::lane_loads(const abi::platform_table& table, const axis_places& places, std::uint64_t bytes)
    : count_(places.count)
{
    std::uint64_t all_ns[abi::k_max_dims];
    for (std::uint32_t i = 0; i < count_; ++i) {
        const std::uint32_t d = table.dim_count - 1 - places.axis[i];
        size_[i] = table.dims[d];
        all_ns[i] = table.rate_mbps[d] != 0 ? bytes / size_[i] * (size_[i] - 1) * 8000 / table.rate_mbps[d] : 0;
    }
    for (std::uint32_t lane = 0; lane < count_; ++lane) {
        std::uint32_t before = 1; // ranks that differ in the dimensions before
        for (std::uint32_t i = 0; i < count_; ++i) {
            const std::uint32_t at = places.of_lane(lane, i);
            ns_[lane][at] = before == 1 ? all_ns[at] : all_ns[at] / before;
            before *= size_[at];
        }
    }
}

bool lane_loads::alike(std::uint32_t lanes) const
{
    for (std::uint32_t i = 1; i < lanes; ++i)
        if (size_[i] != size_[0] || ns_[i][i] != ns_[0][0])
            return false;
    return true;
}

std::uint32_t lane_loads::longest_size() const
{
    std::uint32_t longest = 1;
    for (std::uint32_t i = 0; i < count_; ++i)
        longest = size_[i] > longest ? size_[i] : longest;
    return longest;
}

std::uint64_t lane_loads::behind_ns(std::uint32_t lanes) const
{
    std::uint64_t sum = 0;
    for (std::uint32_t i = lanes; i < count_; ++i)
        sum += ns_[0][i];
    return sum;
}

std::uint64_t lane_loads::ns(const lane_shares& shares, bool turns) const
{
    std::uint64_t links[abi::k_max_dims] = {};
    std::uint64_t longest = 0;
    for (std::uint32_t lane = 0; lane < shares.lanes; ++lane) {
        std::uint64_t others = 0;
        for (std::uint32_t i = 0; i < shares.lanes; ++i) {
            links[i] += shares.of[lane] * ns_[lane][i];
            others += i != lane ? ns_[lane][i] : 0;
        }
        longest = larger(longest, shares.of[lane] * (ns_[lane][lane] + (turns ? others / 2 : others)));
    }
    for (std::uint32_t i = 0; i < shares.lanes; ++i)
        longest = larger(longest, links[i]);
    return longest / lane_cut::k_whole;
}

lane_shares lane_loads::balanced(std::uint32_t lanes) const
{
    // One equation for each first dimension, whose links are busy for as long as a unit. Dimensions further back weigh
    // little, so a few rounds of Gauss and Seidel are enough.
    constexpr std::uint32_t k_bits = 16, k_rounds = 5;
    constexpr std::uint64_t k_unit = 1ull << k_bits;
    std::uint64_t longest = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
        longest = larger(longest, ns_[lane][lane]);
    if (longest == 0)
        return even_shares(lanes);
    std::uint32_t shift = 0; // of ns, to units at most
    while (longest >> shift >= k_unit)
        ++shift;
    std::uint64_t weight[abi::k_max_dims] = {};
    std::uint64_t sum = 0;
    for (std::uint32_t round = 0; round < k_rounds; ++round) {
        sum = 0;
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            std::uint64_t of_others = 0;
            for (std::uint32_t other = 0; other < lanes; ++other)
                of_others += other != lane ? weight[other] * (ns_[other][lane] >> shift) : 0;
            of_others >>= k_bits;
            weight[lane] = of_others < k_unit ? ((k_unit - of_others) << k_bits) / larger(1, ns_[lane][lane] >> shift) : 0;
            sum += weight[lane];
        }
    }
    if (sum == 0)
        return even_shares(lanes);
    const std::uint32_t least = lane_cut::k_whole / 4 / lanes;
    lane_shares s{lanes, {}};
    std::uint32_t left = lane_cut::k_whole;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t most = left - (lanes - 1 - lane) * least;
        const auto share = static_cast<std::uint32_t>((weight[lane] * lane_cut::k_whole + sum / 2) / sum);
        s.of[lane] = lane + 1 == lanes ? left : share < least ? least : share > most ? most : share;
        left -= s.of[lane];
    }
    return s;
}

} // namespace weft::firmware
