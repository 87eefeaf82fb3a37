// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/planned_schedule.h"

#include "firmware/collectives/gapped_lines.h"
#include "firmware/collectives/planner.h"
#include "firmware/collectives/replica_rings.h"
#include "firmware/collectives/runs.h"
#include "tlm/check.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace weft {

namespace {

using firmware::run_source;

std::string name_of_pass(const firmware::pass& p)
{
    const char* const half = p.accumulate ? "reduce-scatter" : "all-gather";
    switch (p.source) {
    case run_source::ring:
        return fmt::format("{}, ring of {}{}", half, p.view.size,
                           p.lists > 1         ? fmt::format(", {} lists", p.lists)
                           : p.first_list != 0 ? ", inside its shard"
                                               : "");
    case run_source::ring_rank: return fmt::format("{}, ring of {}, shards by rank", half, p.view.size);
    case run_source::ring_walk: return fmt::format("{}, ring of {} around failed chips", half, p.view.size);
    case run_source::axis_ring: return fmt::format("{} along dimension {}, ring of {}", half, p.ring.axis, p.view.size);
    case run_source::axis_direct:
        return fmt::format("{} along dimension {}, all {} directly", half, p.ring.axis, p.view.size);
    case run_source::fan_out: return fmt::format("to all others of a line of {}", p.view.size);
    case run_source::tree_parts: return p.accumulate ? "sums to the trees of others" : "parts to the trees of neighbours";
    case run_source::tree_spread: return "own tree to its children";
    case run_source::tree_sums: return "own tree to its parent";
    case run_source::tile: return fmt::format("{} in a tile of {}, in rounds", half, p.view.size);
    case run_source::donate: return "sums of its tile to a whole pair of rows";
    case run_source::give_back: return "results to the neighbours of failed chips";
    case run_source::list: break;
    }
    if (p.moves_shards)
        return p.ready_semaphore != 0 ? "shards to who gathers them" : "shards to their ranks";
    return p.total_sends == 0 ? "receives only"
           : p.posted_ahead   ? (p.accumulate ? "sums to the parent, posted ahead" : "forwards what arrives, posted ahead")
           : p.accumulate     ? "sums to the parent"
           : p.forwards       ? "forwards what arrives"
                              : "list of sends";
}

std::string ranks_text(const std::vector<std::uint32_t>& ranks)
{
    std::string text;
    for (const std::uint32_t r : ranks)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", r);
    return text;
}

} // namespace

