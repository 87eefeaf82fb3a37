// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
// Every exception: the handler notes cause, pc and value, then goes on at s1. Each is followed by the expected pc.
#include "testbenches/hw/rv64/common.inc"
    .macro expect label
    lla     t0, \label
    result  t0
    .endm
    begin
    lla     t0, handler
    csrw    mtvec, t0
    li      s0, 0x20000000          // nothing is there
    li      a0, 77
    lla     s1, 2f
    nop
    lw      a1, 0(s10)              // an access that works, in the same block
1:  lw      a0, 16(s0)              // load fault
    li      a0, 78
2:  result  a0                      // unchanged: 77
    expect  1b
    lla     s1, 2f
    li      a0, 1
1:  sd      a0, 24(s0)              // store fault, 8 bytes
    li      a0, 79
2:  result  a0
    expect  1b
    lla     s1, 2f
    ld      a0, IRQ_PENDING(s10)    // a register of another width
    li      a0, 80
2:  result  a0
    expect  2b
    lla     s1, 2f
1:  .word   0xffffffff              // illegal
2:  expect  1b
    lla     s1, 2f
1:  ecall
2:  expect  1b
    lla     s1, 2f
1:  c.ebreak
2:  expect  1b
    lla     s1, 2f
    li      t0, 0x2000              // local memory is not executable
    jr      t0
2:  expect  2b
    lla     s1, 2f
    li      t0, 0xffffffff80000000
    jr      t0
2:  expect  2b
    lla     s1, 2f
    li      a3, 0x40                // a burst of bytes that nobody answers
    sd      s0, BURST_BUS(s10)
    lla     t0, handler
    sd      t0, BURST_MEMORY(s10)
1:  sw      a3, BURST_START(s10)
2:  expect  1b
    csrr    t0, mstatus             // MPIE after mret, machine mode
    result  t0
    halt    0
    .balign 4
handler:
    csrr    t1, mcause
    result  t1
    csrr    t1, mepc
    result  t1
    csrr    t1, mtval
    result  t1
    csrw    mepc, s1
    mret
