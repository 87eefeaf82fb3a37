// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// dispatch: tokens to the ranks of their experts.
//
// Who gets how many tokens is known to their sources alone, so lists go first (hw/abi/tokens.h). A receiver adds up
// where the tokens of each source shall lie, and tells the sources.
//
// direct sends each token to each of its receivers. hierarchical sends it to its leader in each line, which passes it
// on (UB-Mesh section 5.1, Fig. 14 b). Shared tokens come first, on queues of their own. Leaders pass them on while
// those of one rank alone are under way.
#include "firmware/collectives/token_collectives.h"
#include "firmware/collectives/token_exchange.h"

namespace weft::firmware {

namespace {

class dispatch {
public:
    dispatch(exchange& e, const abi::token_table& table) : t(e, table) {}

    abi::status run()
    {
        abi::status s = t.meet();
        if (s.ok())
            s = send_lists();
        if (s.ok())
            s = t.wait(k_sem_token_lists);
        if (s.ok())
            s = tell_places();
        if (s.ok())
            s = t.wait(k_sem_token_at);
        t.forget_heads();
        if (s.ok())
            s = t.passes_on ? send_by_leaders() : send_to_each();
        return s.ok() ? t.wait(k_sem_tokens) : s;
    }

private:
    /// Heads, and what else is in lists: whole slots where that takes few messages, else the runs that there are.
    abi::status send_lists()
    {
        abi::status s = t.send_to_all(t.places.sent(0), sizeof(abi::token_list), sizeof(abi::token_list), t.places.received(t.rank), k_sem_token_lists);
        if (!s.ok() || t.line == 1)
            return s;
        if (sends_slots())
            return t.send_to_all(t.places.sent_runs(0), t.places.slot_bytes(), t.places.slot_bytes(), t.places.received_runs(t.rank), k_sem_token_runs);
        for (std::uint32_t k = 0; k < t.ranks && s.ok(); ++k) {
            const peer to = t.order.at(k);
            const abi::token_list& h = t.sent(to.rank);
            if (runs_of(h) > t.table.most_runs) // they would run over into the next slot
                return {abi::status_code::corrupted, "tokens.runs", to.rank};
            const std::uint64_t bytes = abi::token_places::runs_offset(t.line) + runs_of(h) * sizeof(abi::token_run);
            if (runs_of(h) != 0)
                s = t.send_bytes(to.rank, to.queue, t.places.sent_runs(to.rank), t.places.received_runs(t.rank), bytes, k_sem_token_runs);
        }
        return s;
    }
    static std::uint64_t runs_of(const abi::token_list& h) { return std::uint64_t{h.runs_of_others} + h.led_runs; }
    bool sends_slots() const { return t.reaches_all_by_ports() && t.places.slot_bytes() <= k_short_slot; }

    /// Where the tokens of each source shall lie.
    abi::status tell_places()
    {
        std::uint32_t at = 0;
        const bool counts_runs = t.line != 1 && !sends_slots();
        t.each_received([&](std::uint32_t source, abi::token_list& h) {
            h.at = at;
            if (t.passes_on) {
                t.note_in_row(source, at);
                t.expect(k_sem_token_shared, t.messages_for(h.shared));
                t.expect(k_sem_tokens, h.spans + t.messages_for(h.sole));
            } else {
                t.expect(k_sem_tokens, h.spans + t.messages_for(h.led()));
            }
            if (counts_runs && runs_of(h) != 0)
                t.expect(k_sem_token_runs, 1);
            at += h.tokens;
        });
        constexpr std::uint64_t k_at = offsetof(abi::token_list, at);
        abi::status s = t.send_to_all(t.places.received(0) + k_at, sizeof(abi::token_list), sizeof(std::uint32_t), t.places.sent(t.rank) + k_at,
                                      k_sem_token_at);
        return s.ok() && t.passes_on ? t.send_row() : s;
    }

    abi::status send_to_each()
    {
        abi::status s = t.send_blocks(k_sem_tokens, false, [this](std::uint32_t to) {
            const abi::token_list& h = t.sent(to);
            return token_exchange::block{t.in_buffer(h.first), t.in_output(h.at + h.tokens - h.led()), h.led()};
        });
        for (std::uint32_t k = 0; k < t.ranks && s.ok() && t.line != 1; ++k) {
            const peer to = t.order.at(k);
            const abi::token_list& h = t.sent(to.rank);
            s = t.each_span(t.places.sent_runs(to.rank), h, h.at, [&](const token_span& span) {
                return t.send(to.rank, t.last_queues(to.queue), t.in_buffer(span.first), t.in_output(span.at), span.count, k_sem_tokens);
            });
        }
        return s.ok() ? t.wait(k_sem_token_runs) : s; // for the combine to come
    }

    abi::status send_by_leaders()
    {
        abi::status sent = t.send_blocks(k_sem_token_shared, true, [this](std::uint32_t to) {
            const abi::token_list& h = t.sent(to);
            return token_exchange::block{t.in_buffer(h.first), t.in_output(h.at + h.tokens - h.led()), h.shared};
        });
        if (sent.ok())
            sent = t.send_blocks(k_sem_tokens, false, [this](std::uint32_t to) {
                const abi::token_list& h = t.sent(to);
                return token_exchange::block{t.in_buffer(h.first + h.shared), t.in_output(h.at + h.tokens - h.sole), h.sole};
            });
        if (!sent.ok())
            return sent;
        constexpr std::uint32_t k_awaited[] = {k_sem_token_runs, k_sem_token_rows, k_sem_token_shared};
        for (const std::uint32_t semaphore : k_awaited)
            if (abi::status s = t.wait(semaphore); !s.ok())
                return s;
        return t.each_with_rows([&](std::uint32_t source, const std::uint32_t* rows) { return pass_on(source, rows); });
    }

    /// `rows`: where the tokens of the source begin at the ranks of the line, by place.
    abi::status pass_on(std::uint32_t source, const std::uint32_t* rows)
    {
        const abi::token_list& h = t.received(source);
        if (h.shared == 0)
            return {};
        const std::uint32_t led = h.at + h.tokens - h.led();
        return t.each_forward(source, h, [&](std::uint32_t bit, const token_span& span) {
            const std::uint32_t to = t.member(source, bit);
            const std::uint32_t at = rows[to % t.line * token_exchange::k_row_words] + span.at;
            return t.send(to, t.last_queues(to), t.in_output(led + span.first - h.first), t.in_output(at), span.count, k_sem_tokens);
        });
    }

    /// Bytes. Of longer slots most would go for nothing. Assumed; lines of 8 ranks have 2,064 B at most.
    static constexpr std::uint64_t k_short_slot = 4096;

    token_exchange t;
};

} // namespace

void run_dispatch(exchange& x, const abi::token_table& table, collective_result& result)
{
    const abi::status status = dispatch(x, table).run();
    x.finish(result, status);
}

} // namespace weft::firmware
