// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft bench` measures without a platform. Every function elaborates one system, so each runs in a process of its
// own: a SystemC kernel can be elaborated only once. CPU time of the process, never wall time.
#pragma once

#include "platforms/report/isolated_run.h"

namespace weft::cli {

/// Runs `measure` in a child process and returns its figures. Throws bug when it fails, user_error when the host has no
/// process left. The caller must not have elaborated anything itself. May be called by several threads at once.
run_figures in_child(const isolated_run::simulation& measure, const std::string& inputs = {});

/// Bare SC_METHOD that re-notifies itself, with `pending` such methods: "events_per_s".
run_figures bench_kernel_events(unsigned pending);
/// Hold model on the calendar queue with `pending` events: "events_per_s".
run_figures bench_calendar_queue(unsigned pending);
/// The RV64 engine alone on a loop of loads and arithmetic, in quanta of 940 instructions: "instructions_per_s".
run_figures bench_rv64_engine();

} // namespace weft::cli
