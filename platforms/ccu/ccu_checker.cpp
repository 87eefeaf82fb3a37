// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_checker.h"

#include "platforms/ccu/ccu_flow.h"
#include "platforms/ccu/ccu_operands.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

using namespace abi::ccu;

namespace {

void sort_by_line(std::vector<problem>& problems)
{
    std::stable_sort(problems.begin(), problems.end(), [](const problem& a, const problem& b) {
        return a.where.line != b.where.line ? a.where.line < b.where.line : a.where.column < b.where.column;
    });
}

/// Numbers that no unit of these capacities has, and what a single instruction tells.
void check_instruction(const ccu_program& program, std::uint32_t at, const ccu_capacities& c, ccu_findings& findings, ccu_use& use)
{
    const instruction& i = program.code[at];
    const ccu_access a = access_of(i);
    const auto check = [&](std::uint32_t number, std::uint32_t capacity, char letter, const char* what, std::set<std::uint32_t>* used) {
        if (number >= capacity)
            findings.error(at, fmt::format("names {0} {1}{2}; the unit has {3}, {1}0 to {1}{4}.", what, letter, number, capacity, capacity - 1));
        else if (used != nullptr)
            used->insert(number);
    };
    for (const auto* list : {&a.address_read, &a.address_written})
        for (const std::uint16_t r : *list)
            check(r, c.address_registers, 'a', "address register", &use.address_registers);
    for (const auto* list : {&a.general_read, &a.general_written})
        for (const std::uint16_t r : *list)
            check(r, c.general_registers, 'x', "general register", &use.general_registers);
    for (const auto* list : {&a.slices_read, &a.slices_written})
        for (const std::uint16_t m : *list)
            check(m, c.slices, 'm', "slice", &use.slices);
    // Peers run the same program: what it writes there is written here.
    const auto check_peer = [&](const std::optional<std::uint16_t>& number, std::uint32_t capacity, char letter, const char* what, auto* used) {
        if (number)
            check(*number, capacity, letter, what, used);
    };
    check_peer(a.peer_address_written, c.address_registers, 'a', "address register", &use.address_registers);
    check_peer(a.peer_general_written, c.general_registers, 'x', "general register", &use.general_registers);
    check_peer(a.peer_slice_read, c.slices, 'm', "slice", &use.slices);
    check_peer(a.peer_slice_written, c.slices, 'm', "slice", &use.slices);
    if (a.channel) {
        check(*a.channel, c.channels, 'c', "channel", &use.channels);
        if (program.ranks && *a.channel + 1u >= *program.ranks)
            findings.error(at, fmt::format("sends or reads on c{}; of {} ranks each has channels to {} peers, c0 to c{}.", *a.channel, *program.ranks,
                                           *program.ranks - 1, *program.ranks - 2));
    }
    const auto check_entry = [&](std::uint32_t entry, std::uint32_t mask) {
        if (mask != 0 && entry >= c.check_entries)
            findings.error(at, fmt::format("names check-bit entry {}; the unit has {}, 0 to {}.", entry, c.check_entries, c.check_entries - 1));
    };
    check_entry(i.wait_entry, i.wait_mask);
    check_entry(i.set_entry, i.set_mask);
    const op_row& row = *ccu_row(i.code);
    if (const auto k = field_of_peer_bits(row)) {
        check_entry(i.r[*k], i.r[*k + 1]);
        if (i.r[*k + 1] == 0 && i.code == op::send_bits)
            findings.warning(at, "sends no bit; its mask is 0.");
    }
    for (const ccu_operand& o : operands_of(row))
        if (o.kind == ccu_operand_kind::argument && i.count >= c.arguments)
            findings.error(at, fmt::format("reads argument {}; a task has {}, 0 to {}.", i.count, c.arguments, c.arguments - 1));
    // The public description gives bits to transfers, reductions and the instructions for bits only.
    const bool sets_bits = row.group == op_group::transfer || row.group == op_group::reduce || i.code == op::set_bits || i.code == op::clear_bits;
    if (i.set_mask != 0 && !sets_bits && i.code != op::loop) // of a loop the group tells
        findings.error(at, fmt::format("{} sets a check bit, which only transfers, reductions, set_bits and clear_bits do; add 'set_bits set {}:{:#x}' behind it.", row.name,
                                       i.set_entry, i.set_mask));
    const bool moves_data = may_have_length(row);
    if (moves_data && i.set_mask == 0)
        findings.warning(at, fmt::format("{} sets no check bit, so nothing can tell when it is done; add 'set entry:mask' and wait for it.", row.name));
}

void check_bits_at_end(const ccu_program& program, const ccu_history& history, ccu_findings& findings)
{
    for (const auto& [bit, at] : history.set_by_peer) {
        const auto here = history.set_here.find(bit);
        const bool declared = program.peer_sets_bit(static_cast<std::uint16_t>(bit / k_bits_of_entry), bit % k_bits_of_entry);
        if (here != history.set_here.end() && !declared)
            findings.error(at, fmt::format("sets check bit {} of the peer, which {} sets here; a wait could not tell them apart. Take another bit.",
                                           text_of_ccu_bit(bit), findings.line_of(here->second)));
    }
    for (const auto* sets : {&history.set_here, &history.set_by_peer})
        for (const auto& [bit, at] : *sets)
            if (history.waited.count(bit) == 0)
                findings.warning(at, fmt::format("sets check bit {}{}, for which nothing ever waits.", text_of_ccu_bit(bit),
                                                 sets == &history.set_by_peer ? " of the peer" : ""));
}

} // namespace

