// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Text form of microcode: what is written is read back, and what is wrong is told with its place.
#include "platforms/ccu/ccu_assembler.h"
#include "platforms/ccu/ccu_disassembler.h"
#include "platforms/ccu/ccu_operands.h"
#include "platforms/ccu/ccu_program_file.h"
#include "testbenches/support/ccu_programs.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace weft;
using namespace weft::abi::ccu;

namespace {

instruction one(const std::string& text)
{
    const ccu_program p = assemble_ccu(text, "t.ccu");
    REQUIRE(p.code.size() == 1);
    return p.code[0];
}

bool same(const instruction& a, const instruction& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// A legal instruction with operands of any size.
instruction random_instruction(const op_row& row, std::mt19937_64& random)
{
    const auto word = [&] { return static_cast<std::uint16_t>(random() % 4 == 0 ? random() % 8 : random()); };
    instruction i = blank_instruction(row);
    for (const ccu_operand& o : operands_of(row)) {
        switch (o.kind) {
        case ccu_operand_kind::immediate: i.set_immediate(random() % 2 == 0 ? random() : random() % 10'000); break;
        case ccu_operand_kind::argument: i.count = static_cast<std::uint8_t>(random() % k_arguments); break;
        case ccu_operand_kind::loops: i.count = static_cast<std::uint8_t>(1 + random() % 255); break;
        case ccu_operand_kind::channel: i.channel = word(); break;
        case ccu_operand_kind::check_bits:
            i.r[o.field] = word();
            i.r[o.field + 1] = word();
            break;
        case ccu_operand_kind::slices:
            i.count = static_cast<std::uint8_t>(2 + random() % 7);
            for (unsigned n = 0; n < i.count; ++n)
                i.r[n] = word();
            break;
        default: i.r[o.field] = word();
        }
    }
    if (may_have_length(row) && (row.operation == operation_kind::memory_memory || random() % 2 == 0))
        i.set_length(static_cast<std::uint16_t>(random() % k_no_length));
    const bool compares = row.code == op::reduce_max || row.code == op::reduce_min;
    if (row.operation == operation_kind::slices)
        i.type = static_cast<std::uint8_t>(random() % (compares ? 7 : abi::k_element_types));
    if (may_have_redop(row) && random() % 2 == 0) {
        i.type = static_cast<std::uint8_t>(random() % 7);
        i.redop = static_cast<std::uint8_t>(1 + random() % 3);
    }
    if (random() % 2 == 0) {
        i.wait_entry = word();
        i.wait_mask = static_cast<std::uint16_t>(1 + random() % 0xffff);
        i.flags = random() % 2 == 0 ? k_clears : 0;
    }
    if (random() % 2 == 0) {
        i.set_entry = word();
        i.set_mask = static_cast<std::uint16_t>(1 + random() % 0xffff);
    }
    return i;
}

/// "3:5 message" of every problem, in order.
std::vector<std::string> problems_of(const std::string& text)
{
    std::vector<problem> problems;
    (void)assemble_ccu(text, "t.ccu", problems);
    std::vector<std::string> all;
    for (const problem& p : problems)
        all.push_back(std::to_string(p.where.line) + ":" + std::to_string(p.where.column) + " " + p.message);
    return all;
}

} // namespace

TEST_CASE("ccu text: every instruction with any operands is read back as it was")
{
    std::mt19937_64 random(1);
    for (const op_row& row : k_op_rows)
        for (int n = 0; n < 300; ++n) {
            const instruction i = random_instruction(row, random);
            INFO(row.name);
            for (const std::string& what : illegalities(i))
                FAIL_CHECK(what);
            const std::string text = disassemble_ccu(i);
            INFO(text);
            CHECK(same(one(text), i));
        }
}

TEST_CASE("ccu text: an instruction with bits that no text can say is illegal")
{
    std::mt19937_64 random(2);
    std::size_t refused = 0, tried = 0;
    for (const op_row& row : k_op_rows)
        for (int n = 0; n < 200; ++n) {
            instruction i = random_instruction(row, random);
            unsigned char bytes[sizeof i];
            std::memcpy(bytes, &i, sizeof i);
            bytes[random() % sizeof i] ^= static_cast<unsigned char>(1u << random() % 8);
            std::memcpy(&i, bytes, sizeof i);
            ++tried;
            if (!illegalities(i).empty()) {
                ++refused;
                continue;
            }
            INFO(disassemble_ccu(i));
            CHECK(same(one(disassemble_ccu(i)), i));
        }
    CHECK(refused > tried / 10);
    CHECK(refused < tried);
}

TEST_CASE("ccu text: whole programs are read back from their listings")
{
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const ccu_program p = assemble_ccu(testing::make_ccu_program(seed).text, "t.ccu");
        const std::string text = disassemble_ccu(p);
        const ccu_program again = assemble_ccu(text, "u.ccu");
        REQUIRE(again.code.size() == p.code.size());
        for (std::size_t n = 0; n < p.code.size(); ++n)
            CHECK(same(again.code[n], p.code[n]));
        CHECK(disassemble_ccu(again) == text);
    }
}

TEST_CASE("ccu text: numbers and names and functions mean what they say")
{
    const auto value = [](const std::string& text) { return one("load_x x0 " + text).immediate(); };
    CHECK(value("0x1f") == 31);
    CHECK(value("0b101") == 5);
    CHECK(value("4 KiB") == 4096);
    CHECK(value("2MiB") == std::uint64_t{2} << 20);
    CHECK(value("-1") == ~std::uint64_t{0});
    CHECK(value("18446744073709551615") == ~std::uint64_t{0});
    CHECK(value("2 + 3 * 4 - (1 + 1) / 2") == 13);
    CHECK(value("loop(8191, 4 KiB)") == loop_parameter(8191, 4096));
    CHECK(value("counts(1, 7)") == group_counts(1, 7));
    CHECK(value("offsets(8 KiB, 2, 3)") == group_offsets(8192, 2, 3));
    const ccu_program p = assemble_ccu(".equ far end + 1\n.equ who c3\n.equ ball m2\nbegin: set_bits ; the first\n\tload_x x1, far\n"
                                       "  jump x1, x2, -5 # back\nms_to_remote_ms who ball m7 5:1 len x4, set 9:0xf\nend:\n",
                                       "t.ccu");
    REQUIRE(p.code.size() == 4);
    CHECK(p.code[1].immediate() == 5);
    CHECK(p.code[2].immediate() == static_cast<std::uint64_t>(-5));
    CHECK(p.code[3].channel == 3);
    CHECK(p.code[3].r[0] == 2);
    CHECK(p.code[3].length() == 4);
    CHECK(p.labels.at("begin") == 0);
    CHECK(p.labels.at("end") == 4);
    CHECK(p.where[3].line == 7);
    // The field of a length: of reductions it is another one.
    CHECK(one("reduce_add m0 m1 m2 m3 m4 m5 m6 m7 type int8 len x9").channel == 9);
    CHECK(one("reduce_add m0 m1 type int8").channel == k_no_length);
    CHECK(one("ms_to_ms m0 m1").r[5] == k_no_length);
}

TEST_CASE("ccu text: declarations are kept")
{
    const ccu_program p = assemble_ccu(".ranks 8\n.argument 3 4..64 step 4\n.peer_sets 5:0x3, 6:1\n.peer_writes x4 a2..a5 m8\n.peer_keeps m9..m10\nset_bits\n", "t.ccu");
    CHECK(p.ranks == 8u);
    CHECK(p.arguments.at(3).least == 4);
    CHECK(p.arguments.at(3).most == 64);
    CHECK(p.arguments.at(3).step == 4);
    CHECK(p.peer_sets_bit(5, 1));
    CHECK_FALSE(p.peer_sets_bit(5, 2));
    CHECK(p.peer_general_registers == std::set<std::uint16_t>{4});
    CHECK(p.peer_address_registers == std::set<std::uint16_t>{2, 3, 4, 5});
    CHECK(p.peer_slices == std::set<std::uint16_t>{8});
    CHECK(p.kept_slices == std::set<std::uint16_t>{9, 10});
}

TEST_CASE("ccu text: what is wrong is told with its place and a remedy")
{
    struct row {
        const char* text;
        const char* problem;
    };
    static const row rows[] = {
        {"lod_x x0 1", "1:1 'lod_x' is no instruction; did you mean 'load_x'?"},
        {"frobnicate", "1:1 'frobnicate' is no instruction; docs/22_ccu_instructions.md lists them all."},
        {"load_x a0 1", "1:8 'a0' stands where a general register (x0, x1, ...) of load_x must be."},
        {"load_x x70000 1", "1:8 'x70000' is beyond what an instruction can name; numbers go from 0 to 65535."},
        {"load_x x0", "1:10 load_x needs a general register (x0, x1, ...), a 64-bit number or a label; the line ends before that."},
        {"load_x x0 m3", "1:11 'm3' is a register, slice or channel, where a 64-bit number or a label of load_x must be."},
        {"load_x x0 ned\nend:", "1:11 there is no label and no constant 'ned'; did you mean 'end'?"},
        {"load_x x0 q", "1:11 there is no label and no constant 'q'; write q with a ':' before an instruction, or .equ q and a number."},
        {"set_bits\na:\na: set_bits", "3:1 'a' stands for something since line 2; choose another name."},
        {"x1: set_bits", "1:1 'x1' is the name of a register, slice or channel, so it cannot be a label; choose another name."},
        {".equ loop 3\nset_bits", "1:6 'loop' is a word of the text form, so it cannot be a constant; choose another name."},
        {".equ 3 4\nset_bits", "1:6 '3' stands where a name must be; write .equ name value."},
        {"mem_to_mem a0 a1", "1:1 mem_to_mem needs a length; add 'len' and a general register that holds bytes."},
        {"reduce_add m0 m1", "1:1 reduce_add needs a type; add 'type float16', for example."},
        {"reduce_add m0 type int8", "1:12 reduce_add has 1 slice; it takes 2 to 8."},
        {"reduce_add m0 m1 m2 m3 m4 m5 m6 m7 m8 type int8", "1:12 reduce_add has 9 slices; it takes 2 to 8."},
        {"reduce_max m0 m1 type hifloat8", "1:18 reduce_max does not compare 8-bit floats such as hifloat8; reduce_add takes them."},
        {"mem_to_mem a0 a1 len x0 type float8_e4m3 op sum",
         "1:25 memories do not reduce 8-bit floats such as float8_e4m3; load slices and use reduce_add."},
        {"reduce_add m0 m1 type float61", "1:23 'float61' is no type; did you mean 'float16'?"},
        {"mem_to_mem a0 a1 len x0 type float16", "1:25 only a reduction has a type; add 'op sum', 'op max' or 'op min', or remove the type."},
        {"mem_to_mem a0 a1 len x0 op sum", "1:25 a reduction needs a type; add 'type float16', for example."},
        {"mem_to_mem a0 a1 len x0 op mul type int8", "1:28 'mul' is no operation; legal here: 'sum', 'max', 'min'"},
        {"set_bits clear", "1:10 nothing is waited for that could be cleared; add 'wait entry:mask' or remove 'clear'."},
        {"set_bits len x0", "1:10 set_bits has no 'len'; remove it."},
        {"ms_to_ms m0 m1 len x65535", "1:20 'x65535' is beyond what an instruction can name; numbers go from 0 to 65534."},
        {"set_bits set 1:1 set 1:2", "1:18 'set' stands twice in this instruction; remove one."},
        {"set_bits wait 3:0", "1:17 the mask of check bits must be 1 to 65535."},
        {"set_bits wait 3", "1:16 the end of the line stands where ':' must be; write check bits as entry:mask (3:0x1)."},
        {"set_bits wiat 3:1", "1:10 'wiat' is no word of an instruction; did you mean 'wait'?"},
        {"ms_to_ms m0 m1 m2", "1:16 'm2' stands behind the operands of ms_to_ms, which takes a slice (m0, m1, ...), a slice (m0, m1, ...)."},
        {"send_bits c0 70000:1", "1:14 the check-bit entry must be 0 to 65535."},
        {"load_arg_x x0 13", "1:15 the argument of load_arg_x must be 0 to 12."},
        {"group 0 0 x0 x1", "1:7 the number of loops of a group must be 1 to 255."},
        {"load_x x0 loop(9000, 1)", "1:16 iterations of loop() must be 0 to 8191."},
        {"load_x x0 offsets(0, 1)", "1:23 ')' stands where ',' must be; write offsets(address, slice, entry)."},
        {"load_x x0 looop(1, 1)", "1:11 'looop' is no function; did you mean 'loop'?"},
        {"load_x x0 010", "1:11 '010' begins with 0, which some read as octal; leave the 0 out, or write 0x."},
        {"load_x x0 12z", "1:11 '12z' is no number; write decimal (4096), hexadecimal (0x1000) or with a unit (4 KiB)."},
        {"load_x x0 0x10000000000000000", "1:11 the number is beyond 64 bits; write one from -2^63 to 2^64 - 1."},
        {"load_x x0 0x8000000000000000 * 0x8000000000000000", "1:30 the number is beyond 64 bits; write one from -2^63 to 2^64 - 1."},
        {"load_x x0 1 / 0", "1:13 the number is divided by zero."},
        {"load_x x0 (1 + 2", "1:17 the end of the line stands where ')' must be."},
        {"load_x x0 $", "1:11 '$' has no meaning here; comments begin with ';' or '#'."},
        {".arg 1\nset_bits", "1:1 '.arg' is no directive; legal here: '.equ', '.argument', '.ranks', '.peer_sets', '.peer_writes', '.peer_keeps'"},
        {".ranks 1\nset_bits", "1:8 the number of ranks must be 2 to 1024."},
        {".ranks 2\n.ranks 3\nset_bits", "2:1 the ranks are declared since line 1; declare them once."},
        {".argument 1 5..10 step 2\nset_bits",
         "1:13 5..10 step 2 never comes to its end; the largest value is the least one and a number of steps."},
        {".argument 1 5\n.argument 1 6\nset_bits", "2:1 argument 1 is declared since line 1; declare it once."},
        {".peer_writes c0\nset_bits", "1:14 'c0' stands where a register or slice (x0, a0, m0, or x0..x7) must be."},
        {".peer_writes x7..x3\nset_bits", "1:14 the range ends before it begins; write the smaller number first."},
        {".peer_keeps x7\nset_bits", "1:13 'x7' stands where a slice (m0, or m0..m7) must be."},
        {"; nothing\n", "0:0 the program has no instruction; write one a line."},
    };
    for (const row& r : rows) {
        INFO(r.text);
        const auto found = problems_of(r.text);
        REQUIRE_FALSE(found.empty());
        CHECK(std::find(found.begin(), found.end(), r.problem) != found.end());
        if (found[0] != r.problem)
            UNSCOPED_INFO(found[0]);
    }
}

TEST_CASE("ccu text: all problems are told in one pass and in the order of the lines")
{
    const auto found = problems_of("lod_x x0 1\nset_bits len x0 clear\nload_x x0 nowhere\n.ranks 0\n");
    REQUIRE(found.size() == 5);
    CHECK(found[0].substr(0, 2) == "1:");
    CHECK(found[1].substr(0, 5) == "2:10 ");
    CHECK(found[2].substr(0, 5) == "2:17 ");
    CHECK(found[3].substr(0, 2) == "3:");
    CHECK(found[4].substr(0, 2) == "4:");
}

TEST_CASE("ccu text: damaged texts are refused or read and never crash")
{
    std::mt19937_64 random(3);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        std::string text = testing::make_ccu_program(seed % 20).text;
        for (int n = 0; n < 6; ++n) {
            const std::size_t at = random() % text.size();
            if (random() % 2 == 0)
                text[at] = static_cast<char>(random());
            else
                text.erase(at, 1 + random() % 5);
        }
        std::vector<problem> problems;
        (void)assemble_ccu(text, "t.ccu", problems);
        for (const problem& p : problems)
            CHECK(p.where.line > 0);
    }
}

