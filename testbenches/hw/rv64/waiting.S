// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
// wfi with a line, with the timer, with a line that is up; then interrupts as traps.
#include "testbenches/hw/rv64/common.inc"
    begin
    li      t0, 2
    sw      t0, IRQ_ENABLE(s10)
    wfi                             // line 1 rises at 10 us
    rdtime  a0
    result  a0
    lw      a0, IRQ_PENDING(s10)
    result  a0
    rdtime  s0
    wfi                             // it is still up
    rdtime  a0
    sub     a0, a0, s0
    result  a0
    li      t0, 1
    sw      t0, IRQ_ENABLE(s10)     // a line that does not rise
    li      t0, 20000
    sd      t0, TIMER_NS(s10)
    wfi
    rdtime  a0
    result  a0
    lla     t0, handler
    csrw    mtvec, t0
    li      t0, 0x880               // MEIE, MTIE
    csrw    mie, t0
    li      t0, 30000
    sd      t0, TIMER_NS(s10)
    csrsi   mstatus, 8
1:  beqz    s1, 1b                  // the timer interrupts this loop at 30 us
    result  s1
    result  s2
    li      s1, 0
    li      t0, 4
    sw      t0, IRQ_ENABLE(s10)     // line 2 rises at 40 us
1:  beqz    s1, 1b
    result  s1
    result  s2
    halt    0
    .balign 4
handler:
    csrr    s1, mcause
    rdtime  s2
    li      t1, -1
    sd      t1, TIMER_NS(s10)
    sw      zero, IRQ_ENABLE(s10)
    mret
