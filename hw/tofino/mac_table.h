// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Static forwarding table of a switch: Ethernet address to port.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

class mac_table {
public:
    static constexpr std::uint32_t k_unknown = 0xffff'ffff;

    /// An address that is there moves to `port`.
    void set(std::uint64_t mac, std::uint32_t port)
    {
        const auto at = std::lower_bound(entries_.begin(), entries_.end(), std::pair{mac, std::uint32_t{0}});
        if (at != entries_.end() && at->first == mac)
            at->second = port;
        else
            entries_.insert(at, {mac, port});
    }
    std::uint32_t port_of(std::uint64_t mac) const
    {
        const auto at = std::lower_bound(entries_.begin(), entries_.end(), std::pair{mac, std::uint32_t{0}});
        return at == entries_.end() || at->first != mac ? k_unknown : at->second;
    }

private:
    std::vector<std::pair<std::uint64_t, std::uint32_t>> entries_; ///< sorted
};

} // namespace weft
