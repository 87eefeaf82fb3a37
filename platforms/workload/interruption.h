// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What Ctrl-C (SIGINT), SIGTERM and SIGHUP do to a command. The first asks the simulation to stop (tlm/stop_request.h),
// so that what is finished can be told and saved; the second ends the process at once. Before begin(), while there is
// nothing to save yet, the first one does. A signal that the caller ignores (nohup, a shell's `trap '' INT`) stays
// ignored.
#pragma once

#include <exception>
#include <string>

namespace weft {

/// While it lives, the handlers are in place. One at a time.
class interruption {
public:
    interruption();
    ~interruption();
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;

    /// The first signal waits for release(), which ends the process then. For work that must not be cut: what it finds
    /// decides what may be changed on disk. `what_it_does` as in begin().
    void hold(const char* what_it_does);
    void release();
    /// A file that must not stay when the process is ended at once. Before begin().
    void remove_at_once(const std::string& path);
    /// From now on the first signal is a request. `what_it_does`, for the user: "stops and saves what is finished";
    /// static.
    void begin(const char* what_it_does);

    /// In a child after fork(): signals that are not ignored end it, and it ends with its parent.
    static void end_with_parent(int parent);
};

/// Work was given up because of a stop request.
class interrupted final : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

/// Of a command that a signal has ended, as shells have it: 130 for Ctrl-C, 143 for SIGTERM.
int interrupted_exit_code();

} // namespace weft
