// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hostile devices that refuse, lose or delay accesses, and what is outside the chip: neighbours and links.
#include "platforms/firmware_bench/hostile_device.h"

#include "hw/abi/nic.h"
#include "hw/abi/registers.h"
#include "hw/abi/switchml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace weft {

namespace {

/// Index of the register of an array that `offset` is, none when it is none.
template <class Offset>
std::optional<std::uint32_t> element(std::uint64_t address, std::uint32_t count, Offset offset_of)
{
    for (std::uint32_t i = 0; i < count; ++i)
        if (address == abi::k_dma_base + offset_of(i))
            return i;
    return {};
}

// ---- bus errors ---------------------------------------------------------------------------------------------------

class refused final : public fault {
public:
    refused(std::uint64_t n, bool for_good) : n_(n), for_good_(for_good) {}
    gate_action before(fault_gate& gate, bus_access& a) override
    {
        if (a.number < n_ || (a.number > n_ && !for_good_))
            return gate_action::pass;
        gate.mark(a.address);
        return gate_action::refuse;
    }

private:
    std::uint64_t n_;
    bool for_good_;
};

/// Which part of the chip an address belongs to, as the first word of `where` names it.
std::vector<std::string> part_of(std::uint64_t address)
{
    if (address >= abi::k_hbm_base)
        return {"DMA.RING", "NIC."};
    if (address >= abi::ccu::k_base)
        return {"CCU."};
    if (address >= abi::k_sync_base)
        return {"SYNC."};
    if (address >= abi::k_nic_base)
        return {"NIC."};
    if (address >= abi::k_dma_base)
        return {"DMA."};
    if (address >= abi::k_mailbox_base)
        return {"MAILBOX."};
    if (address >= abi::switchml::k_table_address)
        return {"switchml"};
    if (address >= abi::k_command_address)
        return {"MAILBOX.", "command"};
    return {"table"};
}

class bus_error final : public hostile_device {
public:
    bus_error()
        : hostile_device("bus_error", "the N-th bus access of the core is answered with an error, for every N",
                         "bus_error at the block that was accessed, with the address; no DONE without a response")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.accesses; ++n)
            all.push_back({fmt::format("the {} access is refused", ordinal(n)), n, 0, 0, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return std::make_unique<refused>(s.n, false); }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts& facts) const override
    {
        if (const std::string wrong = expect_error(answer, abi::status_code::bus_error, {}); !wrong.empty())
            return wrong;
        const std::uint64_t address = facts.counts.struck_address;
        if (answer.detail != address)
            return fmt::format("reports a bus error at address {:#x}, but {} ({:#x}) was refused", answer.detail,
                               address_text(address), address);
        for (const std::string& part : part_of(address))
            if (answer.where.rfind(part, 0) == 0)
                return "";
        return fmt::format("names {} for a bus error at {}", answer.where, address_text(address));
    }
    bool cannot_announce(const strike&, const run_facts& facts) const override
    {
        const std::uint64_t offset = facts.counts.struck_address - abi::k_mailbox_base;
        return offset == abi::mailbox::TYPE || offset == abi::mailbox::VERSION;
    }
    bool cannot_answer(const strike&, const run_facts& facts) const override
    {
        const std::uint64_t address = facts.counts.struck_address;
        return address == abi::k_mailbox_base + abi::mailbox::DONE ||
               (address >= abi::k_response_address && address < abi::k_response_address + sizeof(abi::response));
    }
};

class dead_bus final : public hostile_device {
public:
    dead_bus()
        : hostile_device("dead_bus", "from the N-th access on the core reaches nothing any more",
                         "the firmware returns; it does not go on trying")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.accesses; ++n)
            all.push_back({fmt::format("from the {} access on all are refused", ordinal(n)), n, 0, 0, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return std::make_unique<refused>(s.n, true); }
    std::string judge_error(const strike&, const rank_answer&, const run_facts&) const override
    {
        return "announces an answer over a bus that is dead";
    }
    bool cannot_answer(const strike&, const run_facts&) const override { return true; }
};

// ---- doorbells, armed semaphores, HEAD ----------------------------------------------------------------------------

/// Of the DMA, or of guests.
class lost_doorbell final : public fault {
public:
    lost_doorbell(std::uint64_t n, bool for_good, bool guests) : n_(n), for_good_(for_good), guests_(guests) {}
    gate_action before(fault_gate& gate, bus_access& a) override
    {
        const bool rings = guests_ ? fault_gate::rings_guest(a)
                                   : a.is_write && element(a.address, abi::dma::TAIL_count, abi::dma::TAIL).has_value();
        const std::uint64_t number = guests_ ? gate.guest_doorbells() : gate.doorbells();
        if (!rings || (number != n_ && !(stuck_ == a.address && for_good_)))
            return gate_action::pass;
        stuck_ = a.address;
        gate.mark(a.address);
        return gate_action::lose;
    }

private:
    std::uint64_t n_;
    bool for_good_;
    bool guests_;
    std::uint64_t stuck_ = 0;
};

