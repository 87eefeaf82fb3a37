// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/gdb_server.h"

#include "hw/abi/platform_table.h"
#include "hw/core/engines/rv64_decode.h"
#include "tlm/check.h"
#include "tlm/standard_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace weft {

namespace {

namespace reg = debug_register;

constexpr std::uint64_t k_code = abi::k_program_memory_base;
constexpr std::uint64_t k_code_bytes = abi::k_program_memory_bytes;
constexpr unsigned k_sigint = 2;
constexpr unsigned k_sigtrap = 5;
constexpr std::uint8_t k_set = 1;     ///< a breakpoint
constexpr std::uint8_t k_was_set = 2; ///< when all cores were last let run
/// Instructions of all cores between two looks at the line: a system call costs as much as some hundred of them.
constexpr std::uint32_t k_look_instructions = 10'000;
constexpr int k_goodbye_ms = 1000;

constexpr iss_csr k_csrs[] = {iss_csr::mstatus, iss_csr::mie,    iss_csr::mtvec,
                              iss_csr::mepc,    iss_csr::mcause, iss_csr::mtval};

} // namespace

std::vector<rv64_core*> rv64_cores_of(machine& m, const char* option)
{
    std::vector<rv64_core*> cores;
    for (chip* c : m.chips()) {
        cores.push_back(dynamic_cast<rv64_core*>(&c->core));
        if (cores.back() == nullptr)
            throw user_error(fmt::format(
                "{}: the cores are native and execute no instructions; add --set chip.core.model=rv64.", option));
    }
    return cores;
}

gdb_server::gdb_server(machine& m, const gdb_options& options)
    : machine_(m), options_(options), line_(options.port), commands_(*this), breakpoints_(k_code_bytes / 2)
{
    for (rv64_core* core : rv64_cores_of(m, "--gdb"))
        taps_.emplace_back(*this, static_cast<unsigned>(taps_.size()), *core);
    if (options.core >= taps_.size())
        throw user_error(
            fmt::format("--gdb-core: is {}, but this machine has cores 0 to {}.", options.core, taps_.size() - 1));
}

// ---- the course of a run

void gdb_server::begin()
{
    print_to_stderr("waiting for a debugger on 127.0.0.1:{}, at most {} s\n", line_.port(),
               options_.patience.count());
    std::fflush(stderr);
    if (!line_.accept(options_.patience))
        throw user_error(fmt::format("--gdb: no debugger has come within {} s; nothing was run. --gdb-wait changes it.",
                                     options_.patience.count()));
    attached_ = true;
    commands_.stopped(
        {stop_reason::kind::signal, k_sigtrap, options_.core, {}, 0}); // the answer to gdb's first question
    serve();
}

void gdb_server::poll()
{
    if (!attached_)
        return;
    look_at_line();
    if (interrupt_)
        stop({stop_reason::kind::signal, k_sigint, commands_.thread(), {}, 0}, nullptr);
}

void gdb_server::end(int exit_code)
{
    if (!attached_)
        return;
    reply(fmt::format("W{:02x}", exit_code & 0xff));
    // gdb hangs up when it has read this; to close first with something of it unread would cost it the packet.
    std::string ignored;
    for (int looks = 0; looks < 10 && line_.receive(ignored, k_goodbye_ms) == gdb_socket::status::data; ++looks) {
    }
    attached_ = false;
    line_.close();
}

void gdb_server::let_go()
{
    attached_ = false;
    line_.close();
    watchpoints_.clear();
    how_ = {};
}

// ---- while the cores run

