// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The Unicorn engine (2.0.1) as an iss. What it does not do, and what is done about it here:
//   * It knows the pc at the start of a basic block only. A hook on every instruction keeps pc and count; measured, it
//     halves the speed of computing code, and makes traps, times of accesses and interrupts exact.
//   * It makes two device accesses of 4 bytes out of one of 8, the lower first: they are joined again.
//   * Its counter CSRs are those of the host machine, and mhartid cannot be set. Their reads in the program are found
//     when it is loaded, and a hook on each takes the value from the iss_host.
//   * It delivers neither interrupts nor exceptions: enter_trap() does by hand what the hart would.
//   * uc_emu_stop() in a device access abandons the instruction before it writes its register, which is what a bus
//     error needs; in the hook of an instruction it ends before the instruction.
//   * It reserves 1 GiB of address space for translated code and ends the process with a line of its own when it gets
//     none: the same is reserved and given back before, so that a limit of address space is told in words.
// A callback must not throw through the engine's generated code: exceptions are kept and thrown again by run().
#include "hw/core/engines/rv64_decode.h"
#include "hw/core/iss.h"
#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <sys/mman.h>
#include <unicorn/unicorn.h>
#include <utility>

namespace weft {

namespace {

constexpr std::uint64_t k_page_bytes = 4096;
/// What tcg_exec_init() of Unicorn 2.0.1 maps, and a margin for its other tables, measured as 1.2 MiB a core.
constexpr std::uint64_t k_translation_bytes = 1ull << 30;
constexpr std::uint64_t k_tables_bytes = 16ull << 20;

/// Throws user_error where an engine would not start.
void require_address_space()
{
    constexpr std::uint64_t k_bytes = k_translation_bytes + k_tables_bytes;
    void* const room =
        mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        throw user_error(fmt::format(
            "an RV64 core reserves {} MiB of address space for the code that the engine translates, and this process gets no "
            "more: raise its limit (ulimit -v) to that for every core, or use fewer ranks, or \"model: native\".",
            k_bytes >> 20));
    munmap(room, k_bytes);
}

constexpr int csr_register(iss_csr which)
{
    switch (which) {
    case iss_csr::mstatus: return UC_RISCV_REG_MSTATUS;
    case iss_csr::mie: return UC_RISCV_REG_MIE;
    case iss_csr::mtvec: return UC_RISCV_REG_MTVEC;
    case iss_csr::mepc: return UC_RISCV_REG_MEPC;
    case iss_csr::mcause: return UC_RISCV_REG_MCAUSE;
    case iss_csr::fcsr: return UC_RISCV_REG_FCSR;
    default: return UC_RISCV_REG_MTVAL;
    }
}

/// Whether the CSR is one of the counters, and which.
bool is_counter(unsigned csr, iss_counter& which)
{
    switch (csr) {
    case 0xc00:
    case 0xb00: which = iss_counter::cycle; return true;
    case 0xc01: which = iss_counter::time; return true;
    case 0xc02:
    case 0xb02: which = iss_counter::instret; return true;
    case 0xf14: which = iss_counter::hart; return true;
    default: return false;
    }
}

class unicorn_engine final : public iss {
public:
    explicit unicorn_engine(iss_host& host) : host_(host)
    {
        require_address_space();
        check(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &uc_), "uc_open");
        hook(UC_HOOK_CODE, reinterpret_cast<void*>(on_instruction));
        hook(UC_HOOK_INTR, reinterpret_cast<void*>(on_exception));
        hook(UC_HOOK_MEM_UNMAPPED | UC_HOOK_MEM_PROT, reinterpret_cast<void*>(on_unmapped));
    }
    ~unicorn_engine() override { uc_close(uc_); }
    unicorn_engine(const unicorn_engine&) = delete;
    unicorn_engine& operator=(const unicorn_engine&) = delete;

    void map_memory(std::uint64_t base, std::uint64_t bytes, std::uint8_t* host) override
    {
        base_ = base;
        bytes_ = bytes;
        memory_ = host;
        check(uc_mem_map_ptr(uc_, base, bytes, UC_PROT_ALL, host), "uc_mem_map_ptr");
        // All the rest is devices, without the right to execute. The last page cannot be part of a region that wraps.
        devices_[0] = {this, 0};
        devices_[1] = {this, base + bytes};
        devices_[2] = {this, 0 - k_page_bytes};
        map_devices(devices_[0], base);
        map_devices(devices_[1], 0 - k_page_bytes - (base + bytes));
        map_devices(devices_[2], k_page_bytes);
    }

