// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/switchml/sum_costs.h"

#include "firmware/costs.h"
#include "hw/ethernet/ethernet_format.h"
#include "platforms/machine/machine_checks.h"

#include <algorithm>

namespace weft {

namespace {

namespace costs = firmware::costs;
namespace sml = abi::switchml;

double us(duration d) { return static_cast<double>(d.value()) / 1e6; }

/// Work of one core, in us.
class core_work {
public:
    explicit core_work(const switchml_config& config)
        : column_(costs::column_of(config.worker.core.instruction_set)), message_(costs_of(config.worker.chip())),
          rdma_(config.job.transport == sml::transport::rdma), elements_(config.job.elements_per_packet),
          access_us_(access_us_of(config.worker.chip(), config.worker.nic.register_latency)), cycle_us_(1e6 / static_cast<double>(config.worker.core.clock.value())),
          word_cycles_(static_cast<double>(config.worker.core.copy_per_8_bytes.value())),
          streams_cost_(config.worker.core.instruction_set == abi::instruction_set::rv64gc)
    {
    }

    switch_sum_costs::core_times times(bool integers) const
    {
        const double posted_us = copy(abi::k_nic_send_entry_bytes);
        switch_sum_costs::core_times t;
        if (rdma_) { // of float32 the NIC measures the block that comes next, and says so
            const double measures = integers ? 0 : 1;
            t.first_us = instructions(costs::k_switchml_write + measures * costs::k_switchml_measure) + (1 + measures) * posted_us;
            t.answer_us = t.first_us + (1 + measures) * (instructions(costs::k_switchml_completion) + copy(sizeof(abi::nic_completion)));
            return t;
        }
        const double payload = elements_ * 4.0;
        const double exponent = block(column_.exponent, column_.float_block);
        const double out = integers ? block(column_.swap, column_.swap_block) : block(column_.quantise, column_.float_block) + exponent;
        const double in = integers ? block(column_.swap, column_.swap_block) : block(column_.dequantise, column_.float_block);
        t.first_us = instructions(costs::k_switchml_send + (integers ? out : exponent)) + stream((integers ? 2 : 1) * payload) + posted_us;
        t.answer_us = instructions(costs::k_switchml_receive + in + costs::k_switchml_send + out) + posted_us +
                      stream((integers ? 4 : 5) * payload + sml::k_udp_headers);
        return t;
    }
    /// Of a core that has begun a collective.
    double start_us() const { return instructions(rdma_ ? costs::k_switchml_rdma_start : costs::k_switchml_udp_start); }
    /// A piece of a message that is not full, read from memory or written to it.
    double piece_us(double bytes) const { return instructions(costs::k_switchml_piece / 2.0) + message_.memory_us + copy(bytes); }
    /// A turn of its loop in which something has come, after sleep.
    double turn_us() const
    {
        return message_.wake_us + instructions(costs::k_switchml_turn + costs::k_switchml_sleep) + 4 * access_us_;
    }

private:
    double instructions(double n) const { return n * message_.instruction_us; }
    double block(std::uint32_t of_eight, std::uint32_t besides) const
    {
        return besides + static_cast<double>(elements_) / costs::k_switchml_elements * of_eight;
    }
    double copy(double bytes) const { return bytes / 8 * word_cycles_ * cycle_us_; }
    double stream(double bytes) const { return streams_cost_ ? copy(bytes) : 0; }

