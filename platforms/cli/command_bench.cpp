// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/cli.h"

namespace weft::cli {

void add_bench(CLI::App& app, int& exit_code)
{
    (void)app;
    (void)exit_code;
}

} // namespace weft::cli
