// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/kept_runs.h"
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>

using namespace weft;
using namespace weft::cli;

namespace {
/// Simulations that say how often they ran.
struct bench {
    weft::testing::temporary_folder folder;
    std::string file = (folder / "page.kept.json").string();
    int simulated = 0;

    isolated_run counting()
    {
        return isolated_run([this](const isolated_run::simulation& simulation, const std::string&) {
            ++simulated;
            return simulation();
        });
    }
};
run_figures third() { return {{"time_us", 1.0 / 3}, {"steps", 7}}; }
} // namespace

TEST_CASE("a simulation that an earlier call has ended is not run again and has the same figures", "[fast]")
{
    bench b;
    {
        kept_runs first(b.counting(), b.file);
        CHECK(first(third, "mesh 4x4") == third());
        CHECK(first(third, "mesh 4x4") == third());
        CHECK(first.kept() == 1);
    }
    CHECK(b.simulated == 1);
    kept_runs second(b.counting(), b.file);
    CHECK(second.kept() == 1);
    CHECK(second(third, "mesh 4x4") == third()); // to the last bit
    CHECK(b.simulated == 1);
    second(third, "mesh 4x5");
    CHECK(b.simulated == 2);
    second.remove_file();
    CHECK_FALSE(std::filesystem::exists(b.file));
}

TEST_CASE("figures without inputs and of another program are simulated", "[fast]")
{
    bench b;
    kept_runs first(b.counting(), b.file);
    first(third, "");
    first(third, "");
    CHECK(b.simulated == 2);
    CHECK_FALSE(std::filesystem::exists(b.file));
    first(third, "mesh");
    std::string text = weft::testing::text_of(b.file);
    const std::size_t at = text.find("\"program\": \"");
    REQUIRE(at != std::string::npos);
    std::ofstream(b.file) << text.insert(at + 12, "another ");
    kept_runs second(b.counting(), b.file);
    CHECK(second.kept() == 0);
    std::ofstream(b.file) << "{\"program\": 3";
    CHECK(kept_runs(b.counting(), b.file).kept() == 0);
}

TEST_CASE("a simulation that fails and a folder that is gone keep nothing and lose nothing", "[fast]")
{
    bench b;
    kept_runs failing(b.counting(), b.file);
    CHECK_THROWS_AS(failing([]() -> run_figures { throw std::runtime_error("no"); }, "mesh"), std::runtime_error);
    CHECK(failing.kept() == 0);
    kept_runs homeless(b.counting(), (b.folder / "gone/page.kept.json").string());
    CHECK(homeless(third, "mesh") == third());
    CHECK(homeless(third, "mesh") == third());
    CHECK(b.simulated == 2);
}
