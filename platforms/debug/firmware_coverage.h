// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which lines of the firmware's source were executed, by any core. The count of a line is that of its busiest
// instruction; an instruction counts when it begins.
#pragma once

#include "hw/abi/platform_table.h"
#include "hw/core/iss.h"
#include "platforms/debug/line_table.h"

#include <string>
#include <vector>

namespace weft {

class firmware_coverage final : public iss_observer {
public:
    firmware_coverage() : counts_(abi::k_program_memory_bytes / 2) {}

    void on_instruction(std::uint64_t pc) override
    {
        if (pc - abi::k_program_memory_base < abi::k_program_memory_bytes)
            ++counts_[(pc - abi::k_program_memory_base) / 2];
    }
    void on_burst(std::uint64_t, std::uint64_t, bool) override {}

    /// The tracefile of lcov ("geninfo", FILES): one section for each source file, by name, without those of the
    /// compiler's own headers below /usr.
    std::string lcov(const line_table& lines) const;

private:
    std::vector<std::uint64_t> counts_; ///< by half-word of program memory
};

} // namespace weft
