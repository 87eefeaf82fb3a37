// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Time of the host, for reports of speed only: the simulation never reads it.
#pragma once

#include <ctime>

namespace weft {

/// CPU time that this process has used so far, in seconds.
inline double cpu_seconds()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace weft
