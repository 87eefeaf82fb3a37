// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What dispatch and combine share: lists of tokens (hw/abi/tokens.h), pieces of blocks, and messages of whole tokens.
#pragma once

#include "firmware/collectives/exchange.h"
#include "firmware/collectives/peer_order.h"
#include "hw/abi/tokens.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_sem_token_lists = k_sem_data;      ///< heads of lists, from all
inline constexpr std::uint32_t k_sem_token_at = k_sem_data + 1;     ///< where the own tokens lie at their receivers
inline constexpr std::uint32_t k_sem_token_rows = k_sem_data + 2;   ///< rows of the others of the line
inline constexpr std::uint32_t k_sem_token_shared = k_sem_data + 3; ///< tokens that wait for others here, or are summed
inline constexpr std::uint32_t k_sem_tokens = k_sem_data + 4;       ///< tokens that have arrived for good
inline constexpr std::uint32_t k_sem_token_runs = k_sem_data + 5;   ///< runs of lists
static_assert(k_sem_token_runs < k_sem_ready, "semaphore ranges overlap");

/// The lowest bit of a set that is not empty. RV64GC has no instruction for it.
constexpr std::uint32_t lowest_bit(std::uint64_t set)
{
    std::uint32_t bit = 0;
    for (std::uint32_t half = 32; half != 0; half /= 2)
        if ((set & ((std::uint64_t{1} << half) - 1)) == 0) {
            set >>= half;
            bit += half;
        }
    return bit;
}

/// Tokens that go to one member, one behind the other in their source's blocks and led by the same rank.
struct token_span {
    std::uint32_t first;  ///< token of the source's blocks
    std::uint32_t count;  ///< 0: none
    std::uint32_t at;     ///< place of the first one at the member, in tokens
    std::uint32_t leader; ///< its bit, see token_run::members
};

class token_exchange {
public:
    token_exchange(exchange& e, const abi::token_table& t);

    /// Of tokens that lie one behind the other, a message has so many, one at least. Assumed. A dispatch of 24 MiB on a
    /// rack of 8x8 NPUs takes 729 us by direct with it, and 844 us in whole blocks.
    static constexpr std::uint64_t k_message_bytes = 256 << 10;
    /// Words of a row that are read and written together; assumed.
    static constexpr std::uint32_t k_row_words = 16;

    abi::status meet() { return x.meet_everybody(); }
    /// Heads that are read together: those of a rack; assumed.
    static constexpr std::uint32_t k_heads = 64;
    /// Of the own tokens for a rank, and of those received from it. A machine of k_heads ranks at most reads them once,
    /// unless somebody has written them since.
    const abi::token_list& sent(std::uint32_t to) { return head(places.sent(0), to); }
    const abi::token_list& received(std::uint32_t from) { return head(places.received(0), from); }
    void forget_heads() { heads_from_ = 0; }
    /// Calls see(source, head) for all received lists in their order, and writes back what it changes.
    template <class See> void each_received(See&& see)
    {
        forget_heads();
        for (std::uint32_t first = 0; first < ranks; first += k_heads) {
            const std::uint32_t count = ranks - first < k_heads ? ranks - first : k_heads;
            const std::uint64_t at = x.context.table.hbm_base + places.received(first);
            x.hal.copy_in(heads_, at, count * static_cast<std::uint32_t>(sizeof heads_[0]));
            for (std::uint32_t i = 0; i < count; ++i) {
                x.hal.compute(costs::k_token_list);
                see(first + i, heads_[i]);
            }
            x.hal.copy_out(at, heads_, count * static_cast<std::uint32_t>(sizeof heads_[0]));
        }
    }
    /// A word for each source into the own row; in the order of sources.
    void note_in_row(std::uint32_t source, std::uint32_t word);
    /// Sends the own row to the others of the line.
    abi::status send_row();

    /// Bit of `receiver` in the sets of `source`, and the member of this rank's line with a bit.
    std::uint32_t bit_of(std::uint32_t source, std::uint32_t receiver) const
    {
        const std::uint32_t from = source % line, to = receiver % line;
        return to >= from ? to - from : to + line - from;
    }
    std::uint32_t member(std::uint32_t source, std::uint32_t bit) const
    {
        const std::uint32_t place = source % line + bit;
        return rank - rank % line + (place < line ? place : place - line);
    }

