// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The chip's address map and the table in which firmware finds out where it runs: its device tree. The builder writes
// the table into core-local memory at k_platform_table_address before time zero; firmware checks magic, version and
// check word.
#pragma once

#include "hw/abi/types.h"

namespace weft::abi {

// Address map of a chip, the same for every platform.
inline constexpr std::uint64_t k_local_memory_base = 0x0000'0000; ///< core-local memory
inline constexpr std::uint64_t k_local_memory_bytes = 0x0001'0000;
inline constexpr std::uint64_t k_platform_table_address = 0x0000'1000;
inline constexpr std::uint64_t k_command_address = 0x0000'1200;  ///< the host writes struct command here
inline constexpr std::uint64_t k_response_address = 0x0000'1300; ///< firmware writes struct response here
/// The host writes the table of this rank's process group here, then its list of members; command::table says so.
inline constexpr std::uint64_t k_group_table_address = 0x0000'2000;
inline constexpr std::uint64_t k_group_members_address = 0x0000'2200;
/// Members of the largest group that has a list.
inline constexpr std::uint32_t k_most_members = (k_local_memory_bytes - k_group_members_address) / sizeof(std::uint32_t);
/// Program memory of an RV64 core: image, data and stack. Not part of local memory: 64 KiB would hold the shipped
/// firmware (17 KiB, 30 KiB without optimisation) but leave little for a user's, a stack could run into what the host
/// writes there, and below this region nothing is mapped: a stack at its lower end that overflows leaves it and is
/// noticed.
inline constexpr std::uint64_t k_program_memory_base = 0x0010'0000;
inline constexpr std::uint64_t k_program_memory_bytes = 0x0005'0000;
inline constexpr std::uint64_t k_core_base = 0x0200'0000; ///< control block of an RV64 core, core_regs.def
inline constexpr std::uint64_t k_core_bytes = 0x0000'1000;
inline constexpr std::uint64_t k_mailbox_base = 0x1000'0000;
inline constexpr std::uint64_t k_dma_base = 0x1001'0000;
inline constexpr std::uint64_t k_sync_base = 0x1003'0000; ///< 0x1002'0000 is the NIC's (nic.h)
inline constexpr std::uint64_t k_hbm_base = 0x80'0000'0000; ///< 512 GiB up: the chip's own HBM

inline constexpr std::uint32_t k_platform_table_magic = 0x54'46'45'57; ///< "WEFT"
inline constexpr std::uint32_t k_platform_table_version = 13;
inline constexpr std::uint16_t k_all_near = 0xffff; ///< more than any machine has
inline constexpr unsigned k_max_dims = 6;
inline constexpr unsigned k_max_failed_regions = 8;

/// What joins the ranks that differ in one coordinate only. A ladder is two dimensions: a line of two, and a line or
/// ring of rungs.
enum class dimension_kind : std::uint32_t {
    line = 0,    ///< of links
    ring = 1,    ///< a line that closes
    full = 2,    ///< every one is joined to every other
    switched = 3 ///< all are at one switch, or at a tree of them
};

/// Orders in which replicas stand on a ring (Graphcore Communication Library). none: no machine of replicas.
enum class ring_order : std::uint8_t {
    none = 0,
    interleaved = 1, ///< 0 2 4 .. 5 3 1, the ring on a line: no cable closes it
    flat = 2,        ///< 0 1 2 3 .., the direct ring
    /// I XOR ((i >> 1) & 1), and the mirror image of it: two cycles of a ladder that share no link along it.
    serpent = 3
};
/// Which exchanges of replicas begin with a sync of all of them.
enum class exchange_mode : std::uint8_t {
    syncful = 0,  ///< all
    hybrid = 1,   ///< those over links between chips; not those over gateways
    syncless = 2  ///< none: who sends waits until the receiver has said that it is ready
};

/// A rectangle of chips of a 2-D mesh that do not exist; its upper left corner is (row, col).
struct failed_region {
    std::uint16_t row = 0;
    std::uint16_t col = 0;
    std::uint16_t rows = 0;
    std::uint16_t cols = 0;
};

inline constexpr unsigned k_most_gaps = 24;

/// A full mesh of rows and columns in which some places have no rank: NPUs have failed there, or take no part. Ranks
/// are numbered row by row and count the others. rows = 0: the ranks stand on no such mesh.
struct gapped_mesh {
    std::uint16_t rows = 0;
    std::uint16_t cols = 0;
    std::uint16_t gaps = 0;              ///< entries of `gap`
    std::uint16_t gap[k_most_gaps] = {}; ///< row * cols + col, rising
    std::uint16_t reserved = 0;
    std::uint32_t row_mbps = 0; ///< payload that a rank can send along its row, by all its links there were no gap
    std::uint32_t col_mbps = 0; ///< and along its column
};

/// For platform_table::rate_mbps: `part` / `whole` of a rate, rounded up, so that nothing is faster than a bound made
/// from it.
constexpr std::uint32_t mbps_of(std::uint64_t bits_per_second, std::uint64_t part = 1, std::uint64_t whole = 1)
{
    if (whole == 0)
        return 0; // of a configuration that is refused
    const std::uint64_t rest = bits_per_second % whole * part;
    const std::uint64_t share = bits_per_second / whole * part + (rest + whole - 1) / whole;
    return static_cast<std::uint32_t>((share + 999'999) / 1'000'000);
}

/// Ranks are numbered row-major over `dims`: rank = ((c0 * dims[1]) + c1) * dims[2] + ... ; on a 2-D mesh dims = {rows,
/// cols}. Where regions have failed (2-D meshes only) the numbering counts the remaining chips: there is no gap in it.
/// Rings are lines wherever routing makes detours: they use no wrap links.
///
/// A process group has a table of its own: `rank`, `ranks` and dimensions are those of the group. Where its members are
/// no box of the machine, they are one switched dimension, because routing joins any two.
struct platform_table {
    std::uint32_t magic = k_platform_table_magic;
    std::uint32_t version = k_platform_table_version;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::uint32_t dim_count = 0;
    std::uint32_t dims[k_max_dims] = {};
    std::uint32_t coord[k_max_dims] = {};
    dimension_kind kind[k_max_dims] = {};
    /// Payload that a rank can send along a dimension, by all its links there; all 0: not known.
    std::uint32_t rate_mbps[k_max_dims] = {};
    std::uint32_t dma_queues = 0;
    std::uint32_t dma_ports = 0;        ///< local ports between the DMA and the fabric; queue q uses port q % dma_ports
    std::uint32_t dma_ring_entries = 0; ///< descriptors per ring, a power of two
    std::uint32_t failed_regions = 0;   ///< entries of `failed`; disjoint
    /// Cores of a machine that make and take the packets of parameter servers; 0: the DMA engine alone moves and sums
    /// them.
    std::uint16_t packet_cores = 0;
    /// Ranks of one device, the innermost dimension, whose memories each of their DMA engines reads (descriptor.h:
    /// elements); 0 or 1: only its own.
    std::uint8_t device_ranks = 0;
    /// How many of them take part in the process group: its innermost dimension, where several do. Without a group,
    /// all.
    std::uint8_t device_members = 0;
    /// Ranks, the last ones, that only serve for parameter_server; 0: every rank serves beside its work.
    std::uint32_t servers = 0;
    /// Of the DMA's semaphores, the bank that collectives of this table use. Those of the whole machine use bank 0.
    std::uint16_t semaphore_bank = 0;
    /// Direct exchanges go by shortest paths inside a block of so many ranks in a row. To other ranks they take all
    /// paths that the fabric has, because links that no process group needs stand idle there. k_all_near: by shortest
    /// paths everywhere.
    std::uint16_t near_ranks = k_all_near;
    failed_region failed[k_max_failed_regions] = {};
    std::uint64_t dma_base = k_dma_base;
    std::uint64_t mailbox_base = k_mailbox_base;
    std::uint64_t hbm_base = k_hbm_base;
    std::uint64_t hbm_bytes = 0;
    std::uint64_t dma_ring_area = 0; ///< bus address in HBM; ring of queue q at + q * entries * 64
    /// Of a process group: bus address of a list of 32-bit numbers, the machine's rank of each rank of the group; 0:
    /// the same numbers.
    std::uint64_t members = 0;
    // Of a machine of replicas, each of `replica_ranks` ranks in a row; the collectives of one rank of each are process
    // groups of their own.
    ring_order order = ring_order::none;
    exchange_mode exchanges = exchange_mode::syncful;
    /// Side by side between neighbours: a message of a ring is cut into so many, on queues one behind the other.
    std::uint8_t parallel_links = 1;
    std::uint8_t gateway_dims = 0;    ///< outermost dimensions that lead through gateways: 0 or 1
    std::uint16_t replica_ranks = 1;
    /// Exchanges of a step; each is that of two ranks of every replica, which follow each other.
    std::uint16_t split_exchanges = 1;
    std::uint32_t domain_ranks = 0; ///< of the machine, that no gateway parts; 0: nothing is parted
    std::uint32_t rung_links = 1;   ///< side by side between ranks 2k and 2k + 1 of the machine
    std::uint64_t sync_base = 0;       ///< of the sync unit; 0: there is none
    /// Collective communication units (ccu.h), one a die, of a chip; 0: there are none.
    std::uint32_t ccus = 0;
    std::uint32_t ccu_channels = 0;    ///< of each
    gapped_mesh on_mesh;               ///< of ranks in one dimension
    std::uint64_t check = 0;           ///< check_word of everything before it
};

static_assert(sizeof(platform_table) == 360, "table layout is part of the ABI");

/// FNV-1a over 32-bit words; the check word of tables and descriptors.
inline constexpr std::uint64_t k_check_start = 0xcbf29ce484222325ull;
constexpr std::uint64_t check_step(std::uint64_t h, std::uint32_t word) { return (h ^ word) * 0x100000001b3ull; }
constexpr std::uint64_t check_word(const std::uint32_t* words, std::size_t count)
{
    std::uint64_t h = k_check_start;
    for (std::size_t i = 0; i < count; ++i)
        h = check_step(h, words[i]);
    return h;
}
/// Of a struct of whole words, as far as its own word `check`; without a copy of it, which firmware has no room for.
template <class Entry> std::uint64_t check_of(const Entry& entry)
{
    constexpr std::size_t k_words = offsetof(Entry, check) / sizeof(std::uint32_t);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&entry);
    std::uint64_t h = k_check_start;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < k_words; ++i) {
        std::uint32_t word = 0;
        __builtin_memcpy(&word, __builtin_assume_aligned(bytes + sizeof word * i, sizeof word), sizeof word);
        h = check_step(h, word);
    }
    return h;
}

/// What the host asks of every rank. Offsets are into HBM and the same on every rank (symmetric buffers).
/// all_reduce, reduce_scatter, all_gather, broadcast, reduce work in place on `buffer_offset`:
///   all_reduce      `count` elements in, the reduction of all ranks' out
///   reduce_scatter  `count` elements in; shard_of(count, ranks, rank) of the buffer holds the result, the rest is
///                   scratch
///   all_gather      shard_of(count, ranks, rank) in; all `count` elements out
///   broadcast       the root's `count` elements
///   reduce          `count` elements in; the root has the reduction of all ranks', elsewhere the buffer is scratch
/// all_to_all reads `count` elements at `buffer_offset`: shard j goes to rank j, which stores the blocks of all sources
/// in rank order, each of shard_of(count, ranks, j).count elements, at `output_offset`.
/// dispatch and combine move tokens to experts on other ranks and back, from `buffer_offset` to `output_offset`; what
/// lies where is said at `scratch_offset` (tokens.h). `count` elements are the tokens of a rank, each once:
///   dispatch        every token, on each rank that it goes to
///   combine         for each token and each line that it went to, the reduction of what the ranks there made of it
struct command {
    std::uint32_t sequence = 0; ///< 1, 2, 3, ...
    collective_op op = collective_op::all_reduce;
    algorithm algo = algorithm::ring_1d;
    element_type type = element_type::int32;
    reduce_op redop = reduce_op::sum;
    std::uint64_t count = 0; ///< elements, see above
    std::uint64_t buffer_offset = 0;
    std::uint64_t output_offset = 0;
    std::uint64_t chunk_bytes = 0; ///< pipelining grain, > 0
    std::uint64_t timeout_ns = 0;  ///< bound of every single wait
    std::uint32_t root = 0;
    std::uint8_t transposed = 0; ///< 1: swap the roles of rows and columns (ring order, row pairs)
    /// 1: write the microcode of CCUs and set their channels, move nothing. Of algorithms of CCUs alone.
    std::uint8_t only_prepares = 0;
    /// 1: somebody asked for `chunk_bytes`. 0: it is a default, and an algorithm that knows a better grain takes that.
    std::uint8_t chunk_is_asked = 0;
    /// By which method an all_reduce of replicas gathers, 1 + its algorithm. 0: by that of its reduce-scatter.
    std::uint8_t gathers_by = 0;
    /// Local address of the table of the process group that runs this among itself: its ranks, shards and root count
    /// inside the group. 0: the platform table, all ranks.
    std::uint64_t table = 0;
    /// Room for what waits on its way, of algorithms that need it. all_to_all: scratch_outputs() times as many bytes as
    /// at `output_offset` on the rank with most of them; the others: scratch_elements().
    std::uint64_t scratch_offset = 0;
};

inline constexpr std::uint32_t k_no_rank = 0xffff'ffff;

/// What a rank answers.
struct response {
    std::uint32_t sequence = 0;
    status_code code = status_code::ok;
    std::uint32_t steps = 0;       ///< ring steps performed, the longest over concurrent channels
    std::uint32_t messages = 0;    ///< descriptors posted
    std::uint32_t failed_step = 0; ///< where it stopped when code != ok
    std::uint32_t failed_peer = 0; ///< rank of the machine that was waited for; when none, no rank that exists
    std::uint64_t detail = 0;
    char where[48] = {}; ///< register or table, zero-terminated
};

} // namespace weft::abi
