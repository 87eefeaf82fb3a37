// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of failure (house rule): a `user_error` is the user's fault and carries every problem found in one
// pass; a `bug` is ours. Libraries throw, only the program exits: user_error -> 2, failed check -> 1, bug -> 3.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {

/// Where a problem stands in a user's file. `line` and `column` count from 1; 0 means "unknown" and is not printed.
struct source_position {
    std::string file;
    int line = 0;
    int column = 0;
};

enum class severity { warning, error };

/// One problem of a configuration: `file:line:col: key.path: message`, the message being a whole sentence that says
/// what is wrong, why, and what would be right.
struct problem {
    severity level = severity::error;
    source_position where;
    std::string key_path; ///< dotted, may be empty
    std::string message;
};

/// "configs/x.yaml:3:9: error: ici.link_rate: ..." without a trailing newline.
std::string to_string(const problem& p);

/// The user's fault. Holds at least one problem; what() is all of them, one a line.
class user_error : public std::runtime_error {
public:
    explicit user_error(std::vector<problem> problems);
    explicit user_error(const std::string& message);
    const std::vector<problem>& problems() const { return problems_; }

private:
    std::vector<problem> problems_;
};

/// Our fault: an invariant of the simulator does not hold. The text names module, simulated time and values.
class bug : public std::logic_error {
public:
    bug(const std::string& module, std::uint64_t time_ps, const std::string& what);
};

} // namespace weft
