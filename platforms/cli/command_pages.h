// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The man page, the help that the launcher shows, and the completion of bash. They are made of the commands and
// options that the program parses, so they cannot lag behind.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace weft::cli {

/// roff of section 1. Without the version and without defaults, some of which depend on the host.
std::string man_page(const CLI::App& app);
/// What `weft --help` prints, then for each command a line "==== COMMAND" and its help, with "<footer>" for
/// the footer of the program.
std::string help_page(const CLI::App& app);
/// A script for bash to source: commands, options of the command on the line, `words` for arguments called PLATFORM,
/// else files.
std::string bash_completion(const CLI::App& app, const std::vector<std::string>& platforms);

} // namespace weft::cli
