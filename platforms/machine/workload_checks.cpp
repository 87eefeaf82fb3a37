// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/workload_checks.h"

#include "firmware/collectives/supports.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/planned_schedule.h"
#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace weft {

namespace {

/// Divisions into groups of which each has a bank of semaphores while none is reset; bank 0 is that of all ranks.
constexpr std::size_t k_most_divisions = abi::dma::SEM_BANKS_reset - 1;

/// What an entry runs: the algorithms of the file, in the place of `auto` those of the table of `tuning`. Predictions
/// are made of what runs.
struct algorithm_in_file {
    abi::algorithm algorithm;
    std::string place;  ///< ".algorithms.0"
    std::string prefix; ///< of a sentence on what a table has named; "" where the file has
};
std::vector<algorithm_in_file> tuned_algorithms(const algorithm_choices& choices, const std::string& place)
{
    std::vector<algorithm_in_file> all;
    std::set<abi::algorithm> known;
    for (const collective_case& c : choices.found())
        if (c.tuned && known.insert(c.algo).second)
            all.push_back({c.algo, place,
                           fmt::format("takes {} by tuning {}, a table that does not fit this machine; make it anew with `weft tune`. ",
                                       name_of(c.algo), c.tuning)});
    return all;
}
std::vector<algorithm_in_file> algorithms_in_file(const collective_spec& spec)
{
    std::vector<algorithm_in_file> all;
    const std::vector<abi::algorithm> algorithms = spec.all_algorithms();
    for (std::size_t a = 0; a < algorithms.size(); ++a) {
        const std::string place = spec.algorithms.empty() ? "" : fmt::format(".algorithms.{}", a);
        if (algorithms[a] != k_auto_algorithm) {
            all.push_back({algorithms[a], place, ""});
            continue;
        }
        const std::vector<algorithm_in_file> tuned = tuned_algorithms(spec.choices, place);
        all.insert(all.end(), tuned.begin(), tuned.end());
    }
    return all;
}

/// The groups of an entry: that they exist, and run what it asks for.
void check_groups(const collective_spec& spec, const std::string& key, const workload_limits& limits,
                  const std::vector<abi::platform_table>& tables, std::vector<config_problem>& problems)
{
    const auto add = [&](const std::string& at, std::string text) {
        problems.push_back({severity::error, key + at, std::move(text)});
    };
    const table_of_rank table_of = [&](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; };
    const named_groups named = find_groups(spec.groups, limits.ranks, table_of);
    if (!named.problem.empty()) {
        add(fmt::format(".groups.{}", named.problem_at), named.problem);
        return;
    }
    const auto smaller = [](const rank_list& a, const rank_list& b) { return a.size() < b.size(); };
    const rank_list& smallest = *std::min_element(named.lists.begin(), named.lists.end(), smaller);
    const rank_list& largest = *std::max_element(named.lists.begin(), named.lists.end(), smaller);
    if (largest.size() > abi::k_most_members)
        add(".groups", fmt::format("has a group of {} ranks, but a core has room for a list of {}.", largest.size(),
                                   abi::k_most_members));
    if (has_root(spec.op) && spec.root >= smallest.size())
        add(".root", fmt::format("is {}, but the ranks of the group of {} are 0 to {}.", spec.root,
                                 text_of_group(smallest), smallest.size() - 1));
    if (abi::moves_tokens(spec.op) && spec.experts_per_token.value_or(1) > smallest.size())
        add(".experts_per_token", fmt::format("is {}, more than a group has, {}: each token goes to different ranks.",
                                              *spec.experts_per_token, text_of_group(smallest)));
    for (const algorithm_in_file& a : algorithms_in_file(spec)) {
        const std::string subject = a.prefix.empty() ? fmt::format("is {}, which", name_of(a.algorithm)) : a.prefix + "It";
        if (abi::by_switch(a.algorithm)) {
            add(a.place, fmt::format("{} sums for jobs, not for process groups; job.jobs makes jobs.", subject));
            continue;
        }
        for (const rank_list& list : named.lists) {
            const char* reason = "";
            const abi::platform_table table = tables_of_group(list, table_of, 0).front();
            if (firmware::supports(spec.op, a.algorithm, table, spec.transposed, &reason))
                continue;
            const std::string lack = limits.lack ? limits.lack(spec.op, a.algorithm, spec.transposed, table) : "";
            add(a.place, fmt::format("{} cannot run among {}: {}.", subject, text_of_group(list), lack.empty() ? reason : lack));
            break;
        }
    }
}

/// Ranks of the largest group; 0 where the groups do not exist, which is told elsewhere.
std::uint32_t largest_group(const collective_spec& spec, const workload_limits& limits, const std::vector<abi::platform_table>& tables)
{
    const table_of_rank table_of = [&](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; };
    const named_groups named = find_groups(spec.groups, limits.ranks, table_of);
    std::size_t largest = 0;
    for (const rank_list& list : named.lists)
        largest = std::max(largest, list.size());
    return named.problem.empty() ? static_cast<std::uint32_t>(largest) : 0;
}

/// Whether multi_axis passes nothing on here: in each dimension everybody is joined to everybody.
bool exchanges_only(const abi::platform_table& t)
{
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        if (t.dims[d] > 1 && (t.kind[d] == abi::dimension_kind::line || t.kind[d] == abi::dimension_kind::ring))
            return false;
    return true;
}

/// Warns of a chunk that this machine does not use, or not so short. Of collectives over all ranks.
void check_chunk(const collective_spec& spec, const std::string& key, const abi::platform_table& table,
                 std::vector<config_problem>& problems)
{
    const auto warn = [&](std::string text) {
        problems.push_back({severity::warning, key + ".chunk", std::move(text)});
    };
    const std::vector<abi::algorithm> taken = spec.taken_algorithms();
    if (exchanges_only(table) &&
        std::all_of(taken.begin(), taken.end(), [](abi::algorithm a) { return a == abi::algorithm::multi_axis; }))
        warn(
            "nothing uses it: multi_axis sends each block whole where all ranks of a line are joined; leave it out, or "
            "take an algorithm in chunks.");
    for (const collective_case& c : spec.cases()) {
        const char* reason = "";
        if (c.op != abi::collective_op::reduce || c.algo != abi::algorithm::mesh_tree || c.root >= table.ranks ||
            !firmware::supports(c.op, c.algo, table, c.transposed, &reason))
            continue;
        const planned_rank plan = plan_of(table, c);
        if (plan.tree_pieces == 0 || plan.tree_piece_bytes <= c.chunk_bytes)
            continue;
        warn(fmt::format("is {}, but a reduce of {} by mesh_tree goes in messages of {} here: each of its {} pieces "
                         "counts on a semaphore of its own, and there are no more.",
                         to_string(data_size(c.chunk_bytes)), to_string(data_size(c.size_bytes)),
                         to_string(data_size(plan.tree_piece_bytes)), plan.tree_pieces));
        break;
    }
}

/// What nothing reduces, and sums that no check could tell from others.
class reduction_checks {
public:
    explicit reduction_checks(std::vector<config_problem>& problems) : problems_(problems) {}

