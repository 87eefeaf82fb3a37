// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands of the program, one file each, and what they share. Exit codes: 0 fine, 1 a run or check failed, 2 the
// user's input cannot be used, 3 a bug of ours.
#pragma once

#include "platforms/cli/platforms.h"
#include "platforms/cli/size_options.h"
#include "platforms/config/yaml_document.h"
#include "platforms/workload/machine.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

/// A platform file and what the command line says about it.
struct platform_source {
    std::string file;                   ///< "-": standard input
    std::vector<std::string> overrides; ///< --set key.path=value
    std::optional<std::uint64_t> seed;
    std::vector<std::string> left_out = {}; ///< keys at the top that are read as if they were not there
    size_options sizes = {};                ///< before `overrides`
};
void add_platform_options(CLI::App& app, platform_source& source);

/// The number that `text` is in plain decimal digits, without a sign or leading zeros.
std::optional<std::uint64_t> whole_number(const std::string& text);
/// Refuses all other texts, and numbers that are not from `least` to `most`. `what` it is: "seed".
CLI::Validator is_whole_number(const char* what, std::uint64_t least, std::uint64_t most);
/// For names of files and folders to write. "-" is standard output where an option prints there instead of the table,
/// and is refused everywhere else.
enum class dash : std::uint8_t { refused, is_stdout };
CLI::Validator is_output_name(dash means = dash::refused);
/// An option for such a number.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& number, const std::string& help,
                        const char* what, std::uint64_t least, std::uint64_t most)
{
    return command.add_option(name, number, help)->type_name("N")->check(is_whole_number(what, least, most));
}

/// What became of a platform file.
struct loaded_platform {
    std::unique_ptr<weft::platform> platform; ///< none when a problem is an error
    const platform_info* info = nullptr;      ///< of the platform that the file names
    std::vector<problem> problems;            ///< errors and warnings, in the order of the file
    std::optional<yaml_document> document;    ///< with overrides applied; none when there was no tree to read
    /// What a user sees on stderr: every problem with its line, and whether the file can be used. "" when all is well.
    std::string message() const;
    const problem* first_error() const;      ///< nullptr: none is told
    std::vector<std::string> layers() const; ///< files that the platform file extends or includes
    std::string file;                        ///< as in messages: "<stdin>" for "-"
    std::string source_text;                 ///< of the file as it stands on disk
};
/// A platform file as it is now: its name in messages, and its text. Throws user_error where it cannot be read.
struct source_text {
    std::string name, text;
};
source_text source_text_of(const platform_source& source);
/// Reads, applies overrides, checks. Prints nothing; throws nothing that is the user's fault.
loaded_platform read_platform(const platform_source& source);
/// The same from a text in memory; `file_name` stands in messages.
loaded_platform read_platform_text(std::string text, const std::string& file_name, const platform_source& source = {});
/// read_platform() and its message on stderr; without a platform the exit code is 2.
loaded_platform load(const platform_source& source);

} // namespace weft::cli
