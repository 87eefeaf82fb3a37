// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/run_log.h"

#include "hw/chip/chip.h"
#include "platforms/cli/cli.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft::cli {

void add_log_options(CLI::App& command, log_options& options)
{
    CLI::Option* const log =
        command.add_option("--log", options.file, "Write what components do as lines of text: time, component, what")
            ->type_name("FILE")
            ->check(is_output_name());
    command
        .add_option("--log-components", options.components,
                    "Log components that have TEXT in their names: dma, chip_0_1, .+X; repeatable")
        ->type_name("TEXT")
        ->needs(log);
    add_number(command, "--log-limit", options.limit, "Lines of the log at most", "number of lines", 1, 1'000'000'000)
        ->needs(log)
        ->capture_default_str();
    command.add_flag("-v", options.verbose,
                     "Say on stderr when collectives begin and end, in simulated and host time; no progress bar");
}

run_log::run_log(const log_options& options) : options_(options), file_(options.file) {}

std::uint32_t run_log::add_track(const component& owner, const std::string& name)
{
    const chip* const c = chip_of(owner);
    // "core works and waits" of a trace: here the component stands before it, and what it does comes behind.
    const std::string what = name.rfind(owner.stat_prefix() + " ", 0) == 0 ? "" : " " + name;
    const std::string full = c != nullptr         ? fmt::format("{}.{}{}", c->basename(), owner.stat_prefix(), what)
                             : owner.wires() != 0 ? name
                                                  : owner.stat_prefix() + what;
    const auto names_it = [&](const std::string& part) { return full.find(part) != std::string::npos; };
    if (!options_.components.empty() && std::none_of(options_.components.begin(), options_.components.end(), names_it))
        return k_hidden;
    tracks_.push_back(full);
    return static_cast<std::uint32_t>(tracks_.size() - 1);
}

void run_log::check_components() const
{
    if (tracks_.empty())
        throw user_error("--log-components leaves nothing to log. Names are like those of a whole log, such as "
                         "chip_0_1.dma, and of `Busiest links` of a run, such as chip(0,1).+X.");
}

bool run_log::takes(const trace_slice& s)
{
    if (s.track == k_hidden)
        ++left_out_;
    return s.track != k_hidden;
}

namespace {
std::string with_arguments(const std::string& what, const std::string& arguments)
{
    return arguments.empty() ? what : fmt::format("{}  {}", what, arguments);
}
} // namespace

void run_log::slice(const trace_slice& s)
{
    if (takes(s))
        line(s.start_ps, tracks_[s.track],
             with_arguments(fmt::format("{}, for {:.6f} us", s.name, static_cast<double>(s.span_ps) / 1e6), s.arguments));
}

void run_log::mark(const trace_slice& s)
{
    if (takes(s))
        line(s.start_ps, tracks_[s.track], with_arguments(s.name, s.arguments));
}

void run_log::note(std::uint64_t time_ps, const std::string& text) { line(time_ps, "host", text); }

void run_log::line(std::uint64_t time_ps, const std::string& who, const std::string& what)
{
    if (lines_ == options_.limit) {
        ++dropped_;
        return;
    }
    ++lines_;
    file_.write(fmt::format("{:>16.6f} us  {:<24} {}\n", static_cast<double>(time_ps) / 1e6, who, what));
}

std::string run_log::close()
{
    std::string cut;
    if (dropped_ != 0) {
        cut = fmt::format(", {} more beyond --log-limit", dropped_);
        file_.write(fmt::format("cut here{}\n", cut));
    }
    file_.commit();
    return fmt::format("{} line{}{}{}", lines_, lines_ == 1 ? "" : "s",
                       left_out_ == 0 ? "" : fmt::format(", {} of other components left out", left_out_), cut);
}

} // namespace weft::cli
