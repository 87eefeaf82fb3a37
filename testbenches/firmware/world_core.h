// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the worlds of the firmware tests share: one core that runs the real firmware as a cooperative context (ucontext), its local
// memory, mailbox and bus faults, and what a host checks of an answer. A world adds devices and decides who runs next.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "firmware/main.h"
#include "hw/abi/registers.h"

namespace weft::testing {

/// Fills in the check word of a table.
template <class Table> void seal(Table& table)
{
    table.check = abi::check_word(reinterpret_cast<const std::uint32_t*>(&table), offsetof(Table, check) / 4);
}

/// What is common to all cores of a world.
class world_base {
public:
    static constexpr unsigned char k_untouched = 0xa5; ///< what the host fills memory with

    const std::string& problems() const { return problems_; }

protected:
    friend class world_core;
    world_base(std::uint32_t seed, std::uint32_t yield_one_in) : random_(seed), yield_one_in_(yield_one_in) {}
    void problem(const std::string& text)
    {
        if (problems_.size() < 600)
            problems_ += text + "; ";
    }
    bool gives_way() { return random_() % yield_one_in_ == 0; }

    std::mt19937 random_;
    std::uint32_t yield_one_in_; ///< a core gives way before one access in this many
    std::string problems_;
    ucontext_t scheduler_{};
};

class world_core : public abi::hal {
public:
    world_core(world_base& world, std::size_t local_bytes) : local(local_bytes), base_(world) {}

    // ---- the scheduler's side
    /// The world shall run_on() this core some time.
    virtual void run_later() = 0;
    void start()
    {
        std::memcpy(&local[abi::k_platform_table_address], &table, sizeof table);
        stack_.resize(64 << 10);
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack_.data();
        context_.uc_stack.ss_size = stack_.size();
        context_.uc_link = nullptr;
        const auto self = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&context_, reinterpret_cast<void (*)()>(entry), 2, static_cast<unsigned>(self >> 32),
                    static_cast<unsigned>(self));
    }
    void run_on()
    {
        if (!returned)
            swapcontext(&base_.scheduler_, &context_);
    }
    /// Where what it sleeps for has come.
    void wake()
    {
        if (sleeping && (polling || (mask & lines()) != 0))
            resume();
    }
    void time_out()
    {
        timed_out = true;
        resume();
    }
    virtual std::uint32_t lines() const = 0;

    // ---- the host's side
    void post(const abi::command& c)
    {
        std::memcpy(&local[abi::k_command_address], &c, sizeof c);
        command_sequence = c.sequence;
        wake();
    }
    /// Takes the answer to command `sequence`; true when it is ok.
    bool take_answer(std::uint32_t sequence, const std::string& who)
    {
        abi::response r;
        std::memcpy(&r, &local[abi::k_response_address], sizeof r);
        if (sequence != r.sequence || sequence != responses.size() + 1)
            base_.problem(who + ": answered out of sequence");
        responses.push_back(r);
        if (r.code != abi::status_code::ok)
            base_.problem(who + ": code " + std::to_string(static_cast<int>(r.code)) + " " + r.where);
        return r.code == abi::status_code::ok;
    }

    // ---- what firmware calls
    std::uint32_t read32(std::uint64_t a) override
    {
        return access(a, false, "read32") ? static_cast<std::uint32_t>(read_now(a, 4)) : 0;
    }
    std::uint64_t read64(std::uint64_t a) override { return access(a, false, "read64") ? read_now(a, 8) : 0; }
    void write32(std::uint64_t a, std::uint32_t v) override
    {
        if (!access(a, true, "write32"))
            return;
        if (a == abi::k_mailbox_base + abi::mailbox::COMMAND_ACK)
            command_ack = v;
        else if (a == abi::k_mailbox_base + abi::mailbox::DONE)
            on_done(v);
        else if (!write_device(a, 4, v))
            fail(a, true);
    }
    void write64(std::uint64_t a, std::uint64_t v) override
    {
        if (access(a, true, "write64") && !write_device(a, 8, v))
            fail(a, true);
    }
    void copy_in(void* to, std::uint64_t a, std::uint32_t bytes) override
    {
        if (!access(a, false, "copy_in"))
            return;
        if (const unsigned char* from = memory(a, bytes, false))
            std::memcpy(to, from, bytes);
        else
            fail(a, false);
    }
    void copy_out(std::uint64_t a, const void* from, std::uint32_t bytes) override
    {
        if (!access(a, true, "copy_out"))
            return;
        if (unsigned char* to = memory(a, bytes, true))
            std::memcpy(to, from, bytes);
        else
            fail(a, true);
    }
    bool poll_until(std::uint64_t a, std::uint32_t m, std::uint32_t expected, std::uint64_t timeout_ns) override
    {
        if (!access(a, false, "poll"))
            return false;
        timed_out = false;
        const auto there = [&] { return (static_cast<std::uint32_t>(read_now(a, 4)) & m) == expected; };
        while (!there() && !timed_out) {
            polling = true;
            sleep(timeout_ns);
            polling = false;
        }
        return there();
    }
    void compute(std::uint32_t) override {}
    void spin(std::uint32_t) override {}
    void log(const char*, std::uint64_t) override {}
    abi::bus_fault fault() const override { return fault_; }
    void clear_fault() override { fault_ = {}; }