TEST_CASE("ccu file: bytes are read back and every damage is noticed")
{
    const ccu_program p = assemble_ccu(testing::make_ccu_program(7).text, "t.ccu");
    const std::string bytes = ccu_file_bytes(p.code);
    const auto again = read_ccu_file(bytes, "t.bin");
    REQUIRE(again.size() == p.code.size());
    for (std::size_t n = 0; n < again.size(); ++n)
        CHECK(same(again[n], p.code[n]));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        CHECK_THROWS_AS(read_ccu_file(damaged, "t.bin"), user_error);
        CHECK_THROWS_AS(read_ccu_file(bytes.substr(0, at), "t.bin"), user_error);
    }
    CHECK_THROWS_WITH(read_ccu_file("set_bits\n", "t.ccu"),
                      "t.ccu: error: is no program of `weft ccu asm FILE.ccu -o FILE`; text is assembled, not disassembled.");
    // The words are what the store of a unit takes.
    std::uint64_t words[k_words_of_instruction];
    ccu_words(p.code[5], words);
    CHECK(std::memcmp(words, &p.code[5], sizeof words) == 0);
}

TEST_CASE("ccu file: an illegal instruction is named when it is disassembled")
{
    ccu_program p{"t.bin"};
    p.code.resize(3);
    p.code[1].code = static_cast<op>(0x7f);
    p.code[2].r[3] = 1;
    try {
        (void)disassemble_ccu(p);
        FAIL("was accepted");
    } catch (const user_error& e) {
        REQUIRE(e.problems().size() == 2);
        CHECK(e.problems()[0].message == "instruction 1: there is no instruction 0x7f.");
        CHECK(e.problems()[1].message == "instruction 2: set_bits has bits set in fields that it does not use.");
    }
}
