// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/check.h"

#include <fmt/format.h>

namespace weft {

std::string to_string(const problem& p)
{
    std::string text;
    if (!p.where.file.empty()) {
        text += p.where.file;
        if (p.where.line > 0)
            text += fmt::format(":{}", p.where.line);
        if (p.where.line > 0 && p.where.column > 0)
            text += fmt::format(":{}", p.where.column);
        text += ": ";
    }
    text += p.level == severity::error ? "error: " : "warning: ";
    if (!p.key_path.empty())
        text += p.key_path + ": ";
    return text + p.message;
}

namespace {
std::string join(const std::vector<problem>& problems)
{
    std::string text;
    for (const auto& p : problems) {
        if (!text.empty())
            text += '\n';
        text += to_string(p);
    }
    return text;
}
} // namespace

user_error::user_error(std::vector<problem> problems)
    : std::runtime_error(join(problems)), problems_(std::move(problems))
{
}

user_error::user_error(const std::string& message)
    : user_error(std::vector<problem>{{severity::error, {}, "", message}})
{
}

bug::bug(const std::string& module, std::uint64_t time_ps, const std::string& what)
    : std::logic_error(fmt::format("bug in {} at {} ps: {}", module, time_ps, what))
{
}

} // namespace weft
