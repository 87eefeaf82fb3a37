// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What became of links that were told to go down, in words.
#pragma once

#include "platforms/workload/machine.h"

namespace weft {

/// Links that are down and have affected something, a line each, for `what`, which began at `start_ps`. "" for none.
std::string describe_link_failures(const machine& m, std::uint64_t start_ps, const char* what = "this collective");

/// After a run that ended at `end_ps`: what a user expects of a link failure and did not get. With `completed`, that is
/// also a failure which no collective noticed.
std::vector<std::string> link_failure_warnings(const machine& m, std::uint64_t end_ps, bool completed);

/// A direction of a link that went down and lost or held up packets.
struct failed_wire {
    const component* fabric;
    std::string name; ///< as in wire_name()
    std::string what; ///< "down since 10 us: 403 packets were lost on it or before it"
};
/// Those that were down at some time from `from_ps` to `to_ps`, which is now.
std::vector<failed_wire> failed_wires(const machine& m, std::uint64_t from_ps, std::uint64_t to_ps);

/// Whether packets may be left inside the fabrics because of a link that is down.
bool link_failure_holds_packets(const machine& m);

} // namespace weft
