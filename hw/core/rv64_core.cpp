// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/rv64_core.h"

#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"
#include "hw/core/host_watch.h"
#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace weft {

namespace {

constexpr std::uint64_t k_memory = abi::k_program_memory_base;
constexpr std::uint64_t k_memory_bytes = abi::k_program_memory_bytes;
constexpr unsigned k_sp = 2;
/// fcsr before mstatus, which may take the floating-point unit away.
constexpr iss_csr k_csrs[] = {iss_csr::fcsr, iss_csr::mstatus, iss_csr::mie,  iss_csr::mtvec,
                              iss_csr::mepc, iss_csr::mcause,  iss_csr::mtval};
constexpr unsigned k_a0 = 10;
constexpr std::size_t k_longest_line = 4096;
constexpr std::uint32_t k_burst_to_bus = 1u << 31;

std::vector<std::uint8_t> read_file(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    return {content.begin(), content.end()};
}

const char* cause_text(std::uint64_t cause)
{
    switch (cause) {
    case trap_cause::k_fetch_fault: return "instruction access fault";
    case trap_cause::k_illegal_instruction: return "illegal instruction";
    case trap_cause::k_breakpoint: return "breakpoint";
    case trap_cause::k_load_misaligned: return "misaligned load";
    case trap_cause::k_load_fault: return "load access fault";
    case trap_cause::k_store_fault: return "store access fault";
    case trap_cause::k_ecall: return "environment call";
    default: return "exception";
    }
}

bool in_memory(std::uint64_t address, std::uint64_t bytes)
{
    return address >= k_memory && in_capacity(address - k_memory, bytes, k_memory_bytes);
}

} // namespace

rv64_core::rv64_core(const sc_core::sc_module_name& name, const core_config& config, notifier& wake, std::uint32_t hart)
    : core_base(name, config, wake), hart_(hart), memory_(nullptr, std::free), iss_(make_iss(*this))
{
    if (!iss_)
        throw user_error(fmt::format(
            "{}: this build has no instruction-set engine; configure it with -DWEFT_UNICORN=ON", this->name()));
    memory_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(4096, k_memory_bytes)));
    if (!memory_)
        throw std::bad_alloc();
    std::memset(memory_.get(), 0, k_memory_bytes);
    iss_->map_memory(k_memory, k_memory_bytes, memory_.get());
    SC_THREAD(run);
    set_stack_size(static_cast<std::size_t>(config.host_stack_bytes()));
    stats.add("traps", "1", "Exceptions, bus errors among them", traps);
    stats.add("interrupts", "1", "Interrupts taken as traps; a wfi that ends is none", interrupts);
}

rv64_core::~rv64_core() = default;

void rv64_core::load(const firmware_image& firmware, std::uint64_t argument)
{
    if (!config_.elf.empty())
        load(read_elf_file(config_.elf), argument);
    else if (firmware.elf != nullptr) {
        load(parse_elf(firmware.elf, firmware.elf_bytes, firmware.name), argument);
        image_ = firmware;
    } else
        throw user_error(fmt::format("{}: the firmware has no RV64 binary", name()));
}

void rv64_core::load(const elf_program& program, std::uint64_t argument)
{
    if (has_firmware_)
        throw bug(name(), kernel_now_ps(), "firmware is loaded twice");
    if (!program.problem.empty())
        throw user_error(fmt::format("{}: elf {}", name(), program.problem));
    for (const elf_segment& s : program.segments)
        std::copy(s.bytes.begin(), s.bytes.end(), memory_.get() + (s.address - k_memory));
    iss_->program_loaded();
    program_ = program;
    argument_ = argument;
    for (const iss_csr c : k_csrs)
        reset_csrs_[static_cast<std::size_t>(c)] = iss_->csr(c);
    begin();
    has_firmware_ = true;
}

/// Registers as at the entry.
void rv64_core::begin()
{
    iss_->set_pc(program_.entry);
    iss_->set_reg(k_a0, hart_);
    iss_->set_reg(k_a0 + 1, abi::k_platform_table_address);
    iss_->set_reg(k_a0 + 2, argument_);
}