    void program_loaded() override
    {
        for (std::uint64_t at = 0; at + 4 <= bytes_; at += 2) {
            std::uint32_t instruction = 0;
            std::memcpy(&instruction, memory_ + at, sizeof instruction);
            iss_counter which{};
            if (is_counter(rv64::decode_csr_read(instruction).csr, which))
                hook(UC_HOOK_CODE, reinterpret_cast<void*>(on_counter), base_ + at, base_ + at);
        }
    }

    iss_stop run(std::uint64_t instructions) override
    {
        limit_ = retired_ + std::max<std::uint64_t>(instructions, 1);
        look_at_ = observer_ == nullptr ? limit_ : 0;
        trapped_ = false;
        second_half_ = false;
        const std::uint64_t start = pc_;
        running_ = true;
        const uc_err error = uc_emu_start(uc_, pc_, ~std::uint64_t{0}, 0, 0);
        running_ = false;
        if (thrown_)
            std::rethrow_exception(std::exchange(thrown_, nullptr));
        if (!trapped_) {
            const bool over = retired_ >= limit_;
            pc_ = read(UC_RISCV_REG_PC);
            switch (error) {
            case UC_ERR_OK: return over && !is_wfi(instruction_at(at_)) ? iss_stop::budget : iss_stop::wfi;
            case UC_ERR_FETCH_UNMAPPED:
            case UC_ERR_FETCH_PROT: trap_ = {trap_cause::k_fetch_fault, pc_, pc_}; return iss_stop::trap;
            case UC_ERR_INSN_INVALID:
            case UC_ERR_EXCEPTION: {
                const std::uint32_t i = instruction_at(at_);
                const bool ebreak = i == 0x0010'0073 || (i & 0xffffu) == 0x9002;
                trap_ = {ebreak ? trap_cause::k_breakpoint : trap_cause::k_illegal_instruction, at_, ebreak ? at_ : 0};
                break;
            }
            default: throw bug("unicorn", 0, fmt::format("{} at pc {:#x}, from {:#x}", uc_strerror(error), pc_, start));
            }
        }
        pc_ = trap_.pc;
        --retired_; // it was counted when it began
        return iss_stop::trap;
    }

    void stop() override { limit_ = look_at_ = 0; }
    const iss_trap& last_trap() const override { return trap_; }
    std::uint64_t retired() const override { return retired_; }

    void enter_trap(const iss_trap& trap) override
    {
        constexpr std::uint64_t k_mie = 1u << 3;
        constexpr std::uint64_t k_mpie = 1u << 7;
        constexpr std::uint64_t k_machine_before = 3u << 11;
        const std::uint64_t status = csr(iss_csr::mstatus);
        set_csr(iss_csr::mepc, trap.pc);
        set_csr(iss_csr::mcause, trap.cause);
        set_csr(iss_csr::mtval, trap.value);
        set_csr(iss_csr::mstatus,
                (status & ~(k_mie | k_mpie)) | ((status & k_mie) != 0 ? k_mpie : 0) | k_machine_before);
        pc_ = csr(iss_csr::mtvec) & ~std::uint64_t{3};
    }

    void observe(iss_observer* observer) override
    {
        observer_ = observer;
        redirected_ = false;
    }
    void patch_memory(std::uint64_t address, const void* from, std::uint64_t bytes) override
    {
        std::memcpy(code_at(address, bytes), from, bytes);
        check(uc_ctl_remove_cache(uc_, address, address + bytes), "uc_ctl_remove_cache");
        patched_ = in_observer_;
    }
    bool between_instructions() const override { return !running_ || in_observer_; }

