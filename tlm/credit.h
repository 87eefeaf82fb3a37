// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Credits of one sender for one VL of one receiver, in cells. A credit that travels back is known here from the moment
// it leaves the receiver, together with the time of its arrival, and counts from that time on: no event is needed
// unless somebody waits. The nodes of credits under way come from a pool that many counters share. Plain C++.
// Invariant: available + under way + held by the receiver's buffer + packets in flight = depth.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

/// Shared storage for credits under way.
class credit_pool {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    struct node {
        std::uint64_t at_ps;
        std::uint32_t cells;
        std::uint32_t next;
    };
    std::uint32_t take()
    {
        if (free_ == k_none) {
            nodes_.push_back({});
            return static_cast<std::uint32_t>(nodes_.size() - 1);
        }
        const std::uint32_t i = free_;
        free_ = nodes_[i].next;
        return i;
    }
    void give(std::uint32_t i)
    {
        nodes_[i].next = free_;
        free_ = i;
    }
    node& operator[](std::uint32_t i) { return nodes_[i]; }
    const node& operator[](std::uint32_t i) const { return nodes_[i]; }

private:
    std::vector<node> nodes_;
    std::uint32_t free_ = k_none;
};

/// The first few credits under way are kept here, beside the count; only more than that go to the pool.
class credit_counter {
public:
    /// `cells` more arrive at `at_ps` >= `now_ps`. Credits of one VL arrive in the order in which they were sent; a
    /// time before the newest one under way is raised to it.
    void give(credit_pool& pool, std::uint64_t now_ps, std::uint64_t at_ps, std::uint32_t cells)
    {
        if (near_count_ == k_near) // keeps the list, and with it the pool, as short as the wire: it stays in the cache
            settle(pool, now_ps);
        if (tail_ != credit_pool::k_none && at_ps <= pool[tail_].at_ps) {
            pool[tail_].cells += cells;
            return;
        }
        if (tail_ == credit_pool::k_none && near_count_ > 0 && at_ps <= near_at_ps_[near_count_ - 1]) {
            near_cells_[near_count_ - 1] += cells;
            return;
        }
        if (near_count_ < k_near) { // then nothing is in the list
            near_at_ps_[near_count_] = at_ps;
            near_cells_[near_count_++] = cells;
            return;
        }
        const std::uint32_t i = pool.take();
        pool[i] = {at_ps, cells, credit_pool::k_none};
        (tail_ == credit_pool::k_none ? head_ : pool[tail_].next) = i;
        tail_ = i;
    }

    /// True when `cells` are available at `now_ps`.
    bool has(credit_pool& pool, std::uint64_t now_ps, std::uint32_t cells)
    {
        if (available_ >= cells)
            return true;
        settle(pool, now_ps);
        return available_ >= cells;
    }

    /// Spend `cells`; only after has() said true.
    void take(std::uint32_t cells) { available_ -= cells; }

    /// Time at which `cells` will be available if the credits under way suffice, else ~0.
    std::uint64_t when(const credit_pool& pool, std::uint32_t cells) const
    {
        std::uint64_t sum = available_;
        for (std::uint32_t i = 0; i < near_count_; ++i) {
            sum += near_cells_[i];
            if (sum >= cells)
                return near_at_ps_[i];
        }
        for (std::uint32_t i = head_; i != credit_pool::k_none; i = pool[i].next) {
            sum += pool[i].cells;
            if (sum >= cells)
                return pool[i].at_ps;
        }
        return ~std::uint64_t{0};
    }

    /// All credits that were on their way have come.
    bool settled(credit_pool& pool, std::uint64_t now_ps)
    {
        settle(pool, now_ps);
        return near_count_ == 0;
    }
    std::uint32_t available() const { return available_; }
    std::uint32_t under_way(const credit_pool& pool) const
    {
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < near_count_; ++i)
            sum += near_cells_[i];
        for (std::uint32_t i = head_; i != credit_pool::k_none; i = pool[i].next)
            sum += pool[i].cells;
        return sum;
    }

private:
    void settle(credit_pool& pool, std::uint64_t now_ps)
    {
        if (near_count_ > 0 && near_at_ps_[0] <= now_ps)
            settle_due(pool, now_ps);
    }
    void settle_due(credit_pool& pool, std::uint64_t now_ps)
    {
        std::uint32_t done = 0;
        for (; done < near_count_ && near_at_ps_[done] <= now_ps; ++done)
            available_ += near_cells_[done];
        if (done == k_near)
            while (head_ != credit_pool::k_none && pool[head_].at_ps <= now_ps) {
                available_ += pool[head_].cells;
                drop_head(pool);
            }
        std::uint32_t left = 0;
        for (std::uint32_t i = done; i < near_count_; ++i, ++left) {
            near_at_ps_[left] = near_at_ps_[i];
            near_cells_[left] = near_cells_[i];
        }
        for (; left < k_near && head_ != credit_pool::k_none; ++left) {
            near_at_ps_[left] = pool[head_].at_ps;
            near_cells_[left] = pool[head_].cells;
            drop_head(pool);
        }
        near_count_ = left;
    }
    void drop_head(credit_pool& pool)
    {
        const std::uint32_t done = head_;
        head_ = pool[head_].next;
        pool.give(done);
        if (head_ == credit_pool::k_none)
            tail_ = credit_pool::k_none;
    }

    static constexpr std::uint32_t k_near = 3;
    std::uint32_t available_ = 0;
    std::uint64_t near_at_ps_[k_near] = {}; ///< the oldest ones, in order
    std::uint32_t near_cells_[k_near] = {};
    std::uint32_t near_count_ = 0;
    std::uint32_t head_ = credit_pool::k_none; ///< of the newer ones, where there are more; a list in the pool
    std::uint32_t tail_ = credit_pool::k_none;
};

} // namespace weft
