// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What this machine can run. What is missing to build is the launcher's part, ./weft doctor.
#include "cmake/version.h"
#include "platforms/cli/build_facts.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/host_costs.h"
#include "platforms/config/suggest.h"
#include "platforms/config/yaml_layers.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>

namespace weft::cli {

namespace {

struct shipped {
    std::string file;
    std::uint32_t ranks = 0;
    std::uint64_t memory_bytes = 0;
    double seconds = 0;
};

/// Whether the file means to be a platform file: sweeps, price lists and parts of platform files are none.
bool is_platform_file(const loaded_platform& loaded)
{
    if (!loaded.document) // no YAML
        return true;
    const yaml_node& root = loaded.document->root();
    return root.find(k_platform_key) != nullptr || root.find(k_extends_key) != nullptr;
}

/// Platform files in `folder`, by how many ranks they have, then by memory, the largest first. Those with errors go to
/// `broken`.
std::vector<shipped> platform_files(const std::string& folder, std::vector<std::string>& broken)
{
    std::vector<std::string> files;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
        if (i->path().extension() == ".yaml")
            files.push_back(i->path().string());
    std::sort(files.begin(), files.end());
    std::vector<shipped> all;
    for (const std::string& file : files) {
        platform_source source;
        source.file = file;
        const loaded_platform loaded = read_platform(source);
        if (loaded.platform)
            all.push_back(
                {file, loaded.platform->ranks(), host_memory_bytes(*loaded.platform), host_seconds(*loaded.platform)});
        else if (is_platform_file(loaded))
            broken.push_back(file);
    }
    std::stable_sort(all.begin(), all.end(), [](const shipped& a, const shipped& b) {
        return a.ranks != b.ranks ? a.ranks > b.ranks : a.memory_bytes > b.memory_bytes;
    });
    return all;
}

std::string text_of(const shipped& s)
{
    return fmt::format("{}: {} ranks, about {} of memory and about {}", s.file, s.ranks,
                       rounded_text(data_size(s.memory_bytes)), about_seconds(s.seconds));
}

/// False: nothing in the folder can be run.
bool examine(const std::string& configs, std::uint64_t memory_bytes)
{
    fmt::print("Program   weft {}\n", version());
    const std::vector<std::string> parts = built_in();
    fmt::print("With      {}\n", parts.empty() ? "nothing optional" : fmt::format("{}", fmt::join(parts, ", ")));
    fmt::print("Cores     {}; one simulation uses one, `sweep`, `tune`, `explain`, `validate`, `bursts` and `scale` use all\n",
               std::thread::hardware_concurrency());
    fmt::print("Memory    {} free\n", rounded_text(data_size(memory_bytes)));
    std::vector<std::string> broken;
    const std::vector<shipped> all = platform_files(configs, broken);
    for (const std::string& file : broken)
        fmt::print("Broken    {}: it has errors; `weft check` names them\n", file);
    if (all.empty()) {
        fmt::print("Machines  no platform file in {} can be run; name another folder by --configs\n", configs);
        return false;
    }
    const auto fits = [&](const shipped& s) { return s.memory_bytes <= memory_bytes; };
    const auto largest = std::find_if(all.begin(), all.end(), fits);
    if (largest == all.end())
        fmt::print("Largest   none of the {} platform files in {} fits into this memory; `--set data=off` takes less\n",
                   all.size(), configs);
    else
        fmt::print("Largest   {}\n", text_of(*largest));
    const auto too_large =
        static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const shipped& s) { return !fits(s); }));
    fmt::print("Fit       {} of {} platform files in {}{}\n", all.size() - too_large, all.size() + broken.size(),
               configs, broken.empty() ? "" : fmt::format("; {} with errors", broken.size()));
    for (const shipped& s : all)
        if (!fits(s))
            fmt::print("Too large {}\n", text_of(s));
    return true;
}

} // namespace

void add_doctor(CLI::App& app, int& exit_code)
{
    auto configs = std::make_shared<std::string>("configs");
    auto memory = std::make_shared<std::string>();
    CLI::App* command =
        app.add_subcommand("doctor", "Say what this machine can run: cores, memory, the largest shipped configuration");
    command->add_option("--configs", *configs, "Folder with platform files")->type_name("DIR")->capture_default_str();
    command->add_option("--memory", *memory, "As if so much were free: \"4 GiB\". Default: what the host has free")
        ->type_name("SIZE");
    command->callback([configs, memory, &exit_code] {
        std::error_code error;
        if (!std::filesystem::is_directory(*configs, error))
            throw user_error(fmt::format("weft doctor: --configs {}: there is no such folder.", in_quotes(*configs)));
        exit_code = examine(*configs, host_memory_option(*memory)) ? 0 : 2;
    });
}

} // namespace weft::cli
