// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collective communication units without time: what instructions of hw/abi/ccu.h mean, and nothing of how long they take. Missions, loop engines and
// transfers of all ranks go on in random order. A transfer reads in two steps and writes in two, and only then sets its bits.
//
// It is strict about programs: two transfers that touch the same bytes at once, one of them writing; slices read that the own task did not write; bits
// set that are set already, since one of two signals is lost then; registers used that hold nothing; a mission that ends before its transfers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/abi/ccu.h"
#include "hw/abi/registers.h"
#include "hw/arithmetic/reduce.h"
#include "hw/ccu/ccu_config.h"

namespace weft::testing {

class ccu_machine {
    using instruction = abi::ccu::instruction;
    using op = abi::ccu::op;
    using status = abi::ccu::status;
    static constexpr std::uint32_t k_slice = abi::ccu::k_slice_bytes;

public:
    /// `memories` by rank; they outlive it and keep their sizes.
    ccu_machine(std::vector<std::vector<unsigned char>*> memories, const ccu_config& sizes, std::uint32_t seed)
        : sizes_(sizes), memories_(std::move(memories)), random_(seed)
    {
        for (std::uint32_t u = 0; u < memories_.size() * abi::ccu::k_dies; ++u)
            units_.push_back(std::make_unique<unit>(sizes_, u));
    }

    const std::string& problems() const { return problems_; }
    std::uint64_t instructions_done() const { return done_; }
    std::uint64_t tasks() const { return tasks_; }
    std::uint64_t instructions_written() const { return written_; }

    // ---- registers
    bool read(std::uint32_t rank, std::uint32_t die, std::uint64_t offset, std::uint64_t& v) const
    {
        namespace r = abi::ccu;
        const unit& u = *units_[rank * abi::ccu::k_dies + die];
        switch (offset) {
        case r::TYPE: v = r::TYPE_reset; return true;
        case r::VERSION: v = r::VERSION_reset; return true;
        case r::INSTRUCTIONS: v = sizes_.instructions; return true;
        case r::MISSIONS: v = sizes_.missions; return true;
        case r::LOOP_ENGINES: v = sizes_.loop_engines; return true;
        case r::ADDRESS_REGISTERS: v = sizes_.address_registers; return true;
        case r::GENERAL_REGISTERS: v = sizes_.general_registers; return true;
        case r::CHECK_ENTRIES: v = sizes_.check_entries; return true;
        case r::SLICES: v = sizes_.slices; return true;
        case r::CHANNELS: v = sizes_.channels; return true;
        case r::OUTSTANDING: v = sizes_.outstanding; return true;
        case r::IRQ_PENDING: v = u.pending | (u.error != 0 ? 1u << 31 : 0u); return true;
        case r::ERROR: v = u.error; return true;
        default: break;
        }
        for (std::uint32_t m = 0; m < sizes_.missions; ++m) {
            const mission& k = u.missions[m];
            if (offset == r::MISSION_STATE(m))
                return v = static_cast<std::uint64_t>(k.state), true;
            if (offset == r::MISSION_STATUS(m))
                return v = static_cast<std::uint64_t>(k.code), true;
            if (offset == r::MISSION_WHERE(m))
                return v = k.where, true;
            if (offset == r::MISSION_DETAIL(m))
                return v = k.detail, true;
        }
        return false;
    }
    bool write(std::uint32_t rank, std::uint32_t die, std::uint64_t offset, std::uint64_t v)
    {
        namespace r = abi::ccu;
        unit& u = *units_[rank * abi::ccu::k_dies + die];
        const auto w = static_cast<std::uint32_t>(v);
        switch (offset) {
        case r::TOKEN: u.token = w; return true;
        case r::KEY: u.key = w; return true;
        case r::CODE_INDEX: u.code_word = std::uint64_t{w} * abi::ccu::k_words_of_instruction; return true;
        case r::CODE_DATA: return write_code(u, v), true;
        case r::CHANNEL_INDEX: u.channel_index = w; return true;
        case r::CHANNEL_PEER:
            if (u.channel_index >= sizes_.channels || (w & ~abi::ccu::k_shortest_paths) >= memories_.size())
                u.error = 1;
            else
                u.channels[u.channel_index] = w & ~abi::ccu::k_shortest_paths;
            for (const mission& m : u.missions)
                if (m.state == abi::ccu::mission_state::running)
                    problem(u, "channel set while a mission runs");
            return true;
        case r::TASK_MISSION: u.task.mission = w; return true;
        case r::TASK_START: u.task.start = w; return true;
        case r::TASK_COUNT: u.task.count = w; return true;
        case r::TASK_TIMEOUT: u.task.timeout = w; return true;
        case r::TASK_KEY: u.task.key = w; return true;
        case r::TASK_FLAGS: return true;
        case r::TASK_LAUNCH: return launch(u), true;
        case r::MISSION_KILL:
            if (w < sizes_.missions && u.missions[w].state == abi::ccu::mission_state::running)
                end(u, u.missions[w], status::control, 0);
            return true;
        case r::IRQ_PENDING: u.pending &= ~w; return true;
        case r::ERROR: u.error &= ~w; return true;
        default: break;
        }
        for (std::uint32_t i = 0; i < r::TASK_ARGUMENT_count; ++i)
            if (offset == r::TASK_ARGUMENT(i))
                return u.task.argument[i] = v, true;
        return false;
    }
    bool interrupts(std::uint32_t rank, std::uint32_t die) const
    {
        const unit& u = *units_[rank * abi::ccu::k_dies + die];
        return u.pending != 0 || u.error != 0;
    }

