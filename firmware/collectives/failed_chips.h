// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// row_pair and row_pair_forward on a mesh with failed chips (Kumar and Jouppi, section 2.2, Fig. 9 and 10).
//
// Pairs of rows without failed chips form full rings, as on a whole mesh. In the other pairs the remaining chips form
// tiles of 2x2, and each of the two directions of a tile's ring works on one half of the data:
//   tile         the four chips reduce among themselves, round after round; each then owns a quarter (donation.h)
//   donate       each adds its quarter to the buffer of the nearest chip of a whole pair in its column
//   give_back    from there, when the full ring's all-gather has brought the results
//   tile         the four chips exchange the quarters
// A chip of a whole pair sends an element around its ring only after what its donors owe it has arrived. All four
// streams run at the same time and unit by unit, so that only their first and last units lengthen the collective.
//
// The second phase runs in columns, over whole pairs only; hops over failed chips are routed around them.
// row_pair_forward lets columns with failed chips take no part in it. These passes are lists:
//   hand over    their chips send their shard to the nearest whole column in the same row, and wait for the result
//   take over    there, wait for these shards; the second phase then works on several shards. They overwrite, so a chip
//                says that it is ready for the second phase only then
//   hand back    there, send the results
//
// Nobody's data is overwritten too early, beyond what engine.h says: a donor adds only after its receiver has said that
// it has entered; a unit that comes back contains the contribution of everybody in the tile; a shard that is handed
// over contains the contribution of the chip whose buffer it is put into.
#pragma once

#include "firmware/collectives/rings.h"

namespace weft::firmware {

/// The ring of a tile of 2x2 chips, by lane.
constexpr ring_id tile_ring(std::uint32_t lane) { return {ring_kind::tile, false, lane != 0}; }

} // namespace weft::firmware
