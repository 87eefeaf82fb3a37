// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/rsp_commands.h"

#include "platforms/debug/rsp_packet.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

namespace {

namespace reg = debug_register;

const std::string k_ok = "OK";
const std::string k_bad_arguments = "E16"; // EINVAL
const std::string k_not_there = "E0e";     // EFAULT
constexpr std::uint64_t k_longest_read_bytes = k_rsp_packet_bytes / 2 - 16;
constexpr unsigned k_longest_list = 256; // threads in one reply

/// The text of a packet, read from left to right.
class cursor {
public:
    explicit cursor(const std::string& text) : text_(text) {}
    bool skip(const std::string& expected)
    {
        if (text_.compare(at_, expected.size(), expected) != 0)
            return false;
        at_ += expected.size();
        return true;
    }
    /// A hexadecimal number of at most 64 bits.
    std::optional<std::uint64_t> number()
    {
        std::uint64_t value = 0;
        const std::size_t start = at_;
        for (; at_ < text_.size() && at_ - start < 16; ++at_) {
            const char c = text_[at_];
            if (c >= '0' && c <= '9')
                value = value << 4 | static_cast<std::uint64_t>(c - '0');
            else if (c >= 'a' && c <= 'f')
                value = value << 4 | static_cast<std::uint64_t>(c - 'a' + 10);
            else if (c >= 'A' && c <= 'F')
                value = value << 4 | static_cast<std::uint64_t>(c - 'A' + 10);
            else
                break;
        }
        return at_ == start ? std::nullopt : std::optional<std::uint64_t>(value);
    }
    bool at_end() const { return at_ == text_.size(); }
    std::string rest() const { return text_.substr(at_); }

private:
    const std::string& text_;
    std::size_t at_ = 0;
};

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

rsp_answer reply(std::string text)
{
    rsp_answer a;
    a.reply = std::move(text);
    return a;
}

/// Target byte order: little-endian.
std::string number_digits(std::uint64_t value, unsigned bytes)
{
    std::string raw;
    for (unsigned i = 0; i < bytes; ++i)
        raw += static_cast<char>(value >> (8 * i));
    return to_hex(raw);
}

std::uint64_t number_of(const std::string& raw)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < raw.size() && i < 8; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
    return value;
}

std::string target_xml()
{
    static const char* const k_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                          "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                          "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    static const char* const k_float_names[] = {"ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
                                                "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
                                                "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
                                                "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
    const auto line = [](const char* name, unsigned number, const char* type) {
        return fmt::format(R"(<reg name="{}" bitsize="{}" regnum="{}" type="{}"/>)", name, reg::bytes(number) * 8,
                           number, type);
    };
    std::string xml = R"(<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target version="1.0">)"
                      R"(<architecture>riscv:rv64</architecture><feature name="org.gnu.gdb.riscv.cpu">)";
    for (unsigned x = 0; x < 32; ++x)
        xml += line(k_names[x], reg::k_x0 + x,
                    x == 1                                 ? "code_ptr"
                    : x == 2 || x == 3 || x == 4 || x == 8 ? "data_ptr"
                                                           : "int");
    xml += line("pc", reg::k_pc, "code_ptr");
    xml += R"(</feature><feature name="org.gnu.gdb.riscv.fpu">)";
    for (unsigned f = 0; f < 32; ++f)
        xml += line(k_float_names[f], reg::k_f0 + f, "ieee_double");
    for (const auto& [name, number] : {std::pair{"fflags", reg::k_fflags}, {"frm", reg::k_frm}, {"fcsr", reg::k_fcsr}})
        xml += line(name, number, "int");
    xml += R"(</feature><feature name="org.gnu.gdb.riscv.csr">)";
    unsigned number = reg::k_mstatus;
    for (const char* name : {"mstatus", "mie", "mtvec", "mepc", "mcause", "mtval"})
        xml += line(name, number++, "int");
    return xml + "</feature></target>";
}

} // namespace

