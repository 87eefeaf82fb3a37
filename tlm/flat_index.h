// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers 0, 1, 2 ... for keys, in the order in which they are first seen: open addressing, nothing depends on addresses. Plain C++.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

class flat_index {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    std::uint32_t size() const { return size_; }
    std::uint32_t find(std::uint64_t key) const
    {
        if (slots_.empty())
            return k_none;
        for (std::size_t i = place(key);; i = (i + 1) & (slots_.size() - 1))
            if (slots_[i].number == k_none || slots_[i].key == key)
                return slots_[i].number;
    }
    /// The number of `key`; size() before the call when it is new.
    std::uint32_t insert(std::uint64_t key)
    {
        const std::uint32_t known = find(key);
        if (known != k_none)
            return known;
        if (2 * (size_ + 1) > slots_.size())
            grow();
        put(key, size_);
        return size_++;
    }

private:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t number = k_none;
    };
    std::size_t place(std::uint64_t key) const
    {
        return static_cast<std::size_t>((key * 0x9e37'79b9'7f4a'7c15ull) >> 32) & (slots_.size() - 1);
    }
    void put(std::uint64_t key, std::uint32_t number)
    {
        std::size_t i = place(key);
        while (slots_[i].number != k_none)
            i = (i + 1) & (slots_.size() - 1);
        slots_[i] = {key, number};
    }
    void grow()
    {
        std::vector<slot> old(slots_.empty() ? 16 : slots_.size() * 2);
        old.swap(slots_);
        for (const slot& s : old)
            if (s.number != k_none)
                put(s.key, s.number);
    }

    std::vector<slot> slots_;
    std::uint32_t size_ = 0;
};

} // namespace weft
