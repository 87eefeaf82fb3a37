// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
// Integer, multiplication and division, atomics, compressed and floating-point instructions.
#include "testbenches/hw/rv64/common.inc"
    begin
    result  a0                      // rank
    result  a1                      // platform table
    result  a2                      // argument
    li      t0, 1000000007
    li      t1, 998244353
    mul     t2, t0, t1
    result  t2
    mulhu   t3, t2, t0
    result  t3
    div     t4, t2, t1
    result  t4
    remw    t5, t2, t1
    result  t5
    lla     a3, word
    li      a4, 5
    amoadd.d a5, a4, (a3)
    result  a5
1:  lr.d    a5, (a3)
    addi    a5, a5, 1
    sc.d    a6, a5, (a3)
    bnez    a6, 1b
    ld      a5, 0(a3)
    result  a5
    li      t0, 0x6000
    csrs    mstatus, t0
    li      t0, 3
    fcvt.d.l fa0, t0
    li      t0, 7
    fcvt.d.l fa1, t0
    fdiv.d  fa2, fa0, fa1
    fsd     fa2, 0(s11)             // 8 bytes over the bus in one access
    addi    s11, s11, 8
    fmadd.s ft0, ft1, ft2, ft3
    li      a4, 0                   // 0 + 1 + ... + 999
    li      a5, 1000
2:  addi    a5, a5, -1
    add     a4, a4, a5
    bnez    a5, 2b
    result  a4
    halt    0
    .data
    .balign 8
word:
    .dword  37
