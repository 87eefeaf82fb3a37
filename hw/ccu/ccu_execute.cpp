// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the instructions of a CCU do.
#include "hw/ccu/ccu.h"

#include "hw/arithmetic/slice_reduction.h"

#include <algorithm>
#include <cstring>

namespace weft {

using abi::ccu::instruction;
using abi::ccu::op;
using abi::ccu::status;

bool ccu::general_at(std::uint32_t context, std::uint32_t number, std::uint64_t& value)
{
    if (number >= shared_.general_registers.size()) {
        fail(context, status::local_operation, number);
        return false;
    }
    value = shared_.general_registers[number];
    return true;
}

/// In a loop, with the offset of replica and iteration.
bool ccu::address_at(std::uint32_t context, std::uint32_t number, std::uint64_t& address)
{
    if (number >= shared_.address_registers.size()) {
        fail(context, status::local_operation, number);
        return false;
    }
    address = shared_.address_registers[number] + contexts_[context].address_offset();
    return true;
}

std::uint32_t ccu::task_of(std::uint32_t mission) const { return mission + missions_[mission].launches * abi::ccu::k_most_missions; }

bool ccu::use_slice(std::uint32_t context, std::uint32_t number, ccu_transfer& t, std::uint64_t& slice)
{
    slice = std::uint64_t{number} + contexts_[context].slice_offset;
    const std::uint32_t task = task_of(contexts_[context].mission);
    if (slice >= shared_.slices.count() || !shared_.slices.begin(static_cast<std::uint32_t>(slice), task)) {
        for (std::uint32_t s = 0; s < t.slice_count; ++s)
            shared_.slices.end(t.slices[s]);
        fail(context, status::local_operation, static_cast<std::uint32_t>(slice));
        return false;
    }
    t.slices[t.slice_count++] = static_cast<std::uint16_t>(slice);
    return true;
}

bool ccu::in_memory(std::uint32_t context, std::uint64_t address, std::uint64_t bytes)
{
    if (in_capacity(address, bytes, shared_.memory_bytes))
        return true;
    fail(context, status::address, static_cast<std::uint32_t>(address >> 12));
    return false;
}

bool ccu::length_of(std::uint32_t context, const instruction& i, std::uint64_t& bytes)
{
    const bool between_memories = i.code == op::remote_mem_to_mem || i.code == op::mem_to_remote_mem || i.code == op::mem_to_mem;
    const std::uint64_t most = between_memories ? abi::ccu::k_most_transfer_bytes : abi::ccu::k_slice_bytes;
    bytes = abi::ccu::k_slice_bytes;
    if (i.length() != abi::ccu::k_no_length && !general_at(context, i.length(), bytes))
        return false;
    if (bytes != 0 && bytes <= most)
        return true;
    fail(context, status::local_operation, static_cast<std::uint32_t>(bytes));
    return false;
}

ccu::outcome ccu::execute(std::uint32_t context, const instruction& i)
{
    const bool sets = i.set_mask != 0;
    if (const auto code = static_cast<std::uint8_t>(i.code); sets && code < static_cast<std::uint8_t>(op::mem_to_ms) && i.code != op::set_bits && i.code != op::clear_bits) {
        fail(context, status::illegal_instruction, code); // loads, jumps and groups set nothing
        return outcome::failed;
    }
    switch (i.code) {
    case op::load_arg_a:
    case op::load_arg_x:
    case op::load_a:
    case op::load_x:
    case op::add_ax:
    case op::add_aa:
    case op::add_xx:
    case op::jump: return load(context, i);
    case op::loop: // a template: the group that names it runs it
        return outcome::next;
    case op::set_bits:
    case op::clear_bits:
        if (sets) { // a transfer of nothing: the task has not ended before it is seen
            const ccu_transfer t = transfer_of(context, i);
            ++missions_[t.mission].transfers;
            finish_local(t, shared_.time.now_ps());
        }
        return outcome::next;
    case op::group:
        if (!start_group(context, i))
            return outcome::blocked;
        if (!contexts_[context].waits_for_engines)
            return outcome::next;
        clear_waited(context, i); // goes on behind it when its engines have ended
        ++instructions;
        ++contexts_[context].pc;
        return outcome::blocked;
    case op::reduce_add:
    case op::reduce_max:
    case op::reduce_min: return reduce(context, i);
    default: break;
    }
    const std::uint8_t code = static_cast<std::uint8_t>(i.code);
    if (code >= static_cast<std::uint8_t>(op::mem_to_ms) && code <= static_cast<std::uint8_t>(op::send_x))
        return transfer(context, i);
    fail(context, status::illegal_instruction, code);
    return outcome::failed;
}

ccu::outcome ccu::load(std::uint32_t context, const instruction& i)
{
    ccu_context& c = contexts_[context];
    const auto refuse = [&](status why, std::uint32_t detail) {
        fail(context, why, detail);
        return outcome::failed;
    };
    if (!is_mission(context)) // loop bodies hold transfers, reductions and bits only
        return refuse(status::illegal_instruction, static_cast<std::uint32_t>(i.code));
    auto& a = shared_.address_registers;
    auto& x = shared_.general_registers;
    const bool to_address = i.code == op::load_arg_a || i.code == op::load_a || i.code == op::add_ax || i.code == op::add_aa;
    if (i.r[0] >= (to_address ? a.size() : x.size()))
        return refuse(status::local_operation, i.r[0]);
    const auto arguments = missions_[c.mission].arguments;
    switch (i.code) {
    case op::load_arg_a:
    case op::load_arg_x:
        if (i.count >= abi::ccu::k_arguments)
            return refuse(status::illegal_instruction, i.count);
        (to_address ? a : x)[i.r[0]] = arguments[i.count];
        return outcome::next;
    case op::load_a: a[i.r[0]] = i.immediate(); return outcome::next;
    case op::load_x: x[i.r[0]] = i.immediate(); return outcome::next;
    case op::add_ax:
        if (i.r[1] >= a.size() || i.r[2] >= x.size())
            return refuse(status::local_operation, i.r[1] >= a.size() ? i.r[1] : i.r[2]);
        a[i.r[0]] = a[i.r[1]] + x[i.r[2]];
        return outcome::next;
    case op::add_aa:
    case op::add_xx: {
        auto& from = i.code == op::add_aa ? a : x;
        if (i.r[1] >= from.size() || i.r[2] >= from.size())
            return refuse(status::local_operation, i.r[1] >= from.size() ? i.r[1] : i.r[2]);
        from[i.r[0]] = from[i.r[1]] + from[i.r[2]];
        return outcome::next;
    }
    default: { // jump
        std::uint64_t condition = 0;
        if (!general_at(context, i.r[1], condition))
            return outcome::failed;
        if (condition == i.immediate())
            return outcome::next;
        const std::uint64_t target = x[i.r[0]];
        if (target > missions_[c.mission].count)
            return refuse(status::illegal_instruction, static_cast<std::uint32_t>(target));
        c.pc = missions_[c.mission].start + static_cast<std::uint32_t>(target);
        return outcome::jumped;
    }
    }
}

/// What an instruction begins, without its data.
ccu_transfer ccu::transfer_of(std::uint32_t context, const instruction& i) const
{
    const ccu_context& c = contexts_[context];
    ccu_transfer t;
    t.code = i.code;
    t.mission = c.mission;
    t.instruction = c.pc;
    t.set_entry = static_cast<std::uint16_t>(i.set_entry + c.entry_offset);
    t.set_mask = i.set_mask;
    return t;
}

ccu::outcome ccu::transfer(std::uint32_t context, const instruction& i)
{
    const ccu_context& c = contexts_[context];
    const std::uint64_t now = shared_.time.now_ps();
    ccu_transfer t = transfer_of(context, i);
    t.channel = i.channel;
    const bool local = i.code == op::mem_to_ms || i.code == op::ms_to_mem || i.code == op::ms_to_ms || i.code == op::mem_to_mem;
    if (!local && (i.channel >= transfers_.channel_count() || transfers_.channel_at(i.channel).peer == k_none)) {
        fail(context, status::local_operation, i.channel);
        return outcome::failed;
    }
    if (!local && !finds_place(context, i.channel))
        return outcome::blocked;
    const bool sends = i.code == op::send_bits || i.code == op::send_a || i.code == op::send_x;
    if (!sends && !length_of(context, i, t.bytes))
        return outcome::failed;
    const bool memories = i.code == op::remote_mem_to_mem || i.code == op::mem_to_remote_mem || i.code == op::mem_to_mem;
    if (memories && i.redop != 0) {
        t.type = i.type;
        t.redop = i.redop;
        const auto type = static_cast<abi::element_type>(i.type);
        if (i.type >= abi::k_element_types || i.redop > static_cast<std::uint8_t>(abi::reduce_op::min) ||
            !abi::memory_reduces(type) || t.bytes % abi::element_bytes(type) != 0) {
            fail(context, status::local_operation, i.type);
            return outcome::failed;
        }
    }
    std::uint64_t value = 0;
    // Registers first, slices last: who fails has taken none.
    const auto address = [&](std::uint32_t number, std::uint64_t& out) { return address_at(context, number, out); };
    const auto remote_address = [&](std::uint32_t number, std::uint32_t token) {
        if (!address(number, t.remote) || !general_at(context, token, value))
            return false;
        t.token = static_cast<std::uint32_t>(value & ((1u << abi::ccu::k_token_bits) - 1));
        constexpr std::uint64_t k_end = std::uint64_t{1} << k_token_shift;
        if (t.remote < k_end && t.bytes <= k_end - t.remote)
            return true;
        fail(context, status::address, static_cast<std::uint32_t>(t.remote >> 12));
        return false;
    };
    const auto own = [&](std::uint32_t number) { return address(number, t.local) && in_memory(context, t.local, t.bytes); };
    const auto slice = [&](std::uint32_t number, std::uint64_t& out) { return use_slice(context, number, t, out); };
    const auto bits_of_peer = [&] { t.entry_and_mask = std::uint32_t{i.r[2]} << 16 | i.r[3]; };
    std::uint64_t other = 0;
    bool ok = true;
    switch (i.code) {
    case op::mem_to_ms: ok = address(i.r[1], other) && in_memory(context, other, t.bytes) && slice(i.r[0], t.local); break;
    case op::ms_to_mem: ok = address(i.r[0], other) && in_memory(context, other, t.bytes) && slice(i.r[1], t.local); break;
    case op::remote_mem_to_ms: ok = remote_address(i.r[1], i.r[2]) && slice(i.r[0], t.local); break;
    case op::ms_to_remote_mem: ok = remote_address(i.r[0], i.r[1]) && slice(i.r[2], t.local); break;
    case op::remote_ms_to_mem:
        ok = own(i.r[0]);
        t.remote = std::uint64_t{i.r[1]} + c.slice_offset;
        break;
    case op::ms_to_ms: ok = slice(i.r[0], t.local) && slice(i.r[1], other); break;
    case op::remote_ms_to_ms:
        ok = slice(i.r[0], t.local);
        t.remote = std::uint64_t{i.r[1]} + c.slice_offset;
        break;
    case op::ms_to_remote_ms:
        ok = slice(i.r[1], t.local);
        t.remote = std::uint64_t{i.r[0]} + c.slice_offset;
        bits_of_peer();
        break;
    case op::remote_mem_to_mem: ok = own(i.r[0]) && remote_address(i.r[1], i.r[2]); break;
    case op::mem_to_remote_mem: ok = own(i.r[2]) && remote_address(i.r[0], i.r[1]); break;
    case op::mem_to_mem: ok = own(i.r[0]) && address(i.r[1], other) && in_memory(context, other, t.bytes); break;
    case op::send_bits:
        t.entry_and_mask = std::uint32_t{i.r[2]} << 16 | i.r[3];
        break;
    case op::send_a:
    case op::send_x:
        if (i.code == op::send_a) {
            if (i.r[1] >= shared_.address_registers.size()) {
                fail(context, status::local_operation, i.r[1]);
                return outcome::failed;
            }
            t.remote = shared_.address_registers[i.r[1]]; // without the offset of a loop
        } else if (!general_at(context, i.r[1], t.remote)) {
            return outcome::failed;
        }
        t.remote_register = i.r[0];
        bits_of_peer();
        break;
    default: break;
    }
    if (!ok)
        return outcome::failed;
    const std::uint64_t reduced_at = i.code == op::mem_to_remote_mem ? t.remote : t.local;
    if (t.redop != 0 && reduced_at % abi::element_bytes(static_cast<abi::element_type>(t.type)) != 0) {
        fail(context, status::address, static_cast<std::uint32_t>(reduced_at >> 12));
        return outcome::failed;
    }
    ++missions_[c.mission].transfers;
    if (!local) {
        transfers_.begin(transfers_.add(t));
        return outcome::next;
    }

    // Bytes move at once; whoever minds the bits sees them when they have come.
    const bool carries = shared_.view.carry_data;
    std::uint64_t done = now;
    switch (i.code) {
    case op::mem_to_ms:
        done = std::max(shared_.read_memory(now, other, t.bytes), shared_.slices.write(now, t.bytes));
        if (carries)
            shared_.copy_from_memory(other, shared_.slices.bytes_of(static_cast<std::uint32_t>(t.local)), t.bytes);
        break;
    case op::ms_to_mem:
        done = std::max(shared_.write_memory(now, other, t.bytes, false), shared_.slices.read(now, t.bytes));
        if (carries)
            shared_.copy_to_memory(other, shared_.slices.bytes_of(static_cast<std::uint32_t>(t.local)), t.bytes, 0, 0);
        break;
    case op::ms_to_ms:
        done = std::max(shared_.slices.read(now, t.bytes), shared_.slices.write(now, t.bytes));
        if (carries)
            std::memmove(shared_.slices.bytes_of(static_cast<std::uint32_t>(t.local)), shared_.slices.bytes_of(static_cast<std::uint32_t>(other)), t.bytes);
        break;
    default: { // mem_to_mem
        const std::uint64_t copied_ps = copies_.serve(now, copy_rate_.time_ps(t.bytes));
        const std::uint64_t read_ps = shared_.read_memory(now, other, t.bytes);
        done = std::max({read_ps, shared_.write_memory(now, t.local, t.bytes, t.redop != 0), copied_ps + shared_.memory->latency_ps()});
        if (carries) {
            std::vector<std::uint8_t> bytes(t.bytes);
            shared_.copy_from_memory(other, bytes.data(), t.bytes);
            shared_.copy_to_memory(t.local, bytes.data(), t.bytes, t.type, t.redop);
        }
        break;
    }
    }
    finish_local(t, done);
    return outcome::next;
}

ccu::outcome ccu::reduce(std::uint32_t context, const instruction& i)
{
    const std::uint64_t now = shared_.time.now_ps();
    ccu_transfer t = transfer_of(context, i);
    const auto redop = i.code == op::reduce_add ? abi::reduce_op::sum : i.code == op::reduce_max ? abi::reduce_op::max : abi::reduce_op::min;
    const auto type = static_cast<abi::element_type>(i.type);
    if (i.count < 2 || i.count > abi::ccu::k_most_reduced || i.type >= abi::k_element_types || !abi::unit_reduces(type, redop)) {
        fail(context, status::illegal_instruction, i.count);
        return outcome::failed;
    }
    if (!length_of(context, i, t.bytes))
        return outcome::failed;
    if (t.bytes % abi::element_bytes(type) != 0) {
        fail(context, status::local_operation, static_cast<std::uint32_t>(t.bytes));
        return outcome::failed;
    }
    for (unsigned s = 0; s < i.count; ++s) {
        std::uint64_t slice = 0;
        if (!use_slice(context, i.r[s], t, slice))
            return outcome::failed;
    }
    const std::uint64_t span_ps = reduce_rate_.time_ps(t.bytes), reduced_ps = reductions_.serve(now, span_ps);
    const std::uint64_t done =
        std::max({shared_.slices.read(now, t.bytes * i.count), shared_.slices.write(now, t.bytes), reduced_ps});
    reduced_bytes.add(t.bytes);
    reduce_time.add_ps(span_ps);
    ++missions_[t.mission].transfers;
    if (shared_.view.carry_data) {
        std::uint8_t* slices[abi::ccu::k_most_reduced] = {};
        for (unsigned s = 0; s < i.count; ++s)
            slices[s] = shared_.slices.bytes_of(t.slices[s]);
        t.unusual = reduce_slices(type, redop, slices, i.count, t.bytes);
    }
    finish_local(t, done);
    return outcome::next;
}

void ccu::finish_local(const ccu_transfer& t, std::uint64_t done_ps)
{
    const std::uint32_t number = transfers_.add(t);
    transfer_done(number, done_ps);
}

void ccu::transfer_done(std::uint32_t transfer, std::uint64_t at_ps)
{
    if (const ccu_transfer& t = transfers_.at(transfer); t.goes_out) {
        transfers_.leave_channel(transfer);
        wake_first_of_channel(t.channel);
    }
    shared_.schedule(std::max(at_ps, shared_.time.now_ps()) + shared_.check_bit_ps(), event_class::memory, ccu_shared::k_completions, ccu_event::completed,
                     transfer);
}

/// Its bits are seen now.
void ccu::completed(std::uint32_t number)
{
    const ccu_transfer t = transfers_.at(number);
    transfers_.release(number);
    for (unsigned s = 0; s < t.slice_count; ++s)
        shared_.slices.end(t.slices[s]);
    if (t.orphan)
        return;
    if (t.unusual && missions_[t.mission].strict)
        return end(t.mission, status::arithmetic, t.instruction, t.slices[0]);
    if (t.set_mask != 0)
        bits_.set(t.set_entry, t.set_mask, [this](std::uint32_t c) {
            contexts_[c].waits_for_bits = false;
            plan_step(c, shared_.time.now_ps());
        });
    --missions_[t.mission].transfers;
    end_if_done(t.mission);
}

void ccu::transfer_failed(std::uint32_t transfer, status why, std::uint32_t detail)
{
    const ccu_transfer& t = transfers_.at(transfer);
    if (!t.orphan)
        end(t.mission, why, t.instruction, detail);
}

void ccu::set_bits_at(std::uint64_t at_ps, std::uint32_t entry, std::uint16_t mask)
{
    shared_.schedule(at_ps, event_class::memory, ccu_shared::k_bits, ccu_event::bits, due_bits_.add({entry, mask}));
}

} // namespace weft
