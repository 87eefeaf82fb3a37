// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of an earlier run, where this one will write its own: they must not look like its answer when it ends early.
#pragma once

#include <string>
#include <vector>

namespace weft {

/// "out/results.previous.json" for "out/results.json".
std::string previous_name(const std::string& path);

/// Renames each file, "out/results.json", to its previous_name(), in place of an older one. Only a regular file is
/// moved, and one that cannot be moved stays. They come back with the end of this object when the run was refused:
/// nothing replaces them.
class earlier_files {
public:
    explicit earlier_files(const std::vector<std::string>& paths);
    ~earlier_files();
    earlier_files(const earlier_files&) = delete;
    earlier_files& operator=(const earlier_files&) = delete;
    const std::vector<std::string>& moved() const { return moved_; }
    void are_replaced() { moved_.clear(); }

private:
    std::vector<std::string> moved_;
};

} // namespace weft
