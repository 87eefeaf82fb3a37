// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Who uses which link, seen on the wires of a run, and whether rings share links. Knows no collective and no schedule:
// a ring is what closes. Among streams that count on one semaphore, whoever receives nothing or sends nothing on is
// taken away until nothing changes; what is left must be closed circles of senders. Messages without payload are not
// traffic of a ring.
#pragma once

#include "tlm/event_record.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace weft {

/// Payload from one endpoint to another, for one semaphore, on one link.
struct link_use {
    std::uint32_t link = 0;
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint32_t semaphore = 0;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0; ///< whose last packet passed
};

/// A sink for the records of one fabric.
class link_occupancy final : public event_sink {
public:
    /// Of links with `watched[link]`; other links and other records are ignored.
    explicit link_occupancy(const std::vector<bool>& watched);
    void record(const event_record& r) override;
    /// Messages with payload that one endpoint sent to another, counting on one semaphore: on the link of their way
    /// that saw most.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> messages_between() const;
    /// Of one semaphore, in the order of links.
    std::vector<link_use> uses(std::uint32_t semaphore) const;

private:
    struct link_log {
        bool watched = false;
        std::uint32_t latest = 0; ///< into uses: packets of one message follow each other
        std::vector<link_use> uses;
    };
    std::vector<link_log> links_;
};

/// What a set of semaphores did on the links.
struct ring_sharing {
    std::uint32_t rings = 0;
    std::uint32_t ring_links = 0;   ///< directed links that carry payload of a ring
    std::uint32_t shared_links = 0; ///< of those: of two rings or more
    std::uint32_t most_rings = 0;   ///< on one link
    std::uint32_t open_streams = 0; ///< (source, destination, semaphore) that belong to no ring
    std::uint32_t open_links = 0;   ///< directed links that carry them
    std::uint32_t open_on_ring_links = 0;
    bool tangled = false; ///< someone in a circle sends on to two: these are no rings
    std::string example;  ///< the first shared link: "link 12: ring of 16 from 0 to 1; ring of 16 from 1 to 0"
    bool disjoint() const { return rings > 0 && !tangled && shared_links == 0; }
};

ring_sharing find_sharing(const link_occupancy& occupancy, const std::vector<std::uint32_t>& semaphores);

} // namespace weft