class stuck_doorbell final : public hostile_device {
public:
    stuck_doorbell()
        : hostile_device("stuck_doorbell",
                         "the N-th doorbell does not reach the DMA, or all of its queue from there on",
                         "exact (a later doorbell tells all), or timeout at DMA.HEAD or DMA.SEM_PENDING")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (const bool guests : {false, true})
            for (std::uint64_t n = 1; n <= (guests ? p.counts.guest_doorbells : p.counts.doorbells); ++n)
                for (const bool for_good : {false, true})
                    all.push_back({fmt::format("the {} doorbell{}{} lost", ordinal(n),
                                               guests ? " of " + p.guests.at(0).name : std::string(),
                                               for_good ? " and the later ones of its queue are" : " is"),
                                   n, for_good ? 1u : 0u, guests ? 1u : 0u, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        return std::make_unique<lost_doorbell>(s.n, s.value != 0, s.which != 0);
    }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        return expect_timeout(answer);
    }
};

class lost_arm final : public fault {
public:
    explicit lost_arm(std::uint64_t n) : n_(n) {}
    gate_action before(fault_gate& gate, bus_access& a) override
    {
        if (!a.is_write || !element(a.address, abi::dma::SEM_THRESHOLD_count, abi::dma::SEM_THRESHOLD) || ++seen_ != n_)
            return gate_action::pass;
        gate.mark(a.address);
        return gate_action::lose;
    }

private:
    std::uint64_t n_;
    std::uint64_t seen_ = 0;
};

/// After the answer the host takes its time: the next command comes later than any storm is served.
class lost_acknowledgement final : public fault {
public:
    explicit lost_acknowledgement(std::uint64_t n) : n_(n) {}
    gate_action before(fault_gate& gate, bus_access& a) override
    {
        constexpr std::uint64_t k_think_ps = 30'000'000;
        if (a.writes(abi::k_mailbox_base + abi::mailbox::DONE) && seen_ == n_)
            gate.call_in(k_think_ps); // the host posts when nothing is under way any more
        if (!a.writes(abi::k_mailbox_base + abi::mailbox::COMMAND_ACK) || ++seen_ != n_)
            return gate_action::pass;
        gate.mark(a.address);
        return gate_action::lose;
    }

private:
    std::uint64_t n_;
    std::uint64_t seen_ = 0;
};

class lost_acknowledge final : public hostile_device {
public:
    lost_acknowledge()
        : hostile_device("lost_acknowledge",
                         "the acknowledgement of the N-th command is lost, and the next command is a while away",
                         "exact: the line stays up, and acknowledging again takes it down")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.commands; ++n)
            all.push_back({fmt::format("the acknowledgement of the {} command is lost", ordinal(n)), n, 0, 0, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return std::make_unique<lost_acknowledgement>(s.n); }
    bool must_finish(const strike&, const healthy_profile&) const override { return true; }
    std::string judge_error(const strike&, const rank_answer&, const run_facts&) const override { return ""; }
};

class deaf_semaphore final : public hostile_device {
public:
    deaf_semaphore()
        : hostile_device("deaf_semaphore", "the N-th threshold that the core arms does not reach the DMA",
                         "exact, or timeout at DMA.SEM_PENDING")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.arms; ++n)
            all.push_back({fmt::format("the {} write of a threshold is lost", ordinal(n)), n, 0, 0, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return std::make_unique<lost_arm>(s.n); }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        return expect_error(answer, abi::status_code::timeout, {"DMA.SEM_PENDING"});
    }
};

class frozen_head final : public fault {
public:
    explicit frozen_head(std::uint64_t n) : n_(n) {}
    void after(fault_gate& gate, bus_access& a) override
    {
        const auto queue = a.is_write ? std::nullopt : element(a.address, abi::dma::HEAD_count, abi::dma::HEAD);
        if (!queue)
            return;
        if (++seen_ >= n_) {
            a.set_value(last_[*queue]);
            gate.mark(a.address);
        }
        last_[*queue] = a.value();
    }

private:
    std::uint64_t n_;
    std::uint64_t seen_ = 0;
    std::uint64_t last_[abi::dma::HEAD_count] = {};
};

class stuck_completion final : public hostile_device {
public:
    stuck_completion()
        : hostile_device("stuck_completion", "HEAD stands still from its N-th read on: completions are never seen",
                         "exact (what was known suffices), or timeout at DMA.HEAD")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.head_reads; ++n)
            all.push_back({fmt::format("HEAD stands still from its {} read on", ordinal(n)), n, 0, 0, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return std::make_unique<frozen_head>(s.n); }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        return expect_error(answer, abi::status_code::timeout, {"DMA.HEAD"});
    }
};

// ---- time ---------------------------------------------------------------------------------------------------------

class slow final : public fault {
public:
    enum class which : std::uint32_t { all, ring, registers };
    slow(which what, std::uint64_t extra_ps) : what_(what), extra_ps_(extra_ps) {}
    gate_action before(fault_gate& gate, bus_access& a) override
    {
        const bool ring = gate.in_descriptor_ring(a);
        if (what_ == which::all || ring == (what_ == which::ring)) {
            gate.mark(a.address);
            // The core waits on the bus; its own local time is settled before every access.
            sc_core::wait(sc_time_from_ps(extra_ps_));
        }
        return gate_action::pass;
    }

private:
    which what_;
    std::uint64_t extra_ps_;
};

