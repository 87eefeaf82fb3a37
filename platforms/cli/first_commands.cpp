// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/commands.h"

namespace weft::cli {

const std::vector<std::string>& commands_elsewhere()
{
    static const std::vector<std::string> names{"bench",    "bursts", "ccu",   "compare", "docs",    "explain",
                                                "firmware", "scale",  "sweep", "tune",    "validate"};
    return names;
}

void add_commands(CLI::App& app, int& exit_code)
{
    add_run(app, exit_code);
    add_check(app, exit_code);
    add_new(app, exit_code);
    add_list(app, exit_code);
    add_doctor(app, exit_code);
    add_report(app, exit_code);
}

} // namespace weft::cli
