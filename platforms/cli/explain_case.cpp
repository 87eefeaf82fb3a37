// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/explain_case.h"

#include "cmake/version.h"
#include "platforms/cli/point_runs.h"
#include "platforms/config/suggest.h"
#include "platforms/explain/critical_path.h"
#include "platforms/explain/explanation.h"
#include "platforms/report/case_limits.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/invariants.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::cli {

using json = nlohmann::ordered_json;

namespace {

std::string size_text(std::uint64_t bytes) { return format_quantity(quantity_kind::data_size, bytes); }

std::string name_of_row(const stored_row& r)
{
    return fmt::format("{} {} of {} {}{}{}", r.op, r.algorithm, size_text(r.size_bytes.value_or(0)), r.type,
                       r.group.empty() ? "" : ", ", r.group);
}

/// But for the group.
bool is_row_of(const stored_row& row, const collective_case& c)
{
    return row.op == name_of(c.op) && row.algorithm == name_of(c.algo) && row.type == name_of(c.type) &&
           row.redop == name_of(c.redop) && row.size_bytes == c.size_bytes;
}

/// The cases that can be explained, for people: numbers and names, the first twelve.
std::string listed(const std::vector<stored_row>& rows)
{
    constexpr std::size_t k_shown = 12;
    std::string text;
    std::size_t n = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].size_bytes && ++n <= k_shown)
            text += fmt::format("\n  {:>3}  {}:{}:{}  {} {}{}{}", i, rows[i].op, rows[i].algorithm,
                                size_text(*rows[i].size_bytes), rows[i].type, rows[i].redop,
                                rows[i].group.empty() ? "" : ", ", rows[i].group);
    return text + (n > k_shown ? fmt::format("\n  and {} more", n - k_shown) : "");
}

/// Tells the recorder when the case begins and ends.
class recording final : public run_observer {
public:
    recording(step_recorder& to, machine& m) : to_(to), machine_(m) {}
    /// By rank; 0: it has not answered.
    const std::vector<std::uint64_t>& answers_ps() const { return answers_ps_; }
    void on_case(std::size_t, std::size_t, const collective_case&) override {}
    void on_progress(double) override {}
    void on_begin(const collective_case&) override
    {
        answers_ps_.assign(machine_.chips().size(), 0);
        to_.begin(machine_.time().now_ps());
    }
    void on_end(std::uint64_t) override { to_.end(); }
    void on_answer(std::uint32_t rank, std::uint64_t at_ps) override
    {
        if (rank < answers_ps_.size())
            answers_ps_[rank] = at_ps;
    }

private:
    step_recorder& to_;
    machine& machine_;
    std::vector<std::uint64_t> answers_ps_;
};

/// Not a training step or a checkpoint, which are rows as well.
bool is_collective(const stored_row& r) { return r.size_bytes && r.op != "checkpoint"; }

/// A refusal, by its first error.
json refusal_of(const loaded_platform& loaded)
{
    const problem* const error = loaded.first_error();
    json j;
    j["problem"] = error == nullptr ? loaded.message() : error->key_path + ": " + error->message;
    return j;
}

} // namespace

namespace {
/// Keys that the case does not use, or that follow another one ("only as network.rate"): they would be in the way of
/// changes.
void erase_unused(nlohmann::json& section, const config_field& described)
{
    for (const config_field& f : described.children) {
        if (!section.is_object() || !section.contains(f.name))
            continue;
        if (f.unused || f.only.rfind("as ", 0) == 0)
            section.erase(f.name);
        else if (f.type == field_type::section)
            erase_unused(section[f.name], f);
    }
}
} // namespace

namespace {
bool has_fault_at_a_time(const nlohmann::json& faults)
{
    for (const auto& [key, value] : faults.items())
        if (value.is_structured() ? has_fault_at_a_time(value) : key == "at" && value.is_string() && value != "0 ps" && value != "0 s")
            return true;
    return false;
}
} // namespace

explained_case::explained_case(const std::string& file, const std::string& wanted) : results_(read_results(file))
{
    if (!results_.failure.empty()) {
        find_unfinished();
        if (results_.rows.empty())
            throw user_error(failure_text() + "No collective had ended, so that none can be explained. Run it again.");
    }
    if (std::none_of(results_.rows.begin(), results_.rows.end(), is_collective))
        throw user_error(fmt::format("{}: the run has no collective of `workload`, which are what explain follows. Write one of a training "
                                     "step as an entry of `workload`, with its operation, size and type.",
                                     file));
    number_ = find(wanted);
    workload_ = "workload=[" + entry().dump() + "]";
    if (const loaded_platform loaded = machine(); loaded.platform)
        erase_unused(results_.config, loaded.platform->resolved());
}

