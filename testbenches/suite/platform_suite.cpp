// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The bench that all platforms share. A platform takes part by a file samples.yaml in its folder: small machines, what breaks on them,
// what is refused. Nothing here knows a platform: which collectives run on a machine, it asks.
#include "testbenches/issues/program.h"

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct sample {
    std::string name;
    std::string core; ///< key of its cores
    YAML::Node machine;
    std::vector<std::string> failures, refused;
};

/// Of the files that this program is built with; of one platform alone, where WEFT_SUITE_PLATFORM names it.
std::vector<sample> samples()
{
    const char* const only = std::getenv("WEFT_SUITE_PLATFORM");
    std::vector<sample> all;
    std::istringstream files(WEFT_SAMPLES);
    for (std::string file; std::getline(files, file, ':');)
        for (const YAML::Node& n : YAML::LoadFile(file)) {
            sample s{n["name"].as<std::string>(), n["core"].as<std::string>(), n["machine"], {}, {}};
            for (const YAML::Node& f : n["failures"])
                s.failures.push_back(f.as<std::string>());
            for (const YAML::Node& r : n["refused"])
                s.refused.push_back(r.as<std::string>());
            if (only == nullptr || s.machine["platform"].as<std::string>() == only)
                all.push_back(std::move(s));
        }
    REQUIRE(!all.empty());
    return all;
}

std::string quoted(const std::string& text) { return " '" + text + "'"; }

struct pair {
    std::string op, algorithm;
};

/// All collectives and algorithms of `weft list`, by their headings.
std::vector<std::string> listed(const program_folder& folder, const std::string& heading)
{
    REQUIRE(folder.weft("list") == 0);
    std::istringstream text(folder.read("stdout"));
    std::vector<std::string> names;
    bool inside = false;
    for (std::string line; std::getline(text, line);) {
        if (line.rfind("  ", 0) != 0)
            inside = line.rfind(heading, 0) == 0;
        else if (inside)
            names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    REQUIRE(names.size() >= 5);
    return names;
}

/// A sample in a folder of its own, and the workload of everything that it can run.
/// Every error is about the algorithm: any other one would pass for "cannot run here". Source lines, which are quoted, name it always.
void check_refusal(const std::string& said, const std::string& algorithm)
{
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);)
        if (line.find(": error: ") != std::string::npos) {
            INFO(said);
            CHECK_THAT(line, Contains(algorithm));
        }
}