    /// Calls send(span) for what others lead of the tokens in a list, whose slot is at `runs`; the first one lies at
    /// `at`.
    template <class Send> abi::status each_span(std::uint64_t runs, const abi::token_list& h, std::uint32_t at, Send&& send)
    {
        token_span open{0, 0, 0, 0};
        x.hal.compute(costs::k_token_span);
        for (std::uint32_t r = 0; r < h.runs_of_others; ++r) {
            const abi::token_run run = run_of(runs, h, r);
            const auto leader = lowest_bit(run.members);
            if (open.count != 0 && open.leader == leader && open.first + open.count == run.first) {
                open.count += run.count;
            } else {
                if (abi::status s = open.count != 0 ? send(open) : abi::status{}; !s.ok())
                    return s;
                open = {run.first, run.count, at, leader};
            }
            at += run.count;
        }
        return open.count != 0 ? send(open) : abi::status{};
    }
    /// Calls send(bit of the member, span) for what this rank passes on of the tokens of `source`.
    template <class Send> abi::status each_forward(std::uint32_t source, const abi::token_list& h, Send&& send)
    {
        const std::uint64_t runs = places.received_runs(source);
        const std::uint32_t own = bit_of(source, rank);
        x.hal.compute(costs::k_token_forward);
        token_span open[abi::k_most_line];
        std::uint32_t before[abi::k_most_line];
        x.hal.copy_in(before, x.context.table.hbm_base + runs, line * sizeof(std::uint32_t));
        for (std::uint32_t bit = own + 1; bit < line; ++bit)
            open[bit].count = 0;
        abi::status s;
        for (std::uint32_t r = 0; r < h.led_runs && s.ok(); ++r) {
            const abi::token_run run = run_of(runs, h, h.runs_of_others + r);
            std::uint64_t left = run.members & (run.members - 1); // without its own bit, the lowest
            for (; left != 0 && s.ok(); left &= left - 1) {
                const auto bit = lowest_bit(left);
                token_span& o = open[bit];
                x.hal.compute(costs::k_token_member);
                if (o.count != 0 && o.first + o.count == run.first) {
                    o.count += run.count;
                } else {
                    s = o.count != 0 ? send(bit, o) : abi::status{};
                    o = {run.first, run.count, before[bit], own};
                }
                before[bit] += run.count;
            }
        }
        for (std::uint32_t bit = own + 1; bit < line && s.ok(); ++bit)
            s = open[bit].count != 0 ? send(bit, open[bit]) : abi::status{};
        return s;
    }
    /// Calls see(source, words): what each rank of the line, by its place there, has in its row for the source; from
    /// this rank's sources on.
    template <class See> abi::status each_with_rows(See&& see)
    {
        std::uint32_t rows[k_row_words * abi::k_most_line];
        const std::uint32_t parts = (ranks + k_row_words - 1) / k_row_words, own = rank / k_row_words;
        for (std::uint32_t n = 0; n < parts; ++n) {
            const std::uint32_t part = own + n < parts ? own + n : own + n - parts;
            const std::uint32_t first = part * k_row_words;
            const std::uint32_t words = ranks - first < k_row_words ? ranks - first : k_row_words;
            for (std::uint32_t m = 0; m < line; ++m) {
                x.hal.compute(costs::k_token_row);
                x.hal.copy_in(rows + m * k_row_words, x.context.table.hbm_base + places.row(m) + first * sizeof(std::uint32_t),
                              words * sizeof(std::uint32_t));
            }
            for (std::uint32_t i = 0; i < words; ++i)
                if (abi::status s = see(first + i, rows + i); !s.ok())
                    return s;
        }
        return {};
    }