    abi::platform_table table;
    std::vector<unsigned char> local;
    std::vector<abi::response> responses; ///< in the order of its commands
    std::uint64_t accesses = 0;
    std::uint64_t fault_access = 0; ///< this access is answered with a bus error, counted from 1
    std::uint32_t command_sequence = 0, command_ack = 0, mask = 0;
    bool sleeping = false, polling = false, timed_out = false, returned = false;

protected:
    /// An access of `bytes` to a device, without the mailbox; false: nobody is there.
    virtual bool read_device(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) = 0;
    virtual bool write_device(std::uint64_t address, std::uint32_t bytes, std::uint64_t value) = 0;
    /// Memory of `bytes` at `address` that firmware may use; nullptr: none.
    virtual unsigned char* memory(std::uint64_t address, std::uint32_t bytes, bool write) = 0;
    virtual void on_done(std::uint32_t sequence) = 0;
    virtual void on_access(const char* kind) { static_cast<void>(kind); }
    virtual void set_alarm(std::uint64_t timeout_ns) { static_cast<void>(timeout_ns); }

    void give_way() { swapcontext(&context_, &base_.scheduler_); }
    void pause()
    {
        run_later();
        give_way();
    }
    /// Until wake() or time_out().
    void sleep(std::uint64_t timeout_ns)
    {
        sleeping = true;
        timed_out = false;
        set_alarm(timeout_ns);
        give_way();
    }
    bool access(std::uint64_t address, bool write, const char* kind)
    {
        if (base_.gives_way())
            pause();
        ++accesses;
        on_access(kind);
        return accesses != fault_access || fail(address, write);
    }
    bool fail(std::uint64_t address, bool write)
    {
        if (!fault_.set)
            fault_ = {true, write, address};
        return false;
    }

private:
    static void entry(unsigned high, unsigned low)
    {
        auto* self = reinterpret_cast<world_core*>(std::uintptr_t{high} << 32 | low);
        firmware::collective_main(*self, 0);
        self->returned = true;
        self->give_way();
    }
    void resume()
    {
        sleeping = false;
        run_later();
    }
    std::uint64_t read_now(std::uint64_t a, std::uint32_t bytes)
    {
        switch (bytes == 4 ? a : 0) {
        case abi::k_mailbox_base + abi::mailbox::TYPE: return abi::mailbox::TYPE_reset;
        case abi::k_mailbox_base + abi::mailbox::VERSION: return abi::mailbox::VERSION_reset;
        case abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE: return command_sequence;
        case abi::k_mailbox_base + abi::mailbox::COMMAND_ACK: return command_ack;
        default: break;
        }
        std::uint64_t v = 0;
        if (!read_device(a, bytes, v))
            fail(a, false);
        return v;
    }

    world_base& base_;
    abi::bus_fault fault_;
    std::vector<char> stack_;
    ucontext_t context_{};
};

/// Whether [from, to) of a memory holds what the host filled it with.
inline bool untouched(const std::vector<unsigned char>& memory, std::uint64_t from, std::uint64_t to)
{
    const auto at = [&](std::uint64_t i) { return memory.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::all_of(at(from), at(std::max(from, to)), [](unsigned char b) { return b == world_base::k_untouched; });
}

} // namespace weft::testing