/// Leaves the rows of collectives that had ended. Of the last one, single groups may have: they are no case.
void explained_case::find_unfinished()
{
    const loaded_platform loaded = read({});
    if (!loaded.platform)
        return; // entry() tells
    std::vector<collective_case> cases;
    for (const collective_spec& spec : loaded.platform->run().workload) {
        const std::vector<collective_case> of_entry = spec.cases();
        cases.insert(cases.end(), of_entry.begin(), of_entry.end());
    }
    std::vector<stored_row>& rows = results_.rows;
    std::size_t ended = 0;
    const auto is_whole = [&](std::size_t i) {
        return !results_.failed || !is_row_of(*results_.failed, cases[i]) ||
               rows[i].group == fmt::format("{}", fmt::join(cases[i].groups, "; "));
    };
    while (ended < rows.size() && ended < cases.size() && is_row_of(rows[ended], cases[ended]) && is_whole(ended))
        ++ended;
    rows.resize(ended);
    for (std::size_t i = ended; i < cases.size(); ++i)
        unfinished_.push_back(fmt::format("{}:{}:{}  {} {}", name_of(cases[i].op), name_of(cases[i].algo),
                                          size_text(cases[i].size_bytes), name_of(cases[i].type),
                                          name_of(cases[i].redop)));
}

std::string explained_case::why_time_differs() const
{
    const nlohmann::json& config = results_.config;
    std::vector<std::string> why;
    if (results_.version != version())
        why.push_back(fmt::format("by version {}", results_.version));
    if (config.value("cases", "") == "continuous")
        why.emplace_back("behind other cases (cases: continuous)");
    for (const nlohmann::json& e : config.value("workload", nlohmann::json::array()))
        if (const auto repeats = e.value("repeats", std::uint64_t{1}); repeats > 1) {
            why.push_back(fmt::format("{} times, of which the mean is given", repeats));
            break;
        }
    if (config.contains("host"))
        why.emplace_back("beside traffic of hosts");
    if (has_fault_at_a_time(config.value("faults", nlohmann::json::object())))
        why.emplace_back("with a fault at a time of the run");
    return why.empty() ? "" : fmt::format(", where the case ran {}", fmt::join(why, ", "));
}

std::string explained_case::failure_text() const
{
    constexpr std::size_t k_shown = 12;
    if (results_.failure.empty())
        return "";
    std::string text = fmt::format("{}: the run did not end: {}\n", results_.file,
                                   results_.failure.substr(0, results_.failure.find('\n')));
    if (!unfinished_.empty())
        text += fmt::format("{} of its {} collectives had not ended:\n", unfinished_.size(),
                            results_.rows.size() + unfinished_.size());
    for (std::size_t i = 0; i < unfinished_.size() && i < k_shown; ++i)
        text += fmt::format("  {:>3}  {}\n", results_.rows.size() + i, unfinished_[i]);
    if (unfinished_.size() > k_shown)
        text += fmt::format("  and {} more\n", unfinished_.size() - k_shown);
    return text;
}