    // ---- time
    /// Whether step() has something to do.
    bool can_step() const { return !ready_.empty() || !transfers_.empty(); }
    /// One instruction or part of a transfer. Returns the rank that may have an interrupt now, or -1.
    std::int64_t step()
    {
        ended_ = -1;
        const std::size_t all = ready_.size() + transfers_.size();
        const std::size_t i = random_() % all;
        if (i < ready_.size()) {
            const std::shared_ptr<agent> a = ready_[i];
            if (a->dead || !issue(*a)) {
                ready_[i] = ready_.back();
                ready_.pop_back();
                if (!a->dead && !a->finished)
                    units_[a->unit]->waiting.push_back(a);
            }
        } else if (const std::size_t k = i - ready_.size(); go_on(*transfers_[k])) { // others may be ready now
            std::swap(transfers_[k], transfers_.back());
            transfers_.pop_back();
        }
        return ended_;
    }
    /// The timeouts of the tasks of `rank` come: its missions end. False: none runs.
    bool expire(std::uint32_t rank)
    {
        bool any = false;
        for (std::uint32_t die = 0; die < abi::ccu::k_dies; ++die) {
            unit& u = *units_[rank * abi::ccu::k_dies + die];
            for (mission& m : u.missions) {
                if (m.state != abi::ccu::mission_state::running)
                    continue;
                std::uint32_t where = 0, detail = 0;
                for (const auto& a : u.waiting)
                    if (!a->dead && a->task == m.number && u.code[a->pc].wait_mask != 0) {
                        const std::uint32_t entry = u.code[a->pc].wait_entry + a->entry_offset;
                        where = a->pc;
                        detail = entry << 16 | (u.code[a->pc].wait_mask & ~std::uint32_t{u.entries[entry]});
                    }
                end(u, m, status::time_out, where, detail);
                any = true;
            }
        }
        return any;
    }
    /// What waits for what, where nothing can happen.
    std::string waits() const
    {
        std::string text;
        for (const auto& u : units_)
            for (const auto& a : u->waiting) {
                if (a->dead || text.size() > 600)
                    continue;
                const instruction& i = u->code[a->pc];
                text += name(*u) + " instruction " + std::to_string(a->pc) + (a->engine ? " (engine)" : "") + " waits for entry " +
                        std::to_string(i.wait_entry + a->entry_offset) + " mask " + std::to_string(i.wait_mask) + " has " +
                        std::to_string(u->entries[i.wait_entry + a->entry_offset]) + "; ";
            }
        return text;
    }

private:
    struct task_registers {
        std::uint32_t mission = 0, start = 0, count = 0, timeout = 0, key = 0;
        std::array<std::uint64_t, abi::ccu::k_arguments> argument{};
    };
    struct mission {
        abi::ccu::mission_state state = abi::ccu::mission_state::idle;
        status code = status::ok;
        std::uint32_t where = 0, detail = 0;
        task_registers task;
        std::uint32_t engines = 0; ///< that have not ended
        std::uint32_t transfers = 0;
        std::uint64_t number = 0;  ///< of its task
    };
    struct agent { ///< a mission or a loop engine
        std::uint32_t unit = 0, mission = 0;
        std::uint64_t task = 0;
        bool engine = false, dead = false, finished = false;
        std::uint32_t pc = 0, first = 0, last = 0;
        std::uint32_t iteration = 0, iterations = 0, step = 0;
        std::uint64_t address_offset = 0;
        std::uint32_t slice_offset = 0, entry_offset = 0;
    };
    struct slice {
        std::array<unsigned char, k_slice> data;
        std::uint32_t valid = 0; ///< bytes that were written last
        std::uint64_t task = 0;  ///< and by which task
    };
    struct unit {
        unit(const ccu_config& s, std::uint32_t n)
            : number(n), code(s.instructions), a(s.address_registers), x(s.general_registers), has_a(s.address_registers), has_x(s.general_registers),
              entries(s.check_entries), slices(s.slices), channels(s.channels, ~0u), missions(s.missions)
        {
        }
        std::uint32_t number;
        std::vector<instruction> code;
        std::vector<std::uint64_t> a, x;
        std::vector<bool> has_a, has_x;
        std::vector<std::uint16_t> entries;
        std::vector<std::unique_ptr<slice>> slices;
        std::vector<std::uint32_t> channels;
        std::vector<mission> missions;
        task_registers task;
        std::uint64_t code_word = 0;
        std::uint32_t channel_index = 0, token = 0, key = 0, pending = 0, error = 0;
        std::uint32_t engines = 0, transfers = 0;
        std::vector<std::shared_ptr<agent>> waiting;
    };
    /// Bytes of a memory or of a slice.
    struct place {
        bool is_slice = false;
        std::uint32_t owner = 0; ///< rank, or unit
        std::uint64_t at = 0;    ///< address, or number of the slice
    };
    struct transfer {
        std::uint32_t unit = 0, mission = 0;
        std::uint64_t task = 0;
        op code = op::mem_to_ms;
        unsigned phase = 0;
        std::vector<place> from;
        place to;
        std::uint64_t bytes = 0;
        abi::element_type type = abi::element_type::int32;
        abi::reduce_op by = abi::reduce_op::none;
        std::vector<unsigned char> data, part;
        std::uint32_t set_entry = 0, set_mask = 0;
        // Of the peer's: register and bits.
        std::uint32_t peer = ~0u, peer_register = 0, peer_entry = 0, peer_mask = 0;
        std::uint64_t value = 0;
    };

