// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Machines of any number of dimensions in which all ranks of a line (they differ in one coordinate only) are joined to
// each other: which rings there are, as pure functions of the platform table, O(dimensions).
#pragma once

#include "firmware/collectives/rings.h"

namespace weft::firmware {

/// Every dimension is a ring, a full mesh or switched, and no chip has failed.
bool closes(const abi::platform_table& table);
/// Every dimension is a full mesh, and no chip has failed.
bool full_mesh(const abi::platform_table& table);
/// All ranks of the machine, no group of them, are linked to each other along one dimension.
bool one_full_line(const abi::platform_table& table);

/// A ring of kind `whole` or `axis` as the rank of the table sees it.
///   whole   all ranks, so that each step changes one coordinate: reflected mixed-radix order, the innermost coordinate
///           changing most often, bent at its end to close where the number of lines is odd
///   axis    the rank's line along one dimension, in natural order; without wrap, out over the even coordinates and
///           back over the odd
ring_view view_ring(const abi::platform_table& table, ring_id ring);
/// Position of `coordinate` on a ring of kind `axis` that is not reversed.
std::uint32_t axis_position(const abi::platform_table& table, ring_id ring, std::uint32_t coordinate);
/// How many ranks lie between neighbours along dimension `d`.
std::uint32_t rank_stride(const abi::platform_table& table, std::uint32_t d);
/// Rank at `position` (< ranks) of a ring of kind `whole`.
std::uint32_t ring_member(const abi::platform_table& table, ring_id ring, std::uint32_t position);
/// The nearest position on it, from `position` downwards and from 0 on around, whose member has a rank below `limit`, 1
/// .. ranks. Looks along the dimensions, not from rank to rank.
std::uint32_t ring_position_below(const abi::platform_table& table, ring_id ring, std::uint32_t position,
                                  std::uint32_t limit);
/// Position of the rank of the table on it.
std::uint32_t ring_position(const abi::platform_table& table, ring_id ring);

} // namespace weft::firmware
