// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What UB controllers, switches and firmware agree on in the network layer of UB-Mesh: structured addresses, the 8-byte
// source-route header, linear routing tables. Pure C++, freestanding.
//
// Source: UB-Mesh (arXiv 2503.20377) section 4.1.1 and Fig. 11 for the layout of the header (quoted), section 4.1.2 for
// addressing by segments and linear tables (quoted). The meaning of an instruction, the widths of the segments and the
// form of the tables are not published: ours, and marked `assumed`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::abi::ub {

// --- Addresses -------------------------------------------------------------------------------------------------------

/// What stands behind an address (assumed: 3 bits).
enum class node_kind : std::uint8_t { npu = 0, spare_npu = 1, cpu = 2, nic = 3 };

/// Segments of a 16-bit network address (CNA), from the top: kind 3, pod 3, rack 4 (2 + 2), board 3, unit 3 (assumed
/// widths; they hold 8 pods of 4 x 4 racks of 8 x 8 NPUs). `unit` is the NPU of a board, or counts CPUs and NICs of a
/// rack.
struct address {
    node_kind kind = node_kind::npu;
    std::uint8_t pod = 0;   ///< 0..7
    std::uint8_t rack = 0;  ///< 0..15: row * 4 + column
    std::uint8_t board = 0; ///< 0..7
    std::uint8_t unit = 0;  ///< 0..7

    constexpr bool operator==(const address& o) const
    {
        return kind == o.kind && pod == o.pod && rack == o.rack && board == o.board && unit == o.unit;
    }
};
inline constexpr unsigned k_unit_shift = 0, k_board_shift = 3, k_rack_shift = 6, k_pod_shift = 10, k_kind_shift = 13;

constexpr std::uint16_t encode(const address& a)
{
    return static_cast<std::uint16_t>(static_cast<unsigned>(a.kind) << k_kind_shift | (a.pod & 7u) << k_pod_shift |
                                      (a.rack & 15u) << k_rack_shift | (a.board & 7u) << k_board_shift | (a.unit & 7u));
}
constexpr address decode_address(std::uint16_t bits)
{
    address a;
    a.kind = static_cast<node_kind>(bits >> k_kind_shift & 7u);
    a.pod = static_cast<std::uint8_t>(bits >> k_pod_shift & 7u);
    a.rack = static_cast<std::uint8_t>(bits >> k_rack_shift & 15u);
    a.board = static_cast<std::uint8_t>(bits >> k_board_shift & 7u);
    a.unit = static_cast<std::uint8_t>(bits & 7u);
    return a;
}

// --- Source-route header ---------------------------------------------------------------------------------------------

inline constexpr unsigned k_most_hops = 12;        ///< bits of the bitmap
inline constexpr unsigned k_most_instructions = 6; ///< instruction fields
inline constexpr unsigned k_header_bytes = 8;

/// One instruction: output port of the router in bits 6..0, and in bit 7 whether the packet is on the second VL of its
/// class behind that port (assumed; 7 bits hold the 128 x4 ports of an HRS). It may come back to the first: the rule of
/// lanes orders the channels.
struct instruction {
    std::uint8_t port = 0; ///< 0..127
    bool second_vl = false;
};
constexpr std::uint8_t encode(instruction i)
{
    return static_cast<std::uint8_t>((i.port & 127u) | (i.second_vl ? 128u : 0u));
}
constexpr instruction decode_instruction(std::uint8_t b)
{
    return {static_cast<std::uint8_t>(b & 127u), (b & 128u) != 0};
}

/// Eight bytes, byte 0 in bits 7..0: ptr in bits 3..0, bitmap in bits 15..4 (bit i of it: hop i is source-routed),
/// instruction j in byte 2 + j. The instruction of hop i is the one whose number is the count of set bits below i.
/// `ptr` counts every hop, routed either way; from hop 12 on all hops are by table. A header of zero is a packet routed
/// by tables alone.
struct source_route {
    std::uint64_t bits = 0;