    static std::string name(const unit& u) { return "rank " + std::to_string(u.number / abi::ccu::k_dies) + " die " + std::to_string(u.number % abi::ccu::k_dies); }
    void problem(const unit& u, const std::string& what)
    {
        if (problems_.size() < 600)
            problems_ += name(u) + ": " + what + "; ";
    }

    // ---- tasks
    void write_code(unit& u, std::uint64_t word)
    {
        const std::uint64_t index = u.code_word / abi::ccu::k_words_of_instruction;
        bool rejected = index >= u.code.size();
        for (const mission& m : u.missions)
            rejected = rejected || (m.state == abi::ccu::mission_state::running && index >= m.task.start && index < m.task.start + m.task.count);
        if (rejected) {
            u.error = 1;
            return problem(u, "code rejected");
        }
        auto* bytes = reinterpret_cast<unsigned char*>(&u.code[index]);
        std::memcpy(bytes + u.code_word % abi::ccu::k_words_of_instruction * 8, &word, 8);
        ++u.code_word;
        ++written_;
    }
    void launch(unit& u)
    {
        const task_registers& t = u.task;
        if (t.mission >= sizes_.missions || u.missions[t.mission].state == abi::ccu::mission_state::running || t.start + t.count > u.code.size() || t.count == 0) {
            u.error = 1;
            return problem(u, "task refused");
        }
        mission& m = u.missions[t.mission];
        m = mission{};
        m.task = t;
        m.state = abi::ccu::mission_state::running;
        m.number = ++tasks_;
        if (t.timeout == 0)
            problem(u, "task without timeout");
        if (t.key != u.key)
            return end(u, m, status::control, 0);
        auto a = std::make_shared<agent>();
        a->unit = u.number;
        a->mission = t.mission;
        a->task = m.number;
        a->pc = t.start;
        ready_.push_back(a);
    }
    void end(unit& u, mission& m, status code, std::uint32_t where, std::uint32_t detail = 0)
    {
        m.state = abi::ccu::mission_state::ended;
        m.code = code;
        m.where = where;
        m.detail = detail;
        u.pending |= 1u << (&m - u.missions.data());
        ended_ = u.number / abi::ccu::k_dies;
        if (code != status::ok && code != status::control)
            problem(u, "mission ended with status " + std::to_string(static_cast<int>(code)) + " at " + std::to_string(where) + " detail " + std::to_string(detail));
        if (code == status::ok && m.transfers != 0)
            problem(u, "mission ended before its transfers");
        if (code != status::ok) {
            for (auto* list : {&ready_, &u.waiting})
                for (const auto& a : *list)
                    a->dead = a->dead || (a->unit == u.number && a->task == m.number);
            u.engines -= m.engines;
            m.engines = 0;
        }
    }

