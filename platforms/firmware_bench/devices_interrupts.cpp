// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hostile devices that lose, delay, reorder or invent interrupts, completions and errors.
#include "platforms/firmware_bench/hostile_device.h"

#include "hw/abi/hal.h"
#include "hw/abi/nic.h"
#include "hw/abi/registers.h"

#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint64_t k_us = 1'000'000;
constexpr std::uint64_t k_pending = abi::k_dma_base + abi::dma::SEM_PENDING;
/// Registers of guests that tell the cause of their interrupt.
constexpr std::uint64_t k_guest_pending[] = {abi::k_nic_base + abi::nic::IRQ_PENDING, abi::k_sync_base + abi::sync::IRQ_PENDING,
                                             abi::ccu::k_base + abi::ccu::IRQ_PENDING, abi::ccu::k_base + abi::ccu::k_die_stride + abi::ccu::IRQ_PENDING};
constexpr std::uint32_t k_irq_ccus = abi::k_irq_ccu * ((1u << abi::ccu::k_dies) - 1);
constexpr std::uint64_t k_command_sequence = abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE;
constexpr std::uint64_t k_head = abi::k_dma_base + abi::dma::HEAD(0);
constexpr std::uint64_t k_queue_stride = abi::dma::HEAD(1) - abi::dma::HEAD(0);

constexpr std::uint32_t k_no_guest = abi::k_irq_dma | abi::k_irq_mailbox;

/// Rises of the line of the DMA, or of these lines, as the devices drive them.
class rise_counter {
public:
    explicit rise_counter(std::uint32_t lines = abi::k_irq_dma) : lines_(lines) {}
    /// True when `lines` is the `n`-th rise.
    bool is(std::uint64_t n, std::uint32_t lines)
    {
        const bool up = (lines & lines_) != 0;
        const bool rises = up && !up_;
        up_ = up;
        return rises && ++seen_ == n;
    }

private:
    std::uint32_t lines_;
    bool up_ = false;
    std::uint64_t seen_ = 0;
};

// ---- lost ---------------------------------------------------------------------------------------------------------

class lost_rise final : public fault {
public:
    lost_rise(std::uint64_t n, std::uint32_t lines) : n_(n), lines_(lines), rises_(lines) {}
    void on_lines(fault_gate& gate, std::uint32_t lines) override
    {
        if (rises_.is(n_, lines)) {
            lost_ = true;
            gate.mark();
        }
        lost_ = lost_ && (lines & lines_) != 0;
        gate.drive(lost_ ? lines & ~lines_ : lines);
    }

private:
    std::uint64_t n_;
    std::uint32_t lines_;
    rise_counter rises_;
    bool lost_ = false;
};

class lost_interrupt final : public hostile_device {
public:
    lost_interrupt()
        : hostile_device("lost_interrupt", "the N-th interrupt of the DMA never reaches the core",
                         "exact, or timeout at DMA.SEM_PENDING")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.dma_interrupts; ++n)
            all.push_back(
                {fmt::format("the {} interrupt of the DMA is lost", ordinal(n)), n, 0, abi::k_irq_dma, p.rank});
        for (std::uint64_t n = 1; n <= p.counts.guest_interrupts; ++n)
            all.push_back({fmt::format("the {} interrupt of {} is lost", ordinal(n), p.guests.at(0).name), n, 0,
                           static_cast<std::uint32_t>(p.counts.guest_lines), p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return std::make_unique<lost_rise>(s.n, s.which); }
    std::string judge_error(const strike& s, const rank_answer& answer, const run_facts&) const override
    {
        if ((s.which & ~k_no_guest) != 0)
            return expect_timeout(answer);
        return expect_error(answer, abi::status_code::timeout, {"DMA.SEM_PENDING"});
    }
};

// ---- out of order -------------------------------------------------------------------------------------------------