    void check(abi::collective_op op, abi::algorithm algo, abi::element_type type, abi::reduce_op redop, const std::string& key)
    {
        tell(key, reduction_problem(op, algo, type, redop));
    }
    void check_random(abi::element_type type, std::uint32_t summands, const std::string& key)
    {
        if (summands > most_random_summands(type))
            tell(key, fmt::format("is random, but the rounding of a sum of {} numbers of {} may be as large as the sum: no answer would be wrong. Write exact; random "
                                  "inputs of this type need {} ranks or fewer",
                                  summands, name_of(type), most_random_summands(type)));
    }

    void tell(const std::string& key, const std::string& text)
    {
        if (!text.empty() && told_.insert({key, text}).second)
            problems_.push_back({severity::error, key, text + "."});
    }

private:
    std::vector<config_problem>& problems_;
    std::set<std::pair<std::string, std::string>> told_;
};

/// What a table of `tuning` has named.
void check_tuned(const algorithm_choices& choices, const std::string& key, reduction_checks& checks)
{
    for (const collective_case& c : choices.found())
        if (const std::string why = c.tuned ? reduction_problem(c.op, c.algo, c.type, c.redop) : ""; !why.empty())
            checks.tell(key, fmt::format("takes {} by tuning {}, a table that does not fit; make it anew with `weft tune`. {}", name_of(c.algo), c.tuning, why));
}

/// `summands`: of the largest group; 0: not known, or nothing is compared.
void check_reductions(const collective_spec& spec, const std::string& key, std::uint32_t summands, std::vector<config_problem>& problems)
{
    reduction_checks checks(problems);
    for (const abi::element_type type : spec.types)
        for (const abi::reduce_op redop : spec.redops) {
            for (const abi::algorithm a : spec.all_algorithms())
                checks.check(spec.op, a, type, redop, key + ".types");
            if (reduces(spec.op) && redop == abi::reduce_op::sum && spec.inputs == data_style::random)
                checks.check_random(type, summands, key + ".inputs");
        }
    check_tuned(spec.choices, key + ".algorithms", checks);
}

/// `ranks`: 0: not known, or nothing is compared.
void check_reductions(const training_step_config& step, std::uint32_t ranks, std::vector<config_problem>& problems)
{
    reduction_checks checks(problems);
    const auto check = [&](abi::algorithm by, abi::element_type type, std::uint32_t summands, const std::string& key) {
        checks.check(abi::collective_op::all_reduce, by, type, abi::reduce_op::sum, key);
        if (step.inputs == data_style::random)
            checks.check_random(type, summands, "training_step.inputs");
    };
    for (std::size_t i = 0; i < step.groups.size(); ++i)
        check(step.by(), step.groups[i].type, ranks, fmt::format("training_step.groups.{}.type", i));
    for (std::size_t i = 0; i < step.exchanges.size(); ++i) {
        const step_exchange& e = step.exchanges[i];
        const std::string key = fmt::format("training_step.exchanges.{}.type", i);
        if (e.ranks_per_group.value_or(0) == 0)
            check(step.by(), e.type, ranks, key);
        else if (abi::is_float8(e.type)) // a user chooses no algorithm for these
            checks.tell(key, fmt::format("is {}, which groups of an exchange cannot sum: memories reduce no 8-bit floats; write another type", name_of(e.type)));
    }
    check_tuned(step.choices, "training_step.algorithm", checks);
}

void check_collectives(const run_config& run, const workload_limits& limits, std::vector<config_problem>& problems)
{
    bool all_sound = run.case_count() <= run_config::k_most_cases;
    const std::uint64_t output_offset = all_sound ? output_offset_for(run) : 0;
    std::vector<abi::platform_table> tables; // made when first needed
    std::set<std::vector<std::string>> divisions;
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        const collective_spec& spec = run.workload[i];
        const std::string key = fmt::format("workload.{}", i);
        const bool is_known = limits.ranks != 0;
        if (spec.groups.empty() || !is_known)
            for (const algorithm_in_file& a : algorithms_in_file(spec))
                if (const std::string refusal = limits.refusal(spec.op, a.algorithm, spec.transposed); !refusal.empty())
                    problems.push_back({severity::error, key + a.place, a.prefix + refusal});
        if (!spec.groups.empty() && tables.empty() && limits.rank_table)
            for (std::uint32_t rank = 0; rank < limits.ranks; ++rank)
                tables.push_back(limits.rank_table(rank));
        if (!spec.groups.empty() && tables.empty() && is_known)
            problems.push_back({severity::error, key + ".groups", fmt::format("does not exist here: {} have no process groups.", limits.members)});
        else if (!spec.groups.empty() && is_known)
            check_groups(spec, key, limits, tables, problems);
        if (is_known && spec.root >= limits.ranks)
            problems.push_back(
                {severity::error, key + ".root",
                 fmt::format("is {}, but the ranks of {} are 0 to {}.", spec.root, limits.machine, limits.ranks - 1)});
        else if (const std::string refusal = spec.groups.empty() && has_root(spec.op) && limits.root_refusal
                                                 ? limits.root_refusal(spec.root, spec.transposed)
                                                 : std::string();
                 !refusal.empty())
            problems.push_back({severity::error, key + ".root", refusal});
        if (is_known && spec.groups.empty() && abi::moves_tokens(spec.op) && spec.experts_per_token.value_or(1) > limits.ranks)
            problems.push_back({severity::error, key + ".experts_per_token",
                                fmt::format("is {}, but there are {} ranks, and each token goes to different ones.", *spec.experts_per_token,
                                            limits.ranks)});
        const bool sound = is_sound(spec);
        all_sound = all_sound && sound;
        // What comes behind the buffer depends on all entries.
        if (is_known ? !all_sound : !sound || run.case_count() > run_config::k_most_cases)
            continue;
        if (spec.chunk && spec.groups.empty() && limits.rank_table && limits.ranks > 1)
            check_chunk(spec, key, limits.rank_table(0), problems);
        const bool compares = run.data != data_mode::off && spec.inputs == data_style::random;
        check_reductions(spec, key, !compares ? 0 : spec.groups.empty() || tables.empty() ? limits.ranks : largest_group(spec, limits, tables), problems);
        for (const collective_case& c : spec.cases()) {
            // Its buffer at least, on every machine.
            const std::uint64_t need = is_known ? hbm_bytes_for(output_offset, c, limits.ranks) : c.size_bytes;
            if (need <= limits.room_bytes)
                continue;
            problems.push_back(
                {severity::error, spec.sizes.empty() ? key + ".range.to" : key + ".sizes",
                 fmt::format("{} of {} needs {} of {}, but {}.", name_of(spec.op), to_string(data_size(c.size_bytes)),
                             to_string(data_size(need)), limits.memory, limits.room_text)});
            break;
        }
    }
    for (const collective_spec& spec : run.workload)
        if (!spec.groups.empty())
            divisions.insert(spec.groups);
    if (run.cases == case_start::continuous && divisions.size() > k_most_divisions)
        problems.push_back({severity::error, "workload",
                            fmt::format("divides the ranks into groups in {} ways, but with \"cases: continuous\" there are semaphores for {}.",
                                        divisions.size(), k_most_divisions)});
}

