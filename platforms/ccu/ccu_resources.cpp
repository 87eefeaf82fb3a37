// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_resources.h"

#include "platforms/ccu/ccu_operands.h"
#include "platforms/config/suggest.h"

#include <charconv>
#include <fmt/format.h>

namespace weft {

using abi::ccu::instruction;
using abi::ccu::op;

ccu_access access_of(const instruction& i)
{
    ccu_access a;
    const auto& r = i.r;
    switch (i.code) {
    case op::load_arg_a:
    case op::load_a: a.address_written = {r[0]}; break;
    case op::load_arg_x:
    case op::load_x: a.general_written = {r[0]}; break;
    case op::add_ax:
        a.address_written = {r[0]};
        a.address_read = {r[1]};
        a.general_read = {r[2]};
        break;
    case op::add_aa:
        a.address_written = {r[0]};
        a.address_read = {r[1], r[2]};
        break;
    case op::add_xx:
        a.general_written = {r[0]};
        a.general_read = {r[1], r[2]};
        break;
    case op::loop: a.general_read = {r[2]}; break;
    case op::group: a.general_read = {r[1], r[2]}; break;
    case op::jump: a.general_read = {r[0], r[1]}; break;
    case op::set_bits:
    case op::clear_bits: break;
    case op::mem_to_ms:
        a.slices_written = {r[0]};
        a.address_read = {r[1]};
        break;
    case op::ms_to_mem:
        a.address_read = {r[0]};
        a.slices_read = {r[1]};
        break;
    case op::remote_mem_to_ms:
        a.slices_written = {r[0]};
        a.address_read = {r[1]};
        a.general_read = {r[2]};
        break;
    case op::ms_to_remote_mem:
        a.address_read = {r[0]};
        a.general_read = {r[1]};
        a.slices_read = {r[2]};
        break;
    case op::remote_ms_to_mem:
        a.address_read = {r[0]};
        a.peer_slice_read = r[1];
        break;
    case op::ms_to_ms:
        a.slices_written = {r[0]};
        a.slices_read = {r[1]};
        break;
    case op::remote_ms_to_ms:
        a.slices_written = {r[0]};
        a.peer_slice_read = r[1];
        break;
    case op::ms_to_remote_ms:
        a.peer_slice_written = r[0];
        a.slices_read = {r[1]};
        break;
    case op::remote_mem_to_mem:
        a.address_read = {r[0], r[1]};
        a.general_read = {r[2]};
        break;
    case op::mem_to_remote_mem:
        a.address_read = {r[0], r[2]};
        a.general_read = {r[1]};
        break;
    case op::mem_to_mem: a.address_read = {r[0], r[1]}; break;
    case op::send_bits: break;
    case op::send_a:
        a.peer_address_written = r[0];
        a.address_read = {r[1]};
        break;
    case op::send_x:
        a.peer_general_written = r[0];
        a.general_read = {r[1]};
        break;
    case op::reduce_add:
    case op::reduce_max:
    case op::reduce_min:
        a.slices_read.assign(r, r + std::min<unsigned>(i.count, abi::ccu::k_most_reduced));
        a.slices_written = {r[0]};
        break;
    }
    if (const abi::ccu::op_row* row = ccu_row(i.code); row != nullptr) {
        if (may_have_length(*row) && i.length() != abi::ccu::k_no_length)
            a.general_read.push_back(i.length());
        for (const ccu_operand& o : operands_of(*row))
            if (o.kind == ccu_operand_kind::channel)
                a.channel = i.channel;
        a.goes_on = row->group == abi::ccu::op_group::transfer || row->group == abi::ccu::op_group::reduce;
    }
    return a;
}

void override_capacity(ccu_capacities& c, const std::string& assignment)
{
    const std::pair<const char*, std::uint32_t*> all[] = {
        {"instructions", &c.instructions},   {"missions", &c.missions}, {"loop_engines", &c.loop_engines}, {"address_registers", &c.address_registers},
        {"general_registers", &c.general_registers}, {"check_entries", &c.check_entries}, {"slices", &c.slices}, {"channels", &c.channels},
        {"arguments", &c.arguments}};
    const std::size_t equals = assignment.find('=');
    const std::string key = assignment.substr(0, equals);
    if (equals == std::string::npos)
        throw user_error(fmt::format("--capacity: {} has no '='; write a capacity and a number, for example slices=128.", in_quotes(assignment)));
    std::vector<std::string> names;
    for (const auto& [name, value] : all) {
        names.emplace_back(name);
        if (key != name)
            continue;
        constexpr std::uint32_t k_most = 65'536; // what 16-bit fields can name
        const std::string text = assignment.substr(equals + 1);
        std::uint32_t number = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 1 || number > k_most)
            throw user_error(fmt::format("--capacity: {} is no number of {}; write a whole number from 1 to {}.", in_quotes(text), name, k_most));
        *value = number;
        return;
    }
    throw user_error(fmt::format("--capacity: {} is no capacity of a unit; {}", in_quotes(key), suggestion(key, names)));
}

} // namespace weft
