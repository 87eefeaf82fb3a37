// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Slots without loss recovery (Sapio et al., NSDI 2021, Algorithm 1): a sum and a count; the last packet takes the sum
// and frees the slot at once. A lost packet stops the slot for good, a repeated one is added twice: that is the
// algorithm.
#pragma once

#include "hw/abi/switchml.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace weft {

class algorithm1_pool {
public:
    explicit algorithm1_pool(std::uint32_t entries) : slots_(entries), sums_(std::size_t{entries} * k_words) {}

    /// Adds `count` words in network order at `words` (nullptr: none are carried) to the slot. True: this was the last
    /// of `workers` packets, the sums are at `words` and the maxima in the exponents.
    bool add(std::uint32_t entry, std::uint32_t workers, std::uint8_t* words, std::uint32_t count,
             std::int8_t& exponent0, std::int8_t& exponent1)
    {
        slot& s = slots_[entry];
        std::uint32_t* sums = &sums_[std::size_t{entry} * k_words];
        s.exponent0 = s.arrived == 0 ? exponent0 : std::max(s.exponent0, exponent0);
        s.exponent1 = s.arrived == 0 ? exponent1 : std::max(s.exponent1, exponent1);
        if (words != nullptr)
            for (std::uint32_t i = 0; i < count; ++i) {
                const std::uint32_t before = s.arrived == 0 ? 0 : sums[i];
                sums[i] = before + abi::switchml::get32(words + 4 * i);
            }
        if (++s.arrived < workers)
            return false;
        s.arrived = 0;
        exponent0 = s.exponent0;
        exponent1 = s.exponent1;
        if (words != nullptr)
            for (std::uint32_t i = 0; i < count; ++i)
                abi::switchml::put32(words + 4 * i, sums[i]);
        return true;
    }
    std::uint32_t arrived(std::uint32_t entry) const { return slots_[entry].arrived; }

private:
    static constexpr std::uint32_t k_words = 256;
    struct slot {
        std::uint32_t arrived = 0;
        std::int8_t exponent0 = 0;
        std::int8_t exponent1 = 0;
    };
    std::vector<slot> slots_;
    std::vector<std::uint32_t> sums_;
};

} // namespace weft
