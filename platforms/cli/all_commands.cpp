// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/commands.h"

namespace weft::cli {

const std::vector<std::string>& commands_elsewhere()
{
    static const std::vector<std::string> none;
    return none;
}

void add_commands(CLI::App& app, int& exit_code)
{
    add_run(app, exit_code);
    add_check(app, exit_code);
    add_new(app, exit_code);
    add_list(app, exit_code);
    add_bench(app, exit_code);
    add_bursts(app, exit_code);
    add_ccu(app, exit_code);
    add_docs(app, exit_code);
    add_doctor(app, exit_code);
    add_explain(app, exit_code);
    add_firmware(app, exit_code);
    add_report(app, exit_code);
    add_scale(app, exit_code);
    add_sweep(app, exit_code);
    add_compare(app, exit_code);
    add_tune(app, exit_code);
    add_validate(app, exit_code);
}

} // namespace weft::cli
