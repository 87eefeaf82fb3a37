// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A FIFO in one array that grows to what it has to hold and then allocates no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

template <class T> class ring_fifo {
public:
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    T& front() { return items_[first_]; }
    const T& front() const { return items_[first_]; }
    void push(const T& item)
    {
        if (count_ == items_.size())
            grow();
        items_[(first_ + count_++) & (items_.size() - 1)] = item;
    }
    void pop()
    {
        first_ = (first_ + 1) & (items_.size() - 1);
        --count_;
    }
    void clear() { first_ = count_ = 0; }

private:
    void grow()
    {
        std::vector<T> larger(items_.empty() ? 4 : 2 * items_.size());
        for (std::size_t i = 0; i < count_; ++i)
            larger[i] = items_[(first_ + i) & (items_.size() - 1)];
        items_ = std::move(larger);
        first_ = 0;
    }
    std::vector<T> items_; ///< a power of two of them
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

} // namespace weft