/// Program memory as it was loaded. Pages that have not changed are not touched: their translation stays.
void rv64_core::restore_memory()
{
    constexpr std::uint64_t k_page_bytes = 4096;
    std::uint8_t page[k_page_bytes];
    for (std::uint64_t at = 0; at < k_memory_bytes; at += k_page_bytes) {
        std::memset(page, 0, sizeof page);
        for (const elf_segment& s : program_.segments) {
            const std::uint64_t first = s.address - k_memory;
            const std::uint64_t from = std::max(at, first);
            const std::uint64_t to = std::min(at + k_page_bytes, first + s.bytes.size());
            if (from < to)
                std::memcpy(page + (from - at), s.bytes.data() + (from - first), to - from);
        }
        if (std::memcmp(page, memory_.get() + at, sizeof page) != 0)
            iss_->patch_memory(k_memory + at, page, sizeof page);
    }
}

std::uint64_t rv64_core::return_address() const
{
    constexpr unsigned k_ra = 1;
    return iss_->reg(k_ra);
}

void rv64_core::run()
{
    if (!has_firmware_)
        return has_no_firmware();
    for (;;) {
        if (execute_until_halted())
            wait_for_reset();
        come_out_of_reset();
        restore_memory();
        for (unsigned i = 1; i < 32; ++i)
            iss_->set_reg(i, 0);
        for (unsigned i = 0; i < 32; ++i)
            iss_->set_float_reg(i, 0);
        for (const iss_csr c : k_csrs)
            iss_->set_csr(c, reset_csrs_[static_cast<std::size_t>(c)]);
        begin();
        if (observer_ != nullptr)
            observer_->on_reset();
        retired_before_ = iss_->retired();
        charged_ps_ = 0;
        irq_enable_ = 0;
        timer_ns_ = ~std::uint64_t{0};
        timer_ps_ = k_never_ps;
        burst_bus_ = burst_memory_ = 0;
        burst_failed_ = false;
        line_.clear();
        last_line_.clear();
    }
}

/// False: the core was reset before that.
bool rv64_core::execute_until_halted()
{
    bool is_reset = false;
    try {
        begin_firmware();
        execute();
    } catch (const halted&) {
    } catch (const core_reset&) {
        is_reset = true;
    }
    if (is_reset)
        return false;
    try {
        settle();
        sync();
    } catch (const core_reset&) {
        return false;
    }
    activity_ = failure_.empty() ? activity::finished : activity::failed;
    since_ps_ = kernel_now_ps();
    if (loops_)
        host_watch::give_up(); // other cores may loop just so
    return true;
}

void rv64_core::execute()
{
    for (;;) {
        if (interrupt_due())
            take_interrupt();
        const std::uint64_t room_ps = config_.max_ahead.value() - std::min(ahead_ps(), config_.max_ahead.value());
        const iss_stop stop = run_quantum(std::max<std::uint64_t>(1, (room_ps << 10) / ps_per_1024_instructions()));
        settle();
        loops_ = host_watch::over_bound(quiet_ticks());
        if (loops_)
            fail(fmt::format("the firmware has executed for {} s of host CPU time without an access outside of its program "
                             "memory, an endless loop? It is at pc {:#x}.",
                             quiet_ticks() / host_watch::k_ticks_per_second, iss_->pc()));
        if (stop == iss_stop::trap)
            take_trap(iss_->last_trap());
        else if (stop == iss_stop::wfi)
            wait_for_interrupt();
    }
}

iss_stop rv64_core::run_quantum(std::uint64_t most)
{
    const inside_firmware running(*this);
    return iss_->run(most);
}

/// Charge the instructions executed since the last time.
void rv64_core::settle()
{
    instructions.reset();
    instructions.add(iss_->retired());
    const std::uint64_t all_ps = ps_of_instructions(retired());
    if (all_ps <= charged_ps_)
        return; // a block that was charged and then left early
    const std::uint64_t span_ps = all_ps - charged_ps_;
    charged_ps_ = all_ps;
    charge(span_ps);
}

// ---- debuggers

void rv64_core::observe(iss_observer& observer)
{
    observer_ = &observer;
    iss_->observe(&observer);
}

std::uint32_t rv64_core::read_debug(std::uint64_t address, void* to, std::uint32_t bytes)
{
    if (in_memory(address, 1)) {
        bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, k_memory + k_memory_bytes - address));
        std::memcpy(to, memory_.get() + (address - k_memory), bytes);
        return bytes;
    }
    return bytes == 0 || bytes > k_max_block_bytes ? 0 : socket.read_debug(address, to, bytes);
}

std::uint32_t rv64_core::write_debug(std::uint64_t address, const void* from, std::uint32_t bytes)
{
    if (in_memory(address, 1)) {
        bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, k_memory + k_memory_bytes - address));
        iss_->patch_memory(address, from, bytes);
        return bytes;
    }
    return bytes == 0 || bytes > k_max_block_bytes ? 0 : socket.write_debug(address, from, bytes);
}

