// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Start-up, traps and bus accesses of firmware on an RV64 core. Entry: a0 = rank, a1 = address of the platform table,
// a2 = the builder's argument (hw/core/rv64_core.h).

#define CORE_BASE 0x02000000        // abi::k_core_base; boot.cpp checks these
#define CORE_HALT 0x3c
#define CORE_BURST_BUS 0x40
#define CORE_BURST_MEMORY 0x48
#define CORE_BURST_START 0x50

// struct trap_state of boot.h
#define STATE_REGISTERS 0
#define STATE_STACK 256

// Unwind information for debuggers: these functions keep the return address in ra, and the stack as it was.
    .cfi_sections .debug_frame

    .altmacro
    .macro store_register n
    sd      x\n, (STATE_REGISTERS + 8 * \n)(t6)
    .endm
    .macro load_register n
    ld      x\n, (STATE_REGISTERS + 8 * \n)(t6)
    .endm

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    .cfi_startproc
    .cfi_undefined ra               // nobody called
    .option push
    .option norelax
    lla     gp, __global_pointer$
    .option pop
    lla     sp, __stack_top
    li      t0, 0x6000              // mstatus.FS: floating point on
    csrs    mstatus, t0
    lla     t0, __bss_begin
    lla     t1, __bss_end
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
2:  mv      a0, a2
    call    weft_boot               // (argument); returns never
    j       weft_halt
    .cfi_endproc
    .size _start, . - _start

// [[noreturn]] void weft_halt(std::uint32_t code)
    .section .text
    .globl weft_halt
    .type weft_halt, @function
weft_halt:
    .cfi_startproc
    li      t0, CORE_BASE
    sw      a0, CORE_HALT(t0)
1:  wfi
    j       1b
    .cfi_endproc
    .size weft_halt, . - weft_halt

// void weft_set_trap_state(trap_state*): from now on exceptions come to weft_trap.
    .globl weft_set_trap_state
    .type weft_set_trap_state, @function
weft_set_trap_state:
    .cfi_startproc
    csrw    mscratch, a0
    lla     t0, weft_trap_entry
    csrw    mtvec, t0
    ret
    .cfi_endproc
    .size weft_set_trap_state, . - weft_set_trap_state

// Saves the integer registers in the trap state that mscratch holds, and calls weft_trap(state, cause, pc, value)
// on its stack: the interrupted one may have overflowed. weft_trap returns the pc to go on at. No code below uses
// floating point.
    .balign 4
    .globl weft_trap_entry
    .type weft_trap_entry, @function
weft_trap_entry:
    csrrw   t6, mscratch, t6
    .set    n, 1
    .rept   30
    store_register %n
    .set    n, n + 1
    .endr
    mv      s0, t6
    csrr    t6, mscratch            // the interrupted t6
    sd      t6, (STATE_REGISTERS + 8 * 31)(s0)
    csrw    mscratch, s0
    ld      sp, STATE_STACK(s0)
    mv      a0, s0
    csrr    a1, mcause
    csrr    a2, mepc
    csrr    a3, mtval
    call    weft_trap
    csrw    mepc, a0
    csrr    t6, mscratch
    .set    n, 1
    .rept   31
    load_register %n
    .set    n, n + 1
    .endr
    mret
    .size weft_trap_entry, . - weft_trap_entry

// Bus accesses of the HAL: one load or store each. A bus error between __access_begin and __access_end is reported,
// the instruction skipped (a read gives 0), and the driver sees it in hal::fault(); anywhere else it ends the
// firmware.
    .section .text.access, "ax"
    .globl weft_read32              // std::uint32_t (address)
    .type weft_read32, @function
weft_read32:
    .cfi_startproc
    mv      a1, a0
    li      a0, 0
    lw      a0, 0(a1)
    ret
    .cfi_endproc
    .size weft_read32, . - weft_read32

    .globl weft_read64              // std::uint64_t (address)
    .type weft_read64, @function
weft_read64:
    .cfi_startproc
    mv      a1, a0
    li      a0, 0
    ld      a0, 0(a1)
    ret
    .cfi_endproc
    .size weft_read64, . - weft_read64

    .globl weft_write32             // void (address, std::uint32_t)
    .type weft_write32, @function
weft_write32:
    .cfi_startproc
    sw      a1, 0(a0)
    ret
    .cfi_endproc
    .size weft_write32, . - weft_write32

    .globl weft_write64             // void (address, std::uint64_t)
    .type weft_write64, @function
weft_write64:
    .cfi_startproc
    sd      a1, 0(a0)
    ret
    .cfi_endproc
    .size weft_write64, . - weft_write64

    .globl weft_burst               // void (bus_address, memory, bytes | direction)
    .globl __burst_begin
    .globl __burst_end
    .type weft_burst, @function
weft_burst:
__burst_begin:
    li      t0, CORE_BASE
    sd      a0, CORE_BURST_BUS(t0)
    sd      a1, CORE_BURST_MEMORY(t0)
    sw      a2, CORE_BURST_START(t0)
__burst_end:
    ret
    .size weft_burst, . - weft_burst

    .globl weft_sleep               // void (): until an enabled line is up or the timer has passed
    .type weft_sleep, @function
weft_sleep:
    .cfi_startproc
    wfi
    ret
    .cfi_endproc
    .size weft_sleep, . - weft_sleep

    .section .note.GNU-stack, "", @progbits