void gdb_server::on_instruction(tap& t, std::uint64_t pc)
{
    if (!attached_)
        return;
    const bool stepped = step_ends(t, pc);
    if (std::exchange(t.was_reset, false) && how_.only == t.rank && !how_.step)
        end_step_at_reset(t, t, pc);
    while (attached_ && is_bystander(t) && (t.watch_hit || breaks_at(t, pc)))
        end_step_early(t, pc); // until all may run again: then it is a stop of this core
    if (!attached_)
        return;
    stop_reason why{stop_reason::kind::signal, k_sigtrap, t.rank, {}, 0};
    bool stops = std::exchange(t.watch_hit, false);
    if (stops) {
        why = t.hit;
    } else if (breaks_at(t, pc)) {
        why.what = stop_reason::kind::breakpoint;
        stops = true;
    }
    stops |= stepped;
    if (!stops && !is_bystander(t) && ++unseen_instructions_ >= k_look_instructions) {
        look_at_line();
        why.signal = k_sigint;
        stops = interrupt_;
    }
    if (stops) {
        hook_pc_ = pc;
        stop(why, &t);
    }
    if (watchpoints_.empty() || !attached_ || t.core.engine().pc() != pc)
        return;
    std::uint32_t instruction = 0;
    t.core.read_debug(pc, &instruction, sizeof instruction);
    const rv64::memory_access a = rv64::decode_memory_access(instruction);
    if (a.bytes != 0)
        on_access(t, t.core.engine().reg(a.base) + static_cast<std::uint64_t>(a.offset), a.bytes, a.reads, a.writes);
}

/// gdb wants to hear of an access when it has been made: before the next instruction.
void gdb_server::on_access(tap& t, std::uint64_t address, std::uint64_t bytes, bool reads, bool writes)
{
    if (watched_thread_ && watched_thread_ != t.rank)
        return;
    for (const watchpoint& w : watchpoints_) {
        const bool meant = (writes && w.kind != watch_kind::read) || (reads && w.kind != watch_kind::write);
        const bool overlap = address - w.address < w.bytes || w.address - address < bytes; // either begins in the other
        if (!meant || !overlap)
            continue;
        t.watch_hit = true;
        t.hit = {stop_reason::kind::watchpoint, k_sigtrap, t.rank, w.kind, w.address};
        return;
    }
}

bool gdb_server::step_ends(const tap& t, std::uint64_t pc)
{
    if (how_.step != t.rank)
        return false;
    if (step_begins_) {
        step_begins_ = false;
        return false;
    }
    return how_.range_last == 0 || pc < how_.range_first || pc >= how_.range_last;
}

bool gdb_server::breaks_at(const tap& t, std::uint64_t pc) const
{
    // While gdb takes one core over a breakpoint, all of them are out, and those that are in are meant for that core.
    const std::uint8_t meant = is_bystander(t) ? k_was_set : k_set;
    return pc - k_code < k_code_bytes && (breakpoints_[(pc - k_code) / 2] & meant) != 0;
}

/// Another core has come to a breakpoint while gdb takes one over an instruction that lets time pass. gdb cannot hear
/// of other threads now: it is told that the instruction is done, which it will be, and `t` waits for the next resume.
void gdb_server::end_step_early(const tap& t, std::uint64_t pc)
{
    const tap& stepping = taps_[*how_.only];
    const iss& engine = stepping.core.engine();
    if (stepping.was_reset) {
        end_step_at_reset(stepping, t, pc);
        return;
    }
    if (!engine.between_instructions()) { // an access: its instruction is the next but for that
        std::uint16_t first = 0;
        stepping.core.read_debug(engine.pc(), &first, sizeof first);
        pc_behind_step_ = engine.pc() + rv64::length_of(first);
    }
    hook_pc_ = pc;
    stop({stop_reason::kind::signal, k_sigtrap, stepping.rank, {}, 0}, &t);
}

/// The core that gdb takes over a breakpoint was reset inside the instruction. It will not come to the one behind it,
/// where gdb waits for it with every breakpoint out: gdb is told that it is there.
void gdb_server::end_step_at_reset(const tap& stepping, const tap& in_hook, std::uint64_t pc)
{
    std::uint16_t first = 0;
    stepping.core.read_debug(step_from_, &first, sizeof first);
    pc_behind_step_ = step_from_ + rv64::length_of(first);
    hook_pc_ = pc;
    stop({stop_reason::kind::signal, k_sigtrap, stepping.rank, {}, 0}, &in_hook);
}

