// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/case_memory.h"

#include "firmware/collectives/device_collectives.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_output_alignment = 1 << 20;
/// What a buffer holds before its bytes have arrived.
constexpr int k_poison = 0xee;
} // namespace

std::uint64_t output_offset_for(const run_config& config)
{
    std::vector<std::uint64_t> sizes;
    for (const collective_spec& spec : config.workload)
        for (const std::uint64_t bytes : spec.all_sizes())
            sizes.push_back(bytes);
    if (config.training_step && is_sound(*config.training_step))
        sizes.push_back(config.training_step->buffer_bytes());
    return output_offset_for(sizes);
}

std::uint64_t output_offset_for(const std::vector<std::uint64_t>& sizes)
{
    const std::uint64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    return (largest + k_output_alignment - 1) / k_output_alignment * k_output_alignment;
}

std::uint64_t scratch_offset_for(std::uint64_t output_offset, std::uint32_t ranks, abi::algorithm algo)
{
    if (firmware::scratch_outputs(algo) == 0) // the others have no output beside their buffer
        return output_offset;
    // Blocks of the first ranks are an element longer.
    const std::uint64_t longest = output_offset + std::uint64_t{ranks} * sizeof(std::uint64_t);
    return output_offset + (longest + k_output_alignment - 1) / k_output_alignment * k_output_alignment;
}

namespace {
/// Of algorithms of devices; those of all_to_all count blocks as it does.
std::uint64_t scratch_bytes_for(const collective_case& c, std::uint32_t ranks)
{
    return firmware::scratch_elements(c.op, c.algo, c.count, ranks) * abi::element_bytes(c.type);
}
} // namespace

std::uint64_t hbm_bytes_for(std::uint64_t output_offset, const collective_case& c, std::uint32_t ranks)
{
    if (const std::uint64_t scratch = scratch_bytes_for(c, ranks); scratch != 0)
        return scratch_offset_for(output_offset, ranks, c.algo) + scratch;
    if (c.op != abi::collective_op::all_to_all)
        return c.size_bytes;
    const std::uint64_t output = result_range(c, 0, ranks).count * abi::element_bytes(c.type);
    if (const std::uint32_t outputs = firmware::scratch_outputs(c.algo); outputs != 0)
        return scratch_offset_for(output_offset, ranks, c.algo) + outputs * output;
    return output_offset + output;
}

std::uint64_t host_data_bytes_for(const run_config& config, std::uint32_t ranks)
{
    if (config.data == data_mode::off)
        return 0;
    std::uint64_t resident = 0; // what was once touched stays
    std::uint64_t outputs = 0;
    for (const collective_spec& spec : config.workload)
        for (const collective_case& c : spec.cases()) {
            const bool has_output = c.op == abi::collective_op::all_to_all;
            std::uint64_t output = has_output ? result_range(c, 0, ranks).count * abi::element_bytes(c.type) *
                                                    (1 + firmware::scratch_outputs(c.algo))
                                              : 0;
            output += scratch_bytes_for(c, ranks);
            resident = std::max(resident, c.size_bytes + output);
            outputs = std::max(outputs, output);
        }
    if (config.training_step)
        resident = std::max(resident, config.training_step->buffer_bytes() + outputs);
    const std::uint64_t page = sparse_store::k_page_bytes;
    return ranks * ((resident + page - 1) / page * page);
}

/// Calls fill(offset in the region, span, its bytes) for each contiguous span of the region.
template <class Fill>
void case_memory::each_span(chip_memory& memory, std::uint64_t offset, std::uint64_t bytes, Fill&& fill)
{
    for (std::uint64_t done = 0; done < bytes && !stop_requested();) {
        std::uint64_t got = 0;
        std::uint8_t* to = memory.span_for_write(offset + done, bytes - done, got);
        if (to == nullptr || got == 0)
            throw bug("host", kernel_now_ps(),
                      fmt::format(
                          "the host writes {} B at {:#x} of {}, which ends before: a platform has let a workload pass "
                          "that does not fit",
                          bytes, offset, memory.name()));
        fill(done, to, got);
        done += got;
    }
}

void case_memory::set(chip_memory& memory, std::uint64_t offset, std::uint64_t bytes, int value)
{
    each_span(memory, offset, bytes,
              [value](std::uint64_t, std::uint8_t* to, std::uint64_t n) { std::memset(to, value, n); });
}

void case_memory::fill(const placed_case& placed, const rank_groups& groups)
{
    const collective_case& c = placed.what;
    const std::uint64_t buffer = placed.buffer_offset, element = abi::element_bytes(c.type);
    for (chip* target : machine_.chips()) {
        if (target->rank() >= machine_.data_ranks()) { // helps, and brings no data
            set(target->memory, buffer, c.count * element, 0);
            continue;
        }
        if (!groups.takes_part(target->rank()))
            continue;
        const std::uint32_t place = groups.place_of(target->rank());
        const std::uint32_t size = groups.group_size_of(target->rank());
        const abi::element_range in = input_range(c, place, size);
        set(target->memory, buffer, in.first * element, k_poison);
        each_span(target->memory, buffer + in.first * element, in.count * element,
                  [&](std::uint64_t done, std::uint8_t* to, std::uint64_t n) {
                      generate(c, placed.input_seed, target->rank(), groups, in.first + done / element, to,
                               n / element);
                  });
        const std::uint64_t end = in.first + in.count;
        set(target->memory, buffer + end * element, (c.count - end) * element, k_poison);
        if (c.op == abi::collective_op::all_to_all)
            set(target->memory, output_offset_, result_range(c, place, size).count * element, k_poison);
    }
}

memory_reader case_memory::reader_of(const placed_case& placed)
{
    const std::uint64_t base = placed.what.op == abi::collective_op::all_to_all ? output_offset_ : placed.buffer_offset;
    return [this, base](std::uint32_t rank, std::uint64_t offset, std::uint64_t at_most) {
        std::uint64_t got = 0;
        const std::uint8_t* data = machine_.chips()[rank]->memory.span_for_read(base + offset, at_most, got);
        return memory_span{data, got};
    };
}

} // namespace weft
