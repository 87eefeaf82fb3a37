// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/counted_runs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

using namespace weft;
using namespace weft::cli;

namespace {
/// What is told, and a wait for a line of it.
class told_lines {
public:
    void add(const std::string& text)
    {
        const std::lock_guard<std::mutex> lock(guard_);
        lines_.push_back(text);
        more_.notify_all();
    }
    /// False: not within half a minute.
    bool wait_for(const std::string& text)
    {
        std::unique_lock<std::mutex> lock(guard_);
        return more_.wait_for(lock, std::chrono::seconds(30),
                              [&] { return std::find(lines_.begin(), lines_.end(), text) != lines_.end(); });
    }

private:
    std::mutex guard_;
    std::condition_variable more_;
    std::vector<std::string> lines_;
};

struct counted_bench {
    told_lines told;
    counted_runs runs{isolated_run([](const isolated_run::simulation& simulation, const std::string&) { return simulation(); }), std::chrono::milliseconds(5),
                      [this](const std::string& text) { told.add(text); }};
};
} // namespace

TEST_CASE("who waits for simulations is told how many are finished", "[fast]")
{
    counted_bench b;
    bool one = false, two = false;
    const run_figures figures = b.runs.run([&] {
        one = b.told.wait_for("0 simulations finished, 1 under way, 0 minutes");
        return run_figures{{"time", 1.5}};
    });
    CHECK(figures.at("time") == 1.5);
    CHECK(one);
    const auto with_another = [&] {
        const bool seen = b.told.wait_for("1 simulation finished, 2 under way, 0 minutes");
        return run_figures{{"seen", seen ? 1 : 0}};
    };
    std::thread other([&] { two = b.runs.run(with_another).at("seen") == 1; });
    CHECK(b.runs.run(with_another).at("seen") == 1);
    other.join();
    CHECK(two);
    CHECK(b.told.wait_for("3 simulations finished, 0 under way, 0 minutes"));
}

TEST_CASE("a simulation that fails is not under way any more", "[fast]")
{
    counted_bench b;
    CHECK_THROWS_AS(b.runs.run([]() -> run_figures { throw std::runtime_error("no"); }), std::runtime_error);
    CHECK(b.told.wait_for("1 simulation finished, 0 under way, 0 minutes"));
}
