// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_flow.h"

#include "platforms/ccu/ccu_operands.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

using namespace abi::ccu;

namespace {

// Limits of this checker: real programs stay far below.
constexpr std::uint64_t k_most_steps = 1'000'000;
constexpr std::uint64_t k_most_paths = 4'096;
/// Of one loop: seconds, where a round takes a microsecond.
constexpr std::uint64_t k_most_rounds = std::uint64_t{1} << 24;
constexpr std::uint32_t k_followed_rounds = 3; ///< after them, the state of the unit repeats or the loop is refused
constexpr std::uint32_t k_most_tries = 8;

} // namespace

void ccu_walk::run()
{
    ccu_path p{0, {}, {}, program_.arguments, {}, ccu_unit_state(program_, findings_, history_)};
    for (const std::uint16_t x : program_.peer_general_registers)
        p.general[x] = {};
    p.address = program_.peer_address_registers;
    open_.push_back(std::move(p));
    while (!open_.empty() && !too_long_) {
        ccu_path next = std::move(open_.back());
        open_.pop_back();
        if (++paths_ > k_most_paths) {
            findings_.error(next.pc, fmt::format("there are more than {} ways to here through the program, too many to check; use fewer jumps on declared "
                                                 "arguments.",
                                                 k_most_paths));
            return;
        }
        follow(std::move(next));
    }
}

void ccu_walk::follow(ccu_path p)
{
    while (p.pc < program_.code.size()) {
        if (++steps_ > k_most_steps) {
            findings_.error(p.pc, fmt::format("the paths to here are longer than {} instructions, too long to check; put what repeats into loops.", k_most_steps));
            too_long_ = true;
            return;
        }
        if (!step(p))
            return;
    }
    p.unit.end_of_program();
}

void ccu_walk::read_registers(ccu_path& p, std::uint32_t at, const ccu_access& a)
{
    for (const std::uint16_t r : a.address_read)
        if (!p.unit.read_from_peer(at, 'a', r) && p.address.count(r) == 0)
            findings_.error(at, fmt::format("reads register a{} before it is written; load it first, or declare '.peer_writes a{}'.", r, r));
    for (const std::uint16_t r : a.general_read)
        if (!p.unit.read_from_peer(at, 'x', r) && p.general.count(r) == 0)
            findings_.error(at, fmt::format("reads register x{} before it is written; load it first, or declare '.peer_writes x{}'.", r, r));
    for (const std::uint16_t r : a.address_written)
        p.unit.check_register_write(at, 'a', r);
    for (const std::uint16_t r : a.general_written)
        p.unit.check_register_write(at, 'x', r);
}

void ccu_walk::write_registers(ccu_path& p, const instruction& i)
{
    using kind = ccu_value::kind;
    const auto value = [&](std::uint16_t r) {
        const auto found = p.general.find(r);
        return found == p.general.end() ? ccu_value{} : found->second;
    };
    switch (i.code) {
    case op::load_arg_x: {
        const auto range = p.ranges.find(i.count);
        if (range == p.ranges.end())
            p.general[i.r[0]] = {};
        else if (range->second.least == range->second.most)
            p.general[i.r[0]] = ccu_value::of(range->second.least);
        else
            p.general[i.r[0]] = {kind::relative, i.count, 0};
        break;
    }
    case op::load_x: p.general[i.r[0]] = ccu_value::of(i.immediate()); break;
    case op::add_xx: {
        ccu_value a = value(i.r[1]), b = value(i.r[2]);
        if (b.what == kind::relative)
            std::swap(a, b);
        if (a.what == kind::unknown || !b.is_constant())
            p.general[i.r[0]] = {};
        else
            p.general[i.r[0]] = {a.what, a.symbol, a.number + b.number};
        break;
    }
    case op::load_arg_a:
    case op::load_a:
    case op::add_ax:
    case op::add_aa: p.address.insert(i.r[0]); break;
    default: break;
    }
}