std::vector<std::uint8_t> rv64_core::elf_file() const
{
    if (image_.elf != nullptr)
        return {image_.elf, image_.elf + image_.elf_bytes};
    return config_.elf.empty() ? std::vector<std::uint8_t>() : read_file(config_.elf);
}

// ---- traps

bool rv64_core::interrupt_due() const
{
    constexpr std::uint64_t k_mie = 1u << 3; // of mstatus
    constexpr std::uint64_t k_timer = 1u << 7, k_external = 1u << 11;
    const bool external = (lines_ & irq_enable_) != 0;
    const bool timer = timer_due();
    if ((!external && !timer) || (iss_->csr(iss_csr::mstatus) & k_mie) == 0)
        return false;
    const std::uint64_t enabled = iss_->csr(iss_csr::mie);
    return (external && (enabled & k_external) != 0) || (timer && (enabled & k_timer) != 0);
}

void rv64_core::take_interrupt()
{
    constexpr std::uint64_t k_external = 1u << 11;
    const bool external = (lines_ & irq_enable_) != 0 && (iss_->csr(iss_csr::mie) & k_external) != 0;
    ++interrupts;
    iss_->enter_trap({external ? trap_cause::k_external_interrupt : trap_cause::k_timer_interrupt, iss_->pc(), 0});
}

void rv64_core::take_trap(iss_trap trap)
{
    ++traps;
    if (std::exchange(burst_failed_, false))
        trap.value = burst_bus_;
    const std::uint64_t handler = iss_->csr(iss_csr::mtvec) & ~std::uint64_t{3};
    const std::string what = fmt::format("{} at pc {:#x}, mtval {:#x}, sp {:#x}", cause_text(trap.cause), trap.pc,
                                         trap.value, iss_->reg(k_sp));
    if (!in_memory(handler, 4))
        fail(what + ": the firmware has set no trap handler in mtvec.");
    if (trap.pc == handler)
        fail(what + ": the trap handler itself cannot run.");
    iss_->enter_trap(trap);
}

void rv64_core::wait_for_interrupt()
{
    ++calls_out_;
    if ((lines_ & irq_enable_) == 0 && !timer_due())
        sleep(irq_enable_, timer_ps_);
}

/// Ends the firmware; called by execute() or in an access, where it unwinds through the engine.
void rv64_core::fail(std::string why)
{
    failure_ = std::move(why);
    throw halted{};
}

// ---- accesses

bool rv64_core::iss_read(std::uint64_t address, unsigned bytes, std::uint64_t& value)
{
    const outside_firmware call(*this);
    ++calls_out_;
    settle();
    bool ok = false;
    if (address - abi::k_core_base < abi::k_core_bytes) {
        ok = read_block(address - abi::k_core_base, bytes, value);
    } else {
        refuse_below_memory(address, "reads");
        ++mmio_reads;
        ok = read_bus(address, &value, bytes); // little-endian, as the hosts
    }
    if (interrupt_due())
        iss_->stop();
    return ok;
}

bool rv64_core::iss_write(std::uint64_t address, unsigned bytes, std::uint64_t value)
{
    const outside_firmware call(*this);
    ++calls_out_;
    settle();
    bool ok = false;
    if (address - abi::k_core_base < abi::k_core_bytes) {
        ok = write_block(address - abi::k_core_base, bytes, value);
    } else {
        refuse_below_memory(address, "writes");
        ++mmio_writes;
        ok = write_bus(address, &value, bytes);
    }
    if (interrupt_due())
        iss_->stop();
    return ok;
}

void rv64_core::refuse_below_memory(std::uint64_t address, const char* what)
{
    const std::uint64_t sp = iss_->reg(k_sp);
    const bool below = address >= abi::k_local_memory_base + abi::k_local_memory_bytes && address < k_memory;
    if (below && sp < k_memory && sp >= abi::k_local_memory_bytes)
        fail(fmt::format(
            "stack overflow: the firmware {} {:#x} with sp {:#x}, below program memory, which begins at {:#x}, at pc {:#x}.",
            what, address, sp, k_memory, iss_->pc()));
}

std::uint64_t rv64_core::iss_read_counter(iss_counter which)
{
    const outside_firmware call(*this);
    ++calls_out_;
    settle();
    switch (which) {
    case iss_counter::time: return local_now_ps() / 1000;
    case iss_counter::cycle: {
        using wide = unsigned __int128;
        return static_cast<std::uint64_t>(wide{local_now_ps()} * config_.clock.value() / 1'000'000'000'000);
    }
    case iss_counter::instret: return retired();
    case iss_counter::hart: return hart_;
    }
    return 0;
}

