// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The runner of all Catch2 test benches. SystemC owns main() and calls sc_main(). ctest runs every test case in a process of
// its own; without ctest, run one test case at a time, because a process has one SystemC kernel.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "testbenches/support/kernel_warnings.h"

#include <iostream>
#include <systemc>

namespace {

std::vector<std::string> kernel_warnings;

void collect_warnings(const sc_core::sc_report& report, const sc_core::sc_actions& actions)
{
    if (report.get_severity() == sc_core::SC_WARNING)
        kernel_warnings.push_back(std::string(report.get_msg_type()) + ": " + report.get_msg());
    sc_core::sc_report_handler::default_handler(report, actions);
}

} // namespace

std::vector<std::string> weft::testing::take_kernel_warnings()
{
    std::vector<std::string> taken;
    taken.swap(kernel_warnings);
    return taken;
}

int sc_main(int argc, char* argv[])
{
    sc_core::sc_report_handler::set_handler(collect_warnings);
    int failures = Catch::Session().run(argc, argv);
    for (const auto& warning : weft::testing::take_kernel_warnings()) {
        std::cerr << "FAILED: the SystemC kernel warned: " << warning << '\n';
        ++failures;
    }
    return failures;
}
