// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The front door: a configuration file is read exactly as it is meant, or refused with the position and a sentence.
// Half of this file is a list of shapes that YAML libraries accept and people misread.
#include "platforms/config/config_dump.h"
#include "platforms/config/config_reader.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

using namespace weft;
using namespace weft::literals;

namespace {
enum class test_op { all_reduce, all_gather, none };
}
template <> struct weft::enum_names<test_op> {
    static constexpr std::pair<test_op, const char*> values[] = {
        {test_op::all_reduce, "all_reduce"}, {test_op::all_gather, "all_gather"}, {test_op::none, "none"}};
};

namespace {

struct link_test_config {
    bandwidth link_rate = 82_GBps;
    duration flight_time = 50_ns;
    packet_count depth = 16_packets;
    std::optional<frequency> clock;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("link_rate", self.link_rate, "Rate of one link, one direction", quoted("a paper, section 2"));
        visit("flight_time", self.flight_time, "Propagation delay", assumed("nothing is published"));
        visit("depth", self.depth, "Receive buffer of a VL", assumed("nothing is published"));
        visit("clock", self.clock, "Clock of the port, if it has its own", k_user_choice);
    }
    std::vector<config_problem> validate() const
    {
        std::vector<config_problem> problems;
        if (link_rate.value() == 0)
            problems.push_back({severity::error, "link_rate", "must be above zero; a link without rate moves nothing"});
        if (depth < 4_packets)
            problems.push_back({severity::warning, "depth", "is below the round trip of 4 packets"});
        return problems;
    }
};

struct step_test_config {
    test_op op = test_op::all_reduce;
    data_size bytes = 4_KiB;
    std::vector<std::uint32_t> ranks;
    bool check = true;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("op", self.op, "The collective", k_user_choice);
        visit("bytes", self.bytes, "Message size of one rank", k_user_choice);
        visit("ranks", self.ranks, "Participants; empty: all", k_user_choice);
        visit("check", self.check, "Verify the answer", k_user_choice);
    }
    std::vector<config_problem> validate() const
    {
        if (bytes.value() == 0)
            return {{severity::error, "bytes", "must be above zero"}};
        return {};
    }
};

struct pod_test_config {
    std::string title = "pod";
    std::vector<std::uint32_t> shape = {4, 4};
    std::uint64_t seed = 1;
    double utilisation = 0.5;
    bool wrap = true;
    link_test_config ici;
    std::optional<link_test_config> spare;
    std::vector<step_test_config> workload;
    std::optional<std::string> note;
    std::vector<std::vector<std::uint32_t>> pairs;
    std::vector<bool> mask;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("title", self.title, "Name of the run", k_user_choice);
        visit("shape", self.shape, "Chips per dimension", k_user_choice);
        visit("seed", self.seed, "Seed of all random numbers", k_user_choice);
        visit("utilisation", self.utilisation, "Share | of peak", derived("measured"));
        visit("wrap", self.wrap, "Torus instead of mesh", k_user_choice);
        visit("ici", self.ici, "Links between chips", k_user_choice);
        visit("spare", self.spare, "A second kind of link", k_user_choice);
        visit("workload", self.workload, "Steps, in order", k_user_choice);
        visit("note", self.note, "Free text", k_user_choice);
        visit("pairs", self.pairs, "Pairs of ranks", k_user_choice);
        visit("mask", self.mask, "Enabled planes", k_user_choice);
    }
    std::vector<config_problem> validate() const
    {
        std::vector<config_problem> problems;
        if (shape.size() != 2)
            problems.push_back({severity::error, "shape", "needs two dimensions"});
        if (seed == 13)
            problems.push_back({severity::error, "ici.flight_time", "does not go with seed 13"});
        if (seed == 14)
            problems.push_back({severity::error, "", "seed 14 does not go with the rest"});
        return problems;
    }
};

yaml_document document(const std::string& text) { return yaml_document::parse(text, "x.yaml"); }

struct outcome {
    pod_test_config config;
    std::vector<problem> problems;
    std::string text;
};

outcome read(const yaml_document& source)
{
    outcome out;
    out.config = read_config<pod_test_config>(source, out.problems, {"platform"});
    for (const auto& p : out.problems)
        out.text += to_string(p) + "\n";
    return out;
}
outcome read(const std::string& text) { return read(document(text)); }

/// Text of the user_error that the document itself is refused with.
std::string refusal(const std::string& text)
{
    try {
        document(text);
    } catch (const user_error& e) {
        return e.what();
    }
    return "accepted";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
        ++n;
    return n;
}

#define CHECK_SAYS(text, part)                                                                                         \
    do {                                                                                                               \
        const std::string said_ = (text);                                                                              \
        INFO(said_);                                                                                                   \
        CHECK(has(said_, part));                                                                                       \
    } while (false)

