// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reset of a machine: every component goes back to its state at time zero, while simulated time goes on. A component with
// state of its own derives from `resettable` and joins the list of its timeline when it is built; nobody keeps a second list.
//
// What a reset leaves alone is history: statistics, contents of HBM, links that have failed or will fail and what endpoints
// have learnt of them, endpoints that have moved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

class resettable {
public:
    /// Nothing that began before is still to come: no credit under way, no busy wire, no timer that would be heard.
    virtual bool settled(std::uint64_t now_ps) = 0;
    /// Called when all are settled, between two steps of the simulation. `draw` numbers the sequence of everything random
    /// from now on; 0 is the sequence of time zero.
    virtual void reset(std::uint32_t draw) = 0;

protected:
    ~resettable() = default;
};

class reset_list {
public:
    void add(resettable& r) { all_.push_back(&r); }
    bool settled(std::uint64_t now_ps) const
    {
        return std::all_of(all_.begin(), all_.end(), [=](resettable* r) { return r->settled(now_ps); });
    }
    /// In the order of add(): cores begin in the order in which they were built, as at time zero.
    void reset(std::uint32_t draw) const
    {
        for (resettable* r : all_)
            r->reset(draw);
    }

private:
    std::vector<resettable*> all_;
};

/// The key of a random sequence for a draw: that of time zero for draw 0, unrelated ones for all others (splitmix64).
constexpr std::uint64_t key_of_draw(std::uint64_t key, std::uint32_t draw)
{
    if (draw == 0)
        return key;
    std::uint64_t z = key + draw * 0x9e37'79b9'7f4a'7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebull;
    return z ^ (z >> 31);
}

} // namespace weft