/// The buffers of a step lie side by side; behind them and the longest of the workload is what an algorithm has on its
/// way.
void check_step_memory(const training_step_config& step, std::uint64_t output_offset, const workload_limits& limits,
                       std::vector<config_problem>& problems)
{
    const std::string key = step.groups.empty() ? "training_step.exchanges" : "training_step.groups";
    if (step.buffer_bytes() > limits.room_bytes) {
        problems.push_back({severity::error, key,
                            fmt::format("need {} of {}{}, but {}.", rounded_text(data_size(step.buffer_bytes())), limits.memory,
                                        step.groups.empty() ? "" : " together with the exchanges", limits.room_text)});
        return;
    }
    for (const collective_case& c : step.cases())
        if (const std::uint64_t need = hbm_bytes_for(output_offset, c, limits.ranks); need > limits.room_bytes) {
            problems.push_back({severity::error, key,
                                fmt::format("need {} of {} for {} of {} by {}, but {}.", to_string(data_size(need)), limits.memory, name_of(c.op),
                                            to_string(data_size(c.size_bytes)), name_of(c.algo), limits.room_text)});
            return;
        }
}

void check_training_step(const training_step_config& step, std::uint64_t output_offset, const workload_limits& limits,
                         std::vector<config_problem>& problems)
{
    if (is_sound(step))
        check_step_memory(step, output_offset, limits, problems);
    // An exchange in groups has an algorithm of its own.
    const bool all_in_groups = step.groups.empty() && !step.exchanges.empty() &&
                               std::all_of(step.exchanges.begin(), step.exchanges.end(),
                                           [](const step_exchange& e) { return e.ranks_per_group.has_value(); });
    // Sharded, groups go by two collectives; exchanges are all-reduces.
    const auto refusal_of = [&](abi::algorithm by) {
        using op = abi::collective_op;
        const bool sums_all = !step.sharded() || !step.exchanges.empty();
        for (const auto& [what, is_used] : {std::pair{op::all_reduce, sums_all},
                                            {op::reduce_scatter, step.sharded()},
                                            {op::all_gather, step.sharded()}})
            if (const std::string why = is_used ? limits.refusal(what, by, step.transposed) : ""; !why.empty())
                return why;
        return std::string();
    };
    const std::string refusal = all_in_groups || step.by() == k_auto_algorithm ? "" : refusal_of(step.by());
    if (!refusal.empty())
        problems.push_back({severity::error, "training_step.algorithm", refusal});
    for (const algorithm_in_file& a : tuned_algorithms(step.choices, ""))
        if (const std::string why = refusal_of(a.algorithm); !why.empty())
            problems.push_back({severity::error, "training_step.algorithm", a.prefix + why});
    if (step.pipeline && limits.ranks != 0 && step.pipeline->stages != limits.replica_ranks)
        problems.push_back(
            {severity::error, "training_step.pipeline.stages",
             limits.replica_ranks == 1
                 ? fmt::format(
                       "is {}, but a replica has one of the {} here: on ipu_pod, pod.replica_size makes larger ones.",
                       step.pipeline->stages, limits.members)
                 : fmt::format("is {}, but a replica has {} {}: each of them is a stage.", step.pipeline->stages,
                               limits.replica_ranks, limits.members)});
    if (step.streaming && step.streaming->bytes.value() != 0 && !step.streaming->rate)
        problems.push_back(
            {severity::error, "training_step.streaming.rate",
             fmt::format("is missing, and {} here have no link to Streaming Memory that would set it; say the rate of the "
                         "memory behind each of them, for example \"rate: 256 Gbps\".",
                         limits.members)});
    std::set<std::uint32_t> sizes;
    for (std::size_t i = 0; i < step.exchanges.size(); ++i) {
        const std::uint32_t group = step.exchanges[i].ranks_per_group.value_or(0);
        if (group < 2)
            continue; // all ranks, or refused by the entry itself
        if (sizes.insert(group).second && sizes.size() == k_most_divisions + 1)
            problems.push_back({severity::error, fmt::format("training_step.exchanges.{}.ranks_per_group", i),
                                fmt::format("is the {}th size of groups, but there are semaphores for {}.", sizes.size(), k_most_divisions)});
        const std::string why = limits.group_refusal ? limits.group_refusal(group)
                                : limits.ranks == 0  ? std::string()
                                                     : fmt::format("groups of {} do not exist here.", limits.members);
        if (!why.empty())
            problems.push_back({severity::error, fmt::format("training_step.exchanges.{}.ranks_per_group", i), why});
    }
}

