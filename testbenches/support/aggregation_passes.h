// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Random passes for the aggregation pipe: mostly hot slots, workers and counts near the corners of the tables, words
// near the
// ends of their range, many passes back to back.
#pragma once

#include "hw/tofino/aggregation_unit.h"

namespace weft::testing {

/// SplitMix64 (Steele, Lea, Flood 2014).
class splitmix {
public:
    explicit splitmix(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next()
    {
        std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
        z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
        z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
        return z ^ (z >> 31);
    }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }
    bool one_in(std::uint32_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

class random_passes {
public:
    /// The first pass comes at `start_ps`; on average one comes every 1 ns and a little, often several at once.
    random_passes(std::uint64_t seed, std::uint32_t register_depth, std::uint64_t start_ps = 0)
        : random_(seed), depth_(register_depth), now_ps_(start_ps)
    {
    }

    std::uint64_t now_ps() const { return now_ps_; }

    const aggregation_pass& next()
    {
        if (random_.one_in(2))
            now_ps_ += random_.below(random_.one_in(500) ? 1'000'000 : 5000);
        if (!random_.one_in(3)) // else the index of the pass before
            pass_.pool_index = static_cast<std::uint16_t>(random_.below(random_.one_in(8) || depth_ < 8 ? depth_ : 8));
        if (random_.one_in(64))
            most_workers_ = random_.one_in(2) ? 1 + random_.below(4) : 1 + random_.below(k_max_aggregation_workers);
        const bool foreign = random_.one_in(16); // a worker or a job that does not fit the others
        pass_.workers =
            static_cast<std::uint8_t>(foreign ? 1 + random_.below(k_max_aggregation_workers) : most_workers_);
        pass_.worker = static_cast<std::uint8_t>(random_.below(foreign ? k_max_aggregation_workers : most_workers_));
        pass_.type = static_cast<pass_type>(random_.one_in(4) ? 8 + random_.below(8) : 4 + random_.below(4));
        if (random_.one_in(3))
            pass_.type = random_.one_in(2) ? pass_type::consume0 : pass_type::harvest7;
        pass_.size = static_cast<packet_size>(random_.one_in(8) ? random_.below(4) : random_.one_in(3) ? 1u : 3u);
        pass_.last_of_message = !random_.one_in(4);
        pass_.exponent0 = exponent();
        pass_.exponent1 = exponent();
        pass_.map_result = random_.one_in(2) ? 0 : std::uint32_t{1} << pass_.worker;
        pass_.count = static_cast<std::uint8_t>(random_.below(random_.one_in(8) ? 32 : 3));
        for (auto& word : pass_.d0)
            word = value();
        for (auto& word : pass_.d1)
            word = value();
        return pass_;
    }

private:
    std::uint32_t value()
    {
        const std::uint64_t bits = random_.next();
        const auto word = static_cast<std::uint32_t>(bits);
        switch (bits >> 61) {
        case 0: return 0x7fff'fff0u + (word & 31); // around the largest and the smallest number
        case 1: return (word & 31) - 16;           // around zero
        default: return word;
        }
    }
    std::int8_t exponent()
    {
        const std::uint32_t bits = random_.below(1024);
        return static_cast<std::int8_t>(bits < 256 ? bits : bits % 5 - 2);
    }

    splitmix random_;
    std::uint32_t depth_;
    std::uint32_t most_workers_ = 3;
    std::uint64_t now_ps_;
    aggregation_pass pass_;
};

} // namespace weft::testing
