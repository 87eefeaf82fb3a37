// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Static checker of microcode. What it accepts ends: every loop has a provable counter, and every wait is served by a
// set of the own program, by a peer that runs the same program, or by one that the text declares. What it cannot prove
// it refuses, with the line and the remedy (docs/21_ccu.md).
//
// It takes for granted: addresses lie in memory and tokens fit; the entries that the program uses are clear at its
// begin; with `.ranks n` all n ranks run it, with the same values of the arguments that `.argument` declares, and
// channel c leads to the rank 1 + c further, modulo n.
#pragma once

#include "platforms/ccu/ccu_capacities.h"
#include "platforms/ccu/ccu_program.h"
#include "platforms/ccu/ccu_resources.h"

#include <vector>

namespace weft {

struct ccu_verdict {
    std::vector<problem> problems; ///< errors and warnings, in the order of the lines
    ccu_use use;
    bool accepted() const;
};

ccu_verdict check_ccu(const ccu_program& program, const ccu_capacities& capacities = {});

/// Programs that are loaded together, each in a mission of its own: do they fit, and keep their slices, registers and
/// check bits apart?
std::vector<problem> check_ccu_together(const std::vector<ccu_program>& programs, const std::vector<ccu_verdict>& verdicts, const ccu_capacities& capacities = {});

} // namespace weft