const char* const k_good = "# a good one\n"
                           "platform: test\n"
                           "title: \"a: b # c\"\n"
                           "shape: [2, 8]\n"
                           "seed: 42\n"
                           "utilisation: 1e-1\n"
                           "wrap: false\n"
                           "ici:\n"
                           "  link_rate: 656 Gbps\n"
                           "  clock: 940 MHz\n"
                           "workload:\n"
                           "  - op: all_gather\n"
                           "    bytes: 1 MiB\n"
                           "    ranks: [0, 1]\n"
                           "  - {op: none, check: false}\n"
                           "pairs: [[0, 1], [2, 3]]\n"
                           "mask: [true, false]\n";

} // namespace

TEST_CASE("a good file fills every kind of member", "[config][fast]")
{
    const auto out = read(k_good);
    INFO(out.text);
    REQUIRE(out.problems.empty());
    const auto& c = out.config;
    CHECK(c.title == "a: b # c");
    CHECK(c.shape == std::vector<std::uint32_t>{2, 8});
    CHECK(c.seed == 42);
    CHECK(c.utilisation == 0.1);
    CHECK_FALSE(c.wrap);
    CHECK(c.ici.link_rate == 82_GBps);
    CHECK(c.ici.flight_time == 50_ns); // untouched default
    CHECK(c.ici.clock.value() == 940_MHz);
    CHECK_FALSE(c.spare.has_value());
    REQUIRE(c.workload.size() == 2);
    CHECK(c.workload[0].op == test_op::all_gather);
    CHECK(c.workload[0].bytes == 1_MiB);
    CHECK(c.workload[1].op == test_op::none);
    CHECK_FALSE(c.workload[1].check);
    CHECK(c.pairs == std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}});
    CHECK(c.mask == std::vector<bool>{true, false});
    CHECK(read_config_or_throw<pod_test_config>(document(k_good), {"platform"}).seed == 42);
}

TEST_CASE("all problems of a file come in one pass and in its order", "[config][fast]")
{
    const auto out = read("seed: -1\n"
                          "ici:\n"
                          "  link_rte: 5 GB/s\n"
                          "  flight_time: 50\n"
                          "  depth: 2 packets\n"
                          "spare:\n"
                          "  link_rate: 0 GB/s\n"
                          "workload:\n"
                          "  - op: all_reduse\n"
                          "  - bytes: 0 B\n"
                          "wrap: yes\n");
    INFO(out.text);
    REQUIRE(out.problems.size() == 8);
    CHECK(to_string(out.problems[0]) == "x.yaml:1:7: error: seed: '-1' stands here; write a whole number from 0 to "
                                        "18446744073709551615 in decimal digits, without a unit");
    CHECK(to_string(out.problems[1]) == "x.yaml:3:3: error: ici.link_rte: unknown key; did you mean 'link_rate'?");
    CHECK(to_string(out.problems[2]) ==
          "x.yaml:4:16: error: ici.flight_time: '50' has no unit; write a time in ps, ns, us, "
          "ms or s, for example \"1.5 us\"");
    CHECK(to_string(out.problems[3]) == "x.yaml:5:10: warning: ici.depth: is below the round trip of 4 packets");
    CHECK(to_string(out.problems[4]) == "x.yaml:7:14: error: spare.link_rate: must be above zero; a link without rate "
                                        "moves nothing");
    CHECK(to_string(out.problems[5]) ==
          "x.yaml:9:9: error: workload.0.op: 'all_reduse' is not known here; did you mean "
          "'all_reduce'? legal values: all_reduce, all_gather, none");
    CHECK(to_string(out.problems[6]) == "x.yaml:10:12: error: workload.1.bytes: must be above zero");
    CHECK(to_string(out.problems[7]) == "x.yaml:11:7: error: wrap: 'yes' stands here; write true");
    CHECK_THROWS_AS(throw_if_errors(out.problems), user_error);
}

TEST_CASE("warnings alone let the run start", "[config][fast]")
{
    std::vector<problem> warnings;
    const auto config = read_config_or_throw<pod_test_config>(document("ici: {depth: 1 packet}\n"), {}, &warnings);
    CHECK(config.ici.depth == 1_packets);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].level == severity::warning);
}

TEST_CASE("a finding about a key that is not in the file points at its section", "[config][fast]")
{
    CHECK_SAYS(read("seed: 13\nici:\n  depth: 8 packets\n").text, "x.yaml:2:1: error: ici.flight_time: does not go");
    CHECK_SAYS(read("\n# comment\nseed: 13\n").text, "x.yaml:3:1: error: ici.flight_time: does not go");
    CHECK_SAYS(read("seed: 14\n").text, "x.yaml:1:1: error: seed 14 does not go");
    CHECK_SAYS(read("seed: 13\nici:\n  flight_time: 1 ns\n").text, "x.yaml:3:16: error: ici.flight_time: does not go");
}

TEST_CASE("a check does not judge a value that could not be read", "[config][fast]")
{
    CHECK(read("shape: 4\n").problems.size() == 1);
    CHECK(read("shap: [1]\nshape: [1, 2]\n").problems.size() == 1);
    const auto out = read("seed: 14\nici: 3\n"); // the root finding judges ici too
    INFO(out.text);
    REQUIRE(out.problems.size() == 1);
    CHECK_SAYS(out.text, "x.yaml:2:6: error: ici: '3' stands here; write a section");
    CHECK(read("seed: 13\nici: {flight_time: 1}\n").problems.size() == 1);
    CHECK(read("seed: 13\nici: {flight_tme: 1 ns}\n").problems.size() == 1); // what was meant was not read
}

