// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Endless work for testbenches/speed/rv64_speed.cpp: check words over 64 bytes, with a call for each, as the DMA driver
// makes them.
    .section .text.start, "ax"
    .globl _start
_start:
    lla     sp, __stack_top
    lla     s0, words
    li      s1, 0xcbf29ce484222325
    li      s2, 0x100000001b3
1:  call    check_word
    sd      a0, 56(s0)
    j       1b
check_word:
    addi    sp, sp, -16
    sd      ra, 8(sp)
    mv      a0, s1
    mv      a1, s0
    addi    a2, s0, 56
2:  lwu     a3, 0(a1)
    xor     a0, a0, a3
    mul     a0, a0, s2
    addi    a1, a1, 4
    bne     a1, a2, 2b
    ld      ra, 8(sp)
    addi    sp, sp, 16
    ret
    .data
    .balign 8
words:
    .space  64