    const costs::element_costs& column_;
    const message_costs message_;
    const bool rdma_;
    const std::uint32_t elements_;
    const double access_us_; ///< to a register of the NIC
    const double cycle_us_, word_cycles_;
    const bool streams_cost_;
};

/// From the announcement of a use to the NIC until its answer is in memory: docs/03_timing_model.md, section 9.
double network_us(const switchml_config& config, double use_wire_us, double packet_wire_us)
{
    const tofino_config& chip = config.tofino.chip;
    const double levels = static_cast<double>(std::max<std::size_t>(1, config.tree.size()));
    const double further = config.job.elements_per_packet == 256 ? 10 : 1;
    const double sums_us = levels * (us(chip.first_pass_latency) + further * us(chip.pass_latency));
    const double back_us = (levels - 1) * us(chip.first_pass_latency);
    const double cable_us = us(config.network.cable.propagation);
    const double wires_us = use_wire_us + (2 * levels - 1) * packet_wire_us + 2 * levels * cable_us;
    const double payload = config.job.elements_per_packet * 4.0;
    const double bytes = abi::k_nic_send_entry_bytes + 2 * payload + sizeof(abi::nic_completion) + sml::k_udp_headers;
    const double memory_us = 3 * us(config.worker.hbm.latency) + bytes * 8e6 / static_cast<double>(config.worker.hbm.rate.value());
    return sums_us + back_us + wires_us + memory_us + us(config.worker.nic.register_latency) + us(config.worker.nic.host_latency);
}

double wire_us_of_packet(const switchml_config& config)
{
    return packet_wire_bytes(config.job) * 8e6 / static_cast<double>(config.network.rate.value());
}

/// A packet of 256 elements goes over a recirculation port of its worker's, too.
double pace_us_of_packet(const switchml_config& config)
{
    const double recirculated_us =
        config.job.elements_per_packet == 256 ? least_wire_bytes(config.job) * 8e6 / static_cast<double>(config.tofino.chip.recirculation_rate.value()) : 0;
    return std::max(wire_us_of_packet(config), recirculated_us);
}

} // namespace

std::uint32_t least_wire_bytes(const switchml_job_config& job)
{
    const std::uint32_t payload = job.elements_per_packet * 4;
    return ethernet_wire_bytes(job.transport == sml::transport::udp ? sml::k_udp_headers + payload
                                                                    : sml::k_header + sml::k_bth_bytes + payload + sml::k_icrc_bytes);
}

std::uint32_t packet_wire_bytes(const switchml_job_config& job)
{
    if (job.transport == sml::transport::udp)
        return least_wire_bytes(job);
    // RETH once a message, the immediate once: the average, rounded up.
    const std::uint32_t extra =
        (sml::k_reth_bytes + sml::k_immediate_bytes + job.packets_per_message - 1) / job.packets_per_message;
    return least_wire_bytes(job) + extra;
}

double pool_on_cable_us(const switchml_config& config)
{
    const std::optional<switch_sum_costs> sums = sum_costs_of(config);
    const double packets = config.job.transport == sml::transport::rdma ? config.job.packets_per_message : 1;
    return sums ? static_cast<double>(sums->cores) * sums->window * packets * pace_us_of_packet(config) : 0;
}

bool resends_for_nothing(const switchml_config& config) { return pool_on_cable_us(config) * 1e6 >= static_cast<double>(config.job.timeout.value()); }

std::optional<switch_sum_costs> sum_costs_of(const switchml_config& config)
{
    if (config.cables_draw() || config.tofino.chip.drops() || !config.faults.outages.empty() || config.job.jobs > 1)
        return std::nullopt;
    const sml::table table = config.table(0, 0);
    const bool rdma = config.job.transport == sml::transport::rdma;
    const std::uint32_t packets = rdma ? config.job.packets_per_message : 1;
    const double packet_wire_us = wire_us_of_packet(config);
    const core_work work(config);
    switch_sum_costs s;
    s.cores = config.worker.cores;
    s.window = std::max(1u, rdma ? firmware::window_messages(table) : firmware::window_slots(table));
    s.batch = rdma ? 1 : static_cast<std::uint32_t>(config.worker.packet_batch.value());
    s.use_bytes = packets * firmware::payload_bytes(table);
    s.use_wire_us = packets * packet_wire_us;
    // The card reads what it sends, and writes what has come. With UDP cores make frames of tensors, and tensors of
    // frames: the payload goes six times, headers four, entries of rings twice.
    const double touches = rdma ? 2.0 * s.use_bytes
                                : 6.0 * s.use_bytes + 4.0 * sml::k_udp_headers + 2.0 * abi::k_nic_send_entry_bytes + 2.0 * sizeof(abi::nic_completion);
    const double memory_us = touches * 8e6 / static_cast<double>(config.worker.hbm.rate.value());
    s.use_pace_us = std::max(packets * pace_us_of_packet(config), memory_us);
    s.round_trip_us = network_us(config, s.use_wire_us, packet_wire_us) + work.turn_us();
    s.start_us = work.start_us();
    s.hold_us = rdma ? 0 : us(config.worker.transmit_hold);
    s.int32 = work.times(true);
    s.float32 = work.times(false);
    if (rdma) {
        s.piece_bytes = firmware::k_max_payload_bytes;
        s.piece_us = work.piece_us(s.piece_bytes);
    }
    return s;
}

} // namespace weft
