// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the neighbours of failed chips forward to whole pairs of rows, and in which order. Four chips of a 2x2 tile
// reduce among themselves so that each owns a quarter of the sums, and forward it to the chip of a whole pair that is
// nearest in their column. There the quarter must have arrived before that chip sends the same elements around its own
// ring. So the elements are cut into units of at most a chunk, unit u belongs to owner u % 4 of the tile, and each
// owner's units are made in the order in which its receiver will send them: falling, from the first shard that the
// receiver sends.
#pragma once

#include "hw/abi/types.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_tile_chips = 4;

/// Elements as positions in a range of `count`.
struct donation {
    std::uint64_t count = 0;
    std::uint32_t rounds = 0; ///< units of each owner

    std::uint32_t units() const { return rounds * k_tile_chips; }
    abi::element_range unit(std::uint32_t index) const { return abi::shard_of(count, units(), index); }
    std::uint32_t unit_of(std::uint64_t element) const;
};

donation make_donation(std::uint64_t count, std::uint64_t chunk_elements);

/// Index of the shard, of `shards` of `count` elements, that holds `element` (< count).
std::uint32_t shard_index(std::uint64_t count, std::uint32_t shards, std::uint64_t element);

/// Which of its units `owner` makes first when its receiver is at `position` of a ring of `size`.
std::uint32_t first_round_unit(const donation& d, std::uint32_t owner, std::uint32_t position, std::uint32_t size);

/// The unit that `owner` makes in `round` < rounds.
std::uint32_t unit_in_round(const donation& d, std::uint32_t owner, std::uint32_t first, std::uint32_t round);
/// The round in which it makes `unit`.
std::uint32_t round_of_unit(const donation& d, std::uint32_t first, std::uint32_t unit);

} // namespace weft::firmware
