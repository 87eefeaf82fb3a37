// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/kept_runs.h"

#include "platforms/cli/program_identity.h"
#include "platforms/report/output_file.h"
#include "platforms/workload/digest.h"
#include "tlm/check.h"
#include "tlm/standard_error.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <utility>

namespace weft::cli {

namespace {
constexpr const char* k_program_key = "program";
constexpr const char* k_runs_key = "runs";

/// What the file has of this program; none of a file that is no such file.
std::map<std::string, run_figures> read(const std::string& file)
{
    std::map<std::string, run_figures> runs;
    std::ifstream in(file);
    const nlohmann::json all = nlohmann::json::parse(in, nullptr, false);
    if (!all.is_object() || all.value(k_program_key, nlohmann::json()) != program_identity() || !all.contains(k_runs_key))
        return runs;
    for (const auto& [key, figures] : all[k_runs_key].items())
        for (const auto& [name, value] : figures.items())
            if (value.is_number())
                runs[key][name] = value.get<double>();
    return runs;
}
} // namespace

kept_runs::kept_runs(isolated_run run, std::string file) : run_(std::move(run)), file_(std::move(file)), runs_(read(file_))
{
    if (!runs_.empty())
        print_to_stderr("weft: {} simulation{} of an interrupted call {} taken from {}\n", runs_.size(), runs_.size() == 1 ? "" : "s",
                        runs_.size() == 1 ? "is" : "are", file_);
}

run_figures kept_runs::operator()(const isolated_run::simulation& simulation, const std::string& inputs)
{
    if (inputs.empty())
        return run_(simulation);
    const std::string key = digest_of_text(inputs);
    {
        const std::lock_guard<std::mutex> lock(guard_);
        if (const auto found = runs_.find(key); found != runs_.end())
            return found->second;
    }
    const run_figures figures = run_(simulation, inputs);
    keep(key, figures);
    return figures;
}

void kept_runs::keep(const std::string& key, const run_figures& figures)
{
    const std::lock_guard<std::mutex> lock(guard_);
    runs_[key] = figures;
    if (!can_write_)
        return;
    nlohmann::ordered_json all;
    all[k_program_key] = program_identity();
    all[k_runs_key] = runs_;
    try {
        write_file_atomically(file_, all.dump(1) + "\n");
    } catch (const user_error& e) { // the page matters more than a later call
        can_write_ = false;
        print_to_stderr("weft: simulations that end from now on are not kept for another call: {}\n", e.what());
    }
}

std::size_t kept_runs::kept() const
{
    const std::lock_guard<std::mutex> lock(guard_);
    return runs_.size();
}

void kept_runs::remove_file()
{
    std::error_code none;
    std::filesystem::remove(file_, none);
}

} // namespace weft::cli
