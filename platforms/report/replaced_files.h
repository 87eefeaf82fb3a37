// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of an earlier call that a command writes again: its user is told. What a run keeps of them: previous_results.h.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace weft {

class replaced_files {
public:
    replaced_files() = default;
    explicit replaced_files(const std::vector<std::string>& paths);
    /// Before it is written. Notes it when a regular file stands there.
    void look(const std::string& path);
    /// It could not be written: the earlier one stays.
    void stays(const std::string& path) { stay_.insert(path); }
    /// It was removed, which is told elsewhere.
    void is_gone(const std::string& path);
    /// "replaced: all.csv (there was one before)", a line each; one for a folder with more than four.
    std::string text() const;
    /// "all.csv is still that of an earlier run.", a line each.
    std::string text_of_those_that_stay() const;

private:
    std::vector<std::string> files_;
    std::set<std::string> stay_;
};

} // namespace weft
