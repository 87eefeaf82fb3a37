// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/firmware_log.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft::cli {

firmware_log::firmware_log(machine& m, code_places& places, std::string path)
    : machine_(m), places_(places), path_(std::move(path))
{
    for (chip* c : m.all_chips())
        for (core_base* core : c->cores())
            core->connect_log(*this);
}

void firmware_log::on_log(const char* core, std::uint64_t time_ps, const char* text, std::uint64_t value)
{
    if (bytes_ > k_most_bytes)
        ++dropped_; // a loop is over sooner where nothing is formatted
    else
        on_console(core, time_ps, fmt::format("{} {}", text, value));
}

void firmware_log::on_console(const char* core, std::uint64_t time_ps, const std::string& line)
{
    if (!concerns_somebody(core) || !has_room())
        return;
    const std::string text = fmt::format("{:>16.6f} us  {}: {}\n", static_cast<double>(time_ps) / 1e6, core,
                                         places_.with_places(machine_.chips().front()->core, line));
    file_->write(text);
    bytes_ += text.size();
    ++lines_;
}

/// For one more line; the file is begun. Called within the simulation: whatever is wrong is told by close().
bool firmware_log::has_room()
{
    if (!file_ && !problem_)
        try {
            file_.emplace(path_);
        } catch (const output_lost& e) {
            problem_ = e;
        } catch (const user_error& e) {
            problem_.emplace(e.what(), 0);
        }
    if (!file_)
        return false;
    if (bytes_ <= k_most_bytes)
        return true;
    ++dropped_;
    return false;
}

std::string firmware_log::close()
{
    if (problem_)
        throw output_lost(*problem_);
    if (!file_)
        return "";
    std::string cut;
    if (dropped_ != 0) {
        cut = fmt::format("cut here, at {} MiB: {} more lines were not written", k_most_bytes >> 20, dropped_);
        file_->write(cut + "\n");
    }
    file_->commit();
    return fmt::format("firmware: {} ({} line{}{}{})\n", path_, lines_, lines_ == 1 ? "" : "s", cut.empty() ? "" : "; ",
                       cut);
}

/// Cores from before a restart go on by themselves until their waits are over.
bool firmware_log::concerns_somebody(const char* core) const
{
    return std::any_of(machine_.chips().begin(), machine_.chips().end(), [&](const chip* c) {
        return std::any_of(c->cores().begin(), c->cores().end(),
                           [&](const core_base* one) { return std::strcmp(one->name(), core) == 0; });
    });
}

} // namespace weft::cli