bool ccu_verdict::accepted() const
{
    return std::none_of(problems.begin(), problems.end(), [](const problem& p) { return p.level == severity::error; });
}

ccu_verdict check_ccu(const ccu_program& program, const ccu_capacities& c)
{
    ccu_verdict verdict;
    ccu_findings findings(program, verdict.problems);
    ccu_history history;
    bool legal = true;
    for (std::uint32_t at = 0; at < program.code.size(); ++at)
        for (const std::string& what : illegalities(program.code[at])) {
            findings.error(at, what + ".");
            legal = false;
        }
    if (program.code.empty())
        findings.add(severity::error, {program.file, 0, 0}, "the program has no instruction.");
    if (program.code.size() > c.instructions)
        findings.error(c.instructions, fmt::format("is instruction {}; the unit holds {}.", c.instructions + 1, c.instructions));
    for (const auto& [number, range] : program.arguments)
        if (number >= c.arguments)
            findings.add(severity::error, range.where, fmt::format("declares argument {}; a task has {}, 0 to {}.", number, c.arguments, c.arguments - 1));
    if (legal) {
        history.use.instructions = static_cast<std::uint32_t>(program.code.size());
        for (std::uint32_t at = 0; at < program.code.size(); ++at)
            check_instruction(program, at, c, findings, history.use);
        ccu_walk walk(program, c, findings, history);
        walk.run();
        check_bits_at_end(program, history, findings);
        if (findings.errors() == 0) // else a path may have ended early
            for (std::uint32_t at = 0; at < program.code.size(); ++at)
                if (!walk.reached()[at] && (at == 0 || walk.reached()[at - 1]))
                    findings.warning(at, "is never reached; no path and no loop leads here.");
    }
    verdict.use = history.use;
    sort_by_line(verdict.problems);
    return verdict;
}

std::vector<problem> check_ccu_together(const std::vector<ccu_program>& programs, const std::vector<ccu_verdict>& verdicts, const ccu_capacities& c)
{
    std::vector<problem> problems;
    const auto tell = [&](const std::string& file, std::string message) { problems.push_back({severity::error, {file, 0, 0}, "", std::move(message)}); };
    std::uint64_t instructions = 0;
    for (const ccu_verdict& v : verdicts)
        instructions += v.use.instructions;
    if (programs.size() > c.missions)
        tell(programs.back().file, fmt::format("is program {}; a unit has {} missions.", programs.size(), c.missions));
    if (instructions > c.instructions)
        tell(programs.back().file, fmt::format("with the programs before it has {} instructions; the unit holds {}.", instructions, c.instructions));
    const std::pair<std::set<std::uint32_t> ccu_use::*, const char*> kinds[] = {{&ccu_use::slices, "slice m"},
                                                                                {&ccu_use::entries, "check-bit entry "},
                                                                                {&ccu_use::address_registers, "register a"},
                                                                                {&ccu_use::general_registers, "register x"}};
    for (std::size_t b = 0; b < programs.size(); ++b)
        for (std::size_t a = 0; a < b; ++a)
            for (const auto& [kind, name] : kinds) {
                const auto& mine = verdicts[b].use.*kind;
                const auto& others = verdicts[a].use.*kind;
                const auto shared = std::find_if(mine.begin(), mine.end(), [&, &theirs = others](std::uint32_t n) { return theirs.count(n) != 0; });
                if (shared != mine.end())
                    tell(programs[b].file, fmt::format("uses {}{}, as {} does; missions of one unit share them all, so give each its own.", name, *shared,
                                                       programs[a].file));
            }
    return problems;
}

} // namespace weft