    std::uint64_t pc() const override { return running_ ? at_ : pc_; }
    void set_pc(std::uint64_t pc) override
    {
        if (!running_) {
            pc_ = pc;
            return;
        }
        at_ = pc;
        redirected_ = true;
    }
    std::uint64_t reg(unsigned x) const override { return read(UC_RISCV_REG_X0 + static_cast<int>(x)); }
    void set_reg(unsigned x, std::uint64_t value) override { write(UC_RISCV_REG_X0 + static_cast<int>(x), value); }
    std::uint64_t float_reg(unsigned f) const override { return read(UC_RISCV_REG_F0 + static_cast<int>(f)); }
    void set_float_reg(unsigned f, std::uint64_t value) override
    {
        write(UC_RISCV_REG_F0 + static_cast<int>(f), value);
    }
    std::uint64_t csr(iss_csr which) const override
    {
        constexpr std::uint64_t k_float_on = 3u << 13; // mstatus.FS; without it the engine has no fcsr to give
        if (which == iss_csr::fcsr && (read(UC_RISCV_REG_MSTATUS) & k_float_on) == 0)
            return 0;
        return read(csr_register(which));
    }
    void set_csr(iss_csr which, std::uint64_t value) override { write(csr_register(which), value); }

private:
    /// A device region: Unicorn hands out offsets in it only.
    struct region {
        unicorn_engine* engine = nullptr;
        std::uint64_t base = 0;
    };
    static void check(uc_err error, const char* what)
    {
        if (error == UC_ERR_NOMEM)
            throw std::bad_alloc();
        if (error != UC_ERR_OK)
            throw bug("unicorn", 0, fmt::format("{}: {}", what, uc_strerror(error)));
    }
    void hook(int type, void* callback, std::uint64_t first = 1, std::uint64_t last = 0)
    {
        uc_hook handle = 0;
        check(uc_hook_add(uc_, &handle, type, callback, this, first, last), "uc_hook_add");
    }
    void map_devices(region& r, std::uint64_t bytes)
    {
        if (bytes != 0)
            check(uc_mmio_map(uc_, r.base, bytes, on_read, &r, on_write, &r), "uc_mmio_map");
    }
    std::uint64_t read(int id) const
    {
        std::uint64_t value = 0;
        uc_reg_read(uc_, id, &value);
        return value;
    }
    void write(int id, std::uint64_t value) { uc_reg_write(uc_, id, &value); }

