// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/run_observers.h"

#include "tlm/standard_error.h"
#include "tlm/units.h"

#include <fmt/format.h>

namespace weft::cli {

namespace {
std::string case_name(const collective_case& c)
{
    return fmt::format("{} {} {}", name_of(c.op), name_of(c.algo), to_string(data_size(c.size_bytes)));
}
} // namespace

void run_observers::on_begin(const collective_case& c)
{
    if (all_.recorder != nullptr)
        all_.recorder->begin(c);
    name_ = case_name(c);
    began_ps_ = machine_.time().now_ps();
    began_ = std::clock();
    tell(name_ + " begins");
}

void run_observers::on_end(std::uint64_t time_ps)
{
    if (all_.recorder != nullptr)
        all_.recorder->end(time_ps);
    const double us = static_cast<double>(machine_.time().now_ps() - began_ps_) / 1e6;
    const double seconds = static_cast<double>(std::clock() - began_) / CLOCKS_PER_SEC;
    tell(fmt::format("{} ends after {:.6f} us, {:.2f} s of CPU time", name_, us, seconds));
}

void run_observers::on_lost()
{
    if (all_.recorder != nullptr)
        all_.recorder->lose();
    tell("the job is interrupted, and will be restarted");
}

void run_observers::tell(const std::string& text) const
{
    if (all_.log != nullptr)
        all_.log->note(machine_.time().now_ps(), text);
    if (all_.verbose)
        print_to_stderr("{:>16.6f} us  {}\n", static_cast<double>(machine_.time().now_ps()) / 1e6, text);
}

void run_observers::on_case(std::size_t index, std::size_t, const collective_case& c)
{
    all_.bar.begin_case(static_cast<std::uint32_t>(index), case_name(c));
}

void run_observers::on_progress(double fraction)
{
    all_.bar.update(fraction);
    if (all_.debugger != nullptr)
        all_.debugger->poll();
}

} // namespace weft::cli
