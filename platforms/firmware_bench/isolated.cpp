// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/isolated.h"

#include "platforms/firmware_bench/crash_place.h"
#include "platforms/firmware_bench/program_run.h"
#include "platforms/workload/interruption.h"
#include "tlm/check.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <optional>
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

/// How a child that takes too long is asked to end.
struct child_end {
    int signal;
    unsigned seconds; ///< that it is given
    bool saves;       ///< so it is asked when the user stops the caller, too, in place of being killed
};
constexpr char k_mark_of_end = '\x04'; ///< behind what a child says that came to its end
/// One that notes where it is (crash_place) does so; every other one ends, too.
constexpr child_end k_end_of_work{k_note_and_end, 1, false};
/// `weft run` saves what it has finished, which takes long for a large machine.
constexpr child_end k_end_of_program{SIGTERM, 20, true};

/// `body` in a child: it gets the end of a pipe to write to and returns the exit code. Else as run_isolated().
program_result in_child(const std::function<int(int pipe_end)>& body, unsigned seconds, child_end how)
{
    using clock = std::chrono::steady_clock;
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
        _exit(body(ends[1])); // the kernel of this process is not torn down: nothing of it is needed any more
    }
    close(ends[1]);
    start.unlock();
    program_result result;
    std::optional<clock::time_point> end; // when it is asked to end, and then, when it is killed
    if (seconds != 0)
        end = clock::now() + std::chrono::seconds(seconds);
    bool in_time = true, asked = false, stopped = false;
    const auto ask = [&] {
        kill(child, how.signal);
        asked = true;
        end = clock::now() + std::chrono::seconds(how.seconds);
    };
    for (char buffer[4096];;) {
        if (stop_requested() && !stopped) {
            stopped = true;
            if (!how.saves)
                kill(child, SIGKILL);
            else if (!asked)
                ask();
        }
        // A signal that comes between the look above and this wait is seen at the next look.
        std::int64_t look = k_look_ms;
        if (end)
            look = std::min(look, std::int64_t{std::chrono::ceil<std::chrono::milliseconds>(*end - clock::now()).count()});
        pollfd waiting{ends[0], POLLIN, 0};
        const int ready = poll(&waiting, 1, look > 0 ? static_cast<int>(look) : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0) {
            if (!end || clock::now() < *end)
                continue;
            if (asked) {
                kill(child, SIGKILL);
                break;
            }
            in_time = false;
            ask();
            continue;
        }
        const ssize_t n = read(ends[0], buffer, sizeof buffer);
        if (n <= 0)
            break;
        result.text.append(buffer, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if ((stopped && (!how.saves || WIFSIGNALED(status))) || ended_by_stop(status))
        throw interrupted();
    if (!in_time)
        result.failure = fmt::format("did not end in {} s of host time", seconds);
    else if (WIFSIGNALED(status))
        result.failure = fmt::format("crashed with signal {}", WTERMSIG(status));
    else
        result.exit_code = WEXITSTATUS(status);
    return result;
}

} // namespace

isolated_result run_isolated(const std::function<std::string()>& work, unsigned seconds)
{
    const auto body = [&](int pipe_end) {
        int code = 0;
        std::string text;
        try {
            text = work();
        } catch (const std::exception& e) {
            text = e.what();
            code = 1;
        }
        write_all(pipe_end, text + k_mark_of_end);
        return code;
    };
    program_result end = in_child(body, seconds, k_end_of_work);
    const bool ended = !end.text.empty() && end.text.back() == k_mark_of_end;
    if (ended)
        end.text.pop_back();
    if (end.failure.empty() && !ended)
        end.failure = fmt::format("ended: code that it ran, the firmware say, called exit with code {}", end.exit_code);
    else if (end.exit_code > 0)
        end.failure = "stopped: " + end.text;
    return {std::move(end.text), std::move(end.failure)};
}

program_result run_program(const std::vector<std::string>& arguments, unsigned seconds)
{
    std::vector<std::string> all{"weft"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& a : all)
        argv.push_back(a.data());
    argv.push_back(nullptr);
    constexpr int k_cannot_start = 127;
    const auto body = [&](int pipe_end) {
        setpgid(0, 0);
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(pipe_end, STDOUT_FILENO);
        dup2(pipe_end, STDERR_FILENO);
        close(pipe_end);
        close(nothing);
        execv("/proc/self/exe", argv.data());
        return k_cannot_start;
    };
    return in_child(body, seconds, k_end_of_program);
}

} // namespace weft
