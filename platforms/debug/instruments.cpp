// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/instruments.h"

#include "tlm/check.h"

namespace weft {

instruments::instruments(machine& m, const instrument_options& options)
{
    if (!options.any())
        return;
    const char* const option = options.gdb                ? "--gdb"
                               : options.trace != nullptr ? "--trace-firmware"
                                                          : "--coverage-firmware";
    const std::vector<rv64_core*> cores = rv64_cores_of(m, option);
    elf_ = cores.front()->elf_file();
    if (options.trace != nullptr) {
        symbols_.emplace(elf_);
        if (symbols_->functions() == 0)
            throw user_error("--trace-firmware: the firmware has no symbols; do not strip it.");
    }
    if (options.coverage) {
        lines_ = read_line_table(elf_);
        if (!lines_.problem.empty())
            throw user_error("--coverage-firmware: the firmware " + lines_.problem);
        coverage_.emplace();
    }
    if (options.gdb)
        gdb_.emplace(m, *options.gdb);
    for (std::uint32_t rank = 0; rank < cores.size(); ++rank) {
        several& s = observers_.emplace_back(cores[rank]->engine());
        if (gdb_) // first: the others see an instruction when it is executed
            s.all.push_back(&gdb_->observer(rank));
        if (coverage_)
            s.all.push_back(&*coverage_);
        if (symbols_ && (!options.traces_rank || options.traces_rank(rank)))
            s.all.push_back(&traces_.emplace_back(*cores[rank], rank, *symbols_, *options.trace));
        if (!s.all.empty())
            cores[rank]->observe(s.all.size() == 1 ? *s.all.front() : s);
    }
}

void instruments::end_trace(std::uint64_t time_ps)
{
    for (firmware_trace& t : traces_)
        t.end(time_ps);
}

} // namespace weft
