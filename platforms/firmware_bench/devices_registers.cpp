// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hostile devices whose registers or memory say something else than they should.
#include "platforms/firmware_bench/hostile_device.h"

#include "hw/abi/nic.h"
#include "hw/abi/registers.h"

#include <fmt/format.h>

#include <cstring>

namespace weft {

namespace {

constexpr std::uint64_t k_dma = abi::k_dma_base;
constexpr std::uint64_t k_mailbox = abi::k_mailbox_base;
// Devices begin alike, so that they can tell what they are.
static_assert(abi::nic::TYPE == abi::dma::TYPE && abi::nic::VERSION == abi::dma::VERSION);

/// A register that reads as `value` whatever it holds.
class other_value final : public fault {
public:
    other_value(std::uint64_t address, std::uint64_t value) : address_(address), value_(value) {}
    void after(fault_gate& gate, bus_access& a) override
    {
        if (!a.reads(address_))
            return;
        a.set_value(value_);
        gate.mark(a.address);
    }

private:
    std::uint64_t address_;
    std::uint64_t value_;
};

/// Devices that identify themselves as something else. `which` is the index of the register.
class wrong_identity : public hostile_device {
public:
    struct identity {
        std::uint64_t address;
        std::string where;
        std::vector<std::uint64_t> values;
    };
    /// `of_guests`: the register with which guests tell the same, as all devices do.
    wrong_identity(const char* name, const char* summary, const char* right, abi::status_code code,
                   std::vector<identity> identities, identity of_guests)
        : hostile_device(name, summary, right), code_(code), identities_(std::move(identities)),
          of_guests_(std::move(of_guests))
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        const auto add = [&](const identity& i, std::uint32_t which) {
            for (const std::uint64_t value : i.values)
                all.push_back({fmt::format("{} reads as {:#x}", i.where, value), 1, value, which, p.rank});
        };
        std::uint32_t which = 0;
        for (const identity& i : identities_)
            add(i, which++);
        for (const guest_window& g : p.guests)
            if (g.base == abi::k_nic_base || of_guests_.address != abi::nic::QUEUES) // no other guest has queues
                add({0, g.name + of_guests_.where, of_guests_.values}, k_guest | static_cast<std::uint32_t>(g.base >> 16));
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        return std::make_unique<other_value>(register_of(s), s.value);
    }
    std::string judge_finish(const strike&, const run_facts&) const override
    {
        return "the run went on as if the device were the right one";
    }
    std::string judge_error(const strike& s, const rank_answer& answer, const run_facts& facts) const override
    {
        const bool of_guest = (s.which & k_guest) != 0;
        const bool of_dma = !of_guest && register_of(s) >= k_dma && register_of(s) < k_dma + 0x1'0000;
        const std::uint64_t writes = of_guest ? 0 : of_dma ? facts.counts.dma_writes : facts.counts.mailbox_writes;
        std::string where = s.text.substr(0, s.text.find(' '));
        for (std::size_t dot; (dot = where.find('.')) != std::string::npos && dot > 0 && where[dot - 1] >= '0' && where[dot - 1] <= '9';)
            where.erase(dot - 1, 1); // drivers name the device, not which of several it is
        if (const std::string wrong = expect_error(answer, code_, {where}); !wrong.empty())
            return wrong;
        if (answer.detail != s.value)
            return fmt::format("reports that it found {:#x}, where it read {:#x}", answer.detail, s.value);
        return writes == 0 ? "" : fmt::format("wrote {} times to a device that it does not know", writes);
    }
    bool cannot_announce(const strike& s, const run_facts&) const override
    {
        return register_of(s) == k_mailbox + abi::mailbox::TYPE || register_of(s) == k_mailbox + abi::mailbox::VERSION;
    }

private:
    static constexpr std::uint32_t k_guest = 1u << 31; ///< in strike::which: windows are 64 KiB or more
    std::uint64_t register_of(const strike& s) const
    {
        return (s.which & k_guest) == 0 ? identities_[s.which].address
                                        : (std::uint64_t{s.which & ~k_guest} << 16) + of_guests_.address;
    }
    abi::status_code code_;
    std::vector<identity> identities_;
    identity of_guests_;
};

/// Flips one bit of the platform table, whenever it is read, or of the n-th descriptor that is written.
class flipped_bit final : public fault {
public:
    enum class block { table, descriptor };
    flipped_bit(block what, std::uint64_t n, std::uint32_t bit) : what_(what), n_(n), bit_(bit) {}
    gate_action before(fault_gate& gate, bus_access& a) override
    {
        if (what_ == block::descriptor && a.is_write && gate.in_descriptor_ring(a) && ++seen_ == n_)
            flip(gate, a);
        return gate_action::pass;
    }
    void after(fault_gate& gate, bus_access& a) override
    {
        if (what_ == block::table && !a.is_write && a.address >= abi::k_platform_table_address &&
            a.address < abi::k_platform_table_address + sizeof(abi::platform_table))
            flip(gate, a);
    }

private:
    void flip(fault_gate& gate, bus_access& a)
    {
        // The core may read or write the block in pieces.
        const std::uint64_t begin = what_ == block::table ? abi::k_platform_table_address : a.address;
        const std::uint64_t at = begin + bit_ / 8;
        if (at < a.address || at >= a.address + a.bytes)
            return;
        a.data[at - a.address] ^= static_cast<std::uint8_t>(1u << bit_ % 8);
        gate.mark(a.address);
    }
    block what_;
    std::uint64_t n_;
    std::uint32_t bit_;
    std::uint64_t seen_ = 0;
};

class corrupted_table final : public hostile_device {
public:
    corrupted_table()
        : hostile_device("corrupted_table", "one bit of the platform table reads back flipped",
                         "corrupted at a field of the table, or wrong_version at table.version")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint32_t word = 0; word < sizeof(abi::platform_table) / 4; ++word) {
            const std::uint32_t bit = word * 32 + word * 7 % 32;
            all.push_back({fmt::format("bit {} of the platform table is flipped", bit), 1, 0, bit, p.rank});
        }
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        return std::make_unique<flipped_bit>(flipped_bit::block::table, s.n, s.which);
    }
    std::string judge_finish(const strike&, const run_facts&) const override
    {
        return "the run went on with a table that is not the builder's";
    }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        if (answer.where == "table.version")
            return expect_error(answer, abi::status_code::wrong_version, {});
        if (answer.where.rfind("table.", 0) != 0)
            return expect_error(answer, abi::status_code::corrupted, {"table.check"});
        return expect_error(answer, abi::status_code::corrupted, {});
    }
};