namespace {
bool runs_by(abi::algorithm algorithm, const char* runner_name)
{
    constexpr const char* k_runners[] = {
#define WEFT_ALGORITHM(name, runs, runner, has, needs, summary) #runner,
#include "hw/abi/algorithms.def"
#undef WEFT_ALGORITHM
    };
    return std::strcmp(k_runners[static_cast<unsigned>(algorithm)], runner_name) == 0;
}

/// As replica_collectives.cpp runs them. Two IPUs of a rung that run alone have six links, and messages, in place of
/// two.
void plan_rings(const abi::platform_table& table, const abi::command& command, planned_rank& rank)
{
    const firmware::replica_phases p(table, command);
    const std::uint64_t element = abi::element_bytes(command.type),
                        chunk = std::max<std::uint64_t>(1, command.chunk_bytes / element);
    const std::uint32_t stripes = table.ranks == 2 && table.members == 0
                                      ? std::max<std::uint32_t>(1, table.rung_links)
                                      : std::min<std::uint32_t>(2, table.parallel_links);
    rank.channels.resize(firmware::k_most_replica_rings);
    const auto add_phase = [&](bool over_gateways, bool reduces, abi::algorithm method) {
        const std::uint32_t size = over_gateways ? p.domains : p.domain_size, at = over_gateways ? p.domain : p.at;
        if (size == 1)
            return;
        const std::uint32_t first = over_gateways ? p.at : p.domain * p.domain_size,
                            stride = over_gateways ? p.domain_size : 1;
        const firmware::fragment_map& map = over_gateways ? p.across : p.inside;
        const firmware::replica_rings rings(method, firmware::order_of_phase(table.order, size, over_gateways), size,
                                            at);
        for (std::uint32_t i = 0; i < rings.count; ++i) {
            const firmware::replica_ring& ring = rings.ring[i];
            planned_pass pass;
            pass.what = fmt::format("{}, {} of {}{}", reduces ? "reduce-scatter" : "all-gather",
                                    ring.reversed ? "anticlockwise" : "clockwise", size,
                                    over_gateways   ? " over gateways"
                                    : ring.mirrored ? ", the other serpent"
                                                    : "");
            pass.ranks = size;
            const auto messages_of = [&](const abi::element_range& piece, std::uint32_t stripe) {
                const abi::element_range part = abi::shard_of(piece.count, ring.parts, ring.part);
                return static_cast<std::uint32_t>((abi::shard_of(part.count, stripes, stripe).count + chunk - 1) /
                                                  chunk);
            };
            const std::uint32_t semaphore = (over_gateways ? firmware::k_most_replica_rings : 0) + i;
            for (std::uint32_t step = 0; step < rings.exchanges; ++step) {
                if (!ring.works_in(step))
                    continue;
                const std::uint32_t to = first + ring.successor() * stride;
                for (std::uint32_t k = 0; k < map.pieces(); ++k) {
                    const abi::element_range sent = map.piece(ring.sent(reduces, step), k),
                                             got = map.piece(ring.received(reduces, step), k);
                    const abi::element_range part = abi::shard_of(sent.count, ring.parts, ring.part);
                    std::uint32_t messages = 0;
                    for (std::uint32_t stripe = 0; stripe < stripes; ++stripe) {
                        messages += messages_of(sent, stripe);
                        if (const std::uint32_t waited = messages_of(got, stripe); waited != 0)
                            rank.received[semaphore] += waited;
                    }
                    if (messages == 0)
                        continue;
                    rank.sent[{to, semaphore}] += messages;
                    pass.runs.push_back({rank.steps + step, {sent.first + part.first, part.count}, to, messages});
                }
            }
            rank.channels[i].passes.push_back(std::move(pass));
        }
        rank.steps += rings.steps;
    };
    if (p.reduces) {
        add_phase(false, true, command.algo);
        add_phase(true, true, firmware::k_method_over_gateways);
    }
    if (p.gathers) {
        add_phase(true, false, firmware::k_method_over_gateways);
        add_phase(false, false, firmware::gather_method(command));
    }
    while (!rank.channels.empty() && rank.channels.back().passes.empty())
        rank.channels.pop_back();
}
} // namespace

bool has_schedule(const abi::platform_table& table, abi::collective_op op, abi::algorithm algorithm)
{
    return runs_by(algorithm, "engine") && !abi::moves_tokens(op) && // their lists of tokens are the schedule
           !firmware::goes_around_gaps(table, op, algorithm);
}
bool has_rings_in_lockstep(abi::algorithm algorithm) { return runs_by(algorithm, "replica_rings"); }

