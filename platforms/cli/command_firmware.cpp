// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "firmware/main.h"
#include "hw/core/elf_program.h"
#include "hw/core/iss.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/config/suggest.h"
#include "platforms/firmware_bench/call_site.h"
#include "platforms/firmware_bench/firmware_bench.h"
#include "platforms/report/progress.h"
#include "platforms/report/replaced_files.h"
#include "platforms/report/run_report.h"
#include "platforms/workload/interruption.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <fmt/format.h>

namespace weft::cli {

namespace {

constexpr const char* k_entry = "weft_firmware_entry";

struct firmware_options {
    std::string firmware;
    std::string platform; ///< "": the first of the list that has a bench
    std::optional<std::string> mesh; ///< nullopt: as the platform likes it
    std::string out;
    bench_options bench;
    std::string core = "native";
    bool list = false;
    bool quiet = false;
};

void list_devices()
{
    for (const auto& device : hostile_devices())
        fmt::print("{}\n    {}\n    right: {}\n", device->name(), device->summary(), device->right());
}

/// Firmware compiled for this host, in a shared library.
firmware_under_test load_library(const std::string& path)
{
    const std::string full = std::filesystem::absolute(path).string(); // a bare name would be searched for elsewhere
    void* const library = dlopen(full.c_str(), RTLD_NOW | RTLD_LOCAL); // stays open: the firmware is in it
    if (library == nullptr)
        throw user_error(fmt::format("{}: cannot be loaded: {}", path, dlerror()));
    void* const entry = dlsym(library, k_entry);
    if (entry == nullptr)
        throw user_error(fmt::format("{}: has no function {}(weft::abi::hal&, std::uint64_t), declared extern \"C\".",
                                     path, k_entry));
    return {path, reinterpret_cast<firmware_entry>(entry), ""};
}

firmware_under_test find_firmware(const std::string& name, core_model core)
{
    const bool rv64 = core == core_model::rv64;
    const auto need_engine = [&] {
        if (*iss_engine_name() == '\0')
            throw user_error(
                fmt::format("{}: this build has no instruction-set engine, so that no RV64 core can run it; "
                            "configure it with WEFT_UNICORN=ON.",
                            name));
    };
    std::vector<std::string> names;
    for (const firmware::firmware_info& f : firmware::k_firmware) {
        if (name == f.name) {
            if (rv64)
                need_engine();
            return {name, rv64 ? nullptr : f.entry, ""};
        }
        names.emplace_back(f.name);
    }
    std::error_code unreadable;
    if (std::filesystem::is_directory(name, unreadable))
        throw user_error(fmt::format("{} is a folder; firmware is a name (`weft list`) or a file, .elf or .so.", in_quotes(name)));
    if (!std::filesystem::is_regular_file(name, unreadable))
        throw user_error(
            fmt::format("there is no firmware and no file {}; {}", in_quotes(name), suggestion(name, names)));
    switch (machine_of(name)) {
    case EM_NONE:
        throw user_error(fmt::format("{}: is no ELF file; firmware is a name (`weft list`) or such a file.", name));
    case EM_RISCV: {
        need_engine();
        if (const elf_program program = read_elf_file(name); !program.problem.empty())
            throw user_error(program.problem);
        return {name, nullptr, name};
    }
    default:
        if (rv64)
            throw user_error(fmt::format("{}: is no RISC-V binary, so that an RV64 core cannot run it.", name));
        return load_library(name);
    }
}

/// The platform, and what it takes where nothing is said.
void find_bench(firmware_options& options)
{
    std::vector<std::string> names;
    for (const platform_info* info : platforms()) {
        if (info->firmware_bench == nullptr)
            continue;
        names.emplace_back(info->name);
        if (options.bench.platform == nullptr && (options.platform.empty() || options.platform == info->name))
            options.bench.platform = info;
    }
    if (options.bench.platform == nullptr)
        throw user_error(fmt::format("--platform: there is no bench of firmware on {}; {}",
                                     in_quotes(options.platform), suggestion(options.platform, names)));
    options.bench.rows = options.bench.platform->firmware_bench->rows;
    options.bench.cols = options.bench.platform->firmware_bench->cols;
}

/// "2x3" as rows and columns.
void read_mesh(firmware_options& options)
{
    if (!options.mesh)
        return;
    constexpr std::uint64_t k_most = 256; // of a TPU pod
    const std::string& mesh = *options.mesh;
    const std::size_t x = mesh.find('x');
    const auto side = [&](const std::string& text) -> std::uint32_t {
        const std::optional<std::uint64_t> n = whole_number(text);
        if (x == std::string::npos || !n || *n < 1 || *n > k_most)
            throw user_error(fmt::format("--mesh: {} is no mesh; write rows x columns, each 1 to {}, for example 2x2.",
                                         in_quotes(mesh), k_most));
        return static_cast<std::uint32_t>(*n);
    };
    options.bench.rows = side(mesh.substr(0, x));
    options.bench.cols = side(mesh.substr(std::min(x, mesh.size() - 1) + 1));
}

int test(firmware_options& options)
{
    if (options.list) {
        list_devices();
        return 0;
    }
    if (options.firmware.empty())
        throw user_error(
            "weft firmware test: say which firmware, for example `weft firmware test collective`; --list shows "
            "the hostile devices.");
    find_bench(options);
    read_mesh(options);
    const firmware_under_test firmware = find_firmware(options.firmware, options.core == "rv64" ? core_model::rv64 : core_model::native);
    if (!options.out.empty()) {
        output_targets targets;
        targets.add_input(options.firmware, "the firmware");
        targets.add_output(options.out, "--out");
        targets.check();
        prepare_output_file(options.out);
    }

    interruption signals;
    signals.begin("stops; what is printed stays, and no file is written");
    const auto begin = std::chrono::steady_clock::now();
    progress bar = progress::on_stderr(static_cast<std::uint32_t>(hostile_devices().size() + 1), options.quiet);
    std::uint32_t index = 0;
    bool head_printed = false;
    const bench_report report = run_firmware_bench(
        firmware, options.bench,
        [&](const std::string& device, std::uint64_t run, std::uint64_t runs) {
            if (run == 0)
                bar.begin_case(index++, device);
            bar.update(static_cast<double>(run) / static_cast<double>(runs));
        },
        [&](const device_report& device) {
            bar.clear();
            if (options.quiet)
                return;
            if (!head_printed)
                fmt::print("# weft {}, firmware {} against hostile devices\n{}", version(), options.firmware,
                           bench_table_head());
            head_printed = true;
            fmt::print("{}", bench_table_line(device));
            std::fflush(stdout);
        });
    bar.finish();
    if (!options.quiet) {
        std::uint64_t runs = 0;
        for (const device_report& d : report.devices)
            runs += d.runs;
        fmt::print("\nPlatform      {}\nHealthy run   {:.3f} us, {} accesses of the rank, digest {:016x}\n"
                   "Runs          {} in {:.1f} s of host time\nFailed        {}\n",
                   report.platform, static_cast<double>(report.healthy_ps) / 1e6, report.accesses, report.digest, runs,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), report.failed());
    }
    for (const device_report& d : report.devices)
        if (d.failed != 0)
            print_to_stderr("{}: {} of {} runs failed; the first: {}\n", d.name, d.failed, d.runs, d.first_failure);
    if (!options.out.empty()) {
        nlohmann::ordered_json json = to_json(report);
        json["version"] = version();
        const replaced_files replaced({options.out});
        write_file_atomically(options.out, json.dump(2) + "\n");
        fmt::print("{}", replaced.text());
    }
    return report.failed() == 0 ? 0 : 1;
}

} // namespace

