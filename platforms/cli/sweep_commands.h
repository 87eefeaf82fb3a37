// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "platforms/cli/cli.h"
namespace weft::cli {
void add_compare(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
} // namespace weft::cli