    constexpr unsigned ptr() const { return static_cast<unsigned>(bits & 15u); }
    constexpr unsigned bitmap() const { return static_cast<unsigned>(bits >> 4 & 0xfffu); }
    constexpr std::uint8_t instruction_byte(unsigned j) const
    {
        return static_cast<std::uint8_t>(bits >> (16 + 8 * j));
    }
    constexpr bool present() const { return bitmap() != 0; }
    /// Whether the present hop is source-routed.
    constexpr bool here() const { return ptr() < k_most_hops && (bitmap() >> ptr() & 1u) != 0; }
    /// Of the present hop; only where here(). Zero where a header has more bits set than instruction fields.
    constexpr std::uint8_t present_byte() const
    {
        // Set bits below the pointer, in pairs, fours and all: the built-in function is a call where the host may be
        // any, and every hop asks.
        unsigned index = bitmap() & ((1u << ptr()) - 1u);
        index = (index & 0x555u) + (index >> 1 & 0x555u);
        index = (index & 0x333u) + (index >> 2 & 0x333u);
        index = (index & 0xfu) + (index >> 4 & 0xfu) + (index >> 8);
        return index < k_most_instructions ? instruction_byte(index) : std::uint8_t{0};
    }
    /// The header as the next router sees it. The pointer stops at 15.
    constexpr source_route advanced() const { return ptr() < 15 ? source_route{bits + 1} : *this; }

    constexpr void set_ptr(unsigned p) { bits = (bits & ~std::uint64_t{15}) | (p & 15u); }
    constexpr void set_bitmap(unsigned b)
    {
        bits = (bits & ~(std::uint64_t{0xfff} << 4)) | std::uint64_t{b & 0xfffu} << 4;
    }
    constexpr void set_instruction_byte(unsigned j, std::uint8_t b)
    {
        bits = (bits & ~(std::uint64_t{0xff} << (16 + 8 * j))) | std::uint64_t{b} << (16 + 8 * j);
    }
};

/// As bytes on the wire, byte 0 first.
constexpr void to_bytes(source_route h, std::uint8_t (&out)[k_header_bytes])
{
    for (unsigned i = 0; i < k_header_bytes; ++i)
        out[i] = static_cast<std::uint8_t>(h.bits >> (8 * i));
}
constexpr source_route from_bytes(const std::uint8_t (&in)[k_header_bytes])
{
    source_route h;
    for (unsigned i = 0; i < k_header_bytes; ++i)
        h.bits |= std::uint64_t{in[i]} << (8 * i);
    return h;
}

// --- Linear tables ---------------------------------------------------------------------------------------------------

/// Where an entry leads: `ways` consecutive ports from `port` on are equally good, a hash of the flow chooses; 0 ways:
/// nowhere.
struct table_entry {
    std::uint8_t port = 0;
    std::uint8_t ways = 0;
};
static_assert(sizeof(table_entry) == 2, "counted in the bytes of a table");

/// A segment of the address that a router looks at.
/// `itself` stands for nothing: see table_step::condition.
enum class segment : std::uint8_t {
    kind,
    pod,
    rack,
    board,
    unit,
    pod_and_rack,
    kind_and_unit,
    rack_and_board,
    board_and_unit,
    itself
};
constexpr unsigned value_of(const address& a, segment s)
{
    switch (s) {
    case segment::kind: return static_cast<unsigned>(a.kind);
    case segment::pod: return a.pod;
    case segment::rack: return a.rack;
    case segment::board: return a.board;
    case segment::unit: return a.unit;
    case segment::pod_and_rack: return a.pod * 16u + a.rack;
    case segment::kind_and_unit: return static_cast<unsigned>(a.kind) * 8u + a.unit;
    case segment::rack_and_board: return a.rack * 8u + a.board;
    case segment::board_and_unit: return a.board * 8u + a.unit;
    case segment::itself: break;
    }
    return 0;
}

/// One step of a lookup: when the destination's segment differs from the router's own, or `always`, the entry at
/// first + value decides, unless it is empty (no ways) or beyond `count`; else the next step is looked at. `condition`
/// names another segment that must differ (a spine asks "another rack?" and then looks at the board).
struct table_step {
    segment what = segment::unit;
    bool always = false;
    std::uint16_t first = 0;             ///< into the entries
    std::uint16_t count = 0;             ///< entries
    segment condition = segment::itself; ///< itself: the same as `what`
};
inline constexpr unsigned k_most_steps = 6;

/// The table of one router, read only. Routers of one kind differ in `own` and entries.
struct table_view {
    const table_step* steps = nullptr;
    unsigned step_count = 0;
    const table_entry* entries = nullptr;
    address own; ///< place of the router itself
};

/// {0, 0} where no step decides: the destination is this router itself, or unknown.
constexpr table_entry look_up(const table_view& t, const address& destination)
{
    for (unsigned i = 0; i < t.step_count; ++i) {
        const table_step& s = t.steps[i];
        const unsigned value = value_of(destination, s.what);
        const segment asked = s.condition == segment::itself ? s.what : s.condition;
        if (!s.always && value_of(destination, asked) == value_of(t.own, asked))
            continue;
        if (value < s.count && t.entries[s.first + value].ways != 0)
            return t.entries[s.first + value];
    }
    return {};
}

} // namespace weft::abi::ub
