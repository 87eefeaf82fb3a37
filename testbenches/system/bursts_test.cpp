// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bursts keep their bounds at a sample of the sweep. testbenches/bursts/ has its corner, and all of it.
#include "testbenches/bursts/sweep_run.h"

using weft::testing::sweep_run;

TEST_CASE("bursts keep their bounds at a sample of the sweep", "[bursts]")
{
    const sweep_run sweep;
    const int code = sweep.bursts("--sample 120 --seed 1 --in-trains");
    INFO(sweep.read("stdout") << sweep.read("stderr"));
    CHECK(code == 0);
    CHECK(weft::testing::has(sweep.read("stdout"), "0 points failed"));
}