std::size_t explained_case::find(const std::string& wanted) const
{
    const std::vector<stored_row>& rows = results_.rows;
    if (wanted.empty()) {
        std::size_t best = rows.size();
        const auto first = std::find_if(rows.begin(), rows.end(), is_collective);
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (is_collective(rows[i]) && rows[i].op == first->op &&
                (best == rows.size() || *rows[i].size_bytes > *rows[best].size_bytes))
                best = i;
        return best;
    }
    if (const std::optional<std::uint64_t> number = whole_number(wanted)) {
        if (*number < rows.size() && is_collective(rows[*number]))
            return static_cast<std::size_t>(*number);
        if (*number >= rows.size() && *number - rows.size() < unfinished_.size())
            throw user_error(fmt::format("{}--case: case {} is one of these; {} has:{}", failure_text(), *number,
                                         results_.file, listed(rows)));
        throw user_error(fmt::format("--case: there is no case {}; {} has:{}", *number, results_.file, listed(rows)));
    }
    const std::size_t a = wanted.find(':'), b = a == std::string::npos ? a : wanted.find(':', a + 1);
    if (b == std::string::npos)
        throw user_error(
            fmt::format("--case: {} is neither a number nor OP:ALGORITHM:SIZE, as all_reduce:ring_1d:1MiB; {} has:{}",
                        in_quotes(wanted), results_.file, listed(rows)));
    parsed_quantity size = parse_quantity(quantity_kind::data_size, wanted.substr(b + 1));
    if (const std::optional<std::uint64_t> bytes = whole_number(wanted.substr(b + 1))) // as tables have it
        size = parse_quantity(quantity_kind::data_size, fmt::format("{} B", *bytes));
    std::vector<std::size_t> found;
    for (std::size_t i = 0; size.ok && i < rows.size(); ++i)
        if (rows[i].op == wanted.substr(0, a) && rows[i].algorithm == wanted.substr(a + 1, b - a - 1) &&
            rows[i].size_bytes == size.value)
            found.push_back(i);
    if (found.size() == 1)
        return found.front();
    if (!found.empty()) // they differ in type, operation of sums, or group
        throw user_error(fmt::format("--case: {} are {} cases; write the number of one of them: {}.", in_quotes(wanted),
                                     found.size(), fmt::join(found, ", ")));
    throw user_error(fmt::format("{}--case: there is no case {} that has ended; {} has:{}", failure_text(),
                                 in_quotes(wanted), results_.file, listed(rows)));
}

loaded_platform explained_case::read(std::vector<std::string> settings) const
{
    platform_source source;
    source.overrides = std::move(settings);
    source.left_out = {"training_step"};
    return read_platform_text(results_.config.dump(), results_.file, source);
}

/// Of `workload`, cut down to the one case.
nlohmann::json explained_case::entry() const
{
    const loaded_platform loaded = read({});
    if (!loaded.platform)
        throw user_error(
            fmt::format("{}: this version cannot use its configuration:\n{}Run it again with this version.",
                        results_.file, loaded.message()));
    const std::vector<collective_spec>& specs = loaded.platform->run().workload;
    // Rows stand in the order of the cases; of those that look alike it is the one at the same place.
    std::size_t alike = 0;
    for (std::size_t i = 0; i < number_; ++i) {
        const stored_row& r = results_.rows[i];
        alike += r.op == row().op && r.algorithm == row().algorithm && r.type == row().type && r.redop == row().redop &&
                         r.size_bytes == row().size_bytes
                     ? 1
                     : 0;
    }
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < specs.size(); ++i)
        for (const collective_case& c : specs[i].cases())
            if (is_row_of(row(), c) && (!found || alike > 0)) {
                alike -= found ? 1 : 0;
                found = i;
            }
    if (!found)
        throw user_error(fmt::format("{}: its configuration has no case like {}.", results_.file, name_of_row(row())));
    nlohmann::json e = results_.config.at("workload").at(*found);
    e.erase("range");
    e.erase("start_skew");
    e["algorithms"] = {row().algorithm};
    e["types"] = {row().type};
    if (row().redop != "none")
        e["redops"] = {row().redop};
    e["sizes"] = {fmt::format("{} B", *row().size_bytes)};
    e["repeats"] = 1;
    return e;
}

loaded_platform explained_case::machine(const std::vector<std::string>& settings) const
{
    std::vector<std::string> all{workload_, "data=off"};
    all.insert(all.end(), settings.begin(), settings.end());
    return read(std::move(all));
}

std::string explained_case::other_work(const loaded_platform& changed) const
{
    const loaded_platform before = machine();
    if (!before.platform || !changed.platform)
        return "";
    const run_config &x = before.platform->run(), &y = changed.platform->run();
    const std::vector<collective_case> from = x.all_cases(), to = y.all_cases();
    if (to.size() != 1 || from.size() != 1)
        return fmt::format("{} collectives in place of one", to.size());
    const collective_case &a = from.front(), &b = to.front();
    const auto differs = [](const std::string& before_text, const std::string& after_text) {
        return before_text == after_text ? "" : fmt::format("{} in place of {}", after_text, before_text);
    };
    const auto ranks_of = [](const loaded_platform& l, const collective_case& c) {
        const std::string groups = fmt::format("{}", fmt::join(c.groups, "; "));
        return fmt::format("{} ranks{}", l.platform->ranks(), groups.empty() ? "" : " in groups " + groups);
    };
    for (const std::string& text :
         {differs(name_of(a.op), name_of(b.op)), differs(size_text(a.size_bytes), size_text(b.size_bytes)),
          differs(name_of(a.type), name_of(b.type)), differs(name_of(a.redop), name_of(b.redop)),
          differs(ranks_of(before, a), ranks_of(changed, b)), differs(fmt::format("root {}", a.root), fmt::format("root {}", b.root))})
        if (!text.empty())
            return text;
    return "";
}

