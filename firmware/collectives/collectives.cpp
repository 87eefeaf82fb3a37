// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/collectives.h"

#include "firmware/collectives/ccu_collectives.h"
#include "firmware/collectives/device_collectives.h"
#include "firmware/collectives/engine.h"
#include "firmware/collectives/gapped_lines.h"
#include "firmware/collectives/planner.h"
#include "firmware/collectives/replica_collectives.h"
#include "firmware/collectives/supports.h"
#include "firmware/collectives/token_collectives.h"
#include "firmware/collectives/token_lines.h"
#include "firmware/costs.h"
#include "firmware/main.h"
#include "firmware/switchml/worker.h"

namespace weft::firmware {

namespace {

constexpr abi::status bad(const char* where, std::uint64_t detail)
{
    return {abi::status_code::bad_command, where, detail};
}

/// Use numbers of slots are 32 bits wide.
constexpr std::uint64_t k_most_switch_elements = std::uint64_t{1} << 36;

/// Bytes [offset, offset + bytes) lie in HBM and outside the descriptor rings.
bool fits(const abi::platform_table& table, std::uint64_t offset, std::uint64_t bytes)
{
    if (offset > table.hbm_bytes || bytes > table.hbm_bytes - offset)
        return false;
    const std::uint64_t rings = table.dma_ring_area - table.hbm_base;
    const std::uint64_t ring_bytes = std::uint64_t{table.dma_queues} * table.dma_ring_entries * 64;
    return offset + bytes <= rings || offset >= rings + ring_bytes;
}

// What a runner is given. It leaves its outcome in `result`.
struct task {
    abi::hal& hal;
    dma_driver& dma;
    nic_driver& nic;
    firmware_context& context;
    const abi::command& command;
    collective_result& result;
};

bool alone(const task& w) { return w.context.table.ranks == 1; }

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

/// What the host says of the tokens is meant for this machine, and has room.
abi::status check_tokens(const abi::platform_table& table, const abi::command& command, const abi::token_table& tokens)
{
    if (tokens.magic != abi::k_token_table_magic)
        return {abi::status_code::corrupted, "tokens.magic", tokens.magic};
    if (abi::check_of(tokens) != tokens.check)
        return {abi::status_code::corrupted, "tokens.check", tokens.check};
    if (tokens.ranks != table.ranks)
        return bad("tokens.ranks", tokens.ranks);
    if (tokens.line != token_line(table))
        return bad("tokens.line", tokens.line);
    if (tokens.token_bytes == 0 || tokens.token_bytes % abi::element_bytes(command.type) != 0)
        return bad("tokens.token_bytes", tokens.token_bytes);
    const abi::token_places places(command.scratch_offset, tokens.ranks, tokens.line, tokens.most_runs);
    const std::uint64_t lists = places.end() - command.scratch_offset;
    const bool sends_own = command.op == abi::collective_op::dispatch;
    const std::uint64_t in = sends_own ? tokens.own_bytes : tokens.received_bytes;
    const std::uint64_t out = sends_own ? tokens.received_bytes : tokens.own_bytes;
    if (!fits(table, command.buffer_offset, in))
        return bad("command.buffer_offset", command.buffer_offset);
    if (command.output_offset % abi::element_bytes(command.type) != 0 || !fits(table, command.output_offset, out) ||
        overlap(command.buffer_offset, in, command.output_offset, out))
        return bad("command.output_offset", command.output_offset);
    if (!fits(table, command.scratch_offset, lists) || overlap(command.buffer_offset, in, command.scratch_offset, lists) ||
        overlap(command.output_offset, out, command.scratch_offset, lists))
        return bad("command.scratch_offset", command.scratch_offset);
    return {};
}

[[gnu::noinline]] bool run_by_tokens(const task& w)
{
    const abi::command& command = w.command;
    const abi::platform_table& table = w.context.table;
    exchange x{w.hal, w.dma, w.context, command};
    w.hal.compute(costs::k_command + costs::k_token_table);
    if (command.scratch_offset % sizeof(std::uint64_t) != 0 || !fits(table, command.scratch_offset, sizeof(abi::token_table))) {
        w.result.status = bad("command.scratch_offset", command.scratch_offset);
        return false;
    }
    abi::token_table tokens;
    w.hal.copy_in(&tokens, table.hbm_base + command.scratch_offset, sizeof tokens);
    w.result.status = check_tokens(table, command, tokens);
    if (!w.result.status.ok())
        return false;
    (command.op == abi::collective_op::dispatch ? run_dispatch : run_combine)(x, tokens, w.result);
    return true;
}

// False: a refusal, and nothing has been sent.
bool run_by_engine(const task& w)
{
    if (abi::moves_tokens(w.command.op))
        return run_by_tokens(w);
    if (alone(w))
        return true;
    if (goes_around_gaps(w.context.table, w.command.op, w.command.algo)) {
        run_gapped_axes(w.hal, w.dma, w.context, w.command, w.result);
        return true;
    }
    ring_map rings(w.context.table);
    schedule s;
    w.result.status = plan(rings, w.context.tree, w.command, s);
    if (!w.result.status.ok())
        return false;
    engine(w.hal, w.dma, w.context, w.command, rings, s).run(w.result);
    return true;
}

bool run_by_direct(const task& w)
{
    if (w.command.op == abi::collective_op::all_to_all)
        run_all_to_all(w.hal, w.dma, w.context, w.command, w.result);
    else if (abi::moves_tokens(w.command.op))
        return run_by_tokens(w);
    else if (!alone(w))
        run_two_shot(w.hal, w.dma, w.context, w.command, w.result);
    return true;
}

bool run_by_two_phase(const task& w)
{
    (full_mesh(w.context.table) && !alone(w) ? run_two_phase_by_lines : run_two_phase)(w.hal, w.dma, w.context,
                                                                                       w.command, w.result);
    return true;
}

using collective_function = void (*)(abi::hal&, dma_driver&, firmware_context&, const abi::command&, collective_result&);
/// One rank alone has nothing to do.
template <collective_function run> bool run_with_others(const task& w)
{
    if (!alone(w))
        run(w.hal, w.dma, w.context, w.command, w.result);
    return true;
}

bool run_by_parameter_server(const task& w)
{
    // Alone it still sends to the server on its own machine.
    if (!alone(w) || (w.context.table.packet_cores != 0 && present(w.context.job)))
        run_parameter_server(w.hal, w.dma, w.context, w.command, w.result);
    return true;
}

bool run_by_switchml(const task& w)
{
    run_switchml(w.hal, w.nic, w.context, w.command, w.result);
    return true;
}

bool run_by_ccu(const task& w)
{
    // Alone, only all_to_all has something to move, which the DMA engine does as well.
    if (!alone(w))
        return run_ccu(w.hal, w.dma, w.context, w.command, w.result);
    if (w.command.op == abi::collective_op::all_to_all)
        run_all_to_all(w.hal, w.dma, w.context, w.command, w.result);
    return true;
}

using run_function = bool (*)(const task&);
constexpr run_function run_by_halving_doubling = run_with_others<run_halving_doubling>;
constexpr run_function run_by_device_ring = run_with_others<run_device_ring>;
constexpr run_function run_by_kangaring = run_with_others<run_kangaring>;
constexpr run_function run_by_device_mesh = run_with_others<run_device_mesh>;
constexpr run_function run_by_device_mesh_one_step = run_with_others<run_device_mesh_one_step>;
constexpr run_function run_by_rdh = run_with_others<run_rdh>;
constexpr run_function run_by_device_tree = run_with_others<run_device_tree>;
constexpr run_function run_by_rdh_same_axis = run_with_others<run_rdh_same_axis>;
constexpr run_function run_by_replica_rings = run_with_others<run_replica_rings>;
constexpr run_function run_by_replica_broadcast = run_with_others<run_replica_broadcast>;
constexpr run_function k_runners[] = {
#define WEFT_ALGORITHM(name, runs, runner, has, needs, summary) run_by_##runner,
#include "hw/abi/algorithms.def"
#undef WEFT_ALGORITHM
};

} // namespace

abi::status check_command(const abi::platform_table& table, const abi::command& command,
                          const abi::switchml::table& job)
{
    if (static_cast<unsigned>(command.op) >= abi::k_collective_ops)
        return bad("command.op", static_cast<std::uint64_t>(command.op));
    if (static_cast<unsigned>(command.algo) >= abi::k_algorithms)
        return bad("command.algo", static_cast<std::uint64_t>(command.algo));
    if (command.table != 0 && by_switch(command.algo))
        return {abi::status_code::unsupported, "switches sum for jobs, not for process groups", command.table};
    const char* reason = "";
    if (!supports(command.op, command.algo, table, command.transposed != 0, &reason, &job))
        return {abi::status_code::unsupported, reason, static_cast<std::uint64_t>(command.algo)};
    if (static_cast<unsigned>(command.type) >= abi::k_element_types)
        return bad("command.type", static_cast<std::uint64_t>(command.type));
    if (by_switch(command.algo)) {
        if (command.type != abi::element_type::int32 && command.type != abi::element_type::float32)
            return {abi::status_code::unsupported, "switches add int32 and float32 only",
                    static_cast<std::uint64_t>(command.type)};
        if (command.redop != abi::reduce_op::sum)
            return {abi::status_code::unsupported, "switches sum; no other reduction",
                    static_cast<std::uint64_t>(command.redop)};
        if (command.count > k_most_switch_elements)
            return bad("command.count", command.count);
    }
    if (command.algo == abi::algorithm::parameter_server && table.servers >= table.ranks)
        return bad("table.servers", table.servers); // somebody must be left to work
    if (abi::reduces(command.op) && (command.redop == abi::reduce_op::none || command.redop > abi::reduce_op::min))
        return bad("command.redop", static_cast<std::uint64_t>(command.redop));
    if (abi::is_float8(command.type) && abi::reduces(command.op)) {
        if (!abi::is_in(abi::k_by_ccu, command.algo))
            return {abi::status_code::unsupported, "memories reduce no 8-bit floats", static_cast<std::uint64_t>(command.type)};
        if (!abi::unit_reduces(command.type, command.redop))
            return {abi::status_code::unsupported, "nothing compares 8-bit floats", static_cast<std::uint64_t>(command.redop)};
    }
    if (abi::has_root(command.op) && command.root >= table.ranks)
        return bad("command.root", command.root);
    // One rectangle leaves a way to every chip.
    if (abi::has_root(command.op) && table.failed_regions > 1) {
        const place root = place_of(mesh_of(table), command.root);
        if (!tree_reaches_all(table, root.row, root.col, command.transposed != 0))
            return {abi::status_code::unsupported, "failed regions cut mesh_tree off from the root", command.root};
    }

    const std::uint64_t element = abi::element_bytes(command.type);
    if (present(job)) {
        const std::uint64_t area = job.nic_area - table.hbm_base;
        if (command.buffer_offset < area + nic_area_bytes(job) && command.count < table.hbm_bytes / element &&
            command.buffer_offset + command.count * element > area)
            return bad("command.buffer_offset", command.buffer_offset);
    }
    const std::uint64_t most = table.hbm_bytes / element;
    if (command.count > most || !fits(table, command.buffer_offset, command.count * element))
        return bad("command.count", command.count);
    if (command.buffer_offset % element != 0)
        return bad("command.buffer_offset", command.buffer_offset);
    // Counters of messages are 32 bits wide and compared as signed differences.
    if (command.chunk_bytes == 0 || command.count / (command.chunk_bytes / element + 1) > 0x3fff'ffff)
        return bad("command.chunk_bytes", command.chunk_bytes);
    if (command.timeout_ns == 0)
        return bad("command.timeout_ns", 0);

    if (const std::uint64_t room = scratch_elements(command.op, command.algo, command.count, table.ranks) * element; room != 0) {
        const std::uint64_t in_end = command.buffer_offset + command.count * element;
        if (command.scratch_offset % element != 0 || !fits(table, command.scratch_offset, room) ||
            (command.scratch_offset < in_end && command.buffer_offset < command.scratch_offset + room))
            return bad("command.scratch_offset", command.scratch_offset);
    }
    if (command.op == abi::collective_op::all_to_all) {
        const std::uint64_t mine = abi::shard_of(command.count, table.ranks, table.rank).count;
        const std::uint64_t in_end = command.buffer_offset + command.count * element;
        if (mine > most / table.ranks || command.output_offset % element != 0 ||
            !fits(table, command.output_offset, mine * table.ranks * element))
            return bad("command.output_offset", command.output_offset);
        const std::uint64_t out_end = command.output_offset + mine * table.ranks * element;
        if (command.output_offset < in_end && command.buffer_offset < out_end)
            return bad("command.output_offset", command.output_offset); // blocks would arrive on top of unsent ones
        if (const std::uint32_t outputs = scratch_outputs(command.algo); outputs != 0) {
            const std::uint64_t room =
                outputs * abi::shard_of(command.count, table.ranks, 0).count * table.ranks * element;
            const std::uint64_t end = command.scratch_offset + room;
            if (command.scratch_offset % element != 0 || !fits(table, command.scratch_offset, room) ||
                (command.scratch_offset < in_end && command.buffer_offset < end) ||
                (command.scratch_offset < out_end && command.output_offset < end))
                return bad("command.scratch_offset", command.scratch_offset);
        }
    }
    return {};
}

namespace {

// Table, members and semaphores of the group that runs the command, or of the machine. Both are small, and a collective
// has many messages.
[[gnu::noinline]] abi::status join_group(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command)
{
    hal.copy_in(&context.table, command.table != 0 ? command.table : abi::k_platform_table_address, sizeof context.table);
    hal.compute(costs::k_join_group);
    if (hal.faulted())
        return {abi::status_code::bus_error, "command.table", hal.fault().address};
    if (abi::status s = check_table(context.table); !s.ok())
        return s;
    context.in_group = command.table != 0;
    const std::uint32_t bank = context.table.semaphore_bank;
    if (bank >= k_semaphore_banks)
        return bad("table.semaphore_bank", bank);
    if (bank != context.bank) {
        const bool used = (context.banks_used >> bank & 1) != 0;
        for (std::uint32_t s = 0; s < k_semaphores; ++s) {
            context.expected_of_bank[context.bank][s] = context.expected[s];
            context.known[s] = context.expected[s] = used ? context.expected_of_bank[bank][s] : 0;
        }
        context.banks_used |= 1u << bank;
        context.bank = bank;
    }
    return dma.join(context.table);
}

} // namespace

collective_result run_collective(abi::hal& hal, dma_driver& dma, nic_driver& nic, firmware_context& context,
                                 const abi::command& command)
{
    collective_result result;
    result.failed_peer = context.table.ranks;
    if (context.failed) {
        result.status = {abi::status_code::device_error, "an earlier collective failed; reset", 0};
        return result;
    }
    if (command.table != 0 || context.in_group) {
        result.status = join_group(hal, dma, context, command);
        if (!result.status.ok()) {
            context.failed = true; // the table is not known any more
            return result;
        }
        result.failed_peer = context.table.ranks;
    }
    result.status = check_command(context.table, command, context.job);
    if (!result.status.ok() || command.count == 0) {
        result.failed_peer = context.in_group ? abi::k_no_rank : result.failed_peer;
        return result;
    }
    if (k_runners[static_cast<unsigned>(command.algo)]({hal, dma, nic, context, command, result}))
        context.failed = !result.status.ok();
    if (context.in_group) // the answer names ranks of the machine
        result.failed_peer = result.failed_peer < context.table.ranks
                                 ? hal.read32(context.table.members + sizeof(std::uint32_t) * result.failed_peer)
                                 : abi::k_no_rank;
    return result;
}

} // namespace weft::firmware