rsp_answer rsp_commands::handle(const std::string& packet)
{
    const std::string rest = packet.empty() ? "" : packet.substr(1);
    switch (packet.empty() ? '\0' : packet[0]) {
    case '?': return reply(stopped(last_stop_));
    case 'g': return reply(registers());
    case 'G': return reply(write_registers(rest));
    case 'p': return reply(one_register(rest));
    case 'P': return reply(write_one_register(rest));
    case 'm': return reply(memory(rest));
    case 'M': return reply(write_memory(rest, false));
    case 'X': return reply(write_memory(rest, true));
    case 'z':
    case 'Z': return reply(point(packet));
    case 'H': return set_thread(rest);
    case 'T': return reply(thread_of(rest) ? k_ok : k_bad_arguments);
    case 'c':
    case 'C':
    case 's':
    case 'S': return resume(packet);
    case 'D': {
        rsp_answer a = reply(k_ok);
        a.then = rsp_answer::action::detach;
        return a;
    }
    case 'k': {
        rsp_answer a;
        a.then = rsp_answer::action::kill;
        return a;
    }
    case 'v':
        if (packet == "vCont?")
            return reply("vCont;c;C;s;S;r");
        if (begins(packet, "vCont;"))
            return resume_threads(packet.substr(6));
        if (begins(packet, "vKill")) {
            rsp_answer a = reply(k_ok);
            a.then = rsp_answer::action::kill;
            return a;
        }
        return reply("");
    case 'q':
    case 'Q': return query(packet);
    default: return reply("");
    }
}

std::string rsp_commands::stopped(const stop_reason& why)
{
    last_stop_ = why;
    general_ = continue_ = why.thread;
    std::string text = fmt::format("T{:02x}", why.signal);
    if (why.what == stop_reason::kind::breakpoint && tells_breakpoints_)
        text += "swbreak:;";
    if (why.what == stop_reason::kind::watchpoint) {
        const char* const k_reasons[] = {"watch", "rwatch", "awatch"};
        text += fmt::format("{}:{:x};", k_reasons[static_cast<unsigned>(why.watch)], why.address);
    }
    text += fmt::format("thread:{:x};", why.thread + 1);
    for (const unsigned number : {2u, 8u, reg::k_pc}) // gdb asks for these first
        text += fmt::format("{:02x}:{};", number, register_digits(why.thread, number));
    return text;
}

// ---- queries

rsp_answer rsp_commands::query(const std::string& packet)
{
    if (begins(packet, "qSupported"))
        return reply(supported(packet));
    if (packet == "QStartNoAckMode") {
        acknowledges_ = false;
        return reply(k_ok);
    }
    if (packet == "qC")
        return reply(fmt::format("QC{:x}", general_ + 1));
    if (packet == "qfThreadInfo") {
        next_listed_ = 0;
        return reply(thread_list());
    }
    if (packet == "qsThreadInfo")
        return reply(thread_list());
    if (begins(packet, "qThreadExtraInfo,")) {
        const auto thread = thread_of(packet.substr(17));
        return reply(thread ? to_hex(target_.describe(*thread)) : k_bad_arguments);
    }
    if (begins(packet, "qAttached"))
        return reply("1"); // a debugger that leaves lets the run go on
    if (begins(packet, "qXfer:features:read:target.xml:"))
        return reply(description(packet.substr(31)));
    if (begins(packet, "qRcmd,")) {
        const auto text = from_hex(packet.substr(6));
        if (!text)
            return reply(k_bad_arguments);
        std::string answer = to_hex(target_.monitor(*text).substr(0, k_longest_read_bytes));
        return reply(answer.empty() ? k_ok : answer);
    }
    return reply("");
}