void add_firmware(CLI::App& app, int& exit_code)
{
    CLI::App* group = app.add_subcommand("firmware", "Work on the firmware of the cores");
    group->require_subcommand(1);
    auto options = std::make_shared<firmware_options>();
    CLI::App* command = group->add_subcommand(
        "test",
        "Run a firmware against hostile devices: it must finish exactly or report the right error; exit code 1 if not");
    command
        ->add_option("FIRMWARE", options->firmware,
                     "Its name, as in `weft list`, an RV64 ELF file, or a shared library with weft_firmware_entry()")
        ->type_name(" ");
    command->add_flag("--list", options->list, "Only list the hostile devices and what is right");
    command->add_option("--device", options->bench.only, "Only these hostile devices")
        ->type_name("NAME")
        ->delimiter(',');
    command->add_option("--core", options->core, "Cores that run shipped firmware")
        ->type_name("MODEL")
        ->check(CLI::IsMember({"native", "rv64"}))
        ->capture_default_str();
    command->add_option("--platform", options->platform, "Whose machine and devices; see `weft list`")
        ->type_name("NAME")
        ->default_str("tpu_v3");
    command->add_option("--mesh", options->mesh, "Rows x columns of chips; boards x NPUs; switches x workers")
        ->type_name("RxC")
        ->default_str("2x2");
    add_number(*command, "--rank", options->bench.rank, "Whose devices are hostile", "rank", 0, 65'535)
        ->capture_default_str();
    add_number(*command, "--runs", options->bench.most_runs, "Runs of one device at most, an even sample; 0: all",
               "number of runs", 0, 1'000'000'000)
        ->capture_default_str();
    command
        ->add_option("--set", options->bench.settings,
                     "Change one value of the machine or its workload; repeatable:\n"
                     "  --set \"workload=[{op: broadcast, sizes: [4 KiB], chunk: 256 B}]\"")
        ->type_name("KEY.PATH=VALUE")
        ->allow_extra_args(false);
    command->add_option("--out", options->out, "Write the report as JSON to FILE too")
        ->type_name("FILE")
        ->check(is_output_name());
    command->add_flag("--quiet", options->quiet, "No table and no progress, only failures");
    command->callback([options, &exit_code] { exit_code = test(*options); });
}

} // namespace weft::cli
