// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The gdb remote protocol without a simulator: packets, commands against a machine of two threads, and noise.
#include "platforms/debug/rsp_commands.h"
#include "platforms/debug/rsp_packet.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace weft;

namespace {

/// Two threads, 64 bytes of memory at 0x1000 each.
struct small_machine final : debug_target {
    std::uint64_t registers[2][debug_register::k_count] = {};
    std::string memories[2] = {std::string(64, '\0'), std::string(64, 'x')};
    std::map<std::uint64_t, bool> breakpoints;
    std::vector<std::uint64_t> watched;

    unsigned threads() const override { return 2; }
    std::string describe(unsigned thread) const override { return "core " + std::to_string(thread); }
    std::uint64_t read_register(unsigned t, unsigned n) override { return registers[t][n]; }
    bool write_register(unsigned t, unsigned n, std::uint64_t value) override
    {
        registers[t][n] = value;
        return t == 0;
    }
    std::string read_memory(unsigned t, std::uint64_t address, std::uint64_t bytes) override
    {
        return address < 0x1000 || address >= 0x1040 ? "" : memories[t].substr(address - 0x1000, bytes);
    }
    bool write_memory(unsigned t, std::uint64_t address, const std::string& bytes) override
    {
        if (address < 0x1000 || address >= 0x1040 || bytes.size() > 0x1040 - address)
            return false;
        memories[t].replace(address - 0x1000, bytes.size(), bytes);
        return true;
    }
    bool set_breakpoint(std::uint64_t address, bool on) override
    {
        breakpoints[address] = on;
        return address < 0x8000;
    }
    bool set_watchpoint(watch_kind, std::uint64_t address, std::uint64_t, bool) override
    {
        watched.push_back(address);
        return true;
    }
    std::string monitor(const std::string& text) override { return "said " + text; }
};

struct session {
    small_machine machine;
    rsp_commands commands{machine};
    std::string say(const std::string& packet)
    {
        const rsp_answer a = commands.handle(packet);
        return a.reply ? *a.reply : "(none)";
    }
};

std::string round_trip(const std::string& payload, bool run_length)
{
    rsp_reader reader(true);
    reader.feed(encode_rsp_packet(payload, run_length));
    const auto event = reader.next();
    REQUIRE(event);
    REQUIRE(event->what == rsp_event::kind::packet);
    CHECK_FALSE(reader.next());
    return event->payload;
}

} // namespace

TEST_CASE("rsp packets: checksum and escapes and runs")
{
    CHECK(encode_rsp_packet("OK", true) == "$OK#9a");
    CHECK(encode_rsp_packet("", true) == "$#00");
    CHECK(encode_rsp_packet("a}b", false) == "$a}]b#9d");
    CHECK(encode_rsp_packet("0000", true) == "$0* #7a"); // three more: ' '
    CHECK(encode_rsp_packet("000", true) == "$000#90");
    // Six and seven repeats would be '#' and '$'.
    for (std::size_t n = 1; n < 300; ++n) {
        const std::string text = "x" + std::string(n, '0') + "}*$#" + std::string(n, '}') + std::string(n, '*');
        const std::string line = encode_rsp_packet(text, true);
        CHECK(line.find('#') == line.size() - 3);
        CHECK(line.rfind('$') == 0);
        CHECK(round_trip(text, true) == text);
        CHECK(round_trip(text, false) == text);
    }
    std::string all;
    for (int c = 0; c < 256; ++c)
        all += static_cast<char>(c);
    CHECK(round_trip(all, true) == all);
}

TEST_CASE("rsp packets arrive in pieces and among noise")
{
    rsp_reader reader;
    const std::string line = "noise+$m1000,4#8e-\x03$broken$g#67$g#68";
    std::vector<rsp_event> events;
    for (const char c : line) {
        reader.feed(std::string(1, c));
        while (const auto e = reader.next())
            events.push_back(*e);
    }
    using kind = rsp_event::kind;
    REQUIRE(events.size() == 6);
    CHECK(events[0].what == kind::ack);
    CHECK(events[1].payload == "m1000,4");
    CHECK(events[2].what == kind::nak);
    CHECK(events[3].what == kind::interrupt);
    CHECK(events[4].payload == "g");
    CHECK(events[5].what == kind::damaged);

    reader.feed("$" + std::string(1 << 20, 'a') + "#00"); // is dropped, and holds no memory
    CHECK_FALSE(reader.next());
    reader.feed("$?#3f");
    REQUIRE(reader.next());
}