class sample_machine : public program_folder {
public:
    explicit sample_machine(const sample& s)
    {
        YAML::Node file = YAML::Clone(s.machine);
        file["name"] = "a";
        const std::vector<std::string> ops = listed(*this, "collectives"), algorithms = listed(*this, "algorithms");
        for (const std::string& op : ops)
            for (const std::string& algorithm : algorithms) {
                file["workload"] =
                    YAML::Load("[{op: " + op + ", algorithms: [" + algorithm + "], types: [int32], sizes: [4 KiB]}]");
                write("a.yaml", YAML::Dump(file) + "\n");
                const int code = weft("check a.yaml");
                REQUIRE((code == 0 || code == 2));
                if (code == 0)
                    runs_.push_back({op, algorithm});
                else
                    check_refusal(read("stderr"), algorithm);
            }
        INFO("the last refusal: " << read("stderr"));
        REQUIRE(!runs_.empty());
        file["workload"] = YAML::Load("[]");
        base_ = YAML::Dump(file);
    }
    /// All that runs, with these sizes and types; algorithms that need other types keep those that they can have. What cannot stand in
    /// one file comes into several.
    void use(const std::vector<std::string>& sizes, const std::vector<std::string>& types)
    {
        const auto entry = [&](const pair& p, const std::vector<std::string>& of) {
            YAML::Node e;
            e["op"] = p.op;
            e["algorithms"].push_back(p.algorithm);
            e["sizes"] = sizes;
            e["types"] = of;
            return e;
        };
        const auto with = [&](const YAML::Node& file, const YAML::Node& e) {
            YAML::Node all = YAML::Clone(file);
            all["workload"].push_back(YAML::Clone(e));
            write("try.yaml", YAML::Dump(all) + "\n");
            return weft("check try.yaml") == 0 ? all : YAML::Node();
        };
        std::vector<YAML::Node> files;
        for (const pair& p : runs_) {
            std::vector<std::string> fit;
            for (const std::string& type : types)
                if (with(YAML::Load(base_), entry(p, {type})).IsMap())
                    fit.push_back(type);
            bool placed = fit.empty();
            for (YAML::Node& file : files)
                if (const YAML::Node more = placed ? YAML::Node() : with(file, entry(p, fit)); more.IsMap())
                    file = more, placed = true;
            if (!placed)
                files.push_back(with(YAML::Load(base_), entry(p, fit)));
        }
        REQUIRE(!files.empty());
        files_.clear();
        for (const YAML::Node& file : files) {
            files_.push_back(std::string(1, static_cast<char>('a' + files_.size())) + ".yaml");
            write(files_.back(), YAML::Dump(file) + "\n");
        }
    }
    const std::vector<std::string>& files() const { return files_; }
    /// Results of all files together.
    json run(const std::string& overrides = "")
    {
        json all = {{"results", json::array()}, {"digest", ""}};
        for (const std::string& file : files_) {
            INFO("weft run " << file << overrides);
            const int code = weft("run " + file + " --quiet" + overrides);
            INFO(read("stderr"));
            REQUIRE(code == 0);
            const json one = json::parse(read("out/a/results.json"));
            all["results"].insert(all["results"].end(), one.at("results").begin(), one.at("results").end());
            all["digest"] = all["digest"].get<std::string>() + one.at("digest").get<std::string>();
        }
        return all;
    }
    const std::vector<pair>& runs() const { return runs_; }

private:
    std::vector<pair> runs_;
    std::vector<std::string> files_;
    std::string base_;
};

void check_exact(const json& results)
{
    REQUIRE(!results.at("results").empty());
    for (const json& row : results.at("results")) {
        INFO(row.dump());
        CHECK(row.at("wrong") == 0);
        CHECK(row.at("time_us") > 0);
    }
}

std::map<std::string, double> times(const json& results)
{
    std::map<std::string, double> all;
    for (const json& r : results.at("results"))
        all[r.at("op").get<std::string>() + " " + r.at("algorithm").get<std::string>() + " " +
            r.at("type").get<std::string>() + " " + std::to_string(r.at("size_bytes").get<std::uint64_t>())] =
            r.at("time_us").get<double>();
    return all;
}

} // namespace

TEST_CASE("suite: every collective that a machine can run is exact for odd sizes and all types")
{
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        m.use({"4 B", "60 B", "4100 B", "100 KiB"}, {"int32", "float32", "float16", "bfloat16"});
        check_exact(m.run());
        check_exact(m.run(" --set cases=continuous --seed 7"));
    }
}

TEST_CASE("suite: a run is the same again and takes the same time without data")
{
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        m.use({"4 B", "36 KiB"}, {"int32"});
        const json first = m.run();
        CHECK(m.run().at("digest") == first.at("digest"));
        CHECK(times(m.run(" --set data=off")) == times(first));
    }
}

TEST_CASE("suite: trains keep their bound and a case takes the same time alone")
{
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        m.use({"2 MiB"}, {"int32"});
        const auto chosen = times(m.run(" --set data=off"));
        for (const auto& [what, single_us] : times(m.run(" --set data=off --set 'burst=1 packet'"))) {
            INFO(what);
            CHECK(std::abs(chosen.at(what) - single_us) <= 0.02 * single_us);
        }
        const pair& one = m.runs().front();
        const auto alone = times(m.run(" --set data=off --set 'workload=[{op: " + one.op + ", algorithms: [" +
                                       one.algorithm + "], types: [int32], sizes: [2 MiB]}]'"));
        for (const auto& [what, us] : alone)
            CHECK(chosen.at(what) == us);
    }
}

