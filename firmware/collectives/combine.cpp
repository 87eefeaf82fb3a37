// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// combine: what experts made of tokens, back to the ranks of the tokens. Ranks have the lists of the dispatch before.
//
// A rank gets one result for each line that a token went to, the sum over the ranks there. By hierarchical the others
// of the line add to the leader's, which sends the sum (UB-Mesh section 5.1, Fig. 14 c). By direct the sum is made at
// the rank of the token. Leaders' results come first; when all ranks have theirs, the others add to them.
#include "firmware/collectives/token_collectives.h"
#include "firmware/collectives/token_exchange.h"

namespace weft::firmware {

namespace {

class combine {
public:
    combine(exchange& e, const abi::token_table& table) : t(e, table) {}

    abi::status run()
    {
        abi::status s = t.meet();
        if (s.ok())
            s = t.passes_on ? by_leaders() : to_sources();
        return s.ok() ? t.wait(k_sem_tokens) : s;
    }

private:
    abi::status by_leaders()
    {
        for (std::uint32_t source = 0; source < t.ranks; ++source) {
            const abi::token_list& h = t.received(source);
            t.note_in_row(source, h.at + h.tokens - h.led() - h.first); // modulo 2^32
            t.expect(k_sem_token_shared, h.forwards);
        }
        if (abi::status s = t.send_row(); !s.ok())
            return s;
        if (abi::status s = t.wait(k_sem_token_rows); !s.ok())
            return s;
        // On queues apart, as they wait for nobody; what is added to others takes longer to post.
        abi::status s = send_led([](const abi::token_list& h) { return part{h.shared, h.sole}; });
        if (s.ok())
            s = t.each_with_rows([&](std::uint32_t source, const std::uint32_t* rows) { return add_to_leaders(source, rows); });
        expect_results([this](const abi::token_list& h) { return t.messages_for(h.shared) + t.messages_for(h.sole); });
        if (s.ok())
            s = t.wait(k_sem_token_shared);
        return s.ok() ? send_led([](const abi::token_list& h) { return part{0, h.shared}; }) : s;
    }

    /// `rows`: which token of a rank of the line, by place, would be token 0 of the source.
    abi::status add_to_leaders(std::uint32_t source, const std::uint32_t* rows)
    {
        const abi::token_list& h = t.received(source);
        return t.each_span(t.places.received_runs(source), h, h.at, [&](const token_span& span) {
            const std::uint32_t to = t.member(source, span.leader);
            const std::uint32_t at = rows[to % t.line * token_exchange::k_row_words] + span.first;
            return t.send(to, t.last_queues(to), t.in_buffer(span.at), t.in_buffer(at), span.count, k_sem_token_shared, t.x.command.redop);
        });
    }

    abi::status to_sources()
    {
        abi::status s = send_led([](const abi::token_list& h) { return part{0, h.led()}; });
        expect_results([this](const abi::token_list& h) { return t.messages_for(h.led()); });
        if (t.line == 1) // nobody adds anything
            return s;
        if (s.ok())
            s = t.wait(k_sem_tokens);
        if (s.ok())
            s = t.meet();
        for (std::uint32_t k = 0; k < t.ranks && s.ok(); ++k) {
            const peer to = t.order.at(k);
            const abi::token_list& h = t.received(to.rank);
            s = t.each_span(t.places.received_runs(to.rank), h, h.at, [&](const token_span& span) {
                return t.send(to.rank, t.last_queues(to.queue), t.in_buffer(span.at), t.in_output(span.first), span.count, k_sem_tokens, t.x.command.redop);
            });
        }
        expect_results([](const abi::token_list& h) { return h.spans; });
        return s;
    }

    /// Of the tokens of a source that this rank leads: how many come before, and how many are sent.
    struct part {
        std::uint32_t before, count;
    };
    template <class Which> abi::status send_led(Which&& which)
    {
        return t.send_blocks(k_sem_tokens, false, [&](std::uint32_t to) {
            const abi::token_list& h = t.received(to);
            const part p = which(h);
            return token_exchange::block{t.in_buffer(h.at + h.tokens - h.led() + p.before), t.in_output(h.first + p.before), p.count};
        });
    }
    /// By the lists of the own tokens.
    template <class Messages> void expect_results(Messages&& messages)
    {
        for (std::uint32_t from = 0; from < t.ranks; ++from)
            t.expect(k_sem_tokens, messages(t.sent(from)));
    }

    token_exchange t;
};

} // namespace

void run_combine(exchange& x, const abi::token_table& table, collective_result& result)
{
    const abi::status status = combine(x, table).run();
    x.finish(result, status);
}

} // namespace weft::firmware