void ccu_walk::check_length(const ccu_path& p, std::uint32_t at, const instruction& i)
{
    const op_row& row = *ccu_row(i.code);
    if (!may_have_length(row) || i.length() == k_no_length)
        return;
    const auto found = p.general.find(i.length());
    if (found == p.general.end())
        return; // told
    const ccu_value v = found->second;
    const std::uint64_t most = row.operation == operation_kind::memory_memory ? k_most_transfer_bytes : k_slice_bytes;
    const bool reduces = row.operation == operation_kind::slices || i.redop != 0;
    const std::uint64_t element_bytes = reduces ? abi::element_bytes(static_cast<abi::element_type>(i.type)) : 1;
    std::uint64_t least = v.number, largest = v.number, step = 0;
    if (v.what == ccu_value::kind::relative) {
        const auto range = p.ranges.find(v.symbol);
        if (range != p.ranges.end()) {
            least += range->second.least;
            largest += range->second.most;
            step = range->second.step;
        } else {
            least = 0;
            largest = ~std::uint64_t{0};
        }
    }
    if (v.what == ccu_value::kind::unknown || (v.what == ccu_value::kind::relative && largest < least))
        findings_.error(at, fmt::format("has a length in x{} that is not known, so it may be 0 or too large; load a number, or declare the range of its argument: "
                                        "'.argument N 1..{}'.",
                                        i.length(), most));
    else if (least == 0 || largest > most)
        findings_.error(at, least == largest ? fmt::format("has a length of {} B in x{}; it must be 1 to {} B.", least, i.length(), most)
                                             : fmt::format("has a length of {} to {} B in x{}; it must be 1 to {} B.", least, largest, i.length(), most));
    else if (least % element_bytes != 0 || (least != largest && step % element_bytes != 0))
        findings_.error(at, fmt::format("has a length in x{} that is not always a multiple of {} B, the size of {}; {}.", i.length(), element_bytes,
                                        abi::k_element_rows[i.type].name,
                                        least == largest ? fmt::format("it is {} B", least) : fmt::format("declare its argument with 'step {}'", element_bytes)));
}

bool ccu_walk::step(ccu_path& p)
{
    const std::uint32_t at = p.pc;
    const instruction& i = program_.code[at];
    reached_[at] = true;
    const ccu_access a = access_of(i);
    p.unit.advance();
    p.unit.wait(at, i.wait_entry, i.wait_mask, (i.flags & k_clears) != 0 || i.code == op::clear_bits);
    if (i.code == op::loop) {
        findings_.error(at, "the mission itself comes to this loop, which is a template for loop engines; jump over it.");
        return false;
    }
    read_registers(p, at, a);
    check_length(p, at, i);
    write_registers(p, i);
    const std::optional<unsigned> peer_bits = field_of_peer_bits(*ccu_row(i.code));
    if (peer_bits)
        p.unit.send(at, a, i.r[*peer_bits], i.r[*peer_bits + 1]);
    if (a.goes_on)
        p.unit.begin(at, a, i.set_entry, i.set_mask);
    else if (i.code == op::group && !group(p, i))
        return false;
    if (!a.goes_on)
        p.unit.set(at, i.set_entry, i.set_mask);
    if (i.code == op::jump)
        return jump(p, i);
    ++p.pc;
    return true;
}

void ccu_walk::pin(ccu_path& p, std::uint32_t argument, std::uint64_t value)
{
    ccu_argument_range& r = p.ranges.at(argument);
    r.least = r.most = value;
    const auto fill = [&](ccu_value& v) {
        if (v.what == ccu_value::kind::relative && v.symbol == argument)
            v = ccu_value::of(v.number + value);
    };
    for (auto& [number, v] : p.general)
        fill(v);
    for (ccu_loop_round& l : p.loops) {
        fill(l.last);
        for (auto& [number, v] : l.registers)
            fill(v);
    }
}

ccu_walk::split ccu_walk::split_at(const ccu_path& p, const ccu_value& v, std::uint64_t constant) const
{
    split s;
    if (v.is_constant()) {
        (v.number == constant ? s.equal : s.other) = p;
        return s;
    }
    const ccu_argument_range r = p.ranges.at(v.symbol);
    const std::uint64_t wanted = constant - v.number;
    if (wanted < r.least || wanted > r.most || (wanted - r.least) % r.step != 0) {
        s.other = p;
        return s;
    }
    s.equal = p;
    pin(*s.equal, v.symbol, wanted);
    if (r.least == r.most)
        return s;
    s.other = p;
    ccu_argument_range& rest = s.other->ranges.at(v.symbol);
    if (wanted == r.least)
        rest.least += r.step;
    else if (wanted == r.most)
        rest.most -= r.step;
    if (rest.least == rest.most)
        pin(*s.other, v.symbol, rest.least);
    return s;
}

