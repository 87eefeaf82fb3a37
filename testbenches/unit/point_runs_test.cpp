// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Points of a sweep on threads: memory that they share, and the words for what remains.
#include "platforms/cli/host_costs.h"
#include "platforms/cli/point_costs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

using namespace weft::cli;

namespace {

/// Runs points of these sizes and returns the most that ran at a time, in bytes and in points.
struct most_at_a_time {
    std::uint64_t bytes = 0;
    std::size_t points = 0;
    std::vector<std::size_t> order; ///< in which they began
};

most_at_a_time run_with(const std::vector<std::uint64_t>& sizes, std::uint64_t memory, unsigned jobs)
{
    most_at_a_time most;
    std::mutex guard;
    std::uint64_t bytes = 0;
    std::size_t points = 0;
    point_work work;
    work.count = sizes.size();
    work.name = [](std::size_t) { return std::string("point"); };
    work.run = [&](std::size_t i) {
        {
            const std::lock_guard<std::mutex> lock(guard);
            most.order.push_back(i);
            bytes += sizes[i];
            ++points;
            most.bytes = std::max(most.bytes, bytes);
            most.points = std::max(most.points, points);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const std::lock_guard<std::mutex> lock(guard);
        bytes -= sizes[i];
        --points;
    };
    work.finished = [](std::size_t) { return std::string(); };
    point_costs costs;
    costs.memory_bytes = [&](std::size_t i) { return sizes[i]; };
    costs.memory_of_all = memory;
    const std::vector<bool> done = run_points(work, costs, jobs, true);
    CHECK(std::count(done.begin(), done.end(), true) == static_cast<std::ptrdiff_t>(sizes.size()));
    CHECK(most.order.size() == sizes.size());
    return most;
}

} // namespace

TEST_CASE("points that need more memory than is free wait and smaller ones go before them")
{
    CHECK(run_with({1, 1, 1, 1, 1, 1, 1}, 100, 4).points == 4);
    CHECK(run_with({6, 6, 6, 6, 6}, 10, 3).points == 1);
    const most_at_a_time mixed = run_with({6, 6, 3, 6, 3}, 10, 2);
    CHECK(mixed.bytes <= 10);
    CHECK(mixed.points == 2);
    CHECK(std::find(mixed.order.begin(), mixed.order.end(), 2u) <
          std::find(mixed.order.begin(), mixed.order.end(), 1u));
    // What never fits runs alone: the run itself says whether the host has room for it.
    CHECK(run_with({50, 50, 1, 50}, 10, 3).bytes == 50);
    CHECK(run_with({}, 10, 3).points == 0);
}

TEST_CASE("host time for people")
{
    CHECK(about_seconds(0) == "1 s");
    CHECK(about_seconds(34.2) == "35 s");
    CHECK(about_seconds(240) == "4 min");
    CHECK(about_seconds(3 * 3600) == "3.0 h");
}
