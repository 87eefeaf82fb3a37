// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands of a program. There are two sets, of the same main.cpp: weft has all of them, weft_first those that a
// fresh clone needs first, and takes half as long to build; weft_first_<platform> is weft_first for files of one
// platform (docs/adr/0031-first-program.md).
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App; // its header takes seconds to compile
}

namespace weft::cli {

/// Adds the commands of this program, in the order of its help.
void add_commands(CLI::App& app, int& exit_code);
/// Names of those that only the other program has; in weft there are none.
const std::vector<std::string>& commands_elsewhere();

/// Becomes the launcher, which builds weft and starts it with the same arguments. Returns an exit code, and says why,
/// only where that cannot be: no launcher started this program, or it has read its standard input. `missing` is what
/// the user asked for.
int start_whole_program(int argc, char* argv[], const std::string& missing);

void add_run(CLI::App& app, int& exit_code);
void add_ccu(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_new(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_bursts(CLI::App& app, int& exit_code);
void add_docs(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_firmware(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_scale(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
void add_validate(CLI::App& app, int& exit_code);

} // namespace weft::cli
