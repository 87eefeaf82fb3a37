// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/machine_checks.h"

#include <fmt/format.h>

namespace weft {

namespace {
/// The kernel of the host limits how many stacks a process can guard.
constexpr std::uint64_t k_most_stack_bytes = 64ull << 30;
} // namespace

void check_receive_buffer(data_size receive_buffer, const packet_format& format, const std::string& key,
                          std::vector<config_problem>& problems)
{
    const std::uint64_t one = format.cells_of_one(format.max_payload_bytes) * format.cell_bytes();
    if (receive_buffer.value() >= one)
        return;
    problems.push_back(
        {severity::error, key,
         fmt::format("is {}, but one packet fills {} ({} of payload and {} of header in {} of {}), so none could ever "
                     "arrive.",
                     to_string(receive_buffer), to_string(data_size(one)),
                     to_string(data_size(format.max_payload_bytes)), to_string(data_size(format.header_bytes)),
                     format.cell_flits == 1 ? "flits" : "cells", to_string(data_size(format.cell_bytes())))});
}

void check_stacks(data_size stack, std::uint64_t threads, const std::string& of_what, const std::string& key,
                  std::vector<config_problem>& problems)
{
    const std::uint64_t all = stack.value() * threads;
    if (all > k_most_stack_bytes)
        problems.push_back(
            {severity::error, key,
             fmt::format("is {}, which for {} {} takes {} of addresses on the host; must be at most 64 GiB in all.",
                         to_string(stack), threads, of_what, rounded_text(data_size(all)))});
}

} // namespace weft