TEST_CASE("unknown keys bring a suggestion or the legal keys", "[config][fast]")
{
    CHECK_SAYS(read("ici: {Link-Rate: 1 GB/s}\n").text, "did you mean 'link_rate'?");
    CHECK_SAYS(read("ici: {ilnk_rate: 1 GB/s}\n").text, "did you mean 'link_rate'?");
    CHECK_SAYS(read("ici: {zebra: 1}\n").text,
               "ici.zebra: unknown key; legal here: 'link_rate', 'flight_time', 'depth', 'clock'");
    CHECK_SAYS(read("workload:\n  - opp: none\n").text,
               "x.yaml:2:5: error: workload.0.opp: unknown key; did you mean 'op'");
    CHECK_SAYS(read("ici: {depth:5 packets}\n").text,
               "ici.'depth:5 packets': unknown key; a blank is missing after its ':'");
    CHECK_SAYS(read("ici.depth: 5 packets\n").text,
               "'ici.depth': unknown key; keys are joined by points only in --set");
    CHECK_SAYS(read("\"a\\nb\": 5\n").text, "error: 'a b': unknown key");
    // The platform key is known only where the caller says so.
    std::vector<problem> problems;
    read_config<pod_test_config>(document("platform: x\n"), problems);
    REQUIRE(problems.size() == 1);
    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += "unknown_" + std::to_string(i) + ": 1\n";
    const auto out = read(many);
    CHECK(out.problems.size() == 21);
    CHECK_SAYS(out.text, "980 more unknown keys");
}

TEST_CASE("shapes that YAML libraries accept and people misread are refused", "[config][fast]")
{
    // Whole numbers.
    CHECK_SAYS(read("seed: 010\n").text, "x.yaml:1:7: error: seed: '010' has a leading zero");
    CHECK_SAYS(read("shape: [4, 08]\n").text, "x.yaml:1:12: error: shape.1: '08' has a leading zero");
    CHECK(count(read("seed: 010\n").text, "\n") == 1);
    CHECK_SAYS(read("title: 007\n").text, "leading zero");
    CHECK(read("title: '007'\n").config.title == "007");
    CHECK(read("seed: 0\n").problems.empty());
    for (const char* wrong :
         {"0x10", "0o17",    "1_000", "1e3",  "1.0", "+5",  "-5",     "'5'",  "5 packets",
          "1:30", ".inf",    "~",     "null", "",    "[5]", "{a: 5}", "true", "18446744073709551616",
          "five", "!!int 5", "5 5"})
        CHECK_SAYS(read(std::string("seed: ") + wrong + "\n").text, "error: seed: ");
    CHECK(read("seed: 18446744073709551615\n").config.seed == 18446744073709551615u);
    CHECK_SAYS(read("shape: [4294967296, 1]\n").text,
               "shape.0: '4294967296' stands here; write a whole number from 0 to 4294967295");
    // Switches.
    for (const char* wrong : {"yes", "no", "on", "off", "y", "n", "True", "FALSE", "1", "0", "'true'", "~", ""})
        CHECK_SAYS(read(std::string("wrap: ") + wrong + "\n").text, "error: wrap: ");
    CHECK_SAYS(read("wrap: Off\n").text, "write false");
    // Real numbers.
    for (const char* wrong : {".nan", "nan", ".inf", "inf", "-.inf", "1e999", "0x1p3", "00.5", "05", ".5", "5.", "1,5",
                              "'0.5'", "50 %", "~"})
        CHECK_SAYS(read(std::string("utilisation: ") + wrong + "\n").text, "error: utilisation: ");
    CHECK(read("utilisation: -0.25\n").config.utilisation == -0.25);
    // Quantities.
    for (const char* wrong : {"82", "82 GHz", "-1 GB/s", "010 GB/s", "82 gb/s", "nan", "~", "''", "[82 GB/s]",
                              "82 GB/s extra", "0x10 GB/s", "!!str 82 GB/s"})
        CHECK_SAYS(read(std::string("ici: {link_rate: ") + wrong + "}\n").text, "error: ici.link_rate: ");
    CHECK(read("ici: {link_rate: '82 GB/s'}\n").problems.empty());
    CHECK_SAYS(read("ici: {link_rate: 82 GHz}\n").text, "is a frequency; write a bandwidth");
    // Text: what is written is what is meant, but something must be written.
    CHECK(read("title: no\n").config.title == "no");
    CHECK(read("title: 5\n").config.title == "5");
    CHECK(read("title: ''\n").config.title.empty());
    CHECK_SAYS(read("title: ~\n").text, "title: has no value; write text");
    CHECK_SAYS(read("title:\nseed: 1\n").text, "x.yaml:1:1: error: title: has no value");
    CHECK_SAYS(read("note: [a]\n").text, "note: is a list; write text");
    // Lists and sections.
    CHECK_SAYS(read("shape: 4\n").text, "shape: '4' stands here; write a list in which each entry is a whole number");
    CHECK_SAYS(read("shape: 4x4\n").text, "error: shape: ");
    CHECK_SAYS(read("shape: [4, [4]]\n").text, "shape.1: is a list; write a whole number");
    CHECK_SAYS(read("shape: {0: 4, 1: 4}\n").text, "shape: is a section with keys; write a list");
    CHECK_SAYS(read("shape: [4,, 4]\n").text, "error");
    CHECK_SAYS(read("shape:\n  - 4\n  -\n").text, "x.yaml:3:3: error: shape.1: has no value");
    CHECK_SAYS(read("workload: {op: none}\n").text,
               "workload: is a section with keys; write a list in which each entry");
    CHECK_SAYS(read("workload: [none]\n").text, "workload.0: 'none' stands here; write a section");
    CHECK_SAYS(read("ici:\nseed: 1\n").text, "x.yaml:1:1: error: ici: has no value; write a section");
    CHECK_SAYS(read("ici: [1]\n").text, "ici: is a list; write a section");
}

