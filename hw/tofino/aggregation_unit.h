// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One pass of a packet through one pipe of the SwitchML aggregation program, and who computes it: the C++ model
// (aggregation_model), its RTL twin (rtl/shell), or both in lockstep. Plain C++.
//
// The arithmetic is that of the published P4 program (p4app-switchML, quoted): per slot and version a worker bitmap, a
// count of the workers still missing, a signed maximum of two exponents and 64 sums of 32 bits that wrap. A CONSUME
// pass takes 64 words in and gives the second half of them out, a HARVEST pass gives 32 words out. Every pass is one
// atomic read-modify-write per register: passes take effect in the order of submit().
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace weft {

inline constexpr std::uint32_t k_aggregation_alus = 32;
inline constexpr std::uint32_t k_words_per_pass = 2 * k_aggregation_alus; ///< of a CONSUME pass: d0 and d1
inline constexpr std::uint32_t k_max_aggregation_workers = 32;            ///< bits of the bitmap
inline constexpr std::uint32_t k_default_register_depth = 16384;          ///< slot ++ version (P4, quoted)

/// Numbers of the packet types in the P4 program (quoted). HARVEST0 exists in its tables and is never entered.
enum class pass_type : std::uint8_t {
    consume0 = 4,
    consume1 = 5,
    consume2 = 6,
    consume3 = 7,
    harvest0 = 8,
    harvest1 = 9,
    harvest2 = 10,
    harvest3 = 11,
    harvest4 = 12,
    harvest5 = 13,
    harvest6 = 14,
    harvest7 = 15
};
constexpr bool is_consume(pass_type t) { return t <= pass_type::consume3; }

/// Size code of the packet header: 64 or 256 words; 0 and 2 (32 and 128 words) are dropped by the next-step table.
enum class packet_size : std::uint8_t { words32 = 0, words64 = 1, words128 = 2, words256 = 3 };

/// What the next-step table decides.
enum class next_step : std::uint8_t {
    drop = 0,
    finish_consume = 1, ///< taken in; nothing goes on
    recirculate = 2,    ///< as `next_type`
    broadcast = 3,      ///< to all workers of the job
    retransmit = 4      ///< to the sender alone
};

struct aggregation_pass {
    pass_type type = pass_type::consume0;
    packet_size size = packet_size::words256;
    std::uint16_t pool_index = 0; ///< slot << 1 | version; below the register depth
    std::uint8_t worker = 0;      ///< 0 to 31: bit of the bitmap
    std::uint8_t workers = 1;     ///< n of the job, 1 to 32
    bool last_of_message = true;  ///< exponents count only then (a UDP packet always is; RDMA: last or only)
    std::int8_t exponent0 = 0;
    std::int8_t exponent1 = 0;
    /// HARVEST only: what the last CONSUME pass found. CONSUME passes find it themselves and ignore these.
    std::uint32_t map_result = 0;
    std::uint8_t count = 0;
    std::array<std::uint32_t, k_aggregation_alus> d0{}; ///< words 0..31 of this pass, host order; CONSUME only
    std::array<std::uint32_t, k_aggregation_alus> d1{}; ///< words 32..63
};

struct aggregation_result {
    std::uint32_t bitmap_before = 0; ///< CONSUME: before this packet; else 0
    std::uint32_t map_result =
        0;                  ///< non-zero: this worker's packet has been here (a retransmission); HARVEST: as given
    std::uint8_t count = 0; ///< 1: this completes the slot; 0: the slot was empty or is complete; HARVEST: as given
    next_step step = next_step::drop;
    pass_type next_type = pass_type::consume0; ///< with next_step::recirculate
    bool writes_d0 = false;                    ///< `words` go into d0 (HARVEST1, 3, 5, 7), else into d1
    bool reads_exponent0 = false;              ///< `exponent` is the maximum of the first exponents (CONSUME0)
    bool reads_exponent1 = false;              ///< ... of the second (HARVEST7)
    std::int8_t exponent = 0;
    std::array<std::uint32_t, k_aggregation_alus> words{};

    friend bool operator==(const aggregation_result& a, const aggregation_result& b);
    friend bool operator!=(const aggregation_result& a, const aggregation_result& b) { return !(a == b); }
};

/// One line a field, for messages: what went in, what came out.
std::string to_string(const aggregation_pass& pass);
std::string to_string(const aggregation_result& result);
/// "word 27: 0000000f and 0000000e, and 3 more words", of a model and of its twin; "" where they are equal.
std::string difference_of(const aggregation_result& model, const aggregation_result& twin);

/// The registers of one pipe.
class aggregation_unit {
public:
    virtual ~aggregation_unit() = default;
    /// Hands over a pass at simulated time `now_ps`, which never decreases. It takes effect after all passes submitted
    /// before. Returns the ticket of its result. Throws `bug` for a pool index outside the registers.
    virtual std::uint64_t submit(const aggregation_pass& pass, std::uint64_t now_ps) = 0;
    /// The result of that pass; each ticket once, in the order of submit(). `now_ps` as above.
    virtual aggregation_result take(std::uint64_t ticket, std::uint64_t now_ps) = 0;
    /// All registers to zero, as the controller does when a job starts.
    virtual void clear() = 0;
    /// Bitmap of both versions of a slot, count, exponents and the first words, for messages and tests.
    virtual std::string describe_slot(std::uint16_t slot) const = 0;
    virtual std::uint32_t register_depth() const = 0;
    /// What the user should know of a run that has ended: a sentence; "" for nothing.
    virtual std::string warning() const { return {}; }
};

} // namespace weft
