// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Dispatch and combine of tokens for mixtures of experts: where tokens lie and who gets them.
//
//   line      `line` ranks that follow each other by number: those along the innermost dimension
//             (firmware/collectives/token_lines.h)
//   set       the ranks of one line that a token goes to
//   leader    the first rank of a set, counted from the place of the token's own rank in its line. The token crosses to
//             the line once, to its leader, which can pass it on, and sum what others made of it.
//   run       tokens of the same set, one behind the other
//
// A rank keeps its tokens in blocks, one for each line. A token lies in the block of each line that has ranks for it.
// In a block, tokens are sorted by leader. Of a leader, those that it shares with others come first, then those of it
// alone. Sets that are shared follow each other like a Gray code: that makes few pieces for each member.
//
// A rank keeps received tokens by source, in rank order; of a source as they lie there. So those that it leads come
// last.
//
// At command::scratch_offset, one behind the other (token_places): token_table; a head for each receiver of the own
// tokens, and for each source of those received; the runs of these lists; the own row, and those of the line.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::abi {

inline constexpr std::uint32_t k_token_table_magic = 0x54'4b'4e'54; ///< "TNKT"
/// Of dispatch and combine: each rank has a list for each other one.
inline constexpr std::uint32_t k_most_token_ranks = 1024;
inline constexpr std::uint32_t k_most_line = 64; ///< a set of its ranks is a word

struct token_table {
    std::uint32_t magic = k_token_table_magic;
    std::uint32_t ranks = 1;
    std::uint32_t line = 1;
    std::uint32_t most_runs = 0;      ///< room of a list
    std::uint64_t token_bytes = 0;    ///< a multiple of the element's
    std::uint64_t own_bytes = 0;      ///< of the own tokens, in blocks: dispatch reads them, combine writes sums there
    std::uint64_t received_bytes = 0; ///< of received tokens: dispatch writes them, combine reads and sums
    std::uint64_t check = 0;          ///< check_word of everything before it
};
static_assert(sizeof(token_table) == 48, "table layout is part of the ABI");

/// Tokens that lie one behind the other at their source and go to the same ranks of a line.
struct token_run {
    std::uint64_t members = 0; ///< bits: rank (place of the source in its line + bit) % line of the receivers' line
    std::uint32_t first = 0;   ///< token of the source's blocks
    std::uint32_t count = 0;
};
static_assert(sizeof(token_run) == 16, "list layout is part of the ABI");

/// Head of the list of the tokens from one rank to another. In lines of several ranks a slot elsewhere has the rest.
/// First `line` words: how many tokens the member of each bit has before those that this receiver passes on to it. Then
/// runs: those that others lead, then those that this receiver leads and shares.
struct token_list {
    std::uint32_t tokens = 0;   ///< from the source to the receiver
    std::uint32_t at = 0;       ///< first of their places at the receiver, in tokens; the receiver tells the source
    std::uint32_t first = 0;    ///< token of the source's blocks: those that the receiver leads
    std::uint32_t shared = 0;   ///< of these, with others in their set
    std::uint32_t sole = 0;     ///< and without
    std::uint32_t runs_of_others = 0; ///< runs that others lead
    std::uint32_t led_runs = 0;
    /// Messages that bring tokens which others lead: one for each piece of the source's blocks with one leader.
    std::uint32_t spans = 0;
    std::uint32_t forwards = 0; ///< messages by which the receiver passes on what it leads
    std::uint32_t unused = 0;

    std::uint32_t led() const { return shared + sole; }
};
static_assert(sizeof(token_list) == 40, "list layout is part of the ABI");

/// Byte offsets in HBM.
class token_places {
public:
    constexpr token_places(std::uint64_t at, std::uint32_t ranks, std::uint32_t line, std::uint32_t most_runs)
        : at_(at), ranks_(ranks), line_(line), slot_(line == 1 ? 0 : runs_offset(line) + std::uint64_t{most_runs} * sizeof(token_run))
    {
    }

    constexpr std::uint64_t table() const { return at_; }
    /// Heads of the own tokens for rank `to`, and of those received from rank `from`.
    constexpr std::uint64_t sent(std::uint32_t to) const { return at_ + sizeof(token_table) + to * sizeof(token_list); }
    constexpr std::uint64_t received(std::uint32_t from) const { return sent(ranks_) + from * sizeof(token_list); }
    /// What else is in their lists, in slots: words, and runs at an offset.
    constexpr std::uint64_t slot_bytes() const { return slot_; }
    static constexpr std::uint64_t runs_offset(std::uint32_t line) { return (line + 1) / 2 * 8; }
    constexpr std::uint64_t sent_runs(std::uint32_t to) const { return received(ranks_) + to * slot_; }
    constexpr std::uint64_t received_runs(std::uint32_t from) const { return sent_runs(ranks_) + from * slot_; }
    /// A word for each source: of the own row, and of that of a member of the line.
    constexpr std::uint64_t own_row() const { return received_runs(ranks_); }
    constexpr std::uint64_t row(std::uint32_t member) const { return own_row() + (1 + member) * row_bytes(); }
    constexpr std::uint64_t row_bytes() const { return (std::uint64_t{ranks_} + 1) / 2 * 8; }
    constexpr std::uint64_t end() const { return row(line_); }

private:
    std::uint64_t at_;
    std::uint32_t ranks_;
    std::uint32_t line_;
    std::uint64_t slot_;
};

} // namespace weft::abi