TEST_CASE("structure that hides or shares values is refused", "[config][fast]")
{
    CHECK_SAYS(read("seed: 1\nwrap: true\nseed: 2\n").text,
               "x.yaml:3:1: error: the key 'seed' stands here a second time, first in line 1");
    CHECK_SAYS(read("ici:\n  depth: 5 packets\n  depth: 6 packets\n").text, "x.yaml:3:3: error: ici: the key 'depth'");
    CHECK_SAYS(read("ici: {depth: 5 packets, 'depth': 6 packets}\n").text, "a second time");
    CHECK_SAYS(read("ici: &a {depth: 5 packets}\nspare: *a\n").text, "x.yaml:1:6: error: ici: anchors");
    CHECK_SAYS(read("ici: &a {depth: 5 packets}\nspare: *a\n").text, "x.yaml:2:8: error: spare: aliases");
    CHECK_SAYS(read("ici: {depth: 5 packets}\nspare:\n  <<: {depth: 5 packets}\n").text, "merge keys");
    CHECK_SAYS(read("seed: !!int 5\n").text, "tags (!type)");
    CHECK_SAYS(read("!foo seed: 5\n").text, "tags (!type)");
    CHECK_SAYS(read("? [a, b]\n: 5\n").text, "a key is one word");
    CHECK_SAYS(read(": 5\n").text, "a key is missing");
    CHECK_SAYS(read("~: 5\n").text, "a key is missing");
    CHECK_SAYS(refusal("ici:\n\tdepth: 5 packets\n"), "x.yaml:2:1: error: a tab stands in the indentation");
    CHECK_SAYS(refusal("ici:\n  \tdepth: 5 packets\n"), "x.yaml:2:3: error: a tab");
    CHECK(read("seed:\t5 \t# tabs between words are fine\n").config.seed == 5);
    CHECK_SAYS(refusal("seed: 1\n---\nseed: 2\n"), "a second YAML document");
    CHECK_SAYS(refusal("seed: 1\n...\nseed: 2\n"), "a second YAML document");
    CHECK(read("---\nseed: 1\n...\n").config.seed == 1);
    // An alias bomb has no chance: no alias is ever followed.
    std::string bomb = "a0: &a0 [x, x]\n";
    for (int i = 1; i < 40; ++i)
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ", *a" +
                std::to_string(i - 1) + "]\n";
    CHECK_SAYS(read(bomb).text, "aliases");
}

TEST_CASE("what is no YAML tree at all is refused with its place", "[config][fast]")
{
    CHECK_SAYS(refusal(""), "x.yaml: error: the file is empty");
    CHECK_SAYS(refusal("# only a comment\n\n"), "the file is empty");
    CHECK_SAYS(refusal("---\n"), "the file is empty");
    CHECK_SAYS(refusal("~\n"), "the file is empty");
    CHECK_SAYS(refusal("- a\n- b\n"), "x.yaml:1:1: error: the file holds a list at its top level");
    CHECK_SAYS(refusal("hello\n"), "the file holds plain text at its top level");
    CHECK_SAYS(refusal("seed: 1\nici: [1, 2\n"), "this is not valid YAML");
    CHECK_SAYS(refusal("seed: 1\n  wrap: true\n"), "x.yaml:2:7: error: this is not valid YAML");
    for (const char* open : {"title: \"no end", "title: \"no end\n", "title: 'no end\n", "title: \"no \\\"\n",
                             "title: 'it''s\n\n", "\"title: 5\n", "note: [\"a]\n"})
        CHECK_SAYS(refusal(open), "this is not valid YAML: ");
    CHECK(read("title: 'it''s'\n").config.title == "it's");
    CHECK(read("title: \"say \\\"x\\\"\"\n").config.title == "say \"x\"");
    CHECK_SAYS(refusal("ici:\n  depth: 1 packet\n wrap: true\n"),
               "x.yaml:3:2: error: this is not valid YAML: this does not continue");
    CHECK_SAYS(refusal("title: *nobody\n"), "this is not valid YAML");
    CHECK_SAYS(refusal("title: @x\n"),
               "x.yaml:1:8: error: this is not valid YAML: this character cannot begin a value");
    CHECK_SAYS(refusal("seed: 1\ntitle: caf\xe9\n"), "x.yaml:2:11: error: byte 0xe9 is not UTF-8 text");
    CHECK_SAYS(refusal("\xff\xfes\0e\0"), "not UTF-8");
    CHECK_SAYS(refusal(std::string("seed: \0 1\n", 10)), "x.yaml:1:7: error: byte 0x00 is a control character");
    CHECK_SAYS(refusal("\x7f"
                       "ELF"),
               "control character");
    CHECK_SAYS(refusal("a: \xed\xa0\x80\n"), "not UTF-8"); // a surrogate
    CHECK_SAYS(refusal("a: \xc0\xaf\n"), "not UTF-8");     // overlong
    CHECK(refusal("\xef\xbb\xbfseed: 1\r\nwrap: true\r\n") == "accepted");
    CHECK(read("title: caf\xc3\xa9\n").config.title == "caf\xc3\xa9");
}

