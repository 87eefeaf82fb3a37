// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/switchml/switchml.h"

#include "hw/tofino/tofino_switch.h"
#include "platforms/switchml/aggregators.h"

#include <fmt/format.h>

namespace weft {

namespace {
/// From which a parent knows a switch below it.
constexpr std::uint64_t uplink_mac(std::uint32_t number) { return 0x02'00'00'00'90'00ull + number; }
constexpr std::uint32_t uplink_ip(std::uint32_t number) { return 0x0a'00'90'00 + number; }

tofino_worker attached(std::uint32_t rank, std::uint32_t port)
{
    tofino_worker w;
    w.mac = worker_mac(rank);
    w.ip = worker_ip(rank);
    w.port = port;
    return w;
}

/// What all nodes of a job have in common.
tofino_job job_of(const switchml_config& config, std::uint32_t number, bool loss_recovery)
{
    tofino_job job;
    job.number = static_cast<std::uint8_t>(number);
    job.protocol = config.job.transport;
    job.loss_recovery = loss_recovery;
    job.words = config.job.elements_per_packet;
    job.first_slot = config.job.first_slot + number * config.job.slots;
    job.slots = config.job.slots;
    job.multicast_group = static_cast<std::uint16_t>(number + 1);
    return job;
}

bool uses_lossless(const run_config& run)
{
    return runs_any(run, [](abi::algorithm a) { return a == abi::algorithm::switchml_lossless; });
}
} // namespace

/// Stands at a port of the switch without a cable.
class empty_port final : public sc_core::sc_module, private ethernet_device {
public:
    ethernet_receive_socket in;
    ethernet_transmit_socket out;
    explicit empty_port(const sc_core::sc_module_name& name) : sc_core::sc_module(name), in("in", *this, 0), out("out")
    {
    }

private:
    void on_frame(std::uint32_t, packet_ptr, std::uint64_t) override {}
};

switchml_machine::switchml_machine(const switchml_config& config, const switchml_routing& routing,
                                   const core_fitter& fit, const std::string& waves)
    : standing_machine(config.trains(), fit), config_(config), pin_waves_(make_pin_waves(waves))
{
    config_.tofino = config_.switch_in_use();
    add_workers(routing);
    if (config_.tree.empty()) {
        const std::vector<switchml_config::node> nodes = config_.nodes();
        const tofino_config chip = config_.switch_chip(switchml_config::ports_of(nodes));
        switches_.push_back(std::make_unique<tofino_switch>("switch_0", hardware_.time, hardware_.pool, chip,
                                                            aggregators(config_.tofino, 0, pin_waves_),
                                                            config_.tofino.aggregator != aggregator_kind::model));
        std::uint32_t next_port = 0;
        for (const switchml_config::node& n : nodes) {
            for (; next_port < n.first_port; ++next_port) {
                empty_ports_.push_back(std::make_unique<empty_port>(fmt::format("empty_port_{}", next_port).c_str()));
                switches_.front()->to_network(next_port).bind(empty_ports_.back()->in);
                empty_ports_.back()->out.bind(switches_.front()->from_network(next_port));
            }
            next_port += n.workers;
            for (std::uint32_t w = 0; w < n.workers; ++w) {
                connect(0, n.first_port + w, *cables_[n.first_rank + w], 1);
                switches_.front()->add_mac(worker_mac(n.first_rank + w), n.first_port + w);
            }
        }
        admit_jobs();
    } else {
        add_subtree(0, 0, nullptr);
    }
}

switchml_routing::switchml_routing(const switchml_config& config)
    : planned_routing(lossless_star_plan(config.machines(), config.star()), config.run.routing)
{
    if (from_file())
        return;
    choose(std::make_shared<star_routing>(config.machines()), "");
    if (!proof())
        throw bug("lossless", 0, proof().text);
}

std::string switchml_routing::report() const
{
    return fmt::format("Routing   one path between any two machines{}\n"
                       "Proof     switchml: Ethernet drops what finds no room, so nothing waits for a buffer; lossless network: {}\n",
                       from_file() ? ", " + text() : text(), proof().text);
}

switchml_machine::~switchml_machine() = default;

void switchml_machine::add_workers(const switchml_routing& routing)
{
    routing.require_usable();
    star_ = std::make_unique<lossless_star>("lossless", hardware_.time, hardware_.pool, config_.machines(), config_.star(),
                                            routing.policy());
    hardware_.add(star_->engine());
    dma_fabric_view view = dma_view(config_.run, trains(), config_.star().format(), bandwidth(2 * config_.network.rate.value()));
    view.returns_to_sender = true;
    for (std::uint32_t rank = 0; rank < config_.machines(); ++rank) {
        chip_options options;
        if (rank >= config_.workers) { // a server has neither NIC nor job
            add_machine(rank, view, options);
            continue;
        }
        options.cores = config_.worker.cores;
        options.on_all_cores = abi::k_by_switch;
        options.guests.push_back([&](chip& host) { return make_nic(host, view.carry_data); });
        for (std::uint32_t core = 0; core < config_.worker.cores; ++core)
            options.tables.push_back({signed_table(abi::switchml::k_table_address, config_.table(rank, core))});
        chip& c = add_machine(rank, view, options);
        ethernet_nic& nic = *c.guest<ethernet_nic>();
        ethernet_link_config cable = config_.cable();
        for (const worker_outage_config& o : config_.faults.outages)
            if (o.worker == rank)
                cable.outages.push_back({o.from, o.until.value_or(duration(k_never_ps))});
        cables_.push_back(
            std::make_unique<ethernet_link>(fmt::format("cable_{}", rank).c_str(), hardware_.time, hardware_.pool, cable, rank));
        for (const cable_fault_config& f : config_.faults.cables)
            if (f.worker == rank) {
                if (f.direction != cable_end::down)
                    cables_.back()->set_impairments(0, f.impairments);
                if (f.direction != cable_end::up)
                    cables_.back()->set_impairments(1, f.impairments);
            }
        cables_.back()->driven_by(0, nic.transmitter());
        cables_.back()->set_device(0, node_name(rank));
        nic.to_network.bind(cables_.back()->in(0));
        cables_.back()->out(0).bind(nic.from_network);
    }
}

std::unique_ptr<ethernet_nic> switchml_machine::make_nic(chip& host, bool carry_data)
{
    nic_config config = config_.worker.nic;
    config.rate = config_.network.rate;
    auto nic = std::make_unique<ethernet_nic>("nic", hardware_.time, hardware_.pool, config, worker_mac(host.rank()), host.interrupts(),
                                              carry_data);
    nic->memory.bind(host.memory);
    host.attach(nic->registers, {abi::k_nic_base, k_device_window_bytes, "NIC"});
    return nic;
}

/// On the lossless network.
chip& switchml_machine::add_machine(std::uint32_t rank, const dma_fabric_view& view, const chip_options& options)
{
    chip& c = hardware_.add_chip(fmt::format("{}_{}", rank < config_.workers ? "worker" : "server", rank),
                                 config_.worker.chip(), view, config_.rank_table(rank), options);
    bind_local_port(c, 0, star_->port(rank));
    return c;
}

void switchml_machine::connect(std::uint32_t sw, std::uint32_t port, ethernet_link& link, std::uint32_t end)
{
    link.driven_by(end, switches_[sw]->transmitter(port));
    link.set_device(end, config_.tree.size() <= 1 ? std::string("switch") : fmt::format("switch({})", sw));
    switches_[sw]->to_network(port).bind(link.in(end));
    link.out(end).bind(switches_[sw]->from_network(port));
}

/// All workers below one switch. A job of more than one node gets one more of them, which joins the others (virtual
/// switches).
void switchml_machine::admit_jobs()
{
    tofino_switch& sw = *switches_.front();
    const std::vector<switchml_config::node> nodes = config_.nodes();
    const auto per_job = static_cast<std::uint32_t>(nodes.size() / config_.job.jobs);
    const bool recovers = !uses_lossless(config_.run);
    const auto with_workers = [&](tofino_job job, const switchml_config::node& n) {
        for (std::uint32_t w = 0; w < n.workers; ++w)
            job.workers.push_back(attached(n.first_rank + w, n.first_port + w));
        job.home_pipe = n.first_port / config_.tofino.chip.ports_per_pipe;
        return job;
    };
    for (std::uint32_t number = 0; number < config_.job.jobs; ++number) {
        const tofino_job job = job_of(config_, number, recovers);
        const switchml_config::node* const first = &nodes[std::size_t{number} * per_job];
        if (per_job == 1) {
            sw.add_job(with_workers(job, *first));
            continue;
        }
        const std::uint32_t registers = config_.job.first_slot + number * (per_job + 1) * config_.job.slots;
        const std::uint32_t groups = number * (per_job + 1) + 1;
        tofino_job root = job;
        root.workers.assign(per_job, {});
        for (tofino_worker& w : root.workers)
            w.inside = true;
        root.register_slot = registers + per_job * config_.job.slots;
        root.multicast_group = static_cast<std::uint16_t>(groups + per_job);
        const std::uint32_t parent = sw.add_job(root);
        for (std::uint32_t i = 0; i < per_job; ++i) {
            tofino_job part = with_workers(job, first[i]);
            part.register_slot = registers + i * config_.job.slots;
            part.multicast_group = static_cast<std::uint16_t>(groups + i);
            part.parent.kind = parent_kind::inside;
            part.parent.worker = i;
            part.parent.job = parent;
            sw.add_job(part);
        }
    }
}

/// The switch at the top of a subtree, then everything below it; returns its number. `above` is nullptr for the root.
std::uint32_t switchml_machine::add_subtree(std::uint32_t level, std::uint32_t first_worker, const place_above* above)
{
    const auto number = static_cast<std::uint32_t>(switches_.size());
    const std::uint32_t children = config_.tree[level];
    const bool leaf = level + 1 == config_.tree.size();
    tofino_config chip = config_.switch_chip(children + (above == nullptr ? 0 : 1));
    chip.mac = switch_mac(number);
    chip.ip = switch_ip(number);
    switches_.push_back(std::make_unique<tofino_switch>(
        fmt::format("switch_{}", number).c_str(), hardware_.time, hardware_.pool, chip,
        aggregators(config_.tofino, number, pin_waves_), config_.tofino.aggregator != aggregator_kind::model));
    std::uint32_t workers_each = 1;
    for (std::size_t l = level + 1; l < config_.tree.size(); ++l)
        workers_each *= config_.tree[l];
    tofino_job job = job_of(config_, 0, !uses_lossless(config_.run));
    for (std::uint32_t child = 0; child < children; ++child) {
        if (leaf) {
            const std::uint32_t rank = first_worker + child;
            job.workers.push_back(attached(rank, child));
            connect(number, child, *cables_[rank], 1);
            switches_[number]->add_mac(worker_mac(rank), child);
            continue;
        }
        const auto stream = static_cast<std::uint32_t>(config_.workers + trunks_.size());
        trunks_.push_back(std::make_unique<ethernet_link>(fmt::format("trunk_{}", trunks_.size()).c_str(), hardware_.time, hardware_.pool,
                                                          config_.cable(), stream));
        ethernet_link& trunk = *trunks_.back();
        connect(number, child, trunk, 1);
        const place_above here{number, child};
        const std::uint32_t below = add_subtree(level + 1, first_worker + child * workers_each, &here);
        connect(below, config_.tree[level + 1], trunk, 0); // its last port leads up
        tofino_worker w;
        w.mac = uplink_mac(below);
        w.ip = uplink_ip(below);
        w.port = child;
        job.workers.push_back(w);
    }
    if (above != nullptr) {
        job.parent.kind = parent_kind::port;
        job.parent.port = children;
        job.parent.own_mac = uplink_mac(number);
        job.parent.own_ip = uplink_ip(number);
        job.parent.worker = above->child;
        job.parent.mac = switch_mac(above->number);
        job.parent.ip = switch_ip(above->number);
    }
    switches_[number]->add_job(job);
    return number;
}

std::string switchml_machine::chip_name(std::uint32_t rank) const
{
    return rank < config_.workers ? fmt::format("worker {}", rank) : fmt::format("server {}", rank - config_.workers);
}

collective_case switchml_machine::as_run(const collective_case& asked) const
{
    collective_case c = asked;
    if (!abi::by_switch(c.algo))
        return c;
    if (config_.job.jobs > 1)
        c.ranks_per_group = config_.workers_per_job();
    if (c.type == abi::element_type::float32)
        c.quantised_block =
            config_.job.elements_per_packet *
            (config_.job.transport == abi::switchml::transport::rdma ? config_.job.packets_per_message : 1);
    return c;
}

group_layout switchml_machine::groups_of(std::uint32_t ranks_per_group) const
{
    group_layout layout;
    layout.firmware_knows = true; // its job
    layout.members.resize(config_.workers / ranks_per_group);
    for (std::uint32_t rank = 0; rank < config_.workers; ++rank)
        layout.members[rank / ranks_per_group].push_back(rank);
    return layout;
}

std::vector<std::string> switchml_machine::warnings() const
{
    std::vector<std::string> all;
    for (const auto& sw : switches_)
        for (std::uint32_t pipe = 0; pipe < k_tofino_pipes; ++pipe)
            if (const std::string warning = sw->unit(pipe).warning(); !warning.empty())
                all.push_back("waves: " + warning);
    if (const std::string vain = vain_resends(); !vain.empty())
        all.push_back(vain);
    return all;
}

/// "" when what was lost, damaged, repeated or held up explains the packets that come twice.
/// One packet that is lost makes every worker of its slot send its message again.
std::string switchml_machine::vain_resends() const
{
    std::uint64_t trouble = 0, again = 0, packets = 0, sent = 0;
    for (const auto* links : {&cables_, &trunks_})
        for (const auto& link : *links)
            for (const std::uint32_t end : {0u, 1u}) {
                const ethernet_link::direction_stats& seen = link->from(end);
                trouble += seen.lost.value() + seen.corrupted.value() + seen.duplicated.value() + seen.delayed.value();
            }
    for (const chip* const c : chips())
        if (const ethernet_nic* const nic = c->guest<ethernet_nic>(); nic != nullptr) {
            trouble += nic->receiver().bad_frames.value() + nic->receiver().no_room.value() + nic->receiver().dropped_disabled.value();
            sent += nic->sender().entries_sent.value();
        }
    for (const auto& sw : switches_) {
        for (const drop_reason reason : {drop_reason::ingress_simulated, drop_reason::egress_simulated,
                                         drop_reason::recirculation_queue, drop_reason::egress_queue})
            trouble += sw->dropped(reason);
        again += sw->duplicates_ignored.value() + sw->retransmissions.value();
        packets += sw->packets.value();
    }
    const std::uint64_t of_message = config_.job.transport == abi::switchml::transport::rdma ? config_.job.packets_per_message : 1;
    if (sent == 0) // a replay: nobody waits for answers
        return {};
    if (again <= trouble * config_.ranks() * of_message)
        return {};
    return fmt::format("job.timeout = {}: {} of {} packets at the switch came again, though {}: answers take longer than the "
                       "timeout; raise job.timeout.",
                       to_string(config_.job.timeout), again, packets,
                       trouble == 0 ? "nothing was lost" : fmt::format("only {} were lost or held up", trouble));
}

std::string switchml_machine::waits() const
{
    std::string text;
    for (const auto& sw : switches_)
        for (const awaited_sender& sender : sw->awaited())
            if (const std::string line = sender.alone == 0 ? "" : silent_worker(sender); !line.empty())
                text += (text.empty() ? "" : "\n") + line;
    return text;
}

/// "" when the sender is no worker but a switch.
std::string switchml_machine::silent_worker(const awaited_sender& sender) const
{
    const std::uint64_t rank = sender.mac - worker_mac(0);
    if (sender.mac < worker_mac(0) || rank >= config_.workers)
        return "";
    std::string text = fmt::format("job {} waits for worker {}: it alone is missing in {} slots", sender.job, rank,
                                   sender.alone);
    const std::uint64_t now_ps = kernel_now_ps();
    for (const worker_outage_config& o : config_.faults.outages)
        if (o.worker == rank && o.from.value() <= now_ps && (!o.until || o.until->value() > now_ps))
            text += fmt::format("; its cable is down since {} (faults.outages)", to_string(o.from));
    return text;
}

} // namespace weft
