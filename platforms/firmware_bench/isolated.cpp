// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/isolated.h"

#include "platforms/firmware_bench/crash_place.h"
#include "platforms/workload/interruption.h"
#include "tlm/check.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft {

namespace {

constexpr std::int64_t k_look_ms = 1000; ///< between two looks at a stop request

void write_all(int to, const std::string& text)
{
    const char* at = text.data();
    for (std::size_t left = text.size(); left > 0;) {
        const ssize_t n = write(to, at, left);
        if (n <= 0)
            return;
        at += n;
        left -= static_cast<std::size_t>(n);
    }
}

/// A child that notes where it is (crash_place) does so, and ends by itself; every other one ends, too.
void end_soon(pid_t child)
{
    constexpr useconds_t k_step_us = 10'000;
    kill(child, k_note_and_end);
    constexpr unsigned k_steps = 100;
    for (unsigned steps = 0; steps < k_steps; ++steps) {
        siginfo_t state{};
        if (waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == child)
            return;
        usleep(k_step_us);
    }
    kill(child, SIGKILL);
}

/// A terminal sends Ctrl-C to all processes at once, and the child may end before the handler of this one has run.
bool ended_by_stop(int status)
{
    constexpr int k_looks = 100;
    constexpr useconds_t k_look_us = 10'000;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP)
        return false;
    for (int looks = 0; looks < k_looks && !stop_requested(); ++looks)
        usleep(k_look_us);
    return stop_requested();
}

} // namespace

isolated_result run_isolated(const std::function<std::string()>& work, unsigned seconds)
{
    // One start at a time: a child that another thread forked here would keep the end that this child writes to open.
    static std::mutex starts;
    std::unique_lock<std::mutex> start(starts);
    int ends[2];
    if (pipe(ends) != 0)
        throw user_error("cannot start a run: no more pipes or processes on this host.");
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        throw user_error("cannot start a run: no more pipes or processes on this host.");
    }
    if (child == 0) {
        interruption::end_with_parent(parent);
        close(ends[0]);
        int code = 0;
        try {
            write_all(ends[1], work());
        } catch (const std::exception& e) {
            write_all(ends[1], e.what());
            code = 1;
        }
        _exit(code); // the kernel of this process is not torn down: nothing of it is needed any more
    }
    close(ends[1]);
    start.unlock();
    isolated_result result;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    bool in_time = true;
    for (char buffer[4096];;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (stop_requested()) {
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
            close(ends[0]);
            throw interrupted();
        }
        // A signal that comes between the look above and this wait is seen at the next look.
        const std::int64_t look = seconds == 0 ? k_look_ms : std::min<std::int64_t>(left.count(), k_look_ms);
        pollfd waiting{ends[0], POLLIN, 0};
        const int ready = poll(&waiting, 1, look > 0 ? static_cast<int>(look) : 0);
        if ((ready < 0 && errno == EINTR) || (ready == 0 && (seconds == 0 || left.count() > look)))
            continue;
        if (ready == 0) {
            in_time = false;
            end_soon(child);
            break;
        }
        const ssize_t n = read(ends[0], buffer, sizeof buffer);
        if (n <= 0)
            break;
        result.text.append(buffer, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (ended_by_stop(status))
        throw interrupted();
    if (!in_time)
        result.failure = fmt::format("did not end in {} s of host time", seconds);
    else if (WIFSIGNALED(status))
        result.failure = fmt::format("crashed with signal {}", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        result.failure = "stopped: " + result.text;
    return result;
}

} // namespace weft