void check_host_memory(const run_config& run, const workload_limits& limits, std::vector<config_problem>& problems)
{
    const bool sound = limits.ranks != 0 &&
                       std::all_of(run.workload.begin(), run.workload.end(), [](const collective_spec& c) { return is_sound(c); }) &&
                       run.case_count() <= run_config::k_most_cases &&
                       (!run.training_step || is_sound(*run.training_step));
    const std::uint64_t host = sound ? host_data_bytes_for(run, limits.ranks) : 0;
    if (host > limits.much_host_bytes)
        problems.push_back(
            {severity::warning, run.workload.empty() ? "training_step" : "workload",
             fmt::format(
                 "needs {} of host memory for the contents of {} {}; with \"data: off\" it needs none, and the times are the same.",
                 rounded_text(data_size(host)), limits.ranks, limits.memories)});
}

} // namespace

std::string what_runs(const abi::platform_table& table, abi::collective_op op)
{
    const auto runs = [&](abi::algorithm algo, bool transposed) {
        const char* reason = "";
        return firmware::supports(op, algo, table, transposed, &reason);
    };
    std::vector<std::string> names;
    for (const auto& [algo, name] : enum_names<abi::algorithm>::values) {
        const bool plain = runs(algo, false);
        if (plain || runs(algo, true))
            names.push_back(plain ? std::string(name) : fmt::format("{} with transposed: true", name));
    }
    if (names.size() < 2)
        return names.empty() ? std::string() : names.front();
    const std::string last = names.back();
    names.pop_back();
    return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

workload_limits limits_without_machine(abi::platform_table any, bool adding_switch)
{
    any.ranks = 1; // which runs every pair of operation and algorithm that exists
    workload_limits g;
    g.room_bytes = ~std::uint64_t{0};
    g.refusal = [any, adding_switch](abi::collective_op op, abi::algorithm algo, bool transposed) -> std::string {
        abi::switchml::table job;
        job.magic = adding_switch ? abi::switchml::k_table_magic : 0;
        const char* reason = "";
        return firmware::supports(op, algo, any, transposed, &reason, &job)
                   ? std::string()
                   : fmt::format("{} cannot run by {}: {}.", name_of(op), name_of(algo), reason);
    };
    return g;
}

std::string firmware_refusal(const abi::platform_table& table, abi::collective_op op, abi::algorithm algo,
                             bool transposed, const std::string& where, const std::string& remedy)
{
    abi::platform_table any_shape;
    any_shape.ranks = 1;
    const char* reason = "";
    if (!firmware::supports(op, algo, any_shape, transposed, &reason))
        return fmt::format("{} cannot run by {}: {}.", name_of(op), name_of(algo), reason);
    if (firmware::supports(op, algo, table, transposed, &reason))
        return {};
    const std::string others = what_runs(table, op);
    return fmt::format("{} by {} cannot run on {}: {}{}.", name_of(op), name_of(algo), where, reason,
                       others.empty() ? remedy : fmt::format("; {} runs there", others));
}

void set_room(workload_limits& limits, const chip_config& chip, const std::string& key)
{
    const bool sound = no_errors(chip.hbm.validate()) && no_errors(chip.dma.validate()) && no_errors(chip.validate());
    limits.room_bytes = sound ? chip.buffer_bytes() : ~std::uint64_t{0};
    limits.room_text = fmt::format("{}.capacity is {}, of which the descriptor rings take {}", key,
                                   to_string(chip.hbm.capacity), to_string(data_size(chip.ring_area_bytes())));
}

void check_workload(const run_config& run, const workload_limits& limits, std::vector<config_problem>& problems)
{
    check_collectives(run, limits, problems);
    if (run.training_step) {
        check_reductions(*run.training_step, run.data == data_mode::off ? 0 : limits.ranks, problems);
        check_training_step(*run.training_step, run.case_count() <= run_config::k_most_cases ? output_offset_for(run) : 0, limits, problems);
    }
    check_host_memory(run, limits, problems);
}

} // namespace weft
