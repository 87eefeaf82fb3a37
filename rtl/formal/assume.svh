// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a block asks of its inputs: an assumption of the proof, an assertion in simulation.
`ifdef YOSYS
`define WEFT_ASSUME(label, condition) label: assume (condition)
`else
`define WEFT_ASSUME(label, condition) label: assert (condition)
`endif