    /// `tokens` from `from` bytes of this rank's HBM into `into` bytes of that of `to`.
    abi::status send(std::uint32_t to, std::uint32_t queue, std::uint64_t from, std::uint64_t into, std::uint32_t tokens, std::uint32_t semaphore,
                     abi::reduce_op redop = abi::reduce_op::none);
    /// The same of bytes that are no tokens.
    abi::status send_bytes(std::uint32_t to, std::uint32_t queue, std::uint64_t from, std::uint64_t into, std::uint64_t bytes, std::uint32_t semaphore,
                           abi::reduce_op redop = abi::reduce_op::none);
    /// Place of a token in the buffer and in the output.
    std::uint64_t in_buffer(std::uint32_t token) const { return x.command.buffer_offset + token * table.token_bytes; }
    std::uint64_t in_output(std::uint32_t token) const { return x.command.output_offset + token * table.token_bytes; }
    /// Messages for so many tokens one behind the other.
    std::uint32_t messages_for(std::uint32_t tokens) const { return (tokens + grain - 1) / grain; }
    /// Calls which(to) for a block of tokens for each rank, and sends a message of each, then the next of each. So
    /// links are loaded alike, however long the blocks are.
    struct block {
        std::uint64_t from = 0, into = 0; ///< bytes in HBM
        std::uint32_t tokens = 0;
    };
    template <class Which> abi::status send_blocks(std::uint32_t semaphore, bool on_last_queues, Which&& which)
    {
        bool more = true;
        for (std::uint32_t done = 0; more; done += grain) {
            more = false;
            for (std::uint32_t k = 0; k < ranks; ++k) {
                const peer to = order.at(k);
                x.hal.compute(costs::k_token_peer + order.cost_of_axes());
                const block b = which(to.rank);
                if (b.tokens <= done)
                    continue;
                const std::uint32_t left = b.tokens - done;
                more = more || left > grain;
                const std::uint32_t queue = on_last_queues ? last_queues(to.queue) : first_queues(to.queue);
                if (abi::status s = send(to.rank, queue, b.from + done * table.token_bytes, b.into + done * table.token_bytes, left < grain ? left : grain, semaphore); !s.ok())
                    return s;
            }
        }
        return {};
    }
    /// A descriptor for each local port reaches all ranks; members of a list may be anywhere.
    bool reaches_all_by_ports() const
    {
        const abi::platform_table& t = x.context.table;
        return ranks > 1 && x.meets_by_lines() && t.members == 0 && t.dma_ports <= queues;
    }
    /// Sends `bytes` from `stride` x k behind `from` to each rank k, always to `into`.
    abi::status send_to_all(std::uint64_t from, std::uint64_t stride, std::uint64_t bytes, std::uint64_t into, std::uint32_t semaphore);
    void expect(std::uint32_t semaphore, std::uint32_t messages) { x.context.expected[semaphore] += messages; }
    abi::status wait(std::uint32_t semaphore)
    {
        x.peer = ranks; // whoever is late is not known by one counter
        ++x.step;
        return x.wait_expected(semaphore);
    }
    /// Queues apart for tokens that go on, which would wait behind others.
    std::uint32_t first_queues(std::uint32_t k) const { return line == 1 || queues < 2 ? k % queues : k % (queues / 2); }
    std::uint32_t last_queues(std::uint32_t k) const { return queues < 2 ? 0 : queues / 2 + k % (queues - queues / 2); }

    exchange& x;
    abi::token_table table;
    abi::token_places places;
    peer_order order;
    std::uint32_t rank, ranks, line;
    bool passes_on; ///< tokens that a line shares go by their leaders
    std::uint32_t queues;
    std::uint8_t shortest; ///< paths alone: on one line an exchange loads all links alike
    std::uint32_t grain; ///< tokens of a message, where many lie one behind the other

private:
    const abi::token_list& head(std::uint64_t from, std::uint32_t number);
    abi::token_run run_of(std::uint64_t runs, const abi::token_list& h, std::uint32_t number);
    abi::status send_by_ports(abi::dma_descriptor d, std::uint64_t stride);

    static constexpr std::uint32_t k_cached_runs = 8;
    abi::token_run cached_[k_cached_runs]; ///< of a list, from address `cached_at_` on
    std::uint64_t cached_at_ = 0;          ///< 0: of none
    abi::token_list heads_[k_heads];
    std::uint64_t heads_from_ = 0; ///< offset of the first one; 0: none
    std::uint32_t row_words_[k_row_words]; ///< not yet written to the own row
};

} // namespace weft::firmware
