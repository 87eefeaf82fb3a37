// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What every platform asks of its chips and trains before it builds.
#pragma once

#include "hw/chip/chip.h"
#include "platforms/workload/cost_model.h"
#include "platforms/workload/run_config.h"
#include "platforms/workload/train_choice.h"
#include "tlm/config_fields.h"
#include "tlm/packet.h"

#include <string>
#include <vector>

namespace weft {

/// A DMA engine that has no room for a packet never gives a credit, and nothing moves. `key` names the chip, as "chip".
void check_receive_buffer(const chip_config& chip, const packet_format& format, const std::string& key,
                          std::vector<config_problem>& problems);

/// A buffer that holds no full packet: refused.
void check_holds_packet(const packet_format& format, const std::string& key, data_size buffer, std::vector<config_problem>& problems);
/// The same, and of a link's buffer that does not cover the round trip of its credits, which throttles the link:
/// allowed, but said. `pipeline` is that of the device behind the buffer.
void check_link_buffer(const packet_format& format, const std::string& key, data_size buffer, const std::string& rate_key, bandwidth rate, duration wire,
                       duration pipeline, std::vector<config_problem>& problems);

/// Delays of a fabric have 32 bits: 4.29 ms. A longer one would be taken modulo that.
inline constexpr std::uint64_t k_longest_delay_ps = 4'000'000'000;
/// One packet at the rate `key`, `bytes` on the wire.
void check_packet_time(const std::string& key, bandwidth rate, std::uint64_t bytes, std::vector<config_problem>& problems);
/// The head of a packet, from the begin of a wire to where it is forwarded; `key` is the longest part, `parts` all.
void check_hop_time(const std::string& key, const std::string& parts, duration hop, std::vector<config_problem>& problems);

/// What the core of this chip needs for a message: train_limits::message_ps.
std::uint64_t message_ps_of(const chip_config& chip);
/// What a message costs a rank of this chip, but for hops and links.
message_costs costs_of(const chip_config& chip);
/// Sets what `ports` local ports of a rank bring to it, each of `rate`, of which packets of `format` leave a part to
/// payload.
/// `reading_ports`: ports that read ahead, where these are more than the wire leaves busy.
void set_ports(message_costs& costs, const chip_config& chip, std::uint32_t ports, bandwidth rate, const packet_format& format,
               std::uint32_t reading_ports = 0);
/// Its core reads or writes a register of a device that takes `latency` for it.
double access_us_of(const chip_config& chip, duration latency);

/// `threads` cores in all, each with its stack on the host. `key` names the chip.
void check_stacks(const chip_config& chip, std::uint64_t threads, const std::string& of_what, const std::string& key,
                  std::vector<config_problem>& problems);

/// Of the link `key` that goes down `at` a time, unless it is 0 ps: routing is planned before, a run may end before.
void check_outage(duration at, bool known_to_routing, const std::string& key, const run_config& run,
                  std::vector<config_problem>& problems);

/// Of links that go down later or are not announced, faults.links_down, predictions know nothing.
template <class LinkFault> void leave_out_unknown_links(const std::vector<LinkFault>& down, message_costs& costs)
{
    if (!std::all_of(down.begin(), down.end(), [](const LinkFault& f) { return f.known_to_routing(); }))
        costs.leaves_out = "links of faults.links_down that routing does not know";
}

/// Of all entries of the list `key` of links that go down: none is `same` as another, and their times. An entry has
/// `at` and known_to_routing().
template <class Outage, class Same>
void check_outages(const std::vector<Outage>& all, const std::string& key, Same&& same, const run_config& run,
                   std::vector<config_problem>& problems)
{
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::size_t first = 0;
        while (!same(all[first], all[i]))
            ++first;
        const std::string here = key + "." + std::to_string(i);
        if (first < i)
            problems.push_back(
                {severity::error, here,
                 "names the link of " + key + "." + std::to_string(first) + " again; a link fails once."});
        check_outage(all[i].at, all[i].known_to_routing(), here, run, problems);
    }
}

/// Of every platform: train_limits::no_bound.
inline std::string no_train_bound(const run_config& run)
{
    if (!run.routing.empty())
        return "routing: nobody has measured trains with tables of one's own";
    if (run.cases == case_start::continuous)
        return "cases: continuous, where what trains change in one case moves the next one";
    return "";
}

/// Trains that the user has set against a bound of their error, where some collective goes in trains at all.
void check_burst(const run_config& run, const train_choice& trains, std::vector<config_problem>& problems);

} // namespace weft
