// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/main.h"

#include "firmware/collectives/collectives.h"
#include "firmware/costs.h"
#include "firmware/drivers/mailbox_driver.h"
#include "firmware/drivers/sync_driver.h"
#include "firmware/switchml/switchml_job.h"

namespace weft::firmware {

namespace {

constexpr abi::status corrupted(const char* where, std::uint64_t detail)
{
    return {abi::status_code::corrupted, where, detail};
}

void copy_text(char* to, std::size_t room, const char* from)
{
    std::size_t i = 0;
    for (; i + 1 < room && from[i] != '\0'; ++i)
        to[i] = from[i];
    to[i] = '\0';
}

abi::response response_of(std::uint32_t sequence, const collective_result& result)
{
    abi::response r;
    r.sequence = sequence;
    r.code = result.status.code;
    r.steps = result.steps;
    r.messages = result.messages;
    r.failed_step = result.failed_step;
    r.failed_peer = result.failed_peer;
    r.detail = result.status.detail;
    copy_text(r.where, sizeof r.where, result.status.where);
    return r;
}

// Everything up to the first command. `mailbox_usable` tells whether an error can be announced.
abi::status start(abi::hal& hal, firmware_context& context, mailbox_driver& mailbox, dma_driver& dma, nic_driver& nic,
                  bool& mailbox_usable)
{
    hal.copy_in(&context.table, abi::k_platform_table_address, sizeof context.table);
    if (const abi::bus_fault fault = hal.fault(); fault.set)
        return {abi::status_code::bus_error, "table", fault.address};
    const abi::status table_status = check_table(context.table);
    if (!table_status.ok()) {
        // Nothing in the table can be trusted; the mailbox has the same address on every platform.
        context.table = abi::platform_table{};
    }
    if (abi::status s = mailbox.probe(context.table); !s.ok()) {
        mailbox_usable = false;
        return table_status.ok() ? s : table_status;
    }
    if (!table_status.ok())
        return table_status;
    if (abi::status s = read_job(hal, context.table, context.job); !s.ok())
        return s;
    if (present(context.job)) {
        if (abi::status s = nic.probe(context.job, queue_pairs_needed(context.job)); !s.ok())
            return s;
        if (abi::status s = nic.init(context.table, context.job); !s.ok())
            return s;
        if (context.job.core != 0)
            return {}; // the DMA is the first core's
    }
    if (context.table.sync_base != 0)
        if (abi::status s = sync_driver(hal, context.table.sync_base).probe(); !s.ok())
            return s;
    if (abi::status s = dma.probe(context.table, k_semaphores_needed); !s.ok())
        return s;
    return dma.init(context.table);
}

} // namespace

namespace {
bool is_sound(const abi::gapped_mesh& m, const abi::platform_table& table)
{
    if (m.rows == 0)
        return true;
    if (m.gaps > abi::k_most_gaps || m.cols == 0 || std::uint32_t{m.rows} * m.cols != table.ranks + m.gaps)
        return false;
    for (std::uint32_t i = 0; i < m.gaps; ++i)
        if (m.gap[i] >= m.rows * m.cols || (i != 0 && m.gap[i] <= m.gap[i - 1]))
            return false;
    return table.dim_count == 1;
}
} // namespace

abi::status check_table(const abi::platform_table& table)
{
    if (table.magic != abi::k_platform_table_magic)
        return corrupted("table.magic", table.magic);
    if (table.version != abi::k_platform_table_version)
        return {abi::status_code::wrong_version, "table.version", table.version};
    if (abi::check_of(table) != table.check)
        return corrupted("table.check", table.check);

    // The check word proves that the bytes are the builder's; these prove that the builder meant what we understand.
    if (table.dim_count > abi::k_max_dims)
        return corrupted("table.dim_count", table.dim_count);
    std::uint64_t ranks = 1;
    std::uint64_t rank = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d) {
        ranks *= table.dims[d];
        if (ranks == 0 || ranks > 0x7fff'ffff || table.coord[d] >= table.dims[d])
            return corrupted("table.dims", d);
        rank = rank * table.dims[d] + table.coord[d];
    }
    if (table.failed_regions > abi::k_max_failed_regions || (table.failed_regions != 0 && table.dim_count != 2))
        return corrupted("table.failed_regions", table.failed_regions);
    for (std::uint32_t i = 0; i < table.failed_regions; ++i) {
        const abi::failed_region& f = table.failed[i];
        if (f.rows == 0 || f.cols == 0 || f.row + f.rows > table.dims[0] || f.col + f.cols > table.dims[1])
            return corrupted("table.failed", i);
    }
    if (table.failed_regions != 0) {
        const mesh m = mesh_of(table);
        if (!works(m, {table.coord[0], table.coord[1]}))
            return corrupted("table.coord", rank);
        ranks = chips(m);
        rank = rank_of(m, {table.coord[0], table.coord[1]});
    }
    if (table.ranks == 0 || (table.dim_count != 0 && table.ranks != ranks))
        return corrupted("table.ranks", table.ranks);
    if (table.rank >= table.ranks || (table.dim_count != 0 && table.rank != rank))
        return corrupted("table.rank", table.rank);
    if (table.dma_queues == 0 || table.dma_queues > k_max_dma_queues)
        return corrupted("table.dma_queues", table.dma_queues);
    if (table.dma_ports == 0 || table.dma_ports > 256)
        return corrupted("table.dma_ports", table.dma_ports);
    if (table.order > abi::ring_order::serpent || table.exchanges > abi::exchange_mode::syncless)
        return corrupted("table.order", static_cast<std::uint64_t>(table.order));
    if (table.replica_ranks == 0 || table.split_exchanges == 0 || table.gateway_dims > table.dim_count)
        return corrupted("table.replica_ranks", table.replica_ranks);
    if (!is_sound(table.on_mesh, table))
        return corrupted("table.on_mesh", table.on_mesh.rows);
    const std::uint32_t entries = table.dma_ring_entries;
    if (entries == 0 || (entries & (entries - 1)) != 0 || entries > 0x1000'0000)
        return corrupted("table.dma_ring_entries", entries);
    const std::uint64_t ring_bytes = std::uint64_t{table.dma_queues} * entries * abi::k_descriptor_bytes;
    if (table.dma_ring_area < table.hbm_base || ring_bytes > table.hbm_bytes ||
        table.dma_ring_area - table.hbm_base > table.hbm_bytes - ring_bytes)
        return corrupted("table.dma_ring_area", table.dma_ring_area);
    return {};
}

namespace {
/// Apart from collective_main(), whose frame is longer than an offset of an RV64 load reaches.
[[gnu::noinline]] void serve(abi::hal& hal, firmware_context& context, mailbox_driver& mailbox, dma_driver& dma,
                             nic_driver& nic, std::uint64_t max_commands)
{
    for (std::uint64_t served = 0; max_commands == 0 || served < max_commands; ++served) {
        abi::command command;
        const abi::status taken = mailbox.take(command);
        collective_result result;
        if (taken.ok()) {
            result = run_collective(hal, dma, nic, context, command);
        } else {
            // The other ranks may be running this command; this one has not taken part.
            result.status = taken;
            result.failed_peer = context.table.ranks;
            context.failed = true;
        }
        hal.clear_fault();
        hal.compute(costs::k_response);
        if (!result.status.ok())
            hal.log(result.status.where, result.status.detail);
        if (command.sequence == 0)
            return; // nobody can be answered
        const abi::status answered = mailbox.answer(response_of(command.sequence, result));
        if (!answered.ok() || taken.code == abi::status_code::device_error)
            return;
    }
}
} // namespace

void collective_main(abi::hal& hal, std::uint64_t max_commands)
{
    firmware_context context;
    mailbox_driver mailbox(hal);
    dma_driver dma(hal);
    nic_driver nic(hal);

    bool mailbox_usable = true;
    const abi::status started = start(hal, context, mailbox, dma, nic, mailbox_usable);
    if (!started.ok()) {
        hal.log(started.where, started.detail);
        hal.clear_fault();
        collective_result result;
        result.status = started;
        result.failed_peer = context.table.ranks;
        std::uint32_t sequence = mailbox.next_sequence();
        if (mailbox_usable && !mailbox.await_stored(sequence).ok())
            return; // nothing can be reached any more
        const abi::response r = response_of(sequence, result);
        if (mailbox_usable)
            static_cast<void>(mailbox.answer(r));
        else
            hal.copy_out(abi::k_response_address, &r, sizeof r);
        return;
    }

    serve(hal, context, mailbox, dma, nic, max_commands);
}

} // namespace weft::firmware
