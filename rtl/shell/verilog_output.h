// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the Verilated code prints goes to standard error: standard output has the results of a run. The compiler
// includes this file before everything else in that code (CMakeLists.txt); the macros are Verilator's.
#pragma once

#define VL_USER_STOP_MAYBE
#define VL_PRINTF weft_verilog_print

/// Failed assertions beyond the first few are counted, not printed: one wrong ALU fails three in each of 32 instances.
__attribute__((format(printf, 1, 2))) int weft_verilog_print(const char* format, ...);

/// Called behind an assertion that failed (`maybe`), which has been printed, and for $stop.
void vl_stop_maybe(const char* file, int line, const char* place, bool maybe);