std::string explained_case::words() const { return name_of_row(row()); }

json explained(const explained_case& c, const std::optional<std::uint32_t>& rank, std::size_t steps_in_memory)
{
    const loaded_platform loaded = c.machine();
    if (!loaded.platform)
        return refusal_of(loaded);
    json j;
    step_recorder recorder(steps_in_memory);
    const std::unique_ptr<weft::machine> m = loaded.platform->build([&](std::uint32_t r) { return recorder.fit(r); });
    recorder.attach(*m);
    recording observer(recorder, *m);
    collective_runner runner("host", *m, loaded.platform->run(), &observer);
    const run_outcome outcome = runner.run();
    if (!outcome.failure.empty())
        j["problem"] = "the run failed: " + outcome.failure;
    else if (!outcome.restarts.empty())
        j["problem"] = "its job is restarted in this case (" + outcome.restarts.front().text +
                       "); explain follows collectives without an interruption";
    else if (!recorder.problem().empty())
        j["problem"] = recorder.problem();
    if (j.contains("problem"))
        return j;
    check_invariants(*m);
    const case_result& result = outcome.cases.front();
    recorded_run& run = recorder.run();
    if (!result.shares.lost) // nothing was sent again
        run.resend_timeout_ps = 0;
    run.answer_ps = observer.answers_ps();
    run.answer_ps.resize(run.cores.size(), 0);
    const auto last =
        static_cast<std::size_t>(std::max_element(run.answer_ps.begin(), run.answer_ps.end()) - run.answer_ps.begin());
    const std::uint64_t time_ps = run.answer_ps[last] - run.begin_ps;
    const auto of = static_cast<std::size_t>(rank.value_or(static_cast<std::uint32_t>(last)));
    if (of >= run.answer_ps.size() || run.answer_ps[of] == 0) {
        j["problem"] = fmt::format("--rank: error: rank {} {}.", of,
                                   of >= run.answer_ps.size()
                                       ? fmt::format("does not exist; ranks are 0 to {}", run.answer_ps.size() - 1)
                                       : "takes no part in this case");
        j["bad_input"] = true;
        return j;
    }
    const critical_path path = find_critical_path(run, recorder.store(), static_cast<std::uint32_t>(of));
    j["title"] = loaded.platform->run().name;
    j["case"] = c.words();
    j["ranks"] = loaded.platform->ranks();
    j["time_us"] = static_cast<double>(time_ps) / 1e6;
    j["time_ps"] = time_ps;
    j["slowest"] = of == last;
    const std::size_t cores = m->chips()[of]->cores().size();
    if (cores > 1)
        j["note"] = fmt::format(
            "chips have {} cores, of which the first is looked at: waits for the others count as NIC", cores);
    if (const auto trains = m->train_of(result.what); trains > 1)
        j["train_packets"] = trains;
    if (result.shares.known) {
        j["limited_by"] = limited_by(result.shares);
        for (const auto& [name, share] : result.shares.listed())
            j["busy_shares"][name] = share;
    }
    j["critical_path"] = to_json(path);
    if ((abi::k_algorithm_rows[static_cast<unsigned>(result.what.algo)].traits & abi::traits::on_devices) != 0)
        for (json& cause : j["critical_path"]["causes"])
            if (cause.at("cause") == row_of(path_cause::dma).name)
                cause["approximate"] = "a ring that stood still behind one that the path does not meet is in it";
    return j;
}

json timed(const explained_case& c, const std::vector<std::string>& settings)
{
    const loaded_platform loaded = c.machine(settings);
    if (!loaded.platform)
        return refusal_of(loaded);
    const auto [m, outcome] = run_here(loaded);
    std::uint64_t time_ps = 0;
    for (const case_result& one : outcome.cases)
        time_ps = std::max(time_ps, one.time_ps);
    json j;
    j["time_ps"] = time_ps;
    return j;
}

} // namespace weft::cli
