// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules that a source file of the product can break without the compiler noticing: which folder may include which, which
// libraries and language features a folder may use, the licence header, the length. Plain text search, no parser; comments
// and string literals do not count.
#pragma once

#include <string>
#include <vector>

namespace weft::testing {

/// True for files that the rules speak about: C++, register tables, Verilog, CMake, shell.
bool is_source_file(const std::string& path);

/// What is wrong with the file, one "path:line: sentence" each. `path` is relative to the root of the repository.
std::vector<std::string> layer_problems(const std::string& path, const std::string& content);

} // namespace weft::testing