TEST_CASE("limits are refused quickly and without a crash", "[config][fast]")
{
    const auto start = std::chrono::steady_clock::now();
    const std::size_t deep = 100000;
    CHECK_SAYS(refusal("a: " + std::string(deep, '[')), "nested more than 64 levels");
    CHECK_SAYS(refusal("a: " + std::string(deep, '[') + std::string(deep, ']')), "nested more than 64 levels");
    CHECK_SAYS(refusal("a: " + std::string(deep, '{')), "nested more than 64 levels");
    std::string dashes, questions, keys, indent;
    for (std::size_t i = 0; i < deep; ++i) {
        dashes += "- ";
        questions += "? ";
        if (i < 1000)
            keys += std::string(i, ' ') + "a:\n";
    }
    CHECK_SAYS(refusal(dashes), "nested more than 64 levels");
    CHECK_SAYS(refusal(questions), "nested more than 64 levels");
    CHECK_SAYS(refusal(keys), "nested more than 64 levels");
    CHECK_SAYS(refusal("a: " + std::string(5u << 20, 'x')), "larger than 4 MiB");
    std::string many = "a: [1";
    for (int i = 0; i < 300000; ++i)
        many += ",1";
    CHECK_SAYS(refusal(many + "]\n"), "more than 200000 values");
    std::string long_key(100000, 'k');
    CHECK_SAYS(read("title: x\n? " + long_key + "\n: 5\n").text, "unknown key");
    CHECK(read("title: x\n? " + long_key + "\n: 5\n").text.size() < 1000);
    CHECK(read("seed: " + std::string(1000000, '9') + "\n").text.size() < 1000);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20)); // quadratic work would take minutes
}

TEST_CASE("files that cannot be read are the user's fault", "[config][fast]")
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("weft_config_test_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const auto error_of = [](const fs::path& path) -> std::string {
        try {
            yaml_document::load(path.string());
        } catch (const user_error& e) {
            return e.what();
        }
        return "accepted";
    };
    CHECK_SAYS(error_of(folder / "missing.yaml"), "missing.yaml: error: there is no such file");
    CHECK_SAYS(error_of(folder), "this is a directory");
    CHECK_SAYS(error_of(""), "there is no such file");
    CHECK_SAYS(error_of(folder / "a" / "b.yaml"), "there is no such file");
    std::ofstream(folder / "good.yaml") << "seed: 3\n";
    CHECK(error_of(folder / "good.yaml") == "accepted");
    CHECK_SAYS(error_of(folder / "good.yaml" / "x"), "error:");
    CHECK(yaml_document::load((folder / "good.yaml").string()).source() == "seed: 3\n");
    std::ofstream(folder / "empty.yaml") << "";
    CHECK_SAYS(error_of(folder / "empty.yaml"), "empty.yaml: error: the file is empty");
    std::ofstream(folder / "big.yaml") << std::string((4u << 20) + 1, '#');
    CHECK_SAYS(error_of(folder / "big.yaml"), "larger than 4 MiB");
    if (::geteuid() != 0) {
        fs::permissions(folder / "good.yaml", fs::perms::none);
        CHECK_SAYS(error_of(folder / "good.yaml"), "cannot be read");
    }
    fs::remove_all(folder);
}

TEST_CASE("overrides replace and add values", "[config][fast]")
{
    auto source = document(k_good);
    source.apply_overrides({"seed=7", "ici.link_rate=50 GB/s", "workload.1.op=all_reduce", "spare.depth=9 packets",
                            "shape=[1, 2]", "title=\"a=b\"", "workload.0={op: none}", "seed=8"});
    const auto out = read(source);
    INFO(out.text);
    REQUIRE(out.problems.empty());
    CHECK(out.config.seed == 8);
    CHECK(out.config.ici.link_rate == 50_GBps);
    CHECK(out.config.ici.clock.value() == 940_MHz);
    CHECK(out.config.workload[1].op == test_op::all_reduce);
    CHECK(out.config.workload[0].op == test_op::none);
    CHECK(out.config.workload[0].bytes == 4_KiB);
    CHECK(out.config.spare.value().depth == 9_packets);
    CHECK(out.config.shape == std::vector<std::uint32_t>{1, 2});
    CHECK(out.config.title == "a=b");
}

