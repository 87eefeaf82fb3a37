// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the slots of a switch wait for, for the picture of a run that hangs. Readers of the jobs, no more.
#pragma once

#include "hw/tofino/tofino_job_table.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

/// Slots that wait for workers, and which, a line each that begins with `name`, the switch's: "" when there are none.
std::string waiting_slots(const tofino_job_table& jobs, const std::string& name, bool stale_filter,
                          std::size_t at_most);
/// Whom slots wait for.
std::vector<awaited_sender> awaited_senders(const tofino_job_table& jobs);
/// RDMA: senders whose messages do not arrive whole and in order, a line each; "" for none.
std::string broken_messages(const tofino_job_table& jobs, const std::string& name);

} // namespace weft
