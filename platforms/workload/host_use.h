// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Time and memory of the host, for reports of speed only: the simulation never reads them.
#pragma once

#include <ctime>
#include <fstream>

namespace weft {

/// CPU time that this process has used so far, in seconds.
inline double cpu_seconds()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Resident memory of this process.
inline double resident_bytes()
{
    std::ifstream statm("/proc/self/statm");
    double total = 0;
    double resident = 0;
    statm >> total >> resident;
    return resident * 4096;
}

} // namespace weft