TEST_CASE("an override of null takes a key out as if no file had it", "[config][fast]")
{
    auto source = document(k_good);
    REQUIRE(source.find("ici.clock") != nullptr);
    source.apply_overrides({"ici.clock=null", "seed=~", "workload.1.op=null"});
    CHECK(source.find("ici") != nullptr);
    CHECK(source.find("ici.clock") == nullptr);
    CHECK(source.find("seed") == nullptr);
    CHECK(source.find("workload.1.op") == nullptr);
    CHECK(source.find("workload.0.op") != nullptr);
    source.apply_overrides({"seed=8"}); // and it can be set again
    CHECK(source.find("seed")->text == "8");
}

TEST_CASE("a bad override is refused and named", "[config][fast]")
{
    const auto refused = [](const std::string& assignment) -> std::string {
        auto source = document(k_good);
        try {
            source.apply_overrides({assignment});
        } catch (const user_error& e) {
            return e.what();
        }
        return "accepted";
    };
    CHECK_SAYS(refused("seed"), "--set: error: 'seed' is not of the form key.path=value");
    CHECK_SAYS(refused("=5"), "not of the form");
    CHECK_SAYS(refused(""), "not of the form");
    CHECK_SAYS(refused("ici..depth=5"), "not a key path");
    CHECK_SAYS(refused(".seed=5"), "not a key path");
    CHECK_SAYS(refused("seed.=5"), "not a key path");
    CHECK_SAYS(refused("workload[0].op=none"), "not a key path");
    CHECK_SAYS(refused("seed =5"), "not a key path");
    CHECK_SAYS(refused("seed="), "seed: no value follows '='");
    CHECK_SAYS(refused("seed= "), "seed: no value follows '='");
    CHECK_SAYS(refused("sead=null"), "sead: is null, which takes a key out, but no such key is set");
    CHECK_SAYS(refused("workload.0=null"), "workload.0: is null, which takes a key out");
    CHECK_SAYS(refused("workload.2.op=none"), "'workload' has no entry 2; its entries count from 0, the last is 1");
    CHECK_SAYS(refused("workload.op=none"), "'op' is no index");
    CHECK_SAYS(refused("workload.00.op=none"), "'00' is no index");
    CHECK_SAYS(refused("workload.99999999999999999999.op=none"), "is no index");
    CHECK_SAYS(refused("seed.x=5"), "'seed' is the single value '42', it has no key 'x'");
    CHECK_SAYS(refused("seed=[1"), "seed: this is not valid YAML");
    CHECK_SAYS(refused("seed=010"), "--set: error: seed: '010' has a leading zero");
    CHECK_SAYS(refused("ici={depth: 1 packet, depth: 2 packets}"), "a second time");
    CHECK_SAYS(refused("seed=&a 5"), "anchors");
    CHECK_SAYS(refused("a" + std::string(1000, '.') + "=5"), "not a key path");
    // What the override itself cannot know, the reader says, with its origin.
    auto source = document(k_good);
    source.apply_overrides({"ici.link_rate=0 GB/s", "sead=5", "workload.0.bytes=5"});
    const auto out = read(source);
    CHECK_SAYS(out.text, "--set: error: ici.link_rate: must be above zero");
    CHECK_SAYS(out.text, "--set: error: sead: unknown key");
    CHECK_SAYS(out.text, "--set: error: workload.0.bytes: '5' has no unit");
    // All bad overrides at once.
    try {
        source.apply_overrides({"seed", "ici..depth=5"});
        FAIL("accepted");
    } catch (const user_error& e) {
        CHECK(e.problems().size() == 2);
    }
}

TEST_CASE("the platform key can be read before anything else", "[config][fast]")
{
    std::vector<problem> problems;
    const auto source = document("# x\nplatform: tpu\nseed: 1\n");
    const auto name = source.peek_string("platform", problems);
    REQUIRE(name.has_value());
    CHECK(name->text == "tpu");
    CHECK(name->where.line == 2);
    CHECK(name->where.column == 11);
    CHECK_FALSE(source.peek_string("absent", problems).has_value());
    CHECK(problems.empty());
    CHECK_FALSE(document("platform: [a]\n").peek_string("platform", problems).has_value());
    REQUIRE(problems.size() == 1);
    CHECK(to_string(problems[0]) == "x.yaml:1:1: error: platform: needs one word, for example a name");
    add_problem(source, problems, "platform", "is unknown");
    CHECK(to_string(problems[1]) == "x.yaml:2:11: error: platform: is unknown");
}

