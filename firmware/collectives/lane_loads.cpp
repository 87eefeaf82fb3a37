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

bool lane_shares::alike() const
{
    for (std::uint32_t i = 1; i < lanes; ++i)
        if (of[i] != of[0])
            return false;
    return true;
}

lane_loads::lane_loads(const abi::platform_table& table, std::uint32_t lanes, std::uint64_t bytes) : lanes_(lanes)
{
    std::uint32_t begins[abi::k_max_dims]; // axes by number of the lane that begins there, or would
    std::uint64_t all_ns[abi::k_max_dims];
    for (std::uint32_t lane = 0; lane < abi::k_max_dims; ++lane) {
        std::uint32_t axes[abi::k_max_dims];
        dims_ = axis_order(table, lane, axes);
        if (lane == dims_)
            break;
        begins[lane] = axes[0];
        const std::uint32_t d = table.dim_count - 1 - axes[0];
        size_[lane] = table.dims[d];
        all_ns[lane] = table.rate_mbps[d] != 0 ? bytes / table.dims[d] * (table.dims[d] - 1) * 8000 / table.rate_mbps[d] : 0;
    }
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        std::uint32_t axes[abi::k_max_dims];
        axis_order(table, lane, axes);
        std::uint64_t before = 1; // ranks that differ in dimensions before this one
        for (std::uint32_t i = 0; i < dims_; ++i) {
            std::uint32_t at = 0;
            while (begins[at] != axes[i])
                ++at;
            ns_[lane][at] = all_ns[at] / before;
            before *= size_[at];
        }
    }
}

bool lane_loads::alike() const
{
    for (std::uint32_t i = 1; i < lanes_; ++i)
        if (size_[i] != size_[0] || ns_[i][i] != ns_[0][0])
            return false;
    return true;
}

std::uint32_t lane_loads::longest_size() const
{
    std::uint32_t longest = 1;
    for (std::uint32_t i = 0; i < dims_; ++i)
        longest = size_[i] > longest ? size_[i] : longest;
    return longest;
}

std::uint64_t lane_loads::behind_ns() const
{
    std::uint64_t sum = 0;
    for (std::uint32_t i = lanes_; i < dims_; ++i)
        sum += ns_[0][i];
    return sum;
}

std::uint64_t lane_loads::ns(const lane_shares& shares, bool turns) const
{
    std::uint64_t longest = 0;
    for (std::uint32_t i = 0; i < lanes_; ++i) {
        std::uint64_t links = 0;
        for (std::uint32_t lane = 0; lane < lanes_; ++lane)
            links += shares.of[lane] * ns_[lane][i];
        longest = larger(longest, links);
    }
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        std::uint64_t others = 0;
        for (std::uint32_t i = 0; i < lanes_; ++i)
            others += i != lane ? ns_[lane][i] / (turns ? 2 : 1) : 0;
        longest = larger(longest, shares.of[lane] * (ns_[lane][lane] + others));
    }
    return longest / lane_cut::k_whole;
}

lane_shares lane_loads::halves() const
{
    lane_shares s{lanes_, {}};
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
        s.of[lane] = lane_cut::k_whole * (lane + 1) / lanes_ - lane_cut::k_whole * lane / lanes_;
    return s;
}

lane_shares lane_loads::balanced() const
{
    // One equation for each first dimension, whose links are busy for as long as a unit. Dimensions further back weigh
    // little, so a few rounds of Gauss and Seidel are enough.
    constexpr std::uint32_t k_bits = 16, k_rounds = 6;
    constexpr std::uint64_t k_unit = 1ull << k_bits;
    std::uint64_t longest = 1;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
        longest = larger(longest, ns_[lane][lane]);
    std::uint64_t weight[abi::k_max_dims] = {};
    std::uint64_t sum = 0;
    for (std::uint32_t round = 0; round < k_rounds; ++round) {
        sum = 0;
        for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
            std::uint64_t of_others = 0;
            for (std::uint32_t other = 0; other < lanes_; ++other)
                of_others += other != lane ? weight[other] * (ns_[other][lane] * k_unit / longest) >> k_bits : 0;
            const std::uint64_t own = larger(1, ns_[lane][lane] * k_unit / longest);
            weight[lane] = of_others < k_unit ? (k_unit - of_others) * k_unit / own : 0;
            sum += weight[lane];
        }
    }
    if (sum == 0)
        return halves();
    const std::uint32_t least = lane_cut::k_whole / 4 / lanes_;
    lane_shares s{lanes_, {}};
    std::uint32_t left = lane_cut::k_whole;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        const std::uint32_t of_later = (lanes_ - 1 - lane) * least;
        const auto share = static_cast<std::uint32_t>((weight[lane] * lane_cut::k_whole + sum / 2) / sum);
        const std::uint32_t most = left - of_later;
        s.of[lane] = lane + 1 == lanes_ ? left : share < least ? least : share > most ? most : share;
        left -= s.of[lane];
    }
    return s;
}

} // namespace weft::firmware