    // ---- instructions
    struct refused {
        status code;
        std::uint32_t detail;
    };
    std::uint64_t address(const unit& u, const agent& a, std::uint32_t r) const
    {
        if (r >= u.a.size() || !u.has_a[r])
            throw refused{status::local_operation, r};
        return u.a[r] + a.address_offset + std::uint64_t{a.iteration} * a.step;
    }
    std::uint64_t general(const unit& u, std::uint32_t r) const
    {
        if (r >= u.x.size() || !u.has_x[r])
            throw refused{status::local_operation, r};
        return u.x[r];
    }
    void set_a(unit& u, std::uint32_t r, std::uint64_t v)
    {
        if (r >= u.a.size())
            throw refused{status::local_operation, r};
        u.a[r] = v;
        u.has_a[r] = true;
    }
    void set_x(unit& u, std::uint32_t r, std::uint64_t v)
    {
        if (r >= u.x.size())
            throw refused{status::local_operation, r};
        u.x[r] = v;
        u.has_x[r] = true;
    }
    unit& peer_of(unit& u, std::uint32_t channel)
    {
        if (channel >= u.channels.size() || u.channels[channel] == ~0u)
            throw refused{status::local_operation, channel};
        return *units_[u.channels[channel] * abi::ccu::k_dies + u.number % abi::ccu::k_dies];
    }
    place memory_of(std::uint32_t rank, std::uint64_t at, std::uint64_t bytes) const
    {
        const std::uint64_t all = memories_[rank]->size();
        if (at > all || bytes > all - at)
            throw refused{status::address, static_cast<std::uint32_t>(at)};
        return {false, rank, at};
    }
    place slice_of(unit& u, std::uint32_t m)
    {
        if (m >= u.slices.size())
            throw refused{status::local_operation, m};
        if (!u.slices[m])
            u.slices[m] = std::make_unique<slice>();
        return {true, u.number, m};
    }
    void check_token(const unit& u, const unit& peer, std::uint32_t x) const
    {
        if (general(u, x) != peer.token)
            throw refused{status::address, x};
    }

