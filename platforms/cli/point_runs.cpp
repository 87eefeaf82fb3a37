// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/point_costs.h"
#include "platforms/cli/host_costs.h"
#include "platforms/cli/program_identity.h"

#include "cmake/version.h"
#include "platforms/report/progress.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/digest.h"
#include "platforms/workload/interruption.h"
#include "platforms/workload/invariants.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace weft::cli {

namespace {

constexpr const char* k_workload_key = "workload=";

class point_runner {
public:
    point_runner(const point_work& work, const point_costs& costs, bool quiet)
        : work_(work), costs_(costs), begun_(work.count), done_(work.count),
          bar_(progress::on_stderr(static_cast<std::uint32_t>(work.count), quiet))
    {
        for (std::size_t i = 0; i < work.count; ++i)
            all_weight_ += weight(i);
    }
    std::vector<bool> run(unsigned jobs)
    {
        std::vector<std::thread> workers;
        for (unsigned i = 0; i < jobs && i < work_.count; ++i)
            workers.emplace_back([this] { work(); });
        for (std::thread& w : workers)
            w.join();
        bar_.finish();
        if (failure_)
            std::rethrow_exception(failure_);
        return done_;
    }

private:
    double weight(std::size_t i) const { return costs_.seconds ? costs_.seconds(i) : 1; }
    std::uint64_t memory(std::size_t i) const { return costs_.memory_bytes ? costs_.memory_bytes(i) : 0; }
    bool fits(std::size_t i) const
    {
        return !costs_.memory_bytes || running_ == 0 ||
               (taken_bytes_ <= costs_.memory_of_all && memory(i) <= costs_.memory_of_all - taken_bytes_);
    }
    /// The first point that fits beside those that run; waits for one to end where none does. Nothing: no more is to be
    /// begun.
    std::optional<std::size_t> next(std::unique_lock<std::mutex>& lock)
    {
        for (;;) {
            bool any = false;
            if (failure_ || stop_requested())
                return std::nullopt;
            for (std::size_t i = first_; i < work_.count; ++i) {
                if (begun_[i])
                    continue;
                any = true;
                if (fits(i))
                    return i;
            }
            if (!any)
                return std::nullopt;
            constexpr auto k_look = std::chrono::milliseconds(200); // a signal wakes nobody here
            ended_.wait_for(lock, k_look);
        }
    }
    std::string label(std::size_t i) const
    {
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        if (done_weight_ <= 0 || !costs_.seconds)
            return work_.name(i);
        return fmt::format("about {} left; {}", about_seconds(seconds * (all_weight_ - done_weight_) / done_weight_),
                           work_.name(i));
    }
    void work()
    {
        std::unique_lock<std::mutex> lock(guard_);
        while (const std::optional<std::size_t> point = next(lock)) {
            const std::size_t i = *point;
            begun_[i] = true;
            while (first_ < work_.count && begun_[first_])
                ++first_;
            ++running_;
            taken_bytes_ += memory(i);
            bar_.begin_case(static_cast<std::uint32_t>(i), label(i), all_weight_ > 0 ? done_weight_ / all_weight_ : 0);
            lock.unlock();
            bool ran = false;
            std::exception_ptr failure;
            try {
                work_.run(i);
                ran = true;
            } catch (const interrupted&) {
            } catch (...) { // the host has no process left: not the point's fault
                failure = std::current_exception();
            }
            lock.lock();
            --running_;
            taken_bytes_ -= memory(i);
            ended_.notify_all();
            if (failure) {
                failure_ = failure;
                return;
            }
            if (!ran || stop_requested()) // Ctrl-C reaches the children first: their end says nothing about the point
                return;
            done_[i] = true;
            done_weight_ += weight(i);
            if (const std::string told = work_.finished(i); !told.empty()) {
                bar_.clear();
                print_to_stderr("{}\n", told);
            }
        }
    }

    const point_work& work_;
    const point_costs& costs_;
    std::vector<bool> begun_, done_;
    progress bar_;
    std::mutex guard_;
    std::condition_variable ended_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::size_t first_ = 0; ///< all before have begun
    std::size_t running_ = 0;
    std::uint64_t taken_bytes_ = 0; ///< by those that run
    double all_weight_ = 0, done_weight_ = 0;
    std::exception_ptr failure_;
};

/// The entry of the workload that a problem is about; nothing for other problems.
std::optional<std::size_t> entry_of(const problem& p)
{
    const std::string path = p.key_path.rfind("workload.", 0) == 0 ? p.key_path.substr(9) : "";
    const std::optional<std::uint64_t> entry = whole_number(path.substr(0, path.find('.')));
    return entry ? std::optional<std::size_t>(*entry) : std::nullopt;
}

} // namespace