    std::uint8_t* code_at(std::uint64_t address, std::uint64_t bytes) const
    {
        const bool inside = address >= base_ && address - base_ <= bytes_ && bytes <= bytes_ - (address - base_);
        return inside ? memory_ + (address - base_) : nullptr;
    }
    std::uint32_t instruction_at(std::uint64_t address) const
    {
        std::uint32_t instruction = 0;
        if (const std::uint8_t* code = code_at(address, 4))
            std::memcpy(&instruction, code, 4);
        else if (const std::uint8_t* half = code_at(address, 2))
            std::memcpy(&instruction, half, 2);
        return instruction;
    }
    static bool is_wfi(std::uint32_t instruction) { return instruction == 0x1050'0073; }

    /// One access as Unicorn makes it: a whole one, or half of one of 8 bytes.
    void access(std::uint64_t address, unsigned bytes, bool is_write, std::uint64_t& value)
    {
        if (trapped_ || thrown_)
            return;         // what is left of an instruction that has failed already
        if (second_half_) { // comes right after the first
            second_half_ = false;
            if (is_write)
                half_ |= value << 32;
            else
                value = half_ >> 32;
            if (is_write && !guarded([&] { return host_.iss_write(address - 4, 8, half_); }))
                set_access_trap(address - 4, is_write);
            return;
        }
        if (bytes == 4 && rv64::access_bytes(instruction_at(at_)) == 8) {
            second_half_ = true;
            half_ = value;
            if (is_write)
                return;
            const bool ok = guarded([&] { return host_.iss_read(address, 8, half_); });
            value = half_ & 0xffff'ffffu;
            if (!ok)
                set_access_trap(address, is_write);
            return;
        }
        const bool ok = guarded(
            [&] { return is_write ? host_.iss_write(address, bytes, value) : host_.iss_read(address, bytes, value); });
        if (!ok)
            set_access_trap(address, is_write);
    }
    template <class Access> bool guarded(Access&& access)
    {
        try {
            return access();
        } catch (...) {
            thrown_ = std::current_exception();
            uc_emu_stop(uc_);
            return true;
        }
    }
    void set_access_trap(std::uint64_t address, bool is_write)
    {
        second_half_ = false;
        trapped_ = true;
        trap_ = {is_write ? trap_cause::k_store_fault : trap_cause::k_load_fault, at_, address};
        uc_emu_stop(uc_);
    }

    static std::uint64_t on_read(uc_engine*, std::uint64_t offset, unsigned bytes, void* data)
    {
        const region& r = *static_cast<region*>(data);
        std::uint64_t value = 0;
        r.engine->access(r.base + offset, bytes, false, value);
        return value;
    }
    static void on_write(uc_engine*, std::uint64_t offset, unsigned bytes, std::uint64_t value, void* data)
    {
        const region& r = *static_cast<region*>(data);
        r.engine->access(r.base + offset, bytes, true, value);
    }
    static void on_instruction(uc_engine*, std::uint64_t address, std::uint32_t, void* data)
    {
        auto& self = *static_cast<unicorn_engine*>(data);
        if (self.retired_ >= self.look_at_) {
            self.look(address);
            return;
        }
        self.at_ = address;
        ++self.retired_;
    }
    /// The rest of on_instruction(), which it would slow down: all instructions with an observer, else the last one.
    [[gnu::noinline]] void look(std::uint64_t address)
    {
        if (retired_ >= limit_) {
            uc_emu_stop(uc_);
            return;
        }
        at_ = address;
        if (observer_ == nullptr || std::exchange(observed_already_, false) || observed(address))
            ++retired_;
    }
    /// False when the instruction is not to be executed.
    bool observed(std::uint64_t address)
    {
        in_observer_ = true;
        redirected_ = false;
        patched_ = false;
        guarded([&] {
            observer_->on_instruction(address);
            return true;
        });
        in_observer_ = false;
        if (redirected_ || patched_)
            write(UC_RISCV_REG_PC, at_); // leaves the block, which may have been translated from other instructions
        observed_already_ = patched_ && !redirected_;
        return !redirected_ && !patched_ && !thrown_;
    }
    static void on_exception(uc_engine* uc, std::uint32_t number, void* data)
    {
        auto& self = *static_cast<unicorn_engine*>(data);
        self.trapped_ = true; // an ecall is told as one from user mode
        self.trap_ = {number == 8 ? trap_cause::k_ecall : number, self.at_, 0};
        uc_emu_stop(uc);
    }
    static bool on_unmapped(uc_engine*, uc_mem_type, std::uint64_t, int, std::int64_t, void*)
    {
        return false; // run() sees the error; only fetches come here
    }
    static void on_counter(uc_engine*, std::uint64_t address, std::uint32_t, void* data)
    {
        auto& self = *static_cast<unicorn_engine*>(data);
        if (self.redirected_ || self.observed_already_ || self.thrown_)
            return; // by the observer, which was called before
        const rv64::csr_read what = rv64::decode_csr_read(self.instruction_at(address));
        iss_counter which{};
        if (!is_counter(what.csr, which))
            return; // the program was changed
        try {
            const std::uint64_t value = self.host_.iss_read_counter(which);
            if (what.rd != 0)
                self.set_reg(what.rd, value);
            self.write(UC_RISCV_REG_PC, address + 4);
        } catch (...) {
            self.thrown_ = std::current_exception();
            uc_emu_stop(self.uc_);
        }
    }

    iss_host& host_;
    iss_observer* observer_ = nullptr;
    uc_engine* uc_ = nullptr;
    std::uint64_t base_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint8_t* memory_ = nullptr;
    region devices_[3];

    std::uint64_t pc_ = 0; // between runs
    std::uint64_t at_ = 0; // the instruction that is being executed
    std::uint64_t retired_ = 0;
    std::uint64_t limit_ = 0;
    std::uint64_t look_at_ = 0; // limit_, or 0 with an observer
    std::uint64_t half_ = 0;    // of an access of 8 bytes of which Unicorn has made the first half
    bool second_half_ = false;
    bool trapped_ = false;
    bool running_ = false;
    bool in_observer_ = false;
    bool redirected_ = false;       // the observer has set the pc
    bool patched_ = false;          // the observer has changed memory
    bool observed_already_ = false; // the next instruction, before it was left for that
    iss_trap trap_;
    std::exception_ptr thrown_;
};

} // namespace

std::unique_ptr<iss> make_iss(iss_host& host) { return std::make_unique<unicorn_engine>(host); }
const char* iss_engine_name() { return "Unicorn"; }
std::uint64_t iss_address_space_bytes() { return k_translation_bytes + k_tables_bytes; }

} // namespace weft
