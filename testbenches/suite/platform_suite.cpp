// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The bench that all platforms share. A platform takes part by a file samples.yaml in its folder: small machines, what breaks on them,
// what is refused. Nothing here knows a platform: which collectives run on a machine, it asks.
#include "testbenches/issues/program.h"

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <algorithm>
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

/// An entry of a workload with one collective, and its line in a file.
struct entry {
    pair what;
    std::string line;
};

/// A sample in a folder of its own, and the workload of everything that it can run.
class sample_machine : public program_folder {
public:
    explicit sample_machine(const sample& s)
    {
        YAML::Node file = YAML::Clone(s.machine);
        file["name"] = "a";
        file.SetStyle(YAML::EmitterStyle::Block);
        base_ = YAML::Dump(file) + "\nworkload:\n";
        const std::vector<std::string> algorithms = listed(*this, "algorithms");
        for (const std::string& op : listed(*this, "collectives"))
            for (const std::string& algorithm : algorithms)
                all_.push_back({op, algorithm});
        for (const std::vector<entry>& together : workloads(entries(all_, {"4 KiB"}, {"int32"})))
            for (const entry& e : together)
                runs_.push_back(e.what);
        REQUIRE(!runs_.empty());
    }
    /// All that runs, with these sizes and types; algorithms that need other types keep those that they can have. What cannot stand in
    /// one file comes into several.
    void use(const std::vector<std::string>& sizes, const std::vector<std::string>& types)
    {
        files_.clear();
        for (const std::vector<entry>& together : workloads(entries(runs_, sizes, types))) {
            files_.push_back(std::string(1, static_cast<char>('a' + files_.size())) + ".yaml");
            write_workload(files_.back(), together);
        }
        REQUIRE(!files_.empty());
    }
    /// Whether a file with this collective alone is accepted; its refusal names the algorithm.
    bool runs_alone(const pair& p)
    {
        write_workload("alone.yaml", entries({p}, {"4 KiB"}, {"int32"}));
        const int code = weft("check alone.yaml");
        REQUIRE((code == 0 || code == 2));
        if (code == 2)
            check_refusal(read("stderr"), p.algorithm);
        return code == 0;
    }
    const std::vector<pair>& all() const { return all_; }
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
    static std::vector<entry> entries(const std::vector<pair>& pairs, const std::vector<std::string>& sizes,
                                      const std::vector<std::string>& types)
    {
        std::string quoted_sizes;
        for (const std::string& size : sizes)
            quoted_sizes += (quoted_sizes.empty() ? "" : ", ") + size;
        std::vector<entry> made;
        for (const pair& p : pairs)
            for (const std::string& type : types)
                made.push_back({p, "  - {op: " + p.op + ", algorithms: [" + p.algorithm + "], types: [" + type +
                                       "], sizes: [" + quoted_sizes + "]}\n"});
        return made;
    }
    void write_workload(const std::string& file, const std::vector<entry>& used) const
    {
        std::string text = base_;
        for (const entry& e : used)
            text += e.line;
        write(file, text);
    }
    /// What can stand in one file, then what of the rest can stand in another one, until nothing of the rest can.
    /// A file says all that is wrong in it, so that what it refuses is left out and the rest is asked again.
    std::vector<std::vector<entry>> workloads(std::vector<entry> pending)
    {
        const auto lines_of_base = std::count(base_.begin(), base_.end(), '\n');
        std::vector<std::vector<entry>> files;
        while (!pending.empty()) {
            std::vector<entry> used = pending, refused;
            for (int code = -1; !used.empty() && code != 0;) {
                write_workload("try.yaml", used);
                code = weft("check try.yaml");
                REQUIRE((code == 0 || code == 2));
                if (code == 0)
                    break;
                std::set<std::size_t> wrong;
                std::istringstream said(read("stderr"));
                for (std::string line; std::getline(said, line);)
                    if (line.rfind("try.yaml:", 0) == 0 && line.find(": error: ") != std::string::npos)
                        if (const long at = std::atol(line.c_str() + 9) - lines_of_base - 1; at >= 0)
                            wrong.insert(static_cast<std::size_t>(at));
                INFO(read("stderr"));
                REQUIRE(!wrong.empty());
                REQUIRE(*wrong.rbegin() < used.size());
                for (auto at = wrong.rbegin(); at != wrong.rend(); ++at) {
                    refused.insert(refused.begin(), used[*at]);
                    used.erase(used.begin() + static_cast<std::ptrdiff_t>(*at));
                }
            }
            if (used.empty())
                break;
            files.push_back(std::move(used));
            pending = std::move(refused);
        }
        return files;
    }

    std::vector<pair> all_, runs_;
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

/// Every `step`-th pair of each sample, others on the next one: a `weft check` for each of 200 pairs takes minutes.
void check_refusals_alone(std::size_t step)
{
    std::size_t first = 0;
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        for (std::size_t i = first++ % step; i < m.all().size(); i += step) {
            const pair& p = m.all()[i];
            INFO(p.op << " " << p.algorithm);
            const bool beside = std::any_of(m.runs().begin(), m.runs().end(), [&](const pair& r) {
                return r.op == p.op && r.algorithm == p.algorithm;
            });
            CHECK(m.runs_alone(p) == beside);
        }
    }
}

TEST_CASE("suite: a collective is refused alone as it is beside others and its refusal names the algorithm")
{
    check_refusals_alone(5);
}

TEST_CASE("suite: every collective is refused alone as it is beside others", "[slow]")
{
    check_refusals_alone(1);
}

TEST_CASE("suite: every collective that a machine can run is exact for odd sizes and all types")
{
    for (const sample& s : samples()) {
        INFO(s.name);
        sample_machine m(s);
        m.use({"4 B", "60 B", "4100 B", "100 KiB"}, {"int32", "float32", "float16", "bfloat16"});
        check_exact(m.run());
        check_exact(m.run(" --set cases=continuous --seed 7"));
        m.use({"3 B", "4099 B"}, {"int8", "uint8", "int16", "float8_e4m3", "float8_e5m2", "hifloat8"});
        check_exact(m.run());
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