bool ccu_walk::jump(ccu_path& p, const instruction& i)
{
    const auto value = [&](std::uint16_t r) {
        const auto found = p.general.find(r);
        return found == p.general.end() ? ccu_value{} : found->second;
    };
    const ccu_value target = value(i.r[0]);
    if (!target.is_constant()) {
        findings_.error(p.pc, fmt::format("jumps to a place in x{} that is not known; load a label into it: load_x x{} label.", i.r[0], i.r[0]));
        return false;
    }
    if (target.number > program_.code.size()) {
        findings_.error(p.pc, fmt::format("jumps to instruction {}, out of the program, which has {}; load a label.", target.number, program_.code.size()));
        return false;
    }
    const auto to = static_cast<std::uint32_t>(target.number);
    while (!p.loops.empty() && (p.pc < p.loops.back().head || p.pc > p.loops.back().jump))
        p.loops.pop_back(); // the path has left them
    if (to <= p.pc)
        return jump_back(p, i, to);
    const ccu_value v = value(i.r[1]);
    if (v.what == ccu_value::kind::unknown || (v.what == ccu_value::kind::relative && p.ranges.count(v.symbol) == 0)) {
        findings_.error(p.pc, fmt::format("jumps on x{}, which is not known and may differ between ranks; use a number, or declare its argument: "
                                          "'.argument N least..most'.",
                                          i.r[1]));
        return false;
    }
    split s = split_at(p, v, i.immediate());
    if (s.equal) {
        ++s.equal->pc;
        if (s.other) {
            s.other->pc = to;
            open_.push_back(std::move(*s.other));
        }
        p = std::move(*s.equal);
    } else {
        p = std::move(*s.other);
        p.pc = to;
    }
    return true;
}

/// Rounds until a counter that moves by `stride` (two's complement) has come from `from` to `constant`.
std::optional<std::uint64_t> ccu_walk::rounds_to(std::uint64_t from, std::uint64_t constant, std::uint64_t stride) const
{
    const bool down = stride >> 63 != 0;
    const std::uint64_t size = down ? 0 - stride : stride;
    const std::uint64_t distance = down ? from - constant : constant - from;
    if (size == 0 || distance % size != 0)
        return std::nullopt;
    return distance / size;
}

bool ccu_walk::jump_back(ccu_path& p, const instruction& i, std::uint32_t target)
{
    const std::uint16_t counter = i.r[1];
    const std::uint64_t constant = i.immediate();
    const auto found = p.general.find(counter);
    const ccu_value v = found == p.general.end() ? ccu_value{} : found->second;
    if (p.loops.empty() || p.loops.back().jump != p.pc || p.loops.back().head != target) {
        for (const ccu_loop_round& l : p.loops)
            if (target < l.head) {
                findings_.error(p.pc, fmt::format("jumps back across the begin of the loop that ends in {}, so neither has a provable end; nest loops.",
                                                  findings_.line_of(l.jump)));
                return false;
            }
        ccu_loop_round l;
        l.jump = p.pc;
        l.head = target;
        p.loops.push_back(std::move(l));
    }
    ccu_loop_round& l = p.loops.back();
    if (l.any_round)
        return last_round(p, counter, constant);
    if (v.what == ccu_value::kind::unknown || (v.what == ccu_value::kind::relative && p.ranges.count(v.symbol) == 0)) {
        findings_.error(p.pc, fmt::format("loops while x{} is not {}, but x{} is not known, so the loop may have no end; count with a number, or declare its "
                                          "argument: '.argument N 1..1000'.",
                                          counter, constant, counter));
        return false;
    }
    split s = split_at(p, v, constant);
    if (s.equal) {
        s.equal->loops.pop_back();
        ++s.equal->pc;
        if (!s.other) {
            p = std::move(*s.equal);
            return true;
        }
        open_.push_back(std::move(*s.equal));
    }
    p = std::move(*s.other);
    return next_round(p, p.loops.back(), counter, constant);
}