std::string rsp_commands::supported(const std::string& features)
{
    tells_breakpoints_ = features.find("swbreak+") != std::string::npos;
    return fmt::format("PacketSize={:x};QStartNoAckMode+;qXfer:features:read+;vContSupported+;swbreak+;hwbreak+",
                       k_rsp_packet_bytes);
}

std::string rsp_commands::thread_list()
{
    const unsigned end = std::min(target_.threads(), next_listed_ + k_longest_list);
    if (next_listed_ >= end)
        return "l";
    std::string list = "m";
    for (; next_listed_ < end; ++next_listed_)
        list += fmt::format("{}{:x}", list.size() == 1 ? "" : ",", next_listed_ + 1);
    return list;
}

std::string rsp_commands::description(const std::string& offset_and_length) const
{
    static const std::string xml = target_xml();
    cursor text(offset_and_length);
    const auto offset = text.number();
    const bool comma = text.skip(",");
    const auto length = text.number();
    if (!offset || !comma || !length || !text.at_end())
        return k_bad_arguments;
    if (*offset >= xml.size())
        return "l";
    const std::string part = xml.substr(*offset, std::min<std::uint64_t>(*length, k_longest_read_bytes));
    return (*offset + part.size() < xml.size() ? "m" : "l") + part;
}

// ---- threads

std::optional<unsigned> rsp_commands::thread_of(const std::string& id) const
{
    cursor text(id);
    const auto number = text.number();
    if (!number || !text.at_end() || *number == 0 || *number > target_.threads())
        return std::nullopt;
    return static_cast<unsigned>(*number - 1);
}

rsp_answer rsp_commands::set_thread(const std::string& packet)
{
    if (packet.empty() || (packet[0] != 'g' && packet[0] != 'c'))
        return reply("");
    const std::string id = packet.substr(1);
    if (id == "0" || id == "-1") // any, all: the current one stays
        return reply(k_ok);
    const auto thread = thread_of(id);
    if (!thread)
        return reply(k_bad_arguments);
    (packet[0] == 'g' ? general_ : continue_) = *thread;
    return reply(k_ok);
}

/// c, s, C signal, S signal, each with an optional address, which gdb does not use. Signals are not handed on.
rsp_answer rsp_commands::resume(const std::string& packet)
{
    if (packet.find(';') != std::string::npos || ((packet[0] == 'c' || packet[0] == 's') && packet.size() > 1))
        return reply(k_bad_arguments);
    rsp_answer a;
    a.then = rsp_answer::action::resume;
    if (packet[0] == 's' || packet[0] == 'S')
        a.how.step = continue_;
    return a;
}

/// The leftmost action that names a thread, or none, is the one for it.
rsp_answer rsp_commands::resume_threads(const std::string& actions)
{
    rsp_answer a;
    a.then = rsp_answer::action::resume;
    bool all_run = false;
    std::optional<unsigned> named;
    std::size_t at = 0;
    while (at <= actions.size()) {
        const std::size_t end = std::min(actions.find(';', at), actions.size());
        const std::string action = actions.substr(at, end - at);
        at = end + 1;
        const std::size_t colon = std::min(action.find(':'), action.size());
        const std::string what = action.substr(0, colon);
        const std::string whom = colon == action.size() ? "-1" : action.substr(colon + 1);
        const std::optional<unsigned> thread = whom == "-1" ? std::nullopt : thread_of(whom);
        if (whom != "-1" && !thread)
            return reply(k_bad_arguments);
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        switch (what.empty() ? '\0' : what[0]) {
        case 'c':
        case 'C': break;
        case 'r': {
            const std::string range = what.substr(1);
            cursor text(range);
            const auto from = text.number();
            const bool comma = text.skip(",");
            const auto to = text.number();
            if (!from || !comma || !to || !text.at_end())
                return reply(k_bad_arguments);
            first = *from;
            last = *to;
            [[fallthrough]];
        }
        case 's':
        case 'S':
            if (!a.how.step) {
                a.how.step = thread.value_or(continue_);
                a.how.range_first = first;
                a.how.range_last = last;
            }
            break;
        default: return reply(k_bad_arguments);
        }
        all_run |= !thread || (named && named != thread);
        named = named ? named : thread;
    }
    if (!all_run)
        a.how.only = named;
    return a;
}