class corrupted_descriptor final : public hostile_device {
public:
    corrupted_descriptor()
        : hostile_device("corrupted_descriptor", "the device reads the N-th descriptor back with one bit flipped",
                         "device_error at DMA.ERROR with the bit of bad descriptors")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.descriptors; ++n) {
            const auto bit = static_cast<std::uint32_t>(n * 37 % (abi::k_descriptor_bytes * 8));
            all.push_back({fmt::format("bit {} of the {} descriptor is flipped", bit, ordinal(n)), n, 0, bit, p.rank});
        }
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override
    {
        return std::make_unique<flipped_bit>(flipped_bit::block::descriptor, s.n, s.which);
    }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        if (const std::string wrong = expect_error(answer, abi::status_code::device_error, {"DMA.ERROR"});
            !wrong.empty())
            return wrong;
        return (answer.detail & 1) != 0 ? "" : fmt::format("reports error bits {:#x} without bit 0", answer.detail);
    }
};

/// The n-th command has the number of the one before, however often the core reads it.
class old_command final : public fault {
public:
    explicit old_command(std::uint64_t n) : n_(n) {}
    void after(fault_gate& gate, bus_access& a) override
    {
        if (a.is_write || a.address != abi::k_command_address || a.bytes < sizeof(std::uint32_t))
            return;
        std::uint32_t sequence = 0;
        std::memcpy(&sequence, a.data, sizeof sequence);
        if (sequence != n_) // the host counts commands from 1
            return;
        --sequence;
        std::memcpy(a.data, &sequence, sizeof sequence);
        gate.mark(a.address);
    }

private:
    std::uint64_t n_;
};

class stale_command final : public hostile_device {
public:
    stale_command()
        : hostile_device("stale_command", "the command in memory is not the one that the mailbox announces",
                         "corrupted at command.sequence")
    {
    }
    std::vector<strike> strikes(const healthy_profile& p) const override
    {
        std::vector<strike> all;
        for (std::uint64_t n = 1; n <= p.counts.commands; ++n)
            all.push_back({fmt::format("the {} command in memory has the number before", ordinal(n)), n, 0, 0, p.rank});
        return all;
    }
    std::unique_ptr<fault> make(const strike& s) const override { return std::make_unique<old_command>(s.n); }
    std::string judge_finish(const strike&, const run_facts&) const override
    {
        return "the run went on with a command that was not announced";
    }
    std::string judge_error(const strike&, const rank_answer& answer, const run_facts&) const override
    {
        return expect_error(answer, abi::status_code::corrupted, {"command.sequence"});
    }
};

} // namespace

void add_register_devices(std::vector<std::unique_ptr<hostile_device>>& all)
{
    constexpr std::uint64_t k_ones = 0xffff'ffff;
    using abi::status_code;
    all.push_back(std::make_unique<wrong_identity>(
        "wrong_version", "DMA or mailbox of another version", "wrong_version at VERSION; the device is not written to",
        status_code::wrong_version,
        std::vector<wrong_identity::identity>{{k_dma + abi::dma::VERSION, "DMA.VERSION", {0, 2, 0x101, k_ones}},
                                              {k_mailbox + abi::mailbox::VERSION, "MAILBOX.VERSION", {0, 2, k_ones}}},
        wrong_identity::identity{abi::nic::VERSION, ".VERSION", {0, 0x101, k_ones}}));
    all.push_back(std::make_unique<wrong_identity>(
        "wrong_type", "another device where DMA or mailbox should be",
        "wrong_device at TYPE; the device is not written to", status_code::wrong_device,
        std::vector<wrong_identity::identity>{
            {k_dma + abi::dma::TYPE, "DMA.TYPE", {0, abi::mailbox::TYPE_reset, k_ones}},
            {k_mailbox + abi::mailbox::TYPE, "MAILBOX.TYPE", {0, abi::dma::TYPE_reset, k_ones}}},
        wrong_identity::identity{abi::nic::TYPE, ".TYPE", {0, abi::dma::TYPE_reset, k_ones}}));
    all.push_back(std::make_unique<wrong_identity>(
        "small_device", "a DMA with fewer queues or semaphores than the firmware needs",
        "unsupported at QUEUES or SEMAPHORES; the device is not written to", status_code::unsupported,
        std::vector<wrong_identity::identity>{{k_dma + abi::dma::QUEUES, "DMA.QUEUES", {0, 1, 7}},
                                              {k_dma + abi::dma::SEMAPHORES, "DMA.SEMAPHORES", {0, 16, 63}}},
        wrong_identity::identity{abi::nic::QUEUES, ".QUEUES", {0}}));
    all.push_back(std::make_unique<corrupted_table>());
    all.push_back(std::make_unique<stale_command>());
    all.push_back(std::make_unique<corrupted_descriptor>());
}

} // namespace weft
