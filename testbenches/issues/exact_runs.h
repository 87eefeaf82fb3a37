// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Workloads on a shipped platform file, run by the program.
#pragma once

#include "testbenches/issues/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace weft::testing {

inline double stat_of(const nlohmann::json& results, const std::string& name)
{
    for (const auto& s : results.at("stats"))
        if (s.at("name") == name)
            return s.at("value");
    FAIL("no statistic " << name);
    return 0;
}

class exact_runs {
public:
    /// `file` below configs/; `settings` of every run.
    explicit exact_runs(const char* file, std::string settings = "")
        : file_((std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / file).string()), settings_(std::move(settings))
    {
    }
    const std::string& file() const { return file_; }
    std::string command(const std::string& workload, const std::string& more) const
    {
        return fmt::format("run {} --quiet --set 'workload={}' {} {} --out out", file_, workload, settings_, more);
    }
    /// Results of a workload; every answer is right, where there are data.
    nlohmann::json exact(const std::string& workload, const std::string& more = "") const
    {
        const program_folder folder;
        const int code = folder.weft(command(workload, more));
        INFO(workload << " " << more << "\n" << text_of(folder.path() / "stderr"));
        REQUIRE(code == 0);
        const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
        REQUIRE(!results.at("results").empty());
        for (const auto& r : results.at("results")) {
            INFO(r.dump());
            CHECK((r.at("wrong") == 0 || more.find("data=off") != std::string::npos));
        }
        return results;
    }
    /// Of the first case.
    double time_us(const std::string& workload, const std::string& more) const { return exact(workload, more).at("results").at(0).at("time_us"); }

private:
    std::string file_, settings_;
};

} // namespace weft::testing
