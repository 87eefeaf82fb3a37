// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/instruments.h"

namespace weft {

instruments::instruments(machine& m, const instrument_options& options)
{
    if (!options.any())
        return;
    cores_ = rv64_cores_of(m, "--gdb");
    if (options.gdb)
        gdb_.emplace(m, *options.gdb);
    for (std::uint32_t rank = 0; rank < cores_.size(); ++rank) {
        several& s = observers_.emplace_back();
        if (gdb_)
            s.all.push_back(&gdb_->observer(rank));
        cores_[rank]->observe(s.all.size() == 1 ? *s.all.front() : s);
    }
}

std::vector<std::uint8_t> instruments::elf_file() const
{
    return cores_.empty() ? std::vector<std::uint8_t>() : cores_.front()->elf_file();
}

} // namespace weft