planned_rank plan_of(const abi::platform_table& table, const collective_case& c)
{
    abi::command command;
    command.op = c.op;
    command.algo = c.algo;
    command.type = c.type;
    command.redop = c.redop;
    command.count = c.count;
    command.chunk_bytes = c.chunk_bytes;
    command.root = c.root;
    command.gathers_by = c.gathers_by ? firmware::gathered_by(*c.gathers_by) : 0;
    command.transposed = c.transposed ? 1 : 0;
    command.chunk_is_asked = c.chunk_is_asked ? 1 : 0;

    planned_rank rank;
    rank.table = table;
    if (table.ranks == 1 || c.count == 0)
        return rank;
    if (has_rings_in_lockstep(c.algo)) {
        plan_rings(table, command, rank);
        return rank;
    }
    firmware::ring_map rings(rank.table);
    firmware::block_tree tree;
    const auto s = std::make_unique<firmware::schedule>();
    if (const abi::status status = firmware::plan(rings, tree, command, *s); !status.ok())
        throw user_error(fmt::format("{} by {}: {}.", name_of(c.op), name_of(c.algo), status.where));
    rank.steps = s->steps;
    rank.ahead_bytes = s->posted_ahead ? s->chunk_elements * abi::element_bytes(c.type) : 0;
    rank.tree_pieces = s->tree_pieces;
    rank.tree_piece_bytes = rank.tree_pieces != 0 ? s->chunk_elements * abi::element_bytes(c.type) : 0;
    for (std::uint32_t i = 0; i < s->notice_count; ++i) {
        rank.told.push_back(s->notices[i].to);
        ++rank.sent[{s->notices[i].to, s->notices[i].semaphore}];
    }
    for (std::uint32_t i = 0; i < s->line_count; ++i) {
        const firmware::told_line& line = s->lines[i];
        for (std::uint32_t coordinate = 0; coordinate < line.size; ++coordinate) {
            const std::uint32_t to = table.rank + (coordinate - line.at) * line.stride; // unsigned: wraps back
            ++rank.sent[{to, line.semaphore}];
            if (coordinate != line.at)
                rank.told.push_back(to);
        }
    }
    for (std::uint32_t i = 0; i < s->expectation_count; ++i)
        rank.received[s->expectations[i].semaphore] += s->expectations[i].messages;

    firmware::run_finder finder(*s, rings);
    for (std::uint32_t i = 0; i < s->channel_count; ++i) {
        const firmware::channel_plan& plan = s->channels[i];
        planned_channel channel;
        for (std::uint32_t k = 0; k < plan.pass_count; ++k) {
            const firmware::pass& p = plan.passes[k];
            planned_pass pass;
            pass.what = name_of_pass(p);
            pass.forwards = p.forwards;
            pass.entry_instructions = p.entry_cost;
            pass.direct = p.source == run_source::axis_direct;
            pass.moves_shards = p.moves_shards;
            pass.ranks = firmware::is_ring(p.source) ? p.view.size : 0;
            if (p.tells_when_entered)
                ++rank.sent[{p.view.predecessor, p.ready_semaphore}];
            firmware::run_cursor cursor;
            const firmware::message_counts counts = finder.enter(p, plan.lane, cursor);
            if (counts.receives != 0)
                rank.received[p.receive_semaphore] += counts.receives;
            for (std::uint32_t sent = 0; sent < counts.sends;) {
                finder.find(p, cursor, sent == 0);
                const std::uint32_t messages = std::max(s->chunks(cursor.run.count), 1u);
                pass.runs.push_back({cursor.step, cursor.run, cursor.to, messages, cursor.more_pieces + 1});
                rank.sent[{cursor.to, cursor.semaphore}] += messages;
                sent += messages;
            }
            channel.passes.push_back(std::move(pass));
        }
        rank.channels.push_back(std::move(channel));
    }
    return rank;
}

std::string unmatched(const std::vector<planned_rank>& ranks)
{
    std::vector<std::map<std::uint32_t, std::uint64_t>> arriving(ranks.size());
    for (const planned_rank& from : ranks)
        for (const auto& [where, messages] : from.sent) {
            const auto& [to, semaphore] = where;
            if (to >= ranks.size())
                return fmt::format("rank {} sends to rank {}, which does not exist", from.table.rank, to);
            arriving[to][semaphore] += messages;
        }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        std::map<std::uint32_t, std::uint64_t> difference = arriving[r];
        for (const auto& [semaphore, messages] : ranks[r].received)
            if (arriving[r][semaphore] != messages)
                return fmt::format("rank {} waits for {} messages on semaphore {} and is sent {}", r, messages,
                                   semaphore, arriving[r][semaphore]);
            else
                difference.erase(semaphore);
        if (!difference.empty())
            return fmt::format("rank {} is sent {} messages on semaphore {} that it does not wait for", r,
                               difference.begin()->second, difference.begin()->first);
    }
    return "";
}

std::string text_of(const planned_rank& rank, std::uint32_t element_bytes)
{
    const abi::platform_table& t = rank.table;
    std::string at;
    for (std::uint32_t i = 0; i < t.dim_count; ++i)
        at += fmt::format("{}{}", i == 0 ? "" : ",", t.coord[i]);
    std::string text = fmt::format("rank {} at ({}): {} steps", t.rank, at, rank.steps);
    if (!rank.told.empty())
        text += fmt::format("; first tells rank{} {} that it is ready", rank.told.size() == 1 ? "" : "s",
                            ranks_text(rank.told));
    text += '\n';
    for (std::size_t i = 0; i < rank.channels.size(); ++i)
        for (const planned_pass& p : rank.channels[i].passes) {
            text += fmt::format("  channel {}  {}\n", i, p.what);
            for (const planned_run& r : p.runs)
                text += fmt::format("    step {:>3}  to rank {:<4} elements {} to {}: {} B{}\n", r.step, r.to,
                                    r.range.first, r.range.first + r.range.count - (r.range.count != 0 ? 1 : 0),
                                    r.range.count * element_bytes,
                                    r.pieces > 1     ? fmt::format(", the first of {} pieces", r.pieces)
                                    : r.messages > 1 ? fmt::format(", {} messages", r.messages)
                                                     : "");
        }
    return text;
}

} // namespace weft
