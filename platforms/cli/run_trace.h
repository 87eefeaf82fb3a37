// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets every component of a machine record into a trace: a process per rank with what its DMA engine and its NIC send and
// receive, one process with all links and cables, one for each other device.
#pragma once

#include "hw/ethernet/frame_record.h"
#include "platforms/report/trace_writer.h"
#include "platforms/workload/machine.h"
#include "tlm/event_record.h"

#include <memory>
#include <string>
#include <vector>

namespace weft::cli {

class run_trace {
public:
    /// Both outlive it, and it outlives the run.
    run_trace(machine& m, trace_writer& out);
    run_trace(const run_trace&) = delete;
    run_trace& operator=(const run_trace&) = delete;
    ~run_trace();

    /// "12 records", and what is not among them.
    std::string summary() const;

private:
    class dma_sink;
    class fabric_sink;
    class frames_sink;

    void watch_chips(machine& m);
    void watch_fabrics(machine& m);
    void watch_frames(machine& m);

    trace_writer& out_;
    std::vector<std::unique_ptr<dma_sink>> dmas_;
    std::vector<std::unique_ptr<fabric_sink>> fabrics_;
    std::unique_ptr<frames_sink> frames_;
};

} // namespace weft::cli