    // False: it waits or has ended.
    bool issue(agent& a)
    {
        unit& u = *units_[a.unit];
        mission& m = u.missions[a.mission];
        const std::uint32_t end_of_task = m.task.start + m.task.count;
        if (!a.engine && m.engines != 0)
            return false;
        if (!a.engine && a.pc == end_of_task) {
            a.finished = true;
            end(u, m, status::ok, a.pc);
            return false;
        }
        const instruction i = u.code[a.pc];
        try {
            if (i.wait_mask != 0) {
                const std::uint32_t entry = i.wait_entry + a.entry_offset;
                if (entry >= u.entries.size())
                    throw refused{status::local_operation, entry};
                if ((u.entries[entry] & i.wait_mask) != i.wait_mask)
                    return false;
                if ((i.flags & abi::ccu::k_clears) != 0 || i.code == op::clear_bits)
                    u.entries[entry] = static_cast<std::uint16_t>(u.entries[entry] & ~i.wait_mask);
            }
            ++done_;
            const std::uint32_t at = a.pc++;
            execute(u, m, a, i);
            if (a.pc > end_of_task || a.pc < m.task.start)
                throw refused{status::illegal_instruction, at};
        } catch (const refused& r) {
            a.finished = true;
            end(u, m, r.code, a.pc, r.detail);
            return false;
        }
        if (a.engine && a.pc == a.last + 1) {
            if (++a.iteration == a.iterations) {
                a.finished = true;
                --u.engines;
                if (--m.engines == 0)
                    wake(u);
                return false;
            }
            a.pc = a.first;
        }
        return true;
    }
    void wake(unit& u)
    {
        for (const auto& a : u.waiting)
            ready_.push_back(a);
        u.waiting.clear();
    }
    void set_bits(unit& u, std::uint32_t entry, std::uint32_t mask)
    {
        if (mask == 0)
            return;
        if (entry >= u.entries.size())
            return problem(u, "entry " + std::to_string(entry) + " does not exist");
        if ((u.entries[entry] & mask) != 0)
            problem(u, "bits " + std::to_string(mask) + " of entry " + std::to_string(entry) + " are set again");
        u.entries[entry] = static_cast<std::uint16_t>(u.entries[entry] | mask);
        wake(u);
    }

