// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Units of a group without time: every rank runs the same program, and a random one of all things that may happen happens next. Tells waits that never end,
// bits that are set twice before they are cleared, and slices that are used while a transfer writes them. A second opinion for the checker of microcode.
#pragma once

#include "platforms/ccu/ccu_program.h"
#include "platforms/ccu/ccu_resources.h"
#include "tlm/draw.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weft::testing {

class untimed_ccus {
public:
    untimed_ccus(const ccu_program& program, std::uint32_t ranks, std::uint64_t seed, std::vector<std::uint64_t> arguments)
        : program_(program), ranks_(ranks), state_(mixed(seed + 77)), arguments_(std::move(arguments)), units_(ranks)
    {
        for (std::uint32_t r = 0; r < ranks; ++r)
            units_[r].contexts.push_back({0, static_cast<std::uint32_t>(program.code.size())});
        // Some seeds hold back one rank, so that the others run ahead.
        late_ = mixed(seed) % 3 == 0 ? static_cast<std::uint32_t>(mixed(seed + 1) % ranks) : ranks;
    }

    /// "": all ranks have come to their end, and nothing was wrong.
    std::string run()
    {
        constexpr std::uint64_t k_most_events = 400'000; // far above what random programs need
        for (std::uint64_t n = 0; n < k_most_events && wrong_.empty(); ++n) {
            if (!event())
                return wrong_.empty() ? stuck() : wrong_;
        }
        return wrong_.empty() ? "does not end" : wrong_;
    }

private:
    using instruction = abi::ccu::instruction;
    struct context {
        std::uint32_t pc;
        std::uint32_t end;
        std::uint32_t first = 0;
        std::uint32_t iterations = 1;
        std::uint32_t slice = 0, entry = 0;
        bool engine = false;
        bool done = false;
    };
    struct transfer {
        std::uint32_t rank;
        ccu_access access;
        std::uint32_t entry, mask;
        std::uint32_t peer, peer_entry, peer_mask;
        std::uint64_t value;
    };
    struct unit {
        std::map<std::uint32_t, std::uint32_t> entries;
        std::map<std::uint32_t, std::uint64_t> general;
        std::map<std::uint32_t, int> reading, writing; ///< slices
        std::vector<context> contexts;
    };

    std::uint64_t below(std::uint64_t n) { return mixed(state_ += k_draw_step) % n; }
    void fail(std::uint32_t rank, std::uint32_t at, const std::string& what)
    {
        if (wrong_.empty())
            wrong_ = fmt::format("rank {}, line {}: {}", rank, program_.position_of(at).line, what);
    }
    bool ready(const unit& u, const context& c) const
    {
        if (c.done || (!c.engine && u.contexts.size() > 1))
            return false; // the mission waits for its engines
        if (c.pc >= c.end)
            return true;
        const instruction& i = program_.code[c.pc];
        const auto found = u.entries.find(i.wait_entry + c.entry);
        return i.wait_mask == 0 || (found != u.entries.end() && (found->second & i.wait_mask) == i.wait_mask);
    }

    /// Something that may happen, if there is anything.
    bool event()
    {
        const std::size_t tries = 4;
        for (std::size_t n = 0; n < tries; ++n) {
            if (!under_way_.empty() && below(3) == 0) {
                finish(below(under_way_.size()));
                return true;
            }
            const auto r = static_cast<std::uint32_t>(below(ranks_));
            if (r == late_ && below(20) != 0)
                continue;
            const std::size_t c = below(units_[r].contexts.size());
            if (ready(units_[r], units_[r].contexts[c])) {
                step(r, c);
                return true;
            }
        }
        for (std::uint32_t r = 0; r < ranks_; ++r)
            for (std::size_t c = 0; c < units_[r].contexts.size(); ++c)
                if (r != late_ && ready(units_[r], units_[r].contexts[c])) {
                    step(r, c);
                    return true;
                }
        if (!under_way_.empty()) {
            finish(below(under_way_.size()));
            return true;
        }
        if (late_ < ranks_)
            for (std::size_t c = 0; c < units_[late_].contexts.size(); ++c)
                if (ready(units_[late_], units_[late_].contexts[c])) {
                    step(late_, c);
                    return true;
                }
        return false;
    }

    std::string stuck() const
    {
        for (std::uint32_t r = 0; r < ranks_; ++r)
            for (const context& c : units_[r].contexts)
                if (!c.done && (c.engine || units_[r].contexts.size() == 1))
                    return fmt::format("rank {} waits in line {} for ever", r, program_.position_of(c.pc).line);
        return {};
    }

    void set(std::uint32_t rank, std::uint32_t entry, std::uint32_t mask, std::uint32_t at, bool by_peer)
    {
        std::uint32_t& e = units_[rank].entries[entry];
        if (by_peer && (e & mask) != 0)
            fail(rank, at, "a bit is set by a peer before the one before it is cleared");
        e |= mask;
    }

    void use(std::uint32_t rank, std::uint32_t at, const ccu_access& a)
    {
        unit& u = units_[rank];
        const auto busy = [](const std::map<std::uint32_t, int>& users, std::uint32_t m) {
            const auto found = users.find(m);
            return found != users.end() && found->second != 0;
        };
        for (const std::uint32_t m : a.slices_read)
            if (busy(u.writing, m))
                fail(rank, at, fmt::format("slice {} is read while it is written", m));
        for (const std::uint32_t m : a.slices_written)
            if (busy(u.writing, m) || busy(u.reading, m))
                fail(rank, at, fmt::format("slice {} is written while it is used", m));
        for (const std::uint32_t m : a.slices_read)
            ++u.reading[m];
        for (const std::uint32_t m : a.slices_written)
            ++u.writing[m];
    }

