// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Things under way, known by a number that events can carry; numbers of those that are over are given again, the last
// one first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

template <class T> class slots {
public:
    std::uint32_t add(const T& t)
    {
        if (free_.empty()) {
            all_.push_back(t);
            return static_cast<std::uint32_t>(all_.size() - 1);
        }
        const std::uint32_t number = free_.back();
        free_.pop_back();
        all_[number] = t;
        return number;
    }
    void release(std::uint32_t number) { free_.push_back(number); }
    /// The one of this number, which is over.
    T take(std::uint32_t number)
    {
        release(number);
        return all_[number];
    }

    T& operator[](std::uint32_t number) { return all_[number]; }
    const T& operator[](std::uint32_t number) const { return all_[number]; }
    std::size_t in_use() const { return all_.size() - free_.size(); }
    void clear()
    {
        all_.clear();
        free_.clear();
    }

private:
    std::vector<T> all_;
    std::vector<std::uint32_t> free_;
};

} // namespace weft