/// Holds the n-th interrupt (n = 0: every one) back, so that several semaphores have fired, then shows them one at a
/// time, the highest first.
class one_at_a_time final : public fault {
public:
    one_at_a_time(std::uint64_t n, std::uint64_t hold_ps) : n_(n), hold_ps_(hold_ps) {}
    void on_lines(fault_gate& gate, std::uint32_t lines) override
    {
        const bool up = (lines & abi::k_irq_dma) != 0;
        const bool rises = up && !up_;
        up_ = up;
        if (rises && !holding_ && (++seen_ == n_ || n_ == 0)) {
            gate.mark();
            holding_ = true;
            gate.call_in(hold_ps_);
        }
        drive(gate);
    }
    void on_time(fault_gate& gate) override
    {
        holding_ = false;
        drive(gate);
    }
    void after(fault_gate& gate, bus_access& a) override
    {
        if (!a.reads(k_pending) || a.bytes != 8)
            return;
        const std::uint64_t all = a.value() | kept_;
        std::uint64_t shown = all;
        while ((shown & (shown - 1)) != 0)
            shown &= shown - 1;
        kept_ = all & ~shown;
        a.set_value(shown);
        drive(gate);
    }

private:
    void drive(fault_gate& gate)
    {
        std::uint32_t lines = gate.device_lines();
        if (kept_ != 0)
            lines |= abi::k_irq_dma;
        else if (holding_)
            lines &= ~abi::k_irq_dma;
        gate.drive(lines);
    }
    std::uint64_t n_;
    std::uint64_t hold_ps_;
    std::uint64_t seen_ = 0;
    std::uint64_t kept_ = 0;
    bool up_ = false;
    bool holding_ = false;
};

/// HEAD of every queue as it was at the read before, every other time: completions of one queue overtake the other's.
class lagging_head final : public fault {
public:
    void after(fault_gate& gate, bus_access& a) override
    {
        if (a.is_write || a.address < k_head || (a.address - k_head) % k_queue_stride != 0 ||
            (a.address - k_head) / k_queue_stride >= abi::dma::HEAD_count)
            return;
        const std::uint64_t q = (a.address - k_head) / k_queue_stride;
        const std::uint64_t now = a.value();
        if (++reads_[q] % 2 == 1 && now != shown_[q]) {
            a.set_value(shown_[q]);
            gate.mark(a.address);
        }
        shown_[q] = a.value();
    }

private:
    std::uint64_t reads_[abi::dma::HEAD_count] = {};
    std::uint64_t shown_[abi::dma::HEAD_count] = {};
};

class out_of_order final : public hostile_device {
public:
    out_of_order()
        : hostile_device("out_of_order",
                         "completions come late and in another order: semaphores one by one, HEAD lagging", "exact")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (const std::uint64_t hold : {k_us / 2, 3 * k_us})
            all.push_back(
                {fmt::format("every interrupt is {} late, semaphores are shown one by one", to_string(duration(hold))),
                 0, hold, 0, p.rank});
        all.push_back({"HEAD lags behind at every other read", 1, 0, 1, p.rank});
        for (std::uint64_t n = 1; n <= p.counts.dma_interrupts; ++n)
            all.push_back({fmt::format("the {} interrupt is 5 us late, semaphores are shown one by one", ordinal(n)), n,
                           5 * k_us, 0, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        if (s.which == 1)
            return std::make_unique<lagging_head>();
        return std::make_unique<one_at_a_time>(s.n, s.value);
    }
    bool must_finish(const strike&, const healthy_profile&) const override { return true; }
    std::string judge_error(const strike&, const rank_answer&, const run_facts&) const override { return ""; }
};

// ---- errors -------------------------------------------------------------------------------------------------------

/// The queue of the n-th doorbell stops with error `bits`, and the device says so.
class failing_queue final : public fault {
public:
    failing_queue(std::uint64_t n, std::uint32_t bits) : n_(n), bits_(bits) {}
    gate_action before(fault_gate& gate, bus_access& a) override
    {
        const std::uint64_t tail = abi::k_dma_base + abi::dma::TAIL(0);
        if (a.is_write && a.address >= tail && (a.address - tail) % k_queue_stride == 0 &&
            (a.address - tail) / k_queue_stride < abi::dma::TAIL_count) {
            if (gate.doorbells() == n_) {
                stopped_ = a.address;
                gate.mark(a.address);
                gate.call_in(k_us);
            }
            if (a.address == stopped_)
                return gate_action::lose;
        }
        if (a.writes(abi::k_dma_base + abi::dma::ERROR)) {
            error_ &= ~static_cast<std::uint32_t>(a.value());
            drive(gate);
        }
        return gate_action::pass;
    }
    void after(fault_gate& gate, bus_access& a) override
    {
        if (a.reads(abi::k_dma_base + abi::dma::ERROR))
            a.set_value(a.value() | error_);
        else if (a.reads(abi::k_dma_base + abi::dma::IRQ_STATUS))
            a.set_value(a.value() | (error_ != 0 ? 2u : 0u));
        else if (a.reads(abi::k_dma_base + abi::dma::ERROR_QUEUE))
            a.set_value((stopped_ - abi::k_dma_base - abi::dma::TAIL(0)) / k_queue_stride);
        drive(gate);
    }
    void on_lines(fault_gate& gate, std::uint32_t) override { drive(gate); }
    void on_time(fault_gate& gate) override
    {
        error_ = bits_;
        drive(gate);
    }

private:
    void drive(fault_gate& gate)
    {
        const bool enabled = error_ != 0 && (gate.peek(abi::k_dma_base + abi::dma::IRQ_ENABLE, 4) & 2) != 0;
        gate.drive(gate.device_lines() | (enabled ? abi::k_irq_dma : 0));
    }
    std::uint64_t n_;
    std::uint32_t bits_;
    std::uint32_t error_ = 0;
    std::uint64_t stopped_ = 0; ///< address of TAIL of the queue
};

class error_completion final : public hostile_device {
public:
    error_completion()
        : hostile_device("error_completion", "the queue of the N-th doorbell stops with an error instead of completing",
                         "device_error at DMA.ERROR with the error bits and the queue")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.doorbells; ++n) {
            const std::uint64_t bits = 1ull << n % 3;
            all.push_back({fmt::format("the queue of the {} doorbell stops with error {:#x}", ordinal(n), bits), n,
                           bits, 0, p.rank});
        }
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        return std::make_unique<failing_queue>(s.n, static_cast<std::uint32_t>(s.value));
    }
    std::string judge_error(const strike& s, const rank_answer& answer, const run_facts& facts) const override
    {
        if (const std::string wrong = expect_error(answer, abi::status_code::device_error, {"DMA.ERROR"});
            !wrong.empty())
            return wrong;
        const std::uint64_t queue =
            (facts.counts.struck_address - abi::k_dma_base - abi::dma::TAIL(0)) / k_queue_stride;
        const std::uint64_t right = s.value | queue << 32;
        return answer.detail == right ? ""
                                      : fmt::format("reports {:#x}, ERROR and queue are {:#x}", answer.detail, right);
    }
};

