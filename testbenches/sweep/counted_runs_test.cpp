// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/counted_runs.h"

#include <catch2/catch.hpp>

#include <stdexcept>
#include <vector>

using namespace weft;
using namespace weft::cli;

namespace {
/// Lines that are told while `work` goes on, which has the object that counts.
template <class Work> std::vector<std::string> told_while(Work&& work)
{
    std::vector<std::string> lines;
    {
        const isolated_run here = [](const std::function<run_figures()>& simulation) { return simulation(); };
        counted_runs runs(here, std::chrono::milliseconds(5), [&](const std::string& text) { lines.push_back(text); });
        work(runs);
    }
    return lines;
}
const auto slow = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return run_figures{{"time", 1.5}};
};
} // namespace

TEST_CASE("who waits for simulations is told how many are finished", "[fast]")
{
    const std::vector<std::string> lines = told_while([](counted_runs& runs) {
        CHECK(runs.run(slow).at("time") == 1.5);
        std::thread other([&] { runs.run(slow); });
        runs.run(slow);
        other.join();
        slow();
    });
    REQUIRE(!lines.empty());
    CHECK(lines.front() == "0 simulations finished, 1 under way, 0 minutes");
    CHECK(lines.back() == "3 simulations finished, 0 under way, 0 minutes");
}

TEST_CASE("a simulation that fails is not under way any more", "[fast]")
{
    const std::vector<std::string> lines = told_while([](counted_runs& runs) {
        CHECK_THROWS_AS(runs.run([]() -> run_figures { throw std::runtime_error("no"); }), std::runtime_error);
        slow();
    });
    REQUIRE(!lines.empty());
    CHECK(lines.back() == "1 simulation finished, 0 under way, 0 minutes");
}