    void execute(unit& u, mission& m, agent& a, const instruction& i)
    {
        const std::uint32_t sets = i.set_entry + a.entry_offset;
        const auto only_missions = [&] {
            if (a.engine)
                throw refused{status::illegal_instruction, a.pc};
        };
        const auto s = [&](unsigned r) { return slice_of(u, i.r[r] + a.slice_offset); };
        transfer t;
        t.unit = u.number;
        t.mission = a.mission;
        t.task = m.number;
        t.code = i.code;
        t.set_entry = sets;
        t.set_mask = i.set_mask;
        const auto slice_bytes = [&]() -> std::uint64_t {
            const std::uint64_t n = i.length() == abi::ccu::k_no_length ? k_slice : general(u, i.length());
            if (n == 0 || n > k_slice)
                throw refused{status::local_operation, static_cast<std::uint32_t>(n)};
            return n;
        };
        const auto memory_bytes = [&]() -> std::uint64_t {
            const std::uint64_t n = general(u, i.length());
            if (n == 0 || n > abi::ccu::k_most_transfer_bytes)
                throw refused{status::local_operation, static_cast<std::uint32_t>(n)};
            return n;
        };
        const std::uint32_t rank = u.number / abi::ccu::k_dies;
        switch (i.code) {
        case op::load_arg_a: only_missions(), set_a(u, i.r[0], m.task.argument[i.count]); break;
        case op::load_arg_x: only_missions(), set_x(u, i.r[0], m.task.argument[i.count]); break;
        case op::load_a: only_missions(), set_a(u, i.r[0], i.immediate()); break;
        case op::load_x: only_missions(), set_x(u, i.r[0], i.immediate()); break;
        case op::add_ax: only_missions(), set_a(u, i.r[0], address(u, a, i.r[1]) + general(u, i.r[2])); break;
        case op::add_aa: only_missions(), set_a(u, i.r[0], address(u, a, i.r[1]) + address(u, a, i.r[2])); break;
        case op::add_xx: only_missions(), set_x(u, i.r[0], general(u, i.r[1]) + general(u, i.r[2])); break;
        case op::group: only_missions(), begin_group(u, m, a, i); break;
        case op::set_bits:
        case op::clear_bits: break;
        case op::jump:
            only_missions();
            if (general(u, i.r[1]) != i.immediate())
                a.pc = m.task.start + static_cast<std::uint32_t>(general(u, i.r[0]));
            break;
        case op::mem_to_ms:
            t.bytes = slice_bytes();
            t.from = {memory_of(rank, address(u, a, i.r[1]), t.bytes)};
            t.to = s(0);
            return begin(t);
        case op::ms_to_mem:
            t.bytes = slice_bytes();
            t.from = {s(1)};
            t.to = memory_of(rank, address(u, a, i.r[0]), t.bytes);
            return begin(t);
        case op::remote_mem_to_ms: {
            const unit& peer = peer_of(u, i.channel);
            check_token(u, peer, i.r[2]);
            t.bytes = slice_bytes();
            t.from = {memory_of(peer.number / abi::ccu::k_dies, address(u, a, i.r[1]), t.bytes)};
            t.to = s(0);
            return begin(t);
        }
        case op::ms_to_remote_mem: {
            const unit& peer = peer_of(u, i.channel);
            check_token(u, peer, i.r[1]);
            t.bytes = slice_bytes();
            t.from = {s(2)};
            t.to = memory_of(peer.number / abi::ccu::k_dies, address(u, a, i.r[0]), t.bytes);
            return begin(t);
        }
        case op::mem_to_remote_mem: {
            const unit& peer = peer_of(u, i.channel);
            check_token(u, peer, i.r[1]);
            t.bytes = memory_bytes();
            t.from = {memory_of(rank, address(u, a, i.r[2]), t.bytes)};
            t.to = memory_of(peer.number / abi::ccu::k_dies, address(u, a, i.r[0]), t.bytes);
            return begin(t);
        }
        case op::mem_to_mem:
            t.bytes = memory_bytes();
            t.from = {memory_of(rank, address(u, a, i.r[1]), t.bytes)};
            t.to = memory_of(rank, address(u, a, i.r[0]), t.bytes);
            return begin(t);
        case op::send_bits:
        case op::send_a:
        case op::send_x:
            t.peer = peer_of(u, i.channel).number;
            t.peer_register = i.r[0];
            t.peer_entry = i.r[2];
            t.peer_mask = i.r[3];
            t.value = i.code == op::send_a ? address(u, a, i.r[1]) : i.code == op::send_x ? general(u, i.r[1]) : 0;
            return begin(t);
        case op::reduce_add:
        case op::reduce_max:
        case op::reduce_min:
            if (i.count < 2 || i.count > abi::ccu::k_most_reduced || i.type >= abi::k_element_types)
                throw refused{status::illegal_instruction, i.count};
            t.bytes = slice_bytes();
            t.type = static_cast<abi::element_type>(i.type);
            t.by = i.code == op::reduce_add ? abi::reduce_op::sum : i.code == op::reduce_max ? abi::reduce_op::max : abi::reduce_op::min;
            if (t.bytes % abi::element_bytes(t.type) != 0)
                throw refused{status::local_operation, static_cast<std::uint32_t>(t.bytes)};
            for (unsigned k = 0; k < i.count; ++k)
                t.from.push_back(s(k));
            t.to = s(0);
            return begin(t);
        default: throw refused{status::illegal_instruction, a.pc - 1};
        }
        set_bits(u, sets, i.set_mask);
    }
    void begin_group(unit& u, mission& m, agent& a, const instruction& i)
    {
        const std::uint64_t counts = general(u, i.r[1]), offsets = general(u, i.r[2]);
        const std::uint32_t first = abi::ccu::group_first(counts), replicas = abi::ccu::group_replicas(counts), loops = i.count;
        if (first > loops || u.engines + loops + replicas * (loops - first) > sizes_.loop_engines)
            throw refused{status::local_operation, replicas};
        for (std::uint32_t k = 0; k <= replicas; ++k)
            for (std::uint32_t l = k == 0 ? 0 : first; l < loops; ++l) {
                const instruction& loop = u.code[m.task.start + i.r[0] + l];
                if (loop.code != op::loop)
                    throw refused{status::illegal_instruction, m.task.start + i.r[0] + l};
                const std::uint64_t parameter = general(u, loop.r[2]);
                if (abi::ccu::loop_iterations(parameter) == 0)
                    continue;
                auto e = std::make_shared<agent>();
                e->unit = u.number;
                e->mission = a.mission;
                e->task = m.number;
                e->engine = true;
                e->first = e->pc = m.task.start + loop.r[0];
                e->last = m.task.start + loop.r[1];
                e->iterations = abi::ccu::loop_iterations(parameter);
                e->step = abi::ccu::loop_step(parameter);
                e->address_offset = std::uint64_t{k} * abi::ccu::group_address(offsets);
                e->slice_offset = k * abi::ccu::group_slice(offsets);
                e->entry_offset = k * abi::ccu::group_entry(offsets);
                ++u.engines;
                ++m.engines;
                most_engines_ = u.engines > most_engines_ ? u.engines : most_engines_;
                ready_.push_back(e);
            }
    }