class slow_bus final : public hostile_device {
public:
    slow_bus()
        : hostile_device("slow_bus",
                         "every access of the core takes longer: all of them, those to memory, or to registers",
                         "exact: nothing may depend on how long an access takes")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        static const char* const k_names[] = {"every access", "every write of a descriptor", "every register"};
        std::vector<strike> all;
        for (std::uint32_t which = 0; which < 3; ++which)
            for (const std::uint64_t percent : {5, 20, 50}) {
                // The whole run gets this share of a timeout longer: no single wait may run out.
                const std::uint64_t accesses = which == 1 ? p.counts.descriptors : p.counts.accesses;
                const std::uint64_t extra = p.timeout_ps * percent / (100 * std::max<std::uint64_t>(accesses, 1));
                all.push_back({fmt::format("{} takes {} longer", k_names[which], rounded_text(duration(extra))),
                               percent, extra, which, p.rank});
            }
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        return std::make_unique<slow>(static_cast<slow::which>(s.which), s.value);
    }
    bool must_finish(const strike&, const healthy_profile&) const override { return true; }
    std::string judge_error(const strike&, const rank_answer&, const run_facts&) const override { return ""; }
};

/// Holds back the mailbox interrupt of the first command.
class late_command final : public fault {
public:
    explicit late_command(std::uint64_t by_ps) : by_ps_(by_ps) {}
    void on_lines(fault_gate& gate, std::uint32_t lines) override
    {
        if (held_ == state::not_yet && (lines & abi::k_irq_mailbox) != 0) {
            held_ = state::held;
            gate.mark();
            gate.call_in(by_ps_);
        }
        gate.drive(held_ == state::held ? lines & ~abi::k_irq_mailbox : lines);
    }
    void on_time(fault_gate& gate) override
    {
        held_ = state::over;
        gate.drive(gate.device_lines());
    }

private:
    enum class state : std::uint8_t { not_yet, held, over };
    std::uint64_t by_ps_;
    state held_ = state::not_yet;
};

class late_neighbour final : public hostile_device {
public:
    late_neighbour()
        : hostile_device("late_neighbour", "one rank takes its first command later than the others",
                         "exact when it comes within the timeout; else timeout at DMA.SEM_PENDING or DMA.HEAD, or ok where engines of the others go on without "
                         "their cores")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint32_t rank = 0; rank < p.ranks; ++rank)
            for (const std::uint64_t percent : {2, 10, 40, 80, 150, 400})
                all.push_back(
                    {fmt::format("rank {} is {} late", rank, to_string(duration(p.timeout_ps / 100 * percent))),
                     percent, p.timeout_ps / 100 * percent, 0, rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return make_late_command(s.value); }
    bool must_finish(const strike& s, const healthy_profile&) const override { return s.n < 100; }
    bool may_end_well(const strike&, const healthy_profile& p) const override { return p.engines_go_on; }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        return expect_timeout(answer);
    }
};

class link_down final : public hostile_device {
public:
    link_down()
        : hostile_device("link_down", "a link between chips goes down in the middle, unannounced",
                         "exact (it was not needed any more), or timeout at DMA.SEM_PENDING or DMA.HEAD")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        constexpr std::uint64_t k_times = 12;
        std::vector<strike> all;
        for (std::uint64_t i = 0; i < k_times; ++i)
            for (std::uint32_t link = 0; link < p.links.size(); ++link) {
                const std::uint64_t at = p.first_start_ps + (p.end_ps - p.first_start_ps) * i / k_times + 1;
                all.push_back({fmt::format("link {} goes down at {}", p.links[link].name, rounded_text(duration(at))),
                               i + 1, at, link, strike::k_nobody});
            }
        return all;
    }
    std::string setting(const strike& s, const firmware_bench_machine& m) const override
    {
        std::string text = m.links[s.which].setting;
        return text.replace(text.find("{}"), 2, fmt::format("{} ps", s.value));
    }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        return expect_timeout(answer);
    }
};

} // namespace

std::unique_ptr<fault> make_late_command(std::uint64_t by_ps) { return std::make_unique<late_command>(by_ps); }

void add_access_devices(std::vector<std::unique_ptr<hostile_device>>& all)
{
    all.push_back(std::make_unique<bus_error>());
    all.push_back(std::make_unique<dead_bus>());
    all.push_back(std::make_unique<stuck_doorbell>());
    all.push_back(std::make_unique<lost_acknowledge>());
    all.push_back(std::make_unique<deaf_semaphore>());
    all.push_back(std::make_unique<stuck_completion>());
    all.push_back(std::make_unique<slow_bus>());
    all.push_back(std::make_unique<late_neighbour>());
    all.push_back(std::make_unique<link_down>());
}

} // namespace weft