TEST_CASE("a problem is shown with its line and a caret", "[config][fast]")
{
    const std::string text = "seed: 1\nici: {link_rate: 82}\n";
    const auto out = read(text);
    REQUIRE(out.problems.size() == 1);
    const std::string shown = render(out.problems[0], text);
    CHECK_SAYS(shown, "x.yaml:2:18: error: ici.link_rate: '82' has no unit");
    CHECK_SAYS(shown, "\n    ici: {link_rate: 82}\n                     ^");
    const auto at = [](int line, int column) { return problem{severity::error, {"f", line, column}, "", "m"}; };
    CHECK(render(at(0, 0), text) == "f: error: m");
    CHECK(render(at(9, 1), text) == "f:9:1: error: m");
    CHECK(render(at(1, 1), "") == "f:1:1: error: m");
    CHECK(render(at(1, 3), "\tx: y\r\n") == "f:1:3: error: m\n    \tx: y\n    \t ^");
    CHECK(render(at(1, 6), "\xc3\xa9\xc3\xa9 x") ==
          "f:1:6: error: m\n    \xc3\xa9\xc3\xa9 x\n       ^"); // a caret per character
    CHECK(render(at(1, 99), "abc") == "f:1:99: error: m\n    abc\n       ^");
    CHECK_FALSE(has(render(at(1, 1), "\x1b[31mred"), "\x1b"));
    const std::string wide = render(at(1, 5000), std::string(9999, 'x'));
    CHECK(wide.size() < 400);
    CHECK_SAYS(wide, "...");
}

TEST_CASE("the resolved dump reads back to the same values and says where they come from", "[config][fast]")
{
    auto source = document(k_good);
    source.apply_overrides({"ici.depth=9 packets"});
    auto out = read(source);
    REQUIRE(out.problems.empty());
    out.config.note = "line one\nline \"two\" \x7f \\ \t caf\xc3\xa9 # no";
    const std::string text = to_yaml(describe(out.config), &source);
    INFO(text);
    CHECK_SAYS(text, "seed: 42  # Seed of all random numbers; set by x.yaml:5\n");
    CHECK_SAYS(text, "  link_rate: 82 GB/s  # Rate of one link, one direction; set by x.yaml:9\n");
    CHECK_SAYS(text, "  flight_time: 50 ns  # Propagation delay; default, source: assumed: nothing is published\n");
    CHECK_SAYS(text, "  depth: 9 packets  # Receive buffer of a VL; set by --set\n");
    CHECK_SAYS(text, "# spare: not set  # A second kind of link\n");
    CHECK_SAYS(
        text, "workload:  # Steps, in order\n  - op: all_gather  # The collective; set by x.yaml:12\n    bytes: 1 MiB");
    CHECK_SAYS(text, "pairs: [[0, 1], [2, 3]]");
    const auto back = read(text);
    INFO(back.text);
    REQUIRE(back.problems.empty());
    CHECK(to_json(describe(back.config)) == to_json(describe(out.config)));
    CHECK(back.config.note.value() == out.config.note.value());
    // Words that an old reader takes for a switch or a number are quoted.
    for (const char* word :
         {"yes", "Off", "null", "~", "1.5", "007", "", " x", "a: b", "#", "- a", "true", "<<", "*x"}) {
        pod_test_config c;
        c.title = word;
        const std::string dumped = to_yaml(describe(c));
        INFO(dumped);
        CHECK_SAYS(dumped, "title: \"");
        CHECK(read(dumped).config.title == word);
    }
    // Without any value at all, lists and sections stay what they are.
    CHECK(read(to_yaml(describe(pod_test_config{}))).problems.empty());
}

TEST_CASE("random configs survive dump and read", "[config][fast]")
{
    std::mt19937_64 random(11);
    for (int i = 0; i < 300; ++i) {
        pod_test_config c;
        c.title.clear();
        for (std::size_t n = random() % 12; n > 0; --n)
            c.title += static_cast<char>(1 + random() % 127);
        c.seed = random() | 16;
        c.utilisation = static_cast<double>(random()) / 1e7 * (random() % 2 == 0 ? 1 : -1e-20);
        c.ici.link_rate = bandwidth(1 + random() % 10000000000000ull);
        c.ici.flight_time = duration(random() >> (random() % 60));
        if (random() % 2 == 0)
            c.spare = link_test_config{};
        for (std::size_t n = random() % 4; n > 0; --n) {
            step_test_config step;
            step.op = static_cast<test_op>(random() % 3);
            step.bytes = data_size(1 + (random() >> 10));
            step.ranks.assign(random() % 3, static_cast<std::uint32_t>(random()));
            c.workload.push_back(step);
        }
        const std::string text = to_yaml(describe(c));
        const auto back = read(text);
        INFO(text << back.text);
        REQUIRE(back.problems.empty());
        REQUIRE(back.config.title == c.title);
        REQUIRE(back.config.utilisation == c.utilisation);
        REQUIRE(to_json(describe(back.config)) == to_json(describe(c)));
    }
}

