// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
// How firmware can end, by the builder's argument.
#include "testbenches/hw/rv64/common.inc"
    begin
    lla     sp, __stack_top
    beqz    a2, overflow
    li      t0, 1
    beq     a2, t0, stop
    li      t0, 2
    beq     a2, t0, no_handler
    li      t0, 3
    beq     a2, t0, broken_handler
    li      t0, 4
    beq     a2, t0, far_overflow
    li      t0, 5
    beq     a2, t0, sleep_for_good
    li      t0, 6
    beq     a2, t0, silent_handler
    halt    0
overflow:
    addi    sp, sp, -64
    sd      ra, 56(sp)
    call    overflow
    ld      ra, 56(sp)
    addi    sp, sp, 64
    ret
far_overflow:                       // a frame larger than all stacks
    li      t0, 0x40000
    sub     sp, sp, t0
    sd      ra, 0(sp)
    halt    0
stop:
    li      t0, 'n'
    sw      t0, CONSOLE(s10)
    li      t0, 'o'
    sw      t0, CONSOLE(s10)
    li      t0, 10
    sw      t0, CONSOLE(s10)
    halt    42
no_handler:
    lw      t0, -1024(zero)
    halt    0
broken_handler:
    lla     t0, 1f
    csrw    mtvec, t0
    .balign 4
1:  .word   0xffffffff
silent_handler:                     // says nothing of what it was called for
    lla     t0, 1f
    csrw    mtvec, t0
    lw      t0, -1024(zero)
    .balign 4
1:  halt    6
sleep_for_good:
    wfi
    halt    0
