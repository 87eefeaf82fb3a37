// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers 0, 1, 2 ... for keys, in the order in which they are first seen: open addressing, nothing depends on
// addresses. Keys that follow each other, such as the ranks that one talks to, share a cache line. Plain C++.
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
        if (groups_.empty())
            return k_none;
        const std::size_t i = place(key >> k_group_shift);
        return tags_[i] == k_no_tag ? k_none : groups_[i].numbers[key & k_group_mask];
    }
    /// The number of `key`; size() before the call when it is new.
    std::uint32_t insert(std::uint64_t key)
    {
        const std::uint32_t known = find(key);
        if (known != k_none)
            return known;
        if (2 * (used_ + 1) > groups_.size())
            grow();
        const std::uint64_t tag = key >> k_group_shift;
        const std::size_t i = place(tag);
        if (tags_[i] == k_no_tag) {
            tags_[i] = tag;
            ++used_;
        }
        groups_[i].numbers[key & k_group_mask] = size_;
        return size_++;
    }

private:
    static constexpr std::uint32_t k_group_shift = 4;
    static constexpr std::uint64_t k_group_mask = (1u << k_group_shift) - 1;
    static constexpr std::uint64_t k_no_tag = ~std::uint64_t{0};
    /// Keys with the same tag, which is all but their last bits.
    struct alignas(64) group {
        group()
        {
            for (std::uint32_t& n : numbers)
                n = k_none;
        }
        std::uint32_t numbers[1u << k_group_shift];
    };

    /// Where the group with this tag is, or would be.
    std::size_t place(std::uint64_t tag) const
    {
        const std::size_t mask = tags_.size() - 1;
        std::size_t i = static_cast<std::size_t>((tag * 0x9e37'79b9'7f4a'7c15ull) >> 32) & mask;
        while (tags_[i] != tag && tags_[i] != k_no_tag)
            i = (i + 1) & mask;
        return i;
    }
    void grow()
    {
        std::vector<std::uint64_t> old_tags(tags_.empty() ? 4 : tags_.size() * 2, k_no_tag);
        std::vector<group> old(old_tags.size());
        old_tags.swap(tags_);
        old.swap(groups_);
        for (std::size_t from = 0; from < old.size(); ++from)
            if (old_tags[from] != k_no_tag) {
                const std::size_t i = place(old_tags[from]);
                tags_[i] = old_tags[from];
                groups_[i] = old[from];
            }
    }

    std::vector<std::uint64_t> tags_; ///< of groups_
    std::vector<group> groups_;
    std::uint32_t used_ = 0; ///< groups
    std::uint32_t size_ = 0; ///< keys
};

} // namespace weft
