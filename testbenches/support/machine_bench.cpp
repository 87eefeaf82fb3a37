// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "testbenches/support/machine_bench.h"

#include "firmware/collectives/supports.h"
#include "platforms/cli/cli.h"
#include "platforms/workload/digest.h"

#include <fnmatch.h>

namespace weft {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(collective_case, op, algo, type, redop, size_bytes, count, root, transposed, style,
                                   ranks_per_group, groups, quantised_block, chunk_bytes, chunk_is_asked)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(wrong_element, rank, index, expected, got, tolerance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(check_outcome, checked, wrong, first, digest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(case_result, what, time_ps, steps, messages, checked, check, repeats_ps, group)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(step_part, name, what, is_exchange, calls, ready_ps, start_ps, time_ps, steps,
                                   checked, wrong, first_wrong, digest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(training_step_result, time_ps, compute_ps, communication_ps, parts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(job_restart, at_ps, resumed_ps, lost_ps, text)

} // namespace weft

namespace weft::test {

std::vector<std::uint64_t> verdict::times() const
{
    std::vector<std::uint64_t> all;
    for (const case_result& r : cases)
        all.push_back(r.time_ps);
    return all;
}

std::vector<std::uint64_t> verdict::answers() const
{
    std::vector<std::uint64_t> all;
    for (const case_result& r : cases)
        all.push_back(r.check.digest);
    return all;
}

std::string verdict::warning_text() const { return fmt::format("{}", fmt::join(warnings, "\n")); }

std::string verdict::restart_text() const
{
    std::string text;
    for (const job_restart& r : restarts)
        text += r.text + "\n";
    return text;
}

std::uint64_t verdict::stat(const std::string& pattern) const
{
    std::uint64_t sum = 0;
    bool found = false;
    for (const auto& [name, values] : stats)
        if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
            for (const std::uint64_t v : values)
                sum += v, found = true;
    INFO("statistic " << pattern);
    REQUIRE(found);
    return sum;
}

const std::vector<std::uint64_t>& verdict::each(const std::string& name) const
{
    INFO("statistic " << name);
    REQUIRE(stats.count(name) == 1);
    return stats.at(name);
}

json to_json(const verdict& v)
{
    json j = {{"cases", v.cases}, {"training_steps", v.training_steps}};
    j.update({{"failure", v.failure}, {"warnings", v.warnings}});
    j.update({{"restarts", v.restarts}, {"digest", v.digest}, {"end", v.simulated_time_ps}, {"cpu", v.cpu_seconds}});
    j.update({{"failed", v.failed}, {"wrong", v.wrong}, {"checked", v.checked}, {"payload", v.payload_digest}});
    j.update({{"events", v.events}, {"hops", v.hops}, {"unsound", v.unsound}, {"stats", v.stats}, {"proof", v.proof}});
    j["more"] = v.more;
    if (v.failed_case)
        j["failed_case"] = *v.failed_case;
    return j;
}
static verdict verdict_of(const json& j)
{
    verdict v;
    j.at("cases").get_to(v.cases), j.at("training_steps").get_to(v.training_steps);
    j.at("failure").get_to(v.failure), j.at("warnings").get_to(v.warnings), j.at("restarts").get_to(v.restarts);
    j.at("digest").get_to(v.digest), j.at("end").get_to(v.simulated_time_ps), j.at("cpu").get_to(v.cpu_seconds);
    j.at("failed").get_to(v.failed), j.at("wrong").get_to(v.wrong), j.at("checked").get_to(v.checked);
    j.at("payload").get_to(v.payload_digest), j.at("events").get_to(v.events), j.at("hops").get_to(v.hops);
    j.at("unsound").get_to(v.unsound), j.at("stats").get_to(v.stats), j.at("proof").get_to(v.proof);
    v.more = j.at("more");
    if (j.count("failed_case") == 1)
        v.failed_case = j.at("failed_case").get<collective_case>();
    return v;
}

json in_child(const std::function<void(json&)>& tell)
{
    const testing::child_output out = testing::run_child([&] {
        json j = json::object();
        tell(j);
        const std::vector<std::uint8_t> bytes = json::to_cbor(j);
        return std::string(bytes.begin(), bytes.end());
    });
    REQUIRE(out.ended);
    return out.thrown.empty() ? json::from_cbor(out.bytes) : json{{"thrown", out.thrown}};
}

verdict run_here(machine& m, const run_config& config, const run_hooks& hooks)
{
    verdict v;
    if (hooks.prepare)
        hooks.prepare(m);
    collective_runner runner("host", m, config, nullptr);
    static_cast<run_outcome&>(v) = runner.run();
    v.failed = !v.failure.empty();
    digest64 payload;
    for (const case_result& r : v.cases) {
        v.wrong += r.check.wrong;
        v.checked += r.checked ? 1 : 0;
        payload.update_u64(r.check.digest);
    }
    for (const training_step_result& s : v.training_steps)
        for (const step_part& p : s.parts) {
            v.wrong += p.wrong;
            payload.update_u64(p.digest);
        }
    v.payload_digest = payload.value();
    v.events = m.time().events();
    for (const component* c : m.time().components()) {
        v.hops += c->packet_hops();
        if (const std::string audit = c->audit(); !audit.empty())
            v.unsound += fmt::format("{}: {}; ", c->stat_prefix(), audit);
        for (const stat_group* group : c->stat_groups())
            for (const stat_row& row : group->rows())
                v.stats[c->stat_prefix() + "." + row.name].push_back(row.value());
    }
    if (!v.failed) {
        for (const fabric_engine* fabric : m.fabrics())
            if (fabric->packets_inside() != 0)
                v.unsound += fmt::format("{} packets inside; ", fabric->packets_inside());
        v.unsound += m.pool().leak_report();
    }
    if (hooks.look)
        hooks.look(m, v);
    return v;
}

/// Runs a file. Throws what a user would be told where it cannot be used.
static verdict run_file_here(const std::string& text, const std::vector<std::string>& overrides, const run_hooks& hooks)
{
    const cli::loaded_platform read = cli::read_platform_text(text, "test.yaml", {"", overrides, std::nullopt});
    if (!read.platform)
        throw std::runtime_error(read.message());
    const std::unique_ptr<machine> m = read.platform->build();
    verdict v = run_here(*m, read.platform->run(), hooks);
    if (hooks.proof)
        v.proof = read.platform->routing_report();
    return v;
}

verdict run_file(const std::string& text, const std::vector<std::string>& overrides, const run_hooks& hooks)
{
    const json j = in_child([&](json& answer) { answer = to_json(run_file_here(text, overrides, hooks)); });
    INFO(j.value("thrown", ""));
    REQUIRE_FALSE(j.contains("thrown"));
    return verdict_of(j);
}

std::string errors_of_file(const std::string& text)
{
    std::string all;
    for (const problem& p : cli::read_platform_text(text, "test.yaml").problems)
        if (p.level == severity::error)
            all += p.key_path + ": " + p.message + "\n";
    return all;
}

void check_exact(const verdict& v, const run_config& config)
{
    INFO(v.failure);
    CHECK(v.failure == "");
    CHECK(v.cases.size() == config.case_count());
    for (const case_result& r : v.cases) {
        INFO(name_of(r.what.op) << " " << name_of(r.what.algo) << " " << name_of(r.what.type) << " "
                                << r.what.size_bytes << " B");
        CHECK(r.checked == (config.data == data_mode::checked));
        CHECK(r.check.wrong == 0);
    }
    CHECK(v.wrong == 0);
    CHECK(v.unsound == "");
}

collective_spec spec(abi::collective_op op, std::vector<abi::algorithm> algorithms,
                     const std::vector<std::uint64_t>& bytes)
{
    collective_spec s;
    s.op = op;
    s.algorithms = std::move(algorithms);
    for (const std::uint64_t b : bytes)
        s.sizes.emplace_back(b);
    return s;
}

collective_spec all_reduce(std::vector<abi::algorithm> algorithms, const std::vector<std::uint64_t>& bytes,
                           std::vector<abi::element_type> types, data_style inputs)
{
    collective_spec s = spec(abi::collective_op::all_reduce, std::move(algorithms), bytes);
    s.types = std::move(types);
    s.inputs = inputs;
    return s;
}

std::vector<collective_spec> all_that_runs(const abi::platform_table& table, const std::vector<std::uint64_t>& bytes)
{
    std::vector<collective_spec> all;
    for (const auto& [op, op_name] : enum_names<abi::collective_op>::values) {
        std::vector<abi::algorithm> algorithms;
        for (const auto& [algo, name] : enum_names<abi::algorithm>::values) {
            const char* reason = "";
            if (firmware::supports(op, algo, table, false, &reason))
                algorithms.push_back(algo);
        }
        if (!algorithms.empty())
            all.push_back(spec(op, algorithms, bytes));
    }
    return all;
}

} // namespace weft::test
