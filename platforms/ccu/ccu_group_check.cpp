// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups of loops. Loop engines run in parallel: each is walked through one iteration of its body, which must leave all
// as it found it, and no two of them may share a check bit, or a slice that one of them writes. So they may run in any
// order, any number of times.
#include "platforms/ccu/ccu_flow.h"

#include "platforms/ccu/ccu_operands.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

using namespace abi::ccu;

namespace {

constexpr std::uint32_t k_most_templates = 2; // of a group (quoted)

bool may_stand_in_body(const op_row& row)
{
    return row.code == op::set_bits || row.code == op::clear_bits || row.group == op_group::transfer || row.group == op_group::reduce;
}

} // namespace

bool ccu_walk::loop_is_good(std::uint32_t group, std::uint32_t at)
{
    if (at >= program_.code.size()) {
        findings_.error(group, fmt::format("has a loop at instruction {}, out of the program, which has {}; count its loops.", at, program_.code.size()));
        return false;
    }
    const instruction& l = program_.code[at];
    if (l.code != op::loop) {
        findings_.error(group, fmt::format("has a loop at {}, where {} stands; loops follow each other from the label on.", findings_.line_of(at),
                                           ccu_row(l.code)->name));
        return false;
    }
    reached_[at] = true;
    const std::size_t before = findings_.errors();
    if (l.wait_mask != 0 || l.set_mask != 0)
        findings_.error(at, "waits or sets, but is a template, which no mission carries out; let the group or the body do that.");
    if (l.r[0] > l.r[1] || l.r[1] >= program_.code.size()) {
        findings_.error(at, fmt::format("has a body from instruction {} to {}; it must lie in the program, which has {}, and begin before it ends.", l.r[0],
                                        l.r[1], program_.code.size()));
        return false;
    }
    for (std::uint32_t n = l.r[0]; n <= l.r[1]; ++n) {
        const op_row& row = *ccu_row(program_.code[n].code);
        reached_[n] = true;
        if (!may_stand_in_body(row))
            findings_.error(n, fmt::format("{} stands in the body of the loop in {}, which may hold transfers, reductions, set_bits and clear_bits only; move it "
                                           "before the group.",
                                           row.name, findings_.line_of(at)));
        else if (row.code == op::send_bits || row.code == op::send_a || row.code == op::send_x)
            findings_.error(n, fmt::format("{} stands in the body of the loop in {}, and nothing proves that the peer has taken what an iteration before it sent; "
                                           "send behind the group.",
                                           row.name, findings_.line_of(at)));
        else if (const auto k = field_of_peer_bits(row); k && program_.code[n].r[*k + 1] != 0)
            findings_.error(n, fmt::format("{} in the body of the loop in {} sets bits of the peer, and nothing proves that the peer has cleared those of the "
                                           "iteration before; write 0:0 here and send bits behind the group.",
                                           row.name, findings_.line_of(at)));
    }
    return findings_.errors() == before;
}

bool ccu_walk::group(ccu_path& p, const instruction& i)
{
    const std::uint32_t at = p.pc;
    const std::uint32_t first_loop = i.r[0];
    const std::uint32_t loops = i.count;
    const auto constant = [&](std::uint16_t r, const char* what, const char* remedy) -> std::optional<std::uint64_t> {
        const auto found = p.general.find(r);
        if (found != p.general.end() && found->second.is_constant())
            return found->second.number;
        findings_.error(at, fmt::format("has its {} in x{}, which is not known; load a number: load_x x{} {}.", what, r, r, remedy));
        return std::nullopt;
    };
    const auto counts = constant(i.r[1], "counts", "counts(first, replicas)");
    const auto offsets = constant(i.r[2], "offsets", "offsets(address, slice, entry)");
    if (loops > k_most_templates) {
        findings_.error(at, fmt::format("has {} loops; a group has at most {} templates. Replicate them, or use several groups.", loops, k_most_templates));
        return false;
    }
    bool good = counts && offsets;
    for (std::uint32_t l = 0; l < loops; ++l)
        good = loop_is_good(at, first_loop + l) && good;
    if (!good)
        return false;
    const std::uint32_t first = group_first(*counts);
    const std::uint32_t replicas = group_replicas(*counts);
    if (first > loops || (first == loops && replicas != 0)) {
        findings_.error(at, fmt::format("replicates from loop {} on, but has {}, counted from 0; let counts() name one of them.", first, loops));
        return false;
    }
    const std::uint64_t engines = loops + std::uint64_t{replicas} * (loops - first);
    history_.use.engines = std::max(history_.use.engines, static_cast<std::uint32_t>(engines));
    if (engines > capacities_.loop_engines) {
        findings_.error(at, fmt::format("takes {} loop engines ({} loops and {} more replicas of {}); the unit has {}. Use fewer replicas and more iterations.",
                                        engines, loops, replicas, loops - first, capacities_.loop_engines));
        return false;
    }
    std::map<std::uint32_t, std::uint32_t> readers, writers, bits;
    std::set<std::uint32_t> written, read;
    std::uint32_t number = 0;
    const std::size_t before = findings_.errors();
    for (std::uint32_t k = 0; k <= replicas; ++k)
        // Replicas of a wrong body are as wrong.
        for (std::uint32_t l = k == 0 ? 0 : first; l < loops && findings_.errors() == before; ++l)
            engine(p, program_.code[first_loop + l], k, *offsets, readers, writers, bits, number++, written, read);
    if (findings_.errors() != before)
        return false;
    p.unit.add_written(written);
    for (const std::uint32_t m : read)
        p.unit.note_read(m);
    return true;
}