void gdb_server::look_at_line()
{
    unseen_instructions_ = 0;
    std::string bytes;
    switch (line_.receive(bytes, 0)) {
    case gdb_socket::status::nothing: return;
    case gdb_socket::status::closed:
        print_to_stderr("the debugger has gone; the run goes on without it\n");
        let_go();
        return;
    case gdb_socket::status::data: break;
    }
    reader_.feed(bytes);
    while (const auto event = reader_.next()) {
        if (event->what == rsp_event::kind::interrupt)
            interrupt_ = true;
        else if (event->what == rsp_event::kind::nak)
            line_.send(last_reply_);
    }
}

// ---- while they stand still

void gdb_server::stop(stop_reason why, const tap* stopped)
{
    in_hook_ = stopped;
    interrupt_ = false;
    reply(commands_.stopped(why));
    serve();
    in_hook_ = nullptr;
}

void gdb_server::serve()
{
    for (;;) {
        while (const auto event = reader_.next())
            if (handle(*event))
                return;
        std::string bytes;
        if (line_.receive(bytes, -1) == gdb_socket::status::closed) {
            print_to_stderr("the debugger has gone; the run goes on without it\n");
            let_go();
            return;
        }
        reader_.feed(bytes);
    }
}

bool gdb_server::handle(const rsp_event& event)
{
    switch (event.what) {
    case rsp_event::kind::ack:
    case rsp_event::kind::interrupt: return false; // it stands already
    case rsp_event::kind::nak: line_.send(last_reply_); return false;
    case rsp_event::kind::damaged:
        if (commands_.acknowledges())
            line_.send("-");
        return false;
    case rsp_event::kind::packet: break;
    }
    if (commands_.acknowledges())
        line_.send("+");
    const rsp_answer answer = commands_.handle(event.payload);
    if (answer.reply)
        reply(*answer.reply);
    switch (answer.then) {
    case rsp_answer::action::none: return false;
    case rsp_answer::action::resume: resume(answer.how); return true;
    case rsp_answer::action::detach: let_go(); return true;
    case rsp_answer::action::kill:
        killed_ = true;
        let_go();
        sc_core::sc_stop(); // before the start, too: then nothing runs
        return true;
    }
    return false;
}

void gdb_server::resume(const resume_request& how)
{
    how_ = how;
    pc_behind_step_.reset();
    if (how.only)
        step_from_ = taps_[*how.only].core.engine().pc();
    if (!how.only)
        for (std::uint8_t& b : breakpoints_)
            b = (b & k_set) != 0 ? k_set | k_was_set : 0;
    if (!how.step)
        return;
    const iss& engine = taps_[*how.step].core.engine();
    const bool before_it = in_hook_ != nullptr && in_hook_->rank == *how.step && engine.pc() == hook_pc_;
    step_begins_ = !before_it && engine.between_instructions();
}

void gdb_server::reply(const std::string& payload)
{
    last_reply_ = encode_rsp_packet(payload, true);
    line_.send(last_reply_); // that the other end is gone shows when it is read next
}

// ---- debug_target

std::string gdb_server::describe(unsigned thread) const
{
    return fmt::format("rank {}, {}: {}", thread, machine_.chip_name(thread), taps_[thread].core.blocked_on());
}

std::uint64_t gdb_server::read_register(unsigned thread, unsigned number)
{
    const iss& hart = taps_[thread].core.engine();
    if (number < reg::k_pc)
        return hart.reg(number);
    if (number == reg::k_pc)
        return pc_behind_step_ && how_.only == thread ? *pc_behind_step_ : hart.pc();
    if (number < reg::k_fflags)
        return hart.float_reg(number - reg::k_f0);
    const std::uint64_t fcsr = number <= reg::k_fcsr ? hart.csr(iss_csr::fcsr) : 0;
    switch (number) {
    case reg::k_fflags: return fcsr & 0x1f;
    case reg::k_frm: return fcsr >> 5 & 7;
    case reg::k_fcsr: return fcsr & 0xff;
    default: return number < reg::k_count ? hart.csr(k_csrs[number - reg::k_mstatus]) : 0;
    }
}