std::vector<bool> run_points(const point_work& work, unsigned jobs, bool quiet)
{
    return run_points(work, {}, jobs, quiet);
}

std::vector<bool> run_points(const point_work& work, const point_costs& costs, unsigned jobs, bool quiet)
{
    return point_runner(work, costs, quiet).run(jobs);
}

std::string program_identity()
{
    std::string identity = version();
    if (identity.find("modified") != std::string::npos)
        identity += " " + digest_of_file("/proc/self/exe");
    return identity;
}

bool has_progress_bar(bool quiet) { return progress::on_stderr(1, quiet).enabled(); }

std::pair<std::unique_ptr<machine>, run_outcome> run_here(const loaded_platform& loaded)
{
    if (!loaded.platform)
        throw user_error(loaded.message());
    std::unique_ptr<machine> m = loaded.platform->build();
    collective_runner runner("host", *m, loaded.platform->run(), nullptr);
    run_outcome outcome = runner.run();
    if (!outcome.failure.empty())
        throw user_error(outcome.failure);
    check_invariants(*m);
    return {std::move(m), std::move(outcome)};
}

std::string workload_text(const std::vector<std::pair<std::string, std::string>>& collectives,
                          const std::vector<std::string>& sizes, const std::string& entry_keys)
{
    std::vector<std::string> ops;
    std::map<std::string, std::vector<std::string>> algorithms;
    for (const auto& [op, algorithm] : collectives) {
        if (algorithms[op].empty())
            ops.push_back(op);
        algorithms[op].push_back(algorithm);
    }
    std::string text;
    for (const std::string& op : ops)
        text += fmt::format("{}{{op: {}, algorithms: [{}], sizes: [{}]{}}}", text.empty() ? "" : ", ", op,
                            fmt::join(algorithms[op], ", "), fmt::join(sizes, ", "),
                            entry_keys.empty() ? "" : ", " + entry_keys);
    return "[" + text + "]";
}

platform_source with_workload(platform_source source, const std::string& workload)
{
    const auto sets_work = [](const std::string& text) { return text.rfind(k_workload_key, 0) == 0; };
    source.overrides.erase(std::remove_if(source.overrides.begin(), source.overrides.end(), sets_work),
                           source.overrides.end());
    source.overrides.push_back(k_workload_key + workload);
    return source;
}

std::string quoted_for_shell(const std::string& text)
{
    const bool plain = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=-") ==
                       std::string::npos;
    if (plain)
        return text;
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::vector<std::string> refusals_of(const std::function<loaded_platform(const std::string& workload)>& read,
                                     const std::vector<std::pair<std::string, std::string>>& candidates,
                                     const std::string& size, const std::string& entry_keys, const std::string& what)
{
    const auto entry = [&](std::size_t i) { return workload_text({candidates[i]}, {size}, entry_keys); };
    std::string all;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::string one = entry(i);
        all += (i == 0 ? "" : ", ") + one.substr(1, one.size() - 2);
    }
    std::vector<std::string> refusals(candidates.size());
    // Notes what is refused entry by entry; returns whether all errors are of that kind.
    const auto note = [&](const loaded_platform& loaded, std::size_t first, std::size_t count) {
        bool by_entry = true;
        for (const problem& p : loaded.problems) {
            if (p.level != severity::error)
                continue;
            const std::optional<std::size_t> at = entry_of(p);
            if (at && *at < count)
                refusals[first + *at] = refusals[first + *at].empty() ? p.message : refusals[first + *at];
            else if (p.key_path == "workload")
                by_entry = false;
            else
                throw user_error(fmt::format("{} cannot be used:\n{}", what, loaded.message()));
        }
        return by_entry;
    };
    // One reading refuses, entry by entry, what cannot run: "workload.3.algorithms.0".
    if (note(read("[" + all + "]"), 0, candidates.size()))
        return refusals;
    for (std::size_t i = 0; i < candidates.size(); ++i) // some exclude each other
        if (refusals[i].empty()) {
            const loaded_platform loaded = read(entry(i));
            if (!note(loaded, i, 1))
                refusals[i] = loaded.message();
        }
    return refusals;
}

} // namespace weft::cli
