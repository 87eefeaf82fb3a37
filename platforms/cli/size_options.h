// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sizes and repeats on the command line, by the names of nccl-tests: for every entry of `workload`, in place of what
// the file says. There is no warm-up: cases begin on a machine that has settled, and nothing in it gets faster by use.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

struct size_options {
    std::string least, most; ///< "" where not given
    std::optional<std::uint32_t> factor, repeats;

    /// As `--set` takes them.
    std::vector<std::string> overrides() const;
    /// The option that sets this key: "-b" for "workload.0.range.from"; "" where none does.
    std::string option_of(const std::string& key_path) const;
};
void add_size_options(CLI::App& command, size_options& sizes);

} // namespace weft::cli