    // ---- transfers
    static bool overlap(const place& p, std::uint64_t bytes, const place& q, std::uint64_t other)
    {
        if (p.is_slice != q.is_slice || p.owner != q.owner)
            return false;
        return p.is_slice ? p.at == q.at : p.at < q.at + other && q.at < p.at + bytes;
    }
    /// Pages of a place, by which transfers under way are found.
    template <class Each> static void pages(const place& p, std::uint64_t bytes, Each each)
    {
        if (p.is_slice)
            return each(std::uint64_t{1} << 63 | std::uint64_t{p.owner} << 32 | p.at);
        for (std::uint64_t page = p.at / k_slice; page <= (p.at + bytes - 1) / k_slice; ++page)
            each(std::uint64_t{p.owner} << 32 | page);
    }
    template <class Each> static void places(const transfer& t, Each each)
    {
        for (const place& p : t.from)
            each(p, false);
        if (t.bytes != 0)
            each(t.to, true);
    }
    void begin(const transfer& made)
    {
        unit& u = *units_[made.unit];
        auto t = std::make_unique<transfer>(made);
        places(*t, [&](const place& p, bool writes) {
            pages(p, t->bytes, [&](std::uint64_t page) {
                for (const transfer* other : under_way_[page])
                    places(*other, [&](const place& q, bool other_writes) {
                        if ((writes || other_writes) && overlap(p, t->bytes, q, other->bytes))
                            problem(u, std::string("two transfers at once at ") + (p.is_slice ? "slice " : "memory ") + std::to_string(p.at) + " of " +
                                           std::to_string(p.owner) + ", instructions " + std::to_string(static_cast<int>(t->code)) + " and " +
                                           std::to_string(static_cast<int>(other->code)) + " of " + name(*units_[other->unit]));
                    });
            });
            if (p.is_slice && !writes && (u.slices[p.at]->task != t->task || u.slices[p.at]->valid < t->bytes))
                problem(u, "slice " + std::to_string(p.at) + " is read, which nobody wrote");
        });
        places(*t, [&](const place& p, bool) { pages(p, t->bytes, [&](std::uint64_t page) { under_way_[page].push_back(t.get()); }); });
        ++u.transfers;
        ++u.missions[t->mission].transfers;
        transfers_.push_back(std::move(t));
    }
    unsigned char* bytes_at(const place& p) { return p.is_slice ? units_[p.owner]->slices[p.at]->data.data() : memories_[p.owner]->data() + p.at; }
    /// True when it is done.
    bool go_on(transfer& t)
    {
        unit& u = *units_[t.unit];
        const std::uint64_t middle = t.bytes / 2;
        switch (t.phase++) {
        case 0:
        case 1: {
            const std::uint64_t from = t.phase == 1 ? 0 : middle, to = t.phase == 1 ? middle : t.bytes;
            t.part.resize(t.bytes * t.from.size());
            for (std::size_t k = 0; k < t.from.size() && to > from; ++k)
                std::memcpy(&t.part[k * t.bytes + from], bytes_at(t.from[k]) + from, to - from);
            return false;
        }
        case 2:
            if (t.bytes == 0)
                return false;
            t.data.assign(t.part.begin(), t.part.begin() + static_cast<std::ptrdiff_t>(t.bytes));
            for (std::size_t k = 1; k < t.from.size(); ++k)
                reduce(t.type, t.by, t.data.data(), &t.part[k * t.bytes], t.bytes);
            std::memcpy(bytes_at(t.to), t.data.data(), middle);
            return false;
        case 3:
            if (t.bytes != 0)
                std::memcpy(bytes_at(t.to) + middle, t.data.data() + middle, t.bytes - middle);
            if (t.bytes != 0 && t.to.is_slice) {
                u.slices[t.to.at]->valid = static_cast<std::uint32_t>(t.bytes);
                u.slices[t.to.at]->task = t.task;
            }
            if (t.peer != ~0u) {
                unit& peer = *units_[t.peer];
                if (t.code == op::send_a)
                    set_a(peer, t.peer_register, t.value);
                if (t.code == op::send_x)
                    set_x(peer, t.peer_register, t.value);
                set_bits(peer, t.peer_entry, t.peer_mask);
            }
            return false;
        default:
            places(t, [&](const place& p, bool) {
                pages(p, t.bytes, [&](std::uint64_t page) {
                    auto& list = under_way_[page];
                    for (std::size_t k = 0; k < list.size(); ++k)
                        if (list[k] == &t) {
                            list.erase(list.begin() + static_cast<std::ptrdiff_t>(k));
                            break;
                        }
                    if (list.empty())
                        under_way_.erase(page);
                });
            });
            --u.transfers;
            if (mission& m = u.missions[t.mission]; m.number == t.task)
                --m.transfers;
            set_bits(u, t.set_entry, t.set_mask);
            return true;
        }
    }

    ccu_config sizes_;
    std::vector<std::vector<unsigned char>*> memories_;
    std::mt19937 random_;
    std::vector<std::unique_ptr<unit>> units_;
    std::vector<std::shared_ptr<agent>> ready_;
    std::vector<std::unique_ptr<transfer>> transfers_;
    std::unordered_map<std::uint64_t, std::vector<const transfer*>> under_way_;
    std::string problems_;
    std::uint64_t done_ = 0, tasks_ = 0, written_ = 0;
    std::uint32_t most_engines_ = 0;
    std::int64_t ended_ = -1;
};

} // namespace weft::testing