// ---- registers

std::string rsp_commands::register_digits(unsigned thread, unsigned number)
{
    return number_digits(target_.read_register(thread, number), reg::bytes(number));
}

std::string rsp_commands::registers()
{
    std::string all;
    for (unsigned number = 0; number < reg::k_count; ++number)
        all += register_digits(general_, number);
    return all;
}

std::string rsp_commands::write_registers(const std::string& digits)
{
    const auto raw = from_hex(digits);
    if (!raw)
        return k_bad_arguments;
    std::size_t at = 0;
    for (unsigned number = 0; number < reg::k_count && at + reg::bytes(number) <= raw->size(); ++number) {
        const std::uint64_t value = number_of(raw->substr(at, reg::bytes(number)));
        at += reg::bytes(number);
        if (value != target_.read_register(general_, number) && !target_.write_register(general_, number, value))
            return k_not_there;
    }
    return k_ok;
}

std::string rsp_commands::one_register(const std::string& number)
{
    cursor text(number);
    const auto n = text.number();
    if (!n || !text.at_end() || *n >= reg::k_count)
        return k_bad_arguments;
    return register_digits(general_, static_cast<unsigned>(*n));
}

std::string rsp_commands::write_one_register(const std::string& packet)
{
    cursor text(packet);
    const auto n = text.number();
    if (!n || *n >= reg::k_count || !text.skip("="))
        return k_bad_arguments;
    const auto raw = from_hex(text.rest());
    const auto number = static_cast<unsigned>(*n);
    if (!raw || raw->size() != reg::bytes(number))
        return k_bad_arguments;
    return target_.write_register(general_, number, number_of(*raw)) ? k_ok : k_not_there;
}

// ---- memory

std::string rsp_commands::memory(const std::string& range)
{
    cursor text(range);
    const auto address = text.number();
    const bool comma = text.skip(",");
    const auto bytes = text.number();
    if (!address || !comma || !bytes || !text.at_end())
        return k_bad_arguments;
    if (*bytes == 0)
        return "";
    const std::string raw = target_.read_memory(general_, *address, std::min(*bytes, k_longest_read_bytes));
    return raw.empty() ? k_not_there : to_hex(raw);
}

std::string rsp_commands::write_memory(const std::string& packet, bool binary)
{
    cursor text(packet);
    const auto address = text.number();
    const bool comma = text.skip(",");
    const auto bytes = text.number();
    if (!address || !comma || !bytes || !text.skip(":"))
        return k_bad_arguments;
    const auto raw = binary ? std::optional<std::string>(text.rest()) : from_hex(text.rest());
    if (!raw || raw->size() != *bytes)
        return k_bad_arguments;
    return raw->empty() || target_.write_memory(general_, *address, *raw) ? k_ok : k_not_there;
}

/// Z or z, kind, address, length of the range or of the instruction. Conditions are gdb's affair.
std::string rsp_commands::point(const std::string& packet)
{
    const bool on = packet[0] == 'Z';
    const std::string rest = packet.substr(1);
    cursor text(rest);
    const auto kind = text.number();
    const bool comma = text.skip(",");
    const auto address = text.number();
    const bool second_comma = text.skip(",");
    const auto bytes = text.number();
    if (!kind || !comma || !address || !second_comma || !bytes || *kind > 4)
        return kind && *kind > 4 ? "" : k_bad_arguments;
    const bool done = *kind <= 1 ? target_.set_breakpoint(*address, on)
                                 : target_.set_watchpoint(static_cast<watch_kind>(*kind - 2), *address, *bytes, on);
    return done ? k_ok : k_not_there;
}

} // namespace weft
