// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Of the names of all test cases: part of every Catch2 executable, so that no folder is left out.
#include <catch2/catch.hpp>

TEST_CASE("names of test cases have no commas")
{
    // Catch2 reads a comma on its command line as "or".
    const auto& all = Catch::getRegistryHub().getTestCaseRegistry().getAllTests();
    CHECK(!all.empty());
    for (const Catch::TestCase& test : all) {
        INFO(test.name);
        CHECK(test.name.find(',') == std::string::npos);
    }
}