// ---- control block

bool rv64_core::read_block(std::uint64_t offset, unsigned bytes, std::uint64_t& value)
{
    namespace reg = abi::core;
    const auto is = [&](std::uint64_t which, unsigned wide) { return offset == which && bytes == wide; };
    if (is(reg::TYPE, 4))
        value = reg::TYPE_reset;
    else if (is(reg::VERSION, 4))
        value = reg::VERSION_reset;
    else if (is(reg::NEXT, 4))
        value = reg::NEXT_reset;
    else if (is(reg::HART, 4))
        value = hart_;
    else if (is(reg::IRQ_PENDING, 4)) {
        sync(); // the lines are those of the kernel's time
        value = lines_;
    } else if (is(reg::IRQ_ENABLE, 4))
        value = irq_enable_;
    else if (is(reg::TIMER_NS, 8))
        value = timer_ns_;
    else if (is(reg::TIME_NS, 8))
        value = iss_read_counter(iss_counter::time);
    else if (is(reg::CYCLES, 8))
        value = iss_read_counter(iss_counter::cycle);
    else if (is(reg::INSTRET, 8))
        value = iss_read_counter(iss_counter::instret);
    else if (is(reg::BURST_BUS, 8))
        value = burst_bus_;
    else if (is(reg::BURST_MEMORY, 8))
        value = burst_memory_;
    else
        return false;
    return true;
}

bool rv64_core::write_block(std::uint64_t offset, unsigned bytes, std::uint64_t value)
{
    namespace reg = abi::core;
    const auto is = [&](std::uint64_t which, unsigned wide) { return offset == which && bytes == wide; };
    if (is(reg::IRQ_ENABLE, 4)) {
        irq_enable_ = static_cast<std::uint32_t>(value);
    } else if (is(reg::TIMER_NS, 8)) {
        timer_ns_ = value;
        timer_ps_ = deadline_of(0, value);
    } else if (is(reg::CONSOLE, 4)) {
        put_character(static_cast<char>(value));
    } else if (is(reg::HALT, 4)) {
        if (!line_.empty())
            put_character('\n'); // what firmware says last often has no end
        if (value == 0)
            throw halted{};
        // Handlers of exceptions stop themselves: who made the exception is what one wants to know.
        const std::uint64_t cause = iss_->csr(iss_csr::mcause), at = iss_->csr(iss_csr::mepc);
        const bool is_exception = at != 0 && cause >> 63 == 0; // else an interrupt, or none at all
        const bool tells = is_exception && last_line_.find(" at pc 0x") == std::string::npos;
        const std::string trap = tells ? fmt::format("; its last exception: {} at pc {:#x}", cause_text(cause), at) : "";
        fail(fmt::format("the firmware stopped itself with code {}{}{}.", value, trap, last_line_.empty() ? "" : fmt::format("; its last line is '{}'", last_line_)));
    } else if (is(reg::BURST_BUS, 8)) {
        burst_bus_ = value;
    } else if (is(reg::BURST_MEMORY, 8)) {
        burst_memory_ = value;
    } else if (is(reg::BURST_START, 4)) {
        return burst(static_cast<std::uint32_t>(value));
    } else {
        return false;
    }
    return true;
}

bool rv64_core::burst(std::uint32_t command)
{
    const std::uint32_t bytes = command & ~k_burst_to_bus;
    if (!in_memory(burst_memory_, bytes))
        return false; // mtval is BURST_START then
    if (bytes == 0)
        return true;
    std::uint8_t* memory = memory_.get() + (burst_memory_ - k_memory);
    bytes_copied.add(bytes);
    const bool ok =
        (command & k_burst_to_bus) != 0 ? write_bus(burst_bus_, memory, bytes) : read_bus(burst_bus_, memory, bytes);
    charge_cycles(cycle_count((std::uint64_t{bytes} + 7) / 8 * config_.copy_per_8_bytes.value()));
    burst_failed_ = !ok;
    if (observer_ != nullptr)
        observer_->on_burst(burst_memory_, bytes, (command & k_burst_to_bus) == 0);
    return ok;
}

void rv64_core::put_character(char c)
{
    if (c != '\n' && line_.size() < k_longest_line) {
        line_ += c;
        return;
    }
    last_line_ = std::exchange(line_, std::string());
    if (c != '\n')
        line_ += c;
    if (log_ != nullptr)
        log_->on_console(name(), local_now_ps(), last_line_);
}

} // namespace weft
