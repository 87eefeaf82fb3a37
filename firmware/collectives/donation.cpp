// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/donation.h"

namespace weft::firmware {

std::uint32_t shard_index(std::uint64_t count, std::uint32_t shards, std::uint64_t element)
{
    const std::uint64_t base = count / shards;
    const std::uint64_t extra = count % shards; // the first ones are one longer
    const std::uint64_t in_long = extra * (base + 1);
    return static_cast<std::uint32_t>(element < in_long ? element / (base + 1) : extra + (element - in_long) / base);
}

std::uint32_t donation::unit_of(std::uint64_t element) const { return shard_index(count, units(), element); }

donation make_donation(std::uint64_t count, std::uint64_t chunk_elements)
{
    // Equal rounds: the four chips of a tile work in step.
    const std::uint64_t in_a_round = k_tile_chips * chunk_elements;
    const std::uint64_t rounds = count / in_a_round + (count % in_a_round != 0 ? 1 : 0);
    return {count, rounds == 0 ? 1 : static_cast<std::uint32_t>(rounds)};
}

std::uint32_t first_round_unit(const donation& d, std::uint32_t owner, std::uint32_t position, std::uint32_t size)
{
    const abi::element_range first_sent = abi::shard_of(d.count, size, position == 0 ? size - 1 : position - 1);
    const std::uint64_t end = first_sent.first + first_sent.count;
    if (end == 0)
        return d.units() - k_tile_chips + owner;
    const std::uint32_t unit = d.unit_of(end - 1);
    const std::uint32_t back = (unit % k_tile_chips + k_tile_chips - owner) % k_tile_chips;
    return unit >= back ? unit - back : d.units() - k_tile_chips + owner;
}

std::uint32_t unit_in_round(const donation& d, std::uint32_t owner, std::uint32_t first, std::uint32_t round)
{
    const std::uint32_t index = first / k_tile_chips;
    return (index >= round ? index - round : index + d.rounds - round) * k_tile_chips + owner;
}

std::uint32_t round_of_unit(const donation& d, std::uint32_t first, std::uint32_t unit)
{
    const std::uint32_t from = first / k_tile_chips;
    const std::uint32_t to = unit / k_tile_chips;
    return from >= to ? from - to : from + d.rounds - to;
}

} // namespace weft::firmware