bool gdb_server::write_register(unsigned thread, unsigned number, std::uint64_t value)
{
    iss& hart = taps_[thread].core.engine();
    if (!hart.between_instructions())
        return false;
    if (number == 0)
        return true; // zero stays zero
    if (number < reg::k_pc)
        hart.set_reg(number, value);
    else if (number == reg::k_pc)
        hart.set_pc(value);
    else if (number < reg::k_fflags)
        hart.set_float_reg(number - reg::k_f0, value);
    else if (number >= reg::k_mstatus && number < reg::k_count)
        hart.set_csr(k_csrs[number - reg::k_mstatus], value);
    else
        return false;
    return true;
}

std::string gdb_server::read_memory(unsigned thread, std::uint64_t address, std::uint64_t bytes)
{
    rv64_core& core = taps_[thread].core;
    std::string all(bytes, '\0');
    all.resize(core.read_debug(address, all.data(), static_cast<std::uint32_t>(bytes)));
    if (!all.empty())
        return all;
    // Registers, or the end of a memory: word by word as far as it goes.
    while (all.size() < bytes) {
        const std::uint64_t at = address + all.size();
        const std::uint32_t piece = at % 4 == 0 && bytes - all.size() >= 4 ? 4 : 1;
        char word[4];
        if (core.read_debug(at, word, piece) != piece)
            break;
        all.append(word, piece);
    }
    return all;
}

bool gdb_server::write_memory(unsigned thread, std::uint64_t address, const std::string& bytes)
{
    return taps_[thread].core.write_debug(address, bytes.data(), static_cast<std::uint32_t>(bytes.size())) ==
           bytes.size();
}

bool gdb_server::set_breakpoint(std::uint64_t address, bool on)
{
    if (address - k_code >= k_code_bytes)
        return false; // no instruction is executed there
    std::uint8_t& b = breakpoints_[(address - k_code) / 2];
    b = static_cast<std::uint8_t>(on ? b | k_set : b & ~k_set);
    return true;
}

bool gdb_server::set_watchpoint(watch_kind kind, std::uint64_t address, std::uint64_t bytes, bool on)
{
    if (bytes == 0)
        return false;
    const auto same = [&](const watchpoint& w) { return w.kind == kind && w.address == address && w.bytes == bytes; };
    watchpoints_.erase(std::remove_if(watchpoints_.begin(), watchpoints_.end(), same), watchpoints_.end());
    if (on)
        watchpoints_.push_back({kind, address, bytes});
    return true;
}

std::string gdb_server::monitor(const std::string& text)
{
    if (text == "time")
        return fmt::format(
            "simulated time {}\n",
            rounded_text(duration(in_hook_ != nullptr ? in_hook_->core.observed_now_ps() : machine_.time().now_ps())));
    if (text == "cores") {
        std::string all;
        for (unsigned t = 0; t < threads(); ++t)
            all += describe(t) + "\n";
        return all;
    }
    if (text == "watch all") {
        watched_thread_.reset();
        return "watchpoints stop every thread\n";
    }
    unsigned thread = 0;
    if (std::sscanf(text.c_str(), "watch %u", &thread) == 1 && thread >= 1 && thread <= threads()) {
        watched_thread_ = thread - 1; // gdb counts from 1
        return fmt::format("watchpoints stop thread {} only\n", thread);
    }
    return "monitor time      simulated time of the core that has stopped\n"
           "monitor cores     what every core does\n"
           "monitor watch N   watchpoints stop thread N only\n"
           "monitor watch all watchpoints stop every thread\n";
}

} // namespace weft
