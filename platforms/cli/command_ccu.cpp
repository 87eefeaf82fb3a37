// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_assembler.h"
#include "platforms/ccu/ccu_checker.h"
#include "platforms/ccu/ccu_disassembler.h"
#include "platforms/ccu/ccu_program_file.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/report/run_report.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft::cli {

namespace {

struct ccu_options {
    std::vector<std::string> files;
    std::string out;
    std::vector<std::string> capacities;
    const std::string& file() const { return files.front(); }
};

std::string plural(std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::size_t errors_in(const std::vector<problem>& problems)
{
    return static_cast<std::size_t>(std::count_if(problems.begin(), problems.end(), [](const problem& p) { return p.level == severity::error; }));
}

/// Every problem with its line on stderr; false: one is an error.
bool tell(const std::vector<problem>& problems, const source_text& text)
{
    for (const problem& p : problems)
        print_to_stderr("{}\n", render(p, text.text));
    const std::size_t errors = errors_in(problems);
    if (errors != 0)
        print_to_stderr("{}: {}; nothing was written.\n", text.name, plural(errors, "error"));
    return errors == 0;
}

source_text read(const std::string& file) { return source_text_of({file, {}, {}, {}}); }

/// Nothing, or what is wrong with a file that is no text.
std::vector<problem> no_text(const source_text& file)
{
    if (!is_ccu_file(file.text))
        return {};
    return {{severity::error, {file.name, 0, 0}, "", fmt::format("is an assembled program; `weft ccu disasm {}` gives its text.", file.name)}};
}

int assemble(const ccu_options& options)
{
    if (!options.out.empty()) {
        output_targets targets;
        targets.add_input(options.file(), "the program");
        targets.add_output(options.out, "--out");
        targets.check();
    }
    const source_text text = read(options.file());
    throw_if_errors(no_text(text));
    std::vector<problem> problems;
    const ccu_program program = assemble_ccu(text.text, text.name, problems);
    if (!tell(problems, text))
        return 2;
    if (!options.out.empty()) {
        prepare_output_file(options.out);
        const replaced_files replaced({options.out});
        write_file_atomically(options.out, ccu_file_bytes(program.code));
        fmt::print("{}: {} in {}\n{}", text.name, plural(program.code.size(), "instruction"), options.out, replaced.text());
        return 0;
    }
    for (std::size_t n = 0; n < program.code.size(); ++n) {
        std::uint64_t words[abi::ccu::k_words_of_instruction];
        ccu_words(program.code[n], words);
        fmt::print("{:5}  {:016x} {:016x} {:016x} {:016x}  {}\n", n, words[0], words[1], words[2], words[3], disassemble_ccu(program.code[n]));
    }
    return 0;
}

int disassemble(const ccu_options& options)
{
    const source_text bytes = read(options.file());
    ccu_program program{bytes.name};
    program.code = read_ccu_file(bytes.text, bytes.name);
    fmt::print("{}", disassemble_ccu(program));
    return 0;
}

int check(const ccu_options& options)
{
    ccu_capacities capacities;
    for (const std::string& assignment : options.capacities)
        override_capacity(capacities, assignment);
    std::vector<ccu_program> programs;
    std::vector<ccu_verdict> verdicts;
    bool good = true;
    for (const std::string& file : options.files) {
        const source_text text = read(file);
        std::vector<problem> problems = no_text(text);
        if (!problems.empty()) {
            good = tell(problems, {text.name, {}}) && good;
            continue;
        }
        programs.push_back(assemble_ccu(text.text, text.name, problems));
        verdicts.emplace_back();
        if (errors_in(problems) == 0) {
            verdicts.back() = check_ccu(programs.back(), capacities);
            problems.insert(problems.end(), verdicts.back().problems.begin(), verdicts.back().problems.end());
        }
        good = tell(problems, text) && good;
        if (errors_in(problems) != 0)
            continue;
        const ccu_use& use = verdicts.back().use;
        fmt::print("{}: accepted{}; {}, {} of loops, {}, {}, {} address and {} general registers\n", text.name,
                   problems.empty() ? "" : ", " + plural(problems.size(), "warning"), plural(use.instructions, "instruction"), plural(use.engines, "engine"),
                   plural(use.slices.size(), "slice"), use.entries.size() == 1 ? "1 check-bit entry" : fmt::format("{} check-bit entries", use.entries.size()),
                   use.address_registers.size(), use.general_registers.size());
    }
    if (good && options.files.size() > 1) {
        const std::vector<problem> together = check_ccu_together(programs, verdicts, capacities);
        for (const problem& p : together)
            print_to_stderr("{}\n", to_string(p));
        good = together.empty();
        if (good)
            fmt::print("they fit into one unit together\n");
    }
    return good ? 0 : 2;
}

} // namespace

void add_ccu(CLI::App& app, int& exit_code)
{
    CLI::App* group = app.add_subcommand("ccu", "Work on microcode of collective communication units");
    group->require_subcommand(1);
    const auto add = [&](const char* name, const char* help, const char* what, int (*run)(const ccu_options&)) {
        auto options = std::make_shared<ccu_options>();
        CLI::App* command = group->add_subcommand(name, help);
        command->add_option("FILE", options->files, what)->required()->type_name(" ")->expected(1, std::string(name) == "check" ? 64 : 1);
        command->callback([options, run, &exit_code] { exit_code = run(*options); });
        return std::pair(command, options);
    };
    const auto [assembler, assembler_options] = add("asm", "Assemble a program; without --out its words are listed", "Text of the program (.ccu)", assemble);
    assembler->add_option("-o,--out", assembler_options->out, "Write the program to FILE")->type_name("FILE")->check(is_output_name());
    add("disasm", "Print the text of an assembled program", "What `weft ccu asm --out` has written", disassemble);
    const auto [checker, checker_options] =
        add("check", "Refuse a program that cannot be proved to end and to fit; several: in one unit together", "Text of the program (.ccu)", check);
    checker->add_option("--capacity", checker_options->capacities, "Change what the unit holds, for example slices=128; repeatable")
        ->type_name("KEY=NUMBER")
        ->allow_extra_args(false);
}

} // namespace weft::cli