    void finish(std::size_t n)
    {
        const transfer t = under_way_[n];
        under_way_[n] = under_way_.back();
        under_way_.pop_back();
        unit& u = units_[t.rank];
        for (const std::uint32_t m : t.access.slices_read)
            --u.reading[m];
        for (const std::uint32_t m : t.access.slices_written)
            --u.writing[m];
        if (t.access.peer_general_written)
            units_[t.peer].general[*t.access.peer_general_written] = t.value;
        if (t.access.peer_slice_written && (units_[t.peer].reading[*t.access.peer_slice_written] != 0 || units_[t.peer].writing[*t.access.peer_slice_written] != 0))
            fail(t.peer, 0, fmt::format("slice {} is written by a peer while it is used", *t.access.peer_slice_written));
        if (t.access.peer_slice_read && units_[t.peer].writing[*t.access.peer_slice_read] != 0)
            fail(t.peer, 0, fmt::format("slice {} is read by a peer while it is written", *t.access.peer_slice_read));
        set(t.rank, t.entry, t.mask, 0, false);
        if (t.peer_mask != 0)
            set(t.peer, t.peer_entry, t.peer_mask, 0, true);
    }

    void step(std::uint32_t rank, std::size_t number)
    {
        unit& u = units_[rank];
        context& c = u.contexts[number];
        if (c.pc >= c.end) {
            if (c.iterations > 1) {
                --c.iterations;
                c.pc = c.first;
            } else if (c.engine) {
                u.contexts.erase(u.contexts.begin() + static_cast<std::ptrdiff_t>(number));
            } else {
                c.done = true;
            }
            return;
        }
        const std::uint32_t at = c.pc;
        const instruction& i = program_.code[at];
        using abi::ccu::op;
        if (((i.flags & abi::ccu::k_clears) != 0 || i.code == op::clear_bits) && i.wait_mask != 0)
            u.entries[i.wait_entry + c.entry] &= ~std::uint32_t{i.wait_mask};
        const std::uint32_t set_entry = i.set_entry + c.entry;
        ++c.pc;
        ccu_access a = access_of(i);
        if (a.goes_on) {
            for (std::uint16_t& m : a.slices_read)
                m = static_cast<std::uint16_t>(m + c.slice);
            for (std::uint16_t& m : a.slices_written)
                m = static_cast<std::uint16_t>(m + c.slice);
            use(rank, at, a);
            transfer t{rank, a, set_entry, i.set_mask, 0, 0, 0, 0};
            t.peer = a.channel ? (rank + 1 + *a.channel) % ranks_ : rank;
            if (i.code == op::send_bits || i.code == op::send_a || i.code == op::send_x || i.code == op::ms_to_remote_ms) {
                t.peer_entry = i.r[2];
                t.peer_mask = i.r[3];
            }
            if (i.code == op::send_x)
                t.value = u.general[i.r[1]];
            under_way_.push_back(std::move(t));
            return;
        }
        if (i.set_mask != 0)
            under_way_.push_back({rank, {}, set_entry, i.set_mask, 0, 0, 0, 0}); // seen some time later
        switch (i.code) {
        case op::load_x: u.general[i.r[0]] = i.immediate(); break;
        case op::load_arg_x: u.general[i.r[0]] = i.count < arguments_.size() ? arguments_[i.count] : 0; break;
        case op::add_xx: u.general[i.r[0]] = u.general[i.r[1]] + u.general[i.r[2]]; break;
        case op::jump:
            if (u.general[i.r[1]] != i.immediate()) {
                if (u.general[i.r[0]] > program_.code.size())
                    return fail(rank, at, "jumps out of the program");
                c.pc = static_cast<std::uint32_t>(u.general[i.r[0]]);
            }
            break;
        case op::loop: fail(rank, at, "a mission comes to a loop"); break;
        case op::group: start(rank, at, i); break;
        default: break;
        }
    }

    void start(std::uint32_t rank, std::uint32_t at, const instruction& i)
    {
        unit& u = units_[rank];
        const std::uint64_t counts = u.general[i.r[1]], offsets = u.general[i.r[2]];
        for (std::uint32_t k = 0; k <= abi::ccu::group_replicas(counts); ++k)
            for (std::uint32_t l = k == 0 ? 0 : abi::ccu::group_first(counts); l < i.count; ++l) {
                if (i.r[0] + l >= program_.code.size() || program_.code[i.r[0] + l].code != abi::ccu::op::loop)
                    return fail(rank, at, "there is no loop");
                const instruction& loop = program_.code[i.r[0] + l];
                const std::uint32_t iterations = abi::ccu::loop_iterations(u.general[loop.r[2]]);
                if (iterations == 0)
                    continue;
                u.contexts.push_back({loop.r[0], loop.r[1] + 1u, loop.r[0], iterations, k * abi::ccu::group_slice(offsets),
                                      k * abi::ccu::group_entry(offsets), true, false});
            }
    }

    const ccu_program& program_;
    std::uint32_t ranks_;
    std::uint64_t state_;
    std::vector<std::uint64_t> arguments_;
    std::vector<unit> units_;
    std::vector<transfer> under_way_;
    std::uint32_t late_ = 0;
    std::string wrong_;
};

} // namespace weft::testing