// ---- spurious -----------------------------------------------------------------------------------------------------

/// Raises `line` at `at_ps` for no reason, `pulses` times for `width_ps`; width 0: until the end of the run.
class invented final : public fault {
public:
    invented(std::uint32_t line, std::uint64_t at_ps, std::uint64_t width_ps, unsigned pulses)
        : line_(line), at_ps_(at_ps), width_ps_(width_ps), edges_(width_ps == 0 ? 1 : 2 * pulses)
    {
    }
    void start(fault_gate& gate) override { gate.call_at(at_ps_); }
    void on_time(fault_gate& gate) override
    {
        gate.mark();
        up_ = !up_;
        gate.drive(lines(gate));
        if (--edges_ != 0)
            gate.call_in(width_ps_);
    }
    void on_lines(fault_gate& gate, std::uint32_t) override { gate.drive(lines(gate)); }

private:
    std::uint32_t lines(const fault_gate& gate) const { return gate.device_lines() | (up_ ? line_ : 0); }
    std::uint32_t line_;
    std::uint64_t at_ps_;
    std::uint64_t width_ps_;
    unsigned edges_;
    bool up_ = false;
};

std::string line_name(std::uint32_t line, const healthy_profile& p)
{
    return line == abi::k_irq_dma ? "DMA" : line == abi::k_irq_mailbox ? "mailbox" : p.guests.at(0).name;
}
/// Of DMA, mailbox and guests.
std::vector<std::uint32_t> lines_of(const healthy_profile& p)
{
    std::vector<std::uint32_t> all{abi::k_irq_dma, abi::k_irq_mailbox};
    if (p.counts.guest_lines != 0)
        all.push_back(static_cast<std::uint32_t>(p.counts.guest_lines));
    return all;
}

/// Times over the whole run, from before the first collective.
std::uint64_t moment(const healthy_profile& p, std::uint64_t i, std::uint64_t of)
{
    const std::uint64_t begin = p.first_start_ps / 2;
    return begin + (p.end_ps - begin) * i / of;
}