bool ccu_walk::next_round(ccu_path& p, ccu_loop_round& l, std::uint16_t counter, std::uint64_t constant)
{
    const ccu_value v = p.general.at(counter);
    const std::string signature = p.unit.signature();
    std::uint64_t left = 0;
    if (++l.rounds >= 2) {
        if (v.what != l.last.what || v.symbol != l.last.symbol) {
            findings_.error(p.pc, fmt::format("counts in x{}, which does not move by one number each round; add the same constant in every round.", counter));
            return false;
        }
        l.stride = v.number - l.last.number;
        if (l.stride == 0) {
            findings_.error(p.pc, fmt::format("loops while x{} is not {}, but no round moves x{}, so the loop has no end; add a constant to it in every round.",
                                              counter, constant, counter));
            return false;
        }
        std::uint64_t least = v.number, most = v.number;
        bool reaches = true;
        if (!v.is_constant()) {
            const ccu_argument_range& r = p.ranges.at(v.symbol);
            least += r.least;
            most += r.most;
            const std::uint64_t size = l.stride >> 63 != 0 ? 0 - l.stride : l.stride;
            reaches = r.step % size == 0;
        }
        const auto a = rounds_to(least, constant, l.stride);
        const auto b = rounds_to(most, constant, l.stride);
        if (!reaches || !a || !b || std::max(*a, *b) > k_most_rounds) {
            const bool far = reaches && a && b;
            findings_.error(p.pc, fmt::format("loops while x{} is not {}, and x{} moves by {} a round; {}.", counter, constant, counter,
                                              static_cast<std::int64_t>(l.stride),
                                              far ? fmt::format("it begins beyond {}, or more than {} rounds before it. Let it begin on the right side", constant,
                                                                k_most_rounds)
                                                  : fmt::format("it skips {} and goes on. Let the distance be a multiple of the step", constant)));
            return false;
        }
        left = std::max(*a, *b);
    }
    const bool many = l.rounds >= k_followed_rounds && left > 2;
    if (many && signature != l.signature) {
        findings_.error(p.pc, fmt::format("rounds of this loop leave different check bits, slices or transfers behind, after {} rounds still; let a round leave "
                                          "them as it found them.",
                                          l.rounds));
        return false;
    }
    l.last = v;
    l.signature = signature;
    if (many) {
        // What the last rounds have changed is anything, from now on.
        for (auto& [number, value] : p.general)
            if (const auto before = l.registers.find(number); before == l.registers.end() || before->second != value)
                value = {};
        begin_any_round(p, l, counter);
    }
    l.registers = p.general;
    p.pc = l.head;
    return true;
}

void ccu_walk::begin_any_round(ccu_path& p, ccu_loop_round& l, std::uint16_t counter)
{
    l.any_round = true;
    p.general[counter] = {ccu_value::kind::relative, next_symbol_++, 0};
    l.last = p.general[counter];
}

/// A round with any value of the counter is through: if it moved the counter as all others did, they all end like it.
bool ccu_walk::last_round(ccu_path& p, std::uint16_t counter, std::uint64_t constant)
{
    ccu_loop_round& l = p.loops.back();
    const ccu_value v = p.general.at(counter);
    if (v.what != ccu_value::kind::relative || v.symbol != l.last.symbol || v.number != l.stride) {
        findings_.error(p.pc, fmt::format("counts in x{}, which does not move by one number each round; add the same constant in every round.", counter));
        return false;
    }
    if (p.unit.signature() != l.signature) {
        findings_.error(p.pc, "rounds of this loop leave different check bits, slices or transfers behind; let a round leave them as it found them.");
        return false;
    }
    bool changed = false;
    for (auto& [number, value] : p.general)
        if (number != counter && value.what != ccu_value::kind::unknown)
            if (const auto before = l.registers.find(number); before == l.registers.end() || before->second != value) {
                value = {};
                changed = true;
            }
    if (changed && ++l.tries <= k_most_tries) {
        begin_any_round(p, l, counter);
        l.registers = p.general;
        p.pc = l.head;
        return true;
    }
    p.general[counter] = ccu_value::of(constant);
    p.loops.pop_back();
    ++p.pc;
    return true;
}

} // namespace weft