TEST_CASE("rsp commands: registers and memory of the selected thread")
{
    session s;
    s.machine.registers[1][debug_register::k_pc] = 0x10'8000;
    s.machine.registers[1][debug_register::k_fcsr] = 0x21;
    CHECK(s.say("p20") == "0000000000000000");
    CHECK(s.say("Hg2") == "OK");
    CHECK(s.say("p20") == "0080100000000000");
    CHECK(s.say("p43") == "21000000");
    CHECK(s.say("p4a") == "E16");
    CHECK(s.say("Hg3") == "E16");
    CHECK(s.say("Hg0") == "OK");
    CHECK(s.say("g").size() == 2 * ((debug_register::k_count - 3) * 8 + 3 * 4));
    CHECK(s.say("m1000,4") == "78787878");
    CHECK(s.say("m103e,8") == "7878"); // as far as it goes
    CHECK(s.say("m2000,4") == "E0e");
    CHECK(s.say("M1000,2:4142") == "OK");
    CHECK(s.say("X1002,2:}#") == "OK");
    CHECK(s.machine.memories[1].substr(0, 5) == "AB}#x");
    CHECK(s.say("M103f,2:4142") == "E0e");
    CHECK(s.say("M1000,3:4142") == "E16");
    CHECK(s.say("Pa=0100000000000000") == "E0e"); // thread 2 of this machine refuses
    CHECK(s.say("Hg1") == "OK");
    CHECK(s.say("Pa=0100000000000000") == "OK");
    CHECK(s.machine.registers[0][10] == 1);
    CHECK(s.say("Pa=01") == "E16");
    const std::string all = s.say("g");
    CHECK(s.say("G" + all) == "OK");
    CHECK(s.say("g") == all);
}

TEST_CASE("rsp commands: threads and their description")
{
    session s;
    CHECK(s.say("qfThreadInfo") == "m1,2");
    CHECK(s.say("qsThreadInfo") == "l");
    CHECK(s.say("qThreadExtraInfo,2") == to_hex("core 1"));
    CHECK(s.say("T2") == "OK");
    CHECK(s.say("T3") == "E16");
    CHECK(s.say("qC") == "QC1");
    CHECK(s.say("qRcmd," + to_hex("time")) == to_hex("said time"));
    const std::string features = s.say("qSupported:swbreak+;xmlRegisters=i386");
    CHECK(features.find("qXfer:features:read+") != std::string::npos);
    std::string xml;
    std::string part;
    do {
        char request[64];
        std::snprintf(request, sizeof request, "qXfer:features:read:target.xml:%zx,3fb", xml.size());
        part = s.say(request);
        xml += part.substr(1);
    } while (part[0] == 'm');
    CHECK(part[0] == 'l');
    CHECK(xml.find("riscv:rv64") != std::string::npos);
    CHECK(xml.substr(xml.size() - 9) == "</target>");
    std::size_t registers = 0;
    for (std::size_t at = xml.find("<reg "); at != std::string::npos; at = xml.find("<reg ", at + 1))
        ++registers;
    CHECK(registers == debug_register::k_count);
    CHECK(s.say("QStartNoAckMode") == "OK");
    CHECK_FALSE(s.commands.acknowledges());
    CHECK(s.say("vMustReplyEmpty").empty());
}