#ifdef WEFT_UNICORN
TEST_CASE("suite: RISC-V cores give the answers of native ones")
{
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        m.use({"4 B", "4100 B"}, {"int32"});
        check_exact(m.run(" --set " + s.core + ".model=rv64"));
    }
}
#endif

TEST_CASE("suite: what breaks leaves exact answers or is explained")
{
    for (const sample& s : samples()) {
        sample_machine m(s);
        m.use({"64 KiB"}, {"int32"});
        for (const std::string& failure : s.failures) {
            INFO(s.name << ": " << failure);
            const std::string set = " --quiet --set" + quoted(failure) + " --set 'firmware_timeout=2 ms'";
            for (const std::string& file : m.files()) {
                const int code = m.weft("run " + file + set);
                const std::string said = m.read("stderr");
                INFO(file << ": " << said);
                CHECK((code == 0 || code == 1 || code == 2));
                if (code == 0) {
                    check_exact(json::parse(m.read("out/a/results.json")));
                } else if (code == 1) { // where, who waits, and for what
                    CHECK_THAT(said, Contains("did not complete"));
                    CHECK_THAT(said, Contains("went down") || Contains("is down") || Contains("cannot reach") ||
                                         Contains("waits for") || Contains("timed out"));
                } else { // what runs on the machine that is left is known before
                    CHECK_THAT(said, Contains("error: workload."));
                }
                // The same failure, the same end.
                CHECK(m.weft("run " + file + set) == code);
            }
        }
    }
}

TEST_CASE("suite: what is refused is refused with its key and nothing is written")
{
    for (const sample& s : samples()) {
        sample_machine m(s);
        m.use({"4 KiB"}, {"int32"});
        std::filesystem::remove_all(m / "out");
        for (const std::string& refused : s.refused) {
            INFO(s.name << ": " << refused);
            CHECK(m.weft("run a.yaml --set" + quoted(refused)) == 2);
            CHECK_THAT(m.read("stderr"), Contains("error: " + refused.substr(0, refused.find('='))));
            CHECK_FALSE(m.exists("out"));
        }
    }
}

TEST_CASE("suite: check proves the routing and the resolved file is the same machine")
{
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        m.use({"4 B", "36 KiB"}, {"int32"});
        REQUIRE(m.weft("check a.yaml") == 0);
        CHECK_THAT(m.read("stdout"), Contains("Proof ") && Contains("acyclic"));
        const json plain = m.run();
        for (const std::string& file : m.files()) {
            REQUIRE(m.weft("check " + file + " --resolved") == 0);
            m.write(file, m.read("stdout"));
        }
        CHECK(m.run().at("digest") == plain.at("digest"));
    }
}

TEST_CASE("suite: the trace has every rank and some wire and the report names its busiest links and memory")
{
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        m.use({"36 KiB"}, {"int32"});
        REQUIRE(m.weft("run a.yaml --trace t.json") == 0);
        CHECK_THAT(m.read("stdout"), Contains("Busiest links") && Contains(" traffic"));
        const json trace = json::parse(m.read("t.json"));
        std::set<std::string> processes;
        std::size_t slices = 0;
        for (const json& e : trace.at("traceEvents")) {
            if (e.at("ph") == "M" && e.at("name") == "process_name")
                processes.insert(e.at("args").at("name").get<std::string>().substr(0, 6));
            slices += e.at("ph") == "X" ? 1 : 0;
        }
        CHECK(processes.count("rank 0") == 1);
        CHECK(processes.count("rank 1") == 1);
        CHECK(processes.count("links") == 1);
        CHECK(slices > 100);
    }
}