class spurious final : public hostile_device {
public:
    spurious()
        : hostile_device("spurious",
                         "interrupts of DMA or mailbox without a cause, three in a row; also while a neighbour is late",
                         "exact")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        constexpr std::uint64_t k_times = 30;
        std::vector<strike> all;
        for (std::uint64_t i = 0; i < k_times; ++i)
            for (const std::uint32_t line : lines_of(p))
                all.push_back({fmt::format("interrupts of the {} without a cause from {} on", line_name(line, p),
                                           rounded_text(duration(moment(p, i, k_times)))),
                               0, moment(p, i, k_times), line, p.rank});
        // Whoever takes these for completions sends what has not arrived.
        for (std::uint32_t late = 0; late < p.ranks && late < 16; ++late)
            for (std::uint64_t i = 0; i < 6 && late != p.rank; ++i) {
                const std::uint64_t at = p.first_start_ps + (2 + 2 * i) * k_us;
                all.push_back(
                    {fmt::format("rank {} is {} late, and interrupts of the DMA come without a cause from {} on", late,
                                 to_string(duration(k_late_ps)), rounded_text(duration(at))),
                     late + 1, at, abi::k_irq_dma, p.rank});
            }
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        return std::make_unique<invented>(s.which, s.value, 400'000, 3);
    }
    std::unique_ptr<fault> make_for(const strike& s, std::uint32_t rank) const override
    {
        return s.n == rank + 1 ? make_late_command(k_late_ps) : hostile_device::make_for(s, rank);
    }
    bool must_finish(const strike&, const healthy_profile&) const override { return true; }
    std::string judge_error(const strike&, const rank_answer&, const run_facts&) const override { return ""; }

private:
    static constexpr std::uint64_t k_late_ps = 20 * k_us;
};

/// The same without end, while the register that tells the cause says that there is none.
class mute_storm final : public fault {
public:
    mute_storm(std::uint32_t line, std::uint64_t at_ps) : line_(line), at_ps_(at_ps) {}
    void start(fault_gate& gate) override { gate.call_at(at_ps_); }
    void on_time(fault_gate& gate) override
    {
        gate.mark();
        up_ = true;
        gate.drive(gate.device_lines() | line_);
    }
    void on_lines(fault_gate& gate, std::uint32_t lines) override { gate.drive(lines | (up_ ? line_ : 0)); }
    void after(fault_gate&, bus_access& a) override
    {
        if (line_ == abi::k_irq_dma && up_ && a.reads(k_pending))
            a.set_value(0);
        for (const std::uint64_t pending : k_guest_pending)
            if ((line_ & ~k_no_guest) != 0 && up_ && a.reads(pending))
                a.set_value(0);
        if (line_ == abi::k_irq_mailbox && a.reads(k_command_sequence)) {
            if (up_)
                a.set_value(last_sequence_);
            last_sequence_ = a.value();
        }
    }

private:
    std::uint32_t line_;
    std::uint64_t at_ps_;
    std::uint64_t last_sequence_ = 0;
    bool up_ = false;
};

class interrupt_storm final : public hostile_device {
public:
    interrupt_storm()
        : hostile_device("interrupt_storm",
                         "the interrupt line of DMA or mailbox stays up, also while the register says no cause",
                         "exact, or device_error at DMA.IRQ_STATUS or MAILBOX.COMMAND_SEQUENCE")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        constexpr std::uint64_t k_times = 12;
        std::vector<strike> all;
        for (std::uint64_t i = 0; i < k_times; ++i)
            for (const std::uint32_t line : lines_of(p))
                for (const bool mute : {false, true})
                    all.push_back({fmt::format("the interrupt line of the {} stays up from {} on{}", line_name(line, p),
                                               rounded_text(duration(moment(p, i, k_times))),
                                               mute ? " without a cause in its register" : ""),
                                   mute ? 1u : 0u, moment(p, i, k_times), line, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        if (s.n != 0)
            return std::make_unique<mute_storm>(s.which, s.value);
        return std::make_unique<invented>(s.which, s.value, 0, 1);
    }
    std::string judge_error(const strike& s, const rank_answer& answer, const run_facts&) const override
    {
        return expect_error(answer, abi::status_code::device_error,
                            {s.which == abi::k_irq_dma       ? "DMA.IRQ_STATUS"
                             : s.which == abi::k_irq_mailbox ? "MAILBOX.COMMAND_SEQUENCE"
                             : s.which == abi::k_irq_sync    ? "SYNC.IRQ_PENDING"
                             : (s.which & k_irq_ccus) != 0   ? "CCU.IRQ_PENDING"
                                                             : "NIC.IRQ_PENDING"});
    }
};

} // namespace

void add_interrupt_devices(std::vector<std::unique_ptr<hostile_device>>& all)
{
    all.push_back(std::make_unique<lost_interrupt>());
    all.push_back(std::make_unique<out_of_order>());
    all.push_back(std::make_unique<error_completion>());
    all.push_back(std::make_unique<spurious>());
    all.push_back(std::make_unique<interrupt_storm>());
}

} // namespace weft
