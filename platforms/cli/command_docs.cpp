// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated pages and the JSON Schema: made from the same tables as the models, so that they cannot drift.
#include "hw/abi/registers.h"
#include "platforms/ccu/ccu_instruction_page.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/command_pages.h"
#include "platforms/config/yaml_layers.h"
#include "platforms/report/results_schema.h"
#include "platforms/report/run_report.h"
#include "platforms/workload/collective_case.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace weft::cli {

namespace {

constexpr const char* k_notice = "<!-- Made by `weft docs`; do not edit. -->\n";

std::string config_page()
{
    std::string text = std::string("# Configuration\n\n") + k_notice;
    text +=
        "\nEvery key of a platform file, its default, and where the default comes from: quoted from a public document, "
        "derived from quoted figures, recalled and not verified, assumed because nothing public says, calibrated to "
        "meet the named target. A file begins with `platform:` "
        "and one of the names below; `weft check FILE --resolved` prints a file with all defaults filled in, "
        "`weft new PLATFORM` writes one to begin with. "
        "\"Only ...\" in a meaning: otherwise nothing uses the key, and a file that sets it is warned.\n";
    text += "\n## Algorithms\n\n| `workload.N.algorithms` | of | needs | how |\n|---|---|---|---|\n";
    for (const abi::algorithm_row& a : abi::k_algorithm_rows) {
        text += fmt::format("| `{}` | {} | {} | {} |\n", a.name, operations_of(a), a.needs, a.summary);
    }
    text += "\nA scheme that cannot be built on a machine is refused before anything is simulated, with the reason. Summed in the network, and so "
            "by all cores of a worker: ";
    std::string in_network;
    for (const auto& [algo, name] : enum_names<abi::algorithm>::values)
        if (abi::by_switch(algo))
            in_network += fmt::format("{}`{}`", in_network.empty() ? "" : " and ", name);
    text += in_network + ".\n";
    for (const platform_info* info : platforms())
        text +=
            fmt::format("\n## platform: {}\n\n{}.\n\n{}", info->name, info->summary, markdown_table(info->defaults()));
    return text;
}

const char* access_name(abi::reg_access a)
{
    switch (a) {
    case abi::reg_access::ro: return "ro";
    case abi::reg_access::rw: return "rw";
    case abi::reg_access::w1c: return "w1c";
    case abi::reg_access::rc: return "rc";
    default: return "db";
    }
}

template <std::size_t N> std::string register_table(const char* title, const abi::reg_row (&rows)[N])
{
    std::string text = fmt::format(
        "\n## {}\n\n| offset | name | width | access | reset | meaning |\n|---|---|---|---|---|---|\n", title);
    for (const abi::reg_row& r : rows) {
        const std::string offset =
            r.count == 1 ? fmt::format("{:#06x}", r.offset) : fmt::format("{:#06x} + {:#x} i", r.offset, r.stride);
        const std::string name = r.count == 1 ? r.name : fmt::format("{}[0..{}]", r.name, r.count - 1);
        text += fmt::format("| {} | {} | {} | {} | {:#x} | {} |\n", offset, name, r.width_bits, access_name(r.access),
                            r.reset, r.doc);
    }
    return text;
}

std::string registers_page()
{
    std::string text = std::string("# Registers\n\n") + k_notice;
    text +=
        "\nFrom `hw/abi/*_regs.def`, which also make the models and the constants of the firmware. Access: ro read only, rw read "
        "and write, w1c write one to clear, rc reading clears, db doorbell.\n";
    text += register_table("DMA", abi::k_dma_rows);
    text += register_table("Mailbox", abi::k_mailbox_rows);
    text += register_table("Control block of an RV64 core", abi::k_core_rows);
    text += register_table("Ethernet NIC", abi::k_nic_rows);
    text += register_table("Sync unit", abi::k_sync_rows);
    text += register_table("Collective communication unit", abi::k_ccu_rows);
    return text;
}

} // namespace

void add_docs(CLI::App& app, int& exit_code)
{
    (void)exit_code;
    auto dir = std::make_shared<std::string>("docs");
    CLI::App* command = app.add_subcommand("docs", "Write the generated pages: keys, registers, instructions, schemas, man page, completion");
    command->add_option("--out", *dir, "Folder to write to")->type_name("DIR")->check(is_output_name())->capture_default_str();
    command->callback([dir, &app] {
        prepare_output_dir(*dir);
        write_file_atomically(*dir + "/04_config.md", config_page());
        write_file_atomically(*dir + "/05_registers.md", registers_page());
        std::vector<std::string> names;
        for (const platform_info* info : platforms())
            names.emplace_back(info->name);
        write_file_atomically(*dir + "/weft.1", man_page(app));
        write_file_atomically(*dir + "/help.txt", help_page(app));
        write_file_atomically(*dir + "/weft.bash", bash_completion(app, names));
        write_file_atomically(*dir + "/22_ccu_instructions.md", ccu_instruction_page(k_notice));
        write_file_atomically(*dir + "/results.schema.json", results_schema().dump(2) + "\n");
        for (const platform_info* info : platforms())
            write_file_atomically(
                fmt::format("{}/{}.schema.json", *dir, info->name),
                json_schema(info->defaults(), fmt::format("weft platform {}", info->name), k_platform_file_keys).dump(2) +
                    "\n");
    });
}

} // namespace weft::cli
