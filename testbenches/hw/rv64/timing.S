// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
// Time of instructions and of accesses; the counters by CSR and by the control block.
#include "testbenches/hw/rv64/common.inc"
    begin
    li      s0, DEVICE
    li      a5, 1000
    rdtime  a0
1:  addi    a5, a5, -1
    nop
    nop
    bnez    a5, 1b
    rdtime  a1
    sub     a1, a1, a0
    result  a1                      // 4000 instructions
    ld      a0, TIME_NS(s10)
    sw      zero, 4(s0)
    ld      a1, TIME_NS(s10)
    sub     a1, a1, a0
    result  a1                      // a write to a register
    ld      a0, TIME_NS(s10)
    lw      a2, 4(s0)
    lw      a2, 4(s0)
    ld      a1, TIME_NS(s10)
    sub     a1, a1, a0
    result  a1                      // two reads
    rdcycle a0
    rdtime  a1
    sub     a0, a1, a0
    result  a0
    rdinstret a0
    rdinstret a1
    sub     a1, a1, a0
    result  a1                      // exactly one
    ld      a0, INSTRET(s10)
    result  a0
    csrr    a0, mhartid
    result  a0
    halt    0