void ccu_walk::engine(ccu_path& p, const instruction& loop, std::uint32_t replica, std::uint64_t offsets, std::map<std::uint32_t, std::uint32_t>& readers,
                      std::map<std::uint32_t, std::uint32_t>& writers, std::map<std::uint32_t, std::uint32_t>& bits, std::uint32_t number,
                      std::set<std::uint32_t>& written, std::set<std::uint32_t>& read)
{
    const auto parameter = p.general.find(loop.r[2]);
    const auto at_loop = static_cast<std::uint32_t>(&loop - program_.code.data());
    if (p.unit.read_from_peer(at_loop, 'x', loop.r[2])) {
        // any number of iterations
    } else if (parameter == p.general.end()) {
        findings_.error(at_loop, fmt::format("reads register x{} before it is written; load its parameter before the group.", loop.r[2]));
        return;
    }
    const bool known = parameter != p.general.end() && parameter->second.is_constant();
    if (known && loop_iterations(parameter->second.number) == 0) {
        findings_.warning(at_loop, "has no iterations, so the group passes over it; load loop(iterations, step) with at least one.");
        return;
    }
    ccu_unit_state unit = p.unit.for_engine();
    const ccu_unit_state begin = unit;
    if (replica != 0)
        unit.replica = fmt::format(" (replica {})", replica);
    const std::uint32_t slice_shift = replica * group_slice(offsets);
    const std::uint32_t entry_shift = replica * group_entry(offsets);

    for (std::uint32_t at = loop.r[0]; at <= loop.r[1]; ++at) {
        const instruction& i = program_.code[at];
        ccu_access a = access_of(i);
        bool fits = true;
        const auto shift_slice = [&](std::uint16_t& m) {
            if (m + std::uint64_t{slice_shift} >= capacities_.slices) {
                findings_.error(at, fmt::format("takes slice m{} in replica {} of the group in {}; the unit has {}, m0 to m{}.", m + std::uint64_t{slice_shift}, replica,
                                                findings_.line_of(p.pc), capacities_.slices, capacities_.slices - 1));
                fits = false;
            }
            m = static_cast<std::uint16_t>(m + slice_shift);
        };
        const auto shift_entry = [&](std::uint16_t entry, std::uint16_t mask) {
            if (mask != 0 && entry + std::uint64_t{entry_shift} >= capacities_.check_entries) {
                findings_.error(at, fmt::format("takes check-bit entry {} in replica {} of the group in {}; the unit has {}, 0 to {}.",
                                                entry + std::uint64_t{entry_shift}, replica, findings_.line_of(p.pc), capacities_.check_entries,
                                                capacities_.check_entries - 1));
                fits = false;
            }
            return mask == 0 ? 0 : entry + entry_shift;
        };
        for (std::uint16_t& m : a.slices_read)
            shift_slice(m);
        for (std::uint16_t& m : a.slices_written)
            shift_slice(m);
        if (a.peer_slice_read)
            shift_slice(*a.peer_slice_read);
        if (a.peer_slice_written)
            shift_slice(*a.peer_slice_written);
        const std::uint32_t wait_entry = shift_entry(i.wait_entry, i.wait_mask);
        const std::uint32_t set_entry = shift_entry(i.set_entry, i.set_mask);
        if (!fits)
            return;

        const auto share = [&](std::map<std::uint32_t, std::uint32_t>& users, std::uint32_t what) {
            const auto [found, is_new] = users.emplace(what, number);
            return !is_new && found->second != number;
        };
        const auto clash = [&](const std::string& what, const char* offset) {
            findings_.error(at, fmt::format("shares {} with another loop engine of the group in {}{}, which runs at the same time; give each its own, by {}.", what,
                                            findings_.line_of(p.pc), unit.replica, offset));
        };
        for (const std::uint16_t m : a.slices_read) {
            const auto w = writers.find(m);
            if (w != writers.end() && w->second != number)
                clash(fmt::format("slice m{}", m), "a larger slice offset");
            // Several readers are no clash among themselves, but each is one for a writer.
            const auto [r, is_new] = readers.emplace(m, number);
            if (!is_new && r->second != number)
                r->second = ~std::uint32_t{0};
            read.insert(m);
        }
        for (const std::uint16_t m : a.slices_written) {
            const auto r = readers.find(m);
            if (share(writers, m) || (r != readers.end() && r->second != number))
                clash(fmt::format("slice m{}", m), "a larger slice offset");
        }
        const auto use_bits = [&](std::uint32_t entry, std::uint16_t mask) {
            for (unsigned b = 0; b < k_bits_of_entry; ++b) {
                if ((mask >> b & 1) == 0)
                    continue;
                const std::uint32_t bit = ccu_bit(entry, b);
                if (share(bits, bit))
                    clash("check bit " + text_of_ccu_bit(bit), "a larger entry offset");
                else if (!p.unit.is_clear(bit))
                    findings_.error(at, fmt::format("takes check bit {}{}, which is not clear when the group in {} begins; wait for it with 'clear' before the "
                                                    "group, or take another bit.",
                                                    text_of_ccu_bit(bit), unit.replica, findings_.line_of(p.pc)));
            }
        };
        use_bits(wait_entry, i.wait_mask);
        use_bits(set_entry, i.set_mask);

        unit.wait(at, wait_entry, i.wait_mask, (i.flags & k_clears) != 0 || i.code == op::clear_bits);
        read_registers(p, at, a);
        check_length(p, at, i);
        unit.peer_slices_of_body(at, a);
        a.peer_slice_read.reset();
        if (a.goes_on)
            unit.begin(at, a, set_entry, i.set_mask);
        else
            unit.set(at, set_entry, i.set_mask);
        if (known)
            written.insert(a.slices_written.begin(), a.slices_written.end());
    }
    unit.end_of_iteration(begin);
}

} // namespace weft