TEST_CASE("JSON and JSON Schema and the docs table follow the fields", "[config][fast]")
{
    const auto config = read(k_good).config;
    const auto json = to_json(describe(config));
    CHECK(json.at("ici").at("link_rate") == "82 GB/s");
    CHECK(json.at("workload").at(1).at("op") == "none");
    CHECK(json.at("seed") == 42);
    CHECK_FALSE(json.contains("spare"));

    const auto schema = json_schema(describe(pod_test_config{}), "test", {"platform"});
    CHECK(schema.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
    CHECK(schema.at("title") == "test");
    CHECK(schema.at("additionalProperties") == false);
    const auto& properties = schema.at("properties");
    CHECK(properties.at("platform").at("type") == "string");
    CHECK(properties.at("ici").at("properties").at("link_rate").at("default") == "82 GB/s");
    CHECK(properties.at("ici").at("properties").at("link_rate").contains("pattern"));
    CHECK(properties.at("workload").at("items").at("properties").at("op").at("enum") ==
          nlohmann::json({"all_reduce", "all_gather", "none"}));
    CHECK(properties.at("shape").at("default") == nlohmann::json({4, 4}));
    CHECK(properties.at("shape").at("items").at("maximum") == 4294967295u);
    CHECK_FALSE(properties.at("note").contains("default"));
    CHECK_SAYS(properties.at("utilisation").at("description").get<std::string>(), "Default: derived: measured");

    const std::string table = markdown_table(describe(pod_test_config{}));
    CHECK_SAYS(table,
               "| `ici.link_rate` | bandwidth | `82 GB/s` | Rate of one link, one direction | quoted: a paper, section 2");
    CHECK_SAYS(table,
               "| `workload.N.op` | one of `all_reduce`, `all_gather`, `none` | `all_reduce` | The collective |  |\n");
    CHECK_SAYS(table, "| `utilisation` | number | `0.5` | Share \\| of peak | derived: measured |\n");
    CHECK_SAYS(table, "| `spare.depth` |");
    CHECK_SAYS(table, "| `note` | text | not set |");
}

TEST_CASE("suggestions are close or absent", "[config][fast]")
{
    const std::vector<std::string> words = {"link_rate", "depth", "op"};
    CHECK(closest("link_rat", words) == "link_rate");
    CHECK(closest("LINK-RATE", words) == "link_rate");
    CHECK(closest("detph", words) == "depth");
    CHECK(closest("zebra", words).empty());
    CHECK(closest("", words).empty());
    CHECK(closest(std::string(100000, 'x'), words).empty());
    CHECK(suggestion("zebra", {}) == "nothing is legal here");
    CHECK(in_quotes("a\nb") == "'a b'");
    CHECK(in_quotes(std::string(59, 'x') + "\xc3\xa9") == "'" + std::string(59, 'x') + "...'");
}

TEST_CASE("no bytes at all make the reader crash or fall silent", "[config][fuzz][fast]")
{
    std::mt19937 random(2026);
    const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    const std::string seeds[] = {k_good, to_yaml(describe(pod_test_config{})),
                                 "a: &x {b: [1, 2, *x]}\n? k\n: |\n  text\n  more\nc: >-\n  folded\n<<: *x\n",
                                 "%YAML 1.2\n---\n!!map {a: !t 'x', \"b\\u0041\": ~}\n...\n"};
    const char* const tokens[] = {"[",    "]",          "{",   "}",      ":",  ": ",         "- ",    "? ",   "&a ",
                                  "*a",   "!",          "!!",  "|",      ">",  "'",          "\"",    "#",    "\n",
                                  "\n  ", "%",          "@",   "`",      ",",  "---\n",      "...\n", "<<: ", "010",
                                  "~",    "\\",         "\\x", "\\u12",  "\t", "\xc3\xa9",   "\xff",  "\r",   "|+2\n",
                                  "!<",   "%TAG ! x\n", "0",   "9 GB/s", ".",  "\\UFFFFFFFF"};
    std::size_t accepted = 0, refused = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string text;
        if (i % 4 == 0) { // raw bytes
            for (std::size_t n = pick(60); n > 0; --n)
                text += static_cast<char>(i % 8 == 0 ? pick(256) : 32 + pick(95));
        } else if (i % 4 == 1) { // words of the language
            for (std::size_t n = pick(25); n > 0; --n)
                text += tokens[pick(std::size(tokens))];
        } else { // a good file, damaged
            text = seeds[pick(std::size(seeds))];
            if (pick(2) == 0)
                text = text.substr(0, pick(text.size() + 1));
            for (std::size_t n = 1 + pick(4); n > 0 && !text.empty(); --n) {
                const std::size_t at = pick(text.size());
                switch (pick(4)) {
                case 0: text[at] = static_cast<char>(pick(128)); break;
                case 1: text.erase(at, 1 + pick(5)); break;
                case 2: text.insert(at, tokens[pick(std::size(tokens))]); break;
                default: text.insert(at, text.substr(pick(text.size()), pick(20))); break;
                }
            }
        }
        std::vector<problem> problems;
        try {
            auto source = document(text);
            if (i % 16 == 3)
                source.apply_overrides({text.substr(0, 20), "seed=" + text.substr(0, 10)});
            const auto config = read_config<pod_test_config>(source, problems, {"platform"});
            throw_if_errors(problems);
            (void)to_yaml(describe(config), &source);
            ++accepted;
        } catch (const user_error& e) {
            problems = e.problems();
            REQUIRE_FALSE(problems.empty());
            ++refused;
        }
        for (const auto& p : problems) {
            REQUIRE_FALSE(p.message.empty());
            REQUIRE((p.where.file == "x.yaml" || p.where.file == "--set"));
            REQUIRE(render(p, text).size() < 2000);
        }
    }
    CHECK(accepted > 100);
    CHECK(refused > 10000);
}