TEST_CASE("rsp commands: how the machine goes on")
{
    session s;
    using action = rsp_answer::action;
    const auto how = [&](const std::string& packet) {
        const rsp_answer a = s.commands.handle(packet);
        CHECK(a.then == action::resume);
        CHECK_FALSE(a.reply);
        return a.how;
    };
    CHECK_FALSE(how("c").step);
    CHECK_FALSE(how("vCont;c").step);
    CHECK_FALSE(how("vCont;c").only);
    CHECK(how("vCont;c:2").only == 1u);
    CHECK_FALSE(how("vCont;c:2;c:1").only);
    CHECK(how("vCont;s:2;c").step == 1u);
    CHECK_FALSE(how("vCont;s:2;c").only);
    CHECK(how("vCont;s:2").only == 1u);
    CHECK_FALSE(how("vCont;s").only);
    CHECK(how("vCont;s").step == 0u);
    CHECK(how("vCont;r1000,1010:1;c").range_last == 0x1010);
    CHECK(how("s").step == 0u);
    for (const char* wrong : {"vCont;", "vCont;x", "vCont;s:9", "vCont;r1:1", "vCont;c;", "c1000"})
        CHECK(s.say(wrong) == "E16");
    CHECK(s.commands.handle("D").then == action::detach);
    CHECK(s.commands.handle("k").then == action::kill);
    CHECK(s.say("vKill;1") == "OK");
}

TEST_CASE("rsp commands: breakpoints and the words of a stop")
{
    session s;
    CHECK(s.say("Z0,1000,2") == "OK");
    CHECK(s.machine.breakpoints[0x1000]);
    CHECK(s.say("z1,1000,2") == "OK");
    CHECK_FALSE(s.machine.breakpoints[0x1000]);
    CHECK(s.say("Z0,9000,2") == "E0e");
    CHECK(s.say("Z3,1008,8") == "OK");
    CHECK(s.machine.watched == std::vector<std::uint64_t>{0x1008});
    CHECK(s.say("Z5,1000,2").empty());
    CHECK(s.say("Z0,1000") == "E16");
    CHECK(s.say("?").substr(0, 13) == "T05thread:1;0");
    stop_reason why{stop_reason::kind::breakpoint, 5, 1, watch_kind::write, 0};
    CHECK(s.commands.stopped(why).substr(0, 12) == "T05thread:2;");
    s.say("qSupported:swbreak+");
    CHECK(s.commands.stopped(why).substr(0, 21) == "T05swbreak:;thread:2;");
    CHECK(s.say("qC") == "QC2");
    why = {stop_reason::kind::watchpoint, 5, 0, watch_kind::access, 0x1234};
    CHECK(s.commands.stopped(why).substr(0, 24) == "T05awatch:1234;thread:1;");
}

TEST_CASE("rsp: random bytes and damaged packets never do harm")
{
    std::mt19937_64 random(20240607);
    const std::vector<std::string> words = {"g",
                                            "G00",
                                            "p20",
                                            "P20=",
                                            "m1000,40",
                                            "M1000,2:",
                                            "X1000,4:",
                                            "Z0,1000,4",
                                            "z4,",
                                            "Hg",
                                            "Hc-1",
                                            "vCont;",
                                            "vCont;s:1;c",
                                            "vCont;r",
                                            "qXfer:features:read:target.xml:",
                                            "qRcmd,",
                                            "qThreadExtraInfo,",
                                            "qfThreadInfo",
                                            "qSupported:",
                                            "T",
                                            "?",
                                            "D",
                                            "k",
                                            "ffffffffffffffff",
                                            ",",
                                            ":",
                                            ";",
                                            "-1",
                                            "=",
                                            "zz"};
    session s;
    std::size_t answers = 0;
    for (int round = 0; round < 200'000; ++round) {
        std::string packet;
        for (auto pieces = random() % 5; pieces != 0; --pieces)
            packet += words[random() % words.size()];
        for (auto changes = random() % 3; changes != 0 && !packet.empty(); --changes)
            packet[random() % packet.size()] = static_cast<char>(random());
        const rsp_answer a = s.commands.handle(packet);
        answers += a.reply ? a.reply->size() : 0;
        if (a.reply)
            REQUIRE(a.reply->size() <= k_rsp_packet_bytes);
        if (a.how.step)
            REQUIRE(*a.how.step < s.machine.threads());
    }
    CHECK(answers != 0);

    rsp_reader reader(true);
    std::size_t packets = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = round % 2 == 0 ? encode_rsp_packet(words[random() % words.size()], true) : "";
        for (auto n = random() % 40; n != 0; --n)
            bytes += random() % 4 == 0 ? "$#}*+-"[random() % 6] : static_cast<char>(random());
        reader.feed(bytes);
        while (const auto e = reader.next())
            packets += e->what == rsp_event::kind::packet;
    }
    CHECK(packets >= 10'000);
}
