// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where native firmware was when its process crashed or was ended: a signal handler notes it in memory that the parent
// shares.
#pragma once

#include "platforms/firmware_bench/call_site.h"

#include <cstdint>
#include <string>

namespace weft {

/// Of one child process; made by its parent before the fork.
class crash_place {
public:
    crash_place();
    ~crash_place();
    crash_place(const crash_place&) = delete;
    crash_place& operator=(const crash_place&) = delete;

    /// In the child: from now on signals that end it are noted. `first` of `ranks` traced cores in the order of ranks.
    void watch(const traced_core* first, std::uint32_t ranks);
    /// Return address of the last throw of this process.
    static std::uint64_t last_throw_at();
    /// In the child: the firmware that runs has thrown at this return address, and nothing caught it.
    [[noreturn]] static void end_thrown(std::uint64_t return_address);
    /// In the parent, afterwards: the child has ended so.
    bool thrown() const;
    /// In the parent, afterwards: ", rank 2 at driver.cpp:7, spin; the last call of the HAL: driver.cpp:5"; "" when
    /// nothing was noted.
    std::string text() const;

    struct noted;

private:
    noted* noted_ = nullptr; ///< shared
};

/// Asks a child that takes too long to note where it is; it ends then.
inline constexpr int k_note_and_end = 14; // SIGALRM: unlike SIGABRT it leaves no core file

} // namespace weft
