// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/training_step.h"

#include "platforms/workload/digest.h"
#include "platforms/workload/run_config.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace weft {

namespace {
constexpr std::uint64_t k_largest_group_bytes = 1ull << 40;

class problem_list {
public:
    void need(bool ok, std::string key, std::string text)
    {
        if (!ok)
            all.push_back({severity::error, std::move(key), std::move(text)});
    }
    std::vector<config_problem> all;
};

bool is_fraction(double x) { return x >= 0 && x <= 1; }

std::uint64_t fraction_of(duration d, double x)
{
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(d.value()) * x));
}

std::uint64_t aligned(std::uint64_t bytes)
{
    const std::uint64_t a = training_step_config::k_buffer_alignment;
    return (bytes + a - 1) / a * a;
}

void need_size(problem_list& p, data_size bytes, abi::element_type type)
{
    const std::uint64_t element = abi::element_bytes(type);
    p.need(
        bytes.value() % element == 0, "bytes",
        fmt::format("is {}, no whole number of elements of {} ({} B each).", to_string(bytes), name_of(type), element));
}
} // namespace

std::vector<config_problem> gradient_group::validate() const
{
    problem_list p{limit_problems(*this)};
    p.need(bytes.has_value() != elements.has_value(), "",
           bytes ? "gives its size twice; write bytes or elements, not both."
                 : "has no size; write for example \"bytes: 25 MB\" or \"elements: 6400000\".");
    if (bytes)
        need_size(p, *bytes, type);
    if (elements) {
        p.need(*elements <= k_largest_group_bytes / abi::element_bytes(type), "elements",
               fmt::format("is {}, which is more than 1 TiB.", *elements));
    }
    p.need(!ready || !ready_at, "ready_at", "stands beside ready, which says the same; write one of them.");
    return p.all;
}

std::vector<config_problem> step_exchange::validate() const
{
    problem_list p{limit_problems(*this)};
    need_size(p, bytes, type);
    p.need(!is_fraction(from) || !is_fraction(to) || from <= to, "to",
           fmt::format("is {}, before from ({}).", to, from));
    return p.all;
}

std::vector<config_problem> step_input::validate() const
{
    problem_list p{limit_problems(*this)};
    const char* const needed = "is missing; with data: {} write what it is.";
    p.need(data == sample_source::synthetic || sample.value() != 0, "sample", fmt::format(needed, name_of(data)));
    p.need(data != sample_source::real || samples_per_second > 0, "samples_per_second", fmt::format(needed, name_of(data)));
    if (data == sample_source::real && numa_nodes != 0 && instances > numa_nodes)
        p.all.push_back({severity::warning, "instances",
                         fmt::format("is {}, more than the {} NUMA nodes: what goes beyond brings nothing.", instances, numa_nodes)});
    return p.all;
}

std::vector<key_rule<step_input>> step_input::key_rules()
{
    std::vector<key_rule<step_input>> rules;
    for (const char* key : {"sample", "link_rate", "links", "hosts_per_pod", "prefetch"})
        rules.push_back({key, "with data: generated or real", [](const step_input& i) { return i.data != sample_source::synthetic; }});
    for (const char* key : {"samples_per_second", "instances", "numa_nodes"})
        rules.push_back({key, "with data: real", [](const step_input& i) { return i.data == sample_source::real; }});
    return rules;
}

namespace {
// Longer than any run: what is longer still is taken as long, so that sums of a few fit 64 bits.
constexpr double k_beyond_runs_ps = 2.0 * static_cast<double>(run_config::k_longest_time.value());

std::uint64_t whole_ps(double ps) { return static_cast<std::uint64_t>(std::llround(std::min(ps, k_beyond_runs_ps))); }
} // namespace

std::uint64_t step_input::preparation_ps(std::uint64_t samples) const
{
    if (data != sample_source::real)
        return 0;
    const std::uint32_t at_once = numa_nodes == 0 ? instances : std::min(instances, numa_nodes);
    const double all_at_once = static_cast<double>(at_once) * static_cast<double>(hosts());
    return whole_ps(static_cast<double>(samples) * 1e12 / (samples_per_second * all_at_once));
}

std::uint64_t step_input::transfer_ps(std::uint64_t samples) const
{
    if (data == sample_source::synthetic)
        return 0;
    const double bits = static_cast<double>(samples) * static_cast<double>(sample.value()) * 8;
    const double taken_bps = into_ranks ? static_cast<double>(into_ranks->value()) : links_bps();
    return whole_ps(bits * 1e12 / std::min(links_bps(), taken_bps));
}

std::uint64_t step_input::onto_tiles_ps(std::uint64_t samples) const
{
    if (data == sample_source::synthetic || !onto_tiles)
        return 0;
    return whole_ps(static_cast<double>(samples) * static_cast<double>(sample.value()) * 8e12 / static_cast<double>(onto_tiles->value()));
}

std::vector<config_problem> step_pipeline::validate() const
{
    problem_list p{limit_problems(*this)};
    p.need(!largest_stage || *largest_stage * stages >= 1, "largest_stage",
           fmt::format("is {}, but of {} stages the longest has 1/{} of the compute at least.",
                       largest_stage.value_or(0), stages, stages));
    return p.all;
}

std::vector<key_rule<step_pipeline>> step_pipeline::key_rules()
{
    return {{"rate", "with activations", [](const step_pipeline& s) { return s.activations.value() != 0; }}};
}

std::vector<config_problem> step_streaming::validate() const
{
    problem_list p{limit_problems(*this)};
    p.need(io_tiles < tiles, "io_tiles",
           fmt::format("is {}, but there are {} tiles, and some have to compute.", io_tiles, tiles));
    return p.all;
}

std::vector<key_rule<step_streaming>> step_streaming::key_rules()
{
    return {{"rate", "with bytes", [](const step_streaming& s) { return s.bytes.value() != 0; }},
            {"tiles", "with io_tiles", [](const step_streaming& s) { return s.io_tiles != 0; }}};
}

namespace {
/// 0 without a rate: where a file leaves it out, the platform sets it, or refuses the file.
std::uint64_t time_of(data_size bytes, const std::optional<bandwidth>& rate)
{
    return rate ? whole_ps(static_cast<double>(bytes.value()) * 8e12 / static_cast<double>(rate->value())) : 0;
}
} // namespace

std::uint64_t step_pipeline::transfer_ps() const
{
    return activations.value() == 0 ? 0 : each.value() + time_of(activations, rate);
}

std::uint64_t step_streaming::transfer_ps() const
{
    return bytes.value() == 0 ? 0 : each.value() + time_of(bytes, rate);
}

std::uint64_t step_streaming::on_tiles_ps(std::uint64_t compute_ps) const
{
    // All tiles for I/O are refused, by a sentence of their own.
    return io_tiles == 0 || io_tiles >= tiles ? compute_ps : whole_ps(static_cast<double>(compute_ps) * tiles / (tiles - io_tiles));
}

training_step_config::slot_times training_step_config::slot() const
{
    slot_times t;
    t.compute_ps = pipeline ? fraction_of(compute, pipeline->largest_stage.value_or(1.0 / pipeline->stages))
                            : compute.value();
    // Samples come by the same link as what is streamed.
    const std::uint64_t moved_ps = input.onto_tiles_ps(micro_batch) + (streaming ? streaming->transfer_ps() : 0);
    if (streaming)
        t.compute_ps = streaming->on_tiles_ps(t.compute_ps);
    const bool beside = streaming && streaming->io_tiles != 0;
    t.streaming_ps = beside ? moved_ps - std::min(moved_ps, t.compute_ps) : moved_ps;
    if (pipeline)
        t.activations_ps = pipeline->transfer_ps();
    return t;
}

std::uint64_t training_step_config::slot_ps() const
{
    const slot_times t = slot();
    return t.compute_ps + t.streaming_ps + t.activations_ps;
}

std::uint64_t training_step_config::compute_ps() const
{
    const std::uint64_t slot = slot_ps();
    return static_cast<double>(slot) * static_cast<double>(slots()) < k_beyond_runs_ps ? slot * slots() : whole_ps(k_beyond_runs_ps);
}

std::string training_step_config::text() const
{
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    if (pipeline)
        add(fmt::format(
            "{} micro batch{} in {} slots of a pipeline of {} stages, {} each, {:.1f} % of them to fill and drain it",
            accumulation, accumulation == 1 ? "" : "es", slots(), pipeline->stages, rounded_text(duration(slot_ps())),
            100.0 * (pipeline->stages - 1) / static_cast<double>(slots())));
    if (streaming)
        add(fmt::format("{} from Streaming Memory in each, {}", rounded_text(duration(streaming->transfer_ps())),
                        streaming->io_tiles == 0 ? "for which compute waits"
                                                 : fmt::format("by {} of {} tiles, beside compute on the others",
                                                               streaming->io_tiles, streaming->tiles)));
    if (const std::uint64_t samples_ps = input.onto_tiles_ps(micro_batch); samples_ps != 0)
        add(fmt::format("samples of a micro batch come to the tiles in {}{}", rounded_text(duration(samples_ps)),
                        streaming && streaming->io_tiles != 0 ? ", the same way" : ", for which compute waits: no I/O tiles"));
    if (optimiser)
        add(fmt::format("an update of {}{}", to_string(optimiser->update),
                        optimiser->sharded ? ", of which each replica does its share: sharded" : " on every replica"));
    return text;
}

namespace {
void warn_of_merging(const training_step_config& step, std::vector<config_problem>& problems)
{
    const auto warn = [&](std::string text) {
        problems.push_back({severity::warning, "merge_up_to", std::move(text)});
    };
    const std::vector<gradient_group>& groups = step.groups;
    const std::vector<std::vector<std::size_t>> clusters = step.clusters();
    const auto ready_ps = [&](std::size_t i) { return step.ready_ps(groups[i]); };
    if (step.overlap == overlap_rule::when_ready)
        for (const std::vector<std::size_t>& cluster : clusters) {
            const std::size_t last = *std::max_element(cluster.begin(), cluster.end(),
                                                       [&](auto a, auto b) { return ready_ps(a) < ready_ps(b); });
            for (const std::size_t i : cluster)
                if (ready_ps(i) < ready_ps(last))
                    warn(fmt::format("holds \"{}\" back, which is ready after {} of a step: it is summed with a group that is ready after {}.",
                                     groups[i].name, rounded_text(duration(ready_ps(i))),
                                     rounded_text(duration(ready_ps(last)))));
        }
    if (groups.size() > 1 && clusters.size() == groups.size())
        warn(fmt::format("is {} and merges nothing: no two groups have one type and that size together.",
                         to_string(*step.merge_up_to)));
    if (const std::size_t mixed = step.clusters(false).size(); mixed < clusters.size())
        warn(fmt::format("leaves {} groups to sum; across types it would leave {}, as the source advises (Scaling 7.3), but a "
                         "collective here has one type: what each takes besides its bytes counts too often.",
                         clusters.size(), mixed));
}
} // namespace

std::vector<config_problem> training_step_config::validate() const
{
    problem_list p{limit_problems(*this)};
    p.need(input.data == sample_source::synthetic || micro_batch != 0, "micro_batch",
           fmt::format("is 0, but input.data is {}: how many samples a step takes is not told.", name_of(input.data)));
    p.need(
        !groups.empty() || !exchanges.empty(), "groups",
        "is missing or empty, so there is nothing to sum; add at least one entry, for example \"- {bytes: 25 MB}\".");
    p.need(compute_ps() <= run_config::k_longest_time.value(), "compute",
           fmt::format("of {} micro batches, with what streaming and pipeline add, takes longer than a run can: {}.", accumulation,
                       to_string(run_config::k_longest_time)));
    p.need(collectives() <= k_most_collectives, "steps",
           fmt::format("makes {} collectives (steps x (groups + exchanges)), must be at most {}.", collectives(),
                       k_most_collectives));
    // Which stage has which layers is not told, so not where an exchange stands.
    p.need(!pipeline || exchanges.empty(), "exchanges",
           "stand beside pipeline, of whose stages nobody tells where they meet them; remove one of the two.");
    p.need(!sharded() || !groups.empty(), "optimiser.sharded",
           "is true, but there are no groups: there is nothing to share out.");
    const bool any_early = std::any_of(groups.begin(), groups.end(), [&](const gradient_group& g) { return ready_ps(g) < compute_ps(); });
    if (overlap == overlap_rule::when_ready && !groups.empty() && !any_early && p.all.empty())
        p.all.push_back({severity::warning, "overlap",
                         "is when_ready, but no group is ready before the compute ends, so that all are summed after it, as with none. "
                         "Write groups.N.ready or groups.N.ready_at."});
    if (merge_up_to && p.all.empty())
        warn_of_merging(*this, p.all);
    std::uint64_t largest_element = 1;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        largest_element = std::max<std::uint64_t>(largest_element, abi::element_bytes(groups[i].type));
        p.need(!groups[i].ready_at || *groups[i].ready_at <= compute, fmt::format("groups.{}.ready_at", i),
               fmt::format("is {}, after the end of the compute ({}).",
                           to_string(groups[i].ready_at.value_or(duration())), to_string(compute)));
    }
    for (const step_exchange& e : exchanges)
        largest_element = std::max<std::uint64_t>(largest_element, abi::element_bytes(e.type));
    p.need(chunk.value() == 0 || chunk.value() >= largest_element, "chunk",
           fmt::format("is {}, less than one element ({} B); the firmware moves whole elements.", to_string(chunk),
                       largest_element));
    return p.all;
}

std::vector<key_rule<training_step_config>> training_step_config::key_rules()
{
    using step = training_step_config;
    static const auto everywhere = [](const step& s) { // something is summed over all ranks
        return !s.groups.empty() || std::any_of(s.exchanges.begin(), s.exchanges.end(),
                                                [](const step_exchange& e) { return !e.ranks_per_group; });
    };
    return {
        {"algorithm", "for groups and for exchanges over all ranks", [](const step& s) { return everywhere(s); }},
        {"transposed", "for groups and for exchanges over all ranks", [](const step& s) { return everywhere(s); }},
        {"transposed", "with ring_1d, row_pair and row_pair_forward",
         [](const step& s) { return abi::follows_rows(s.by()); }},
        {"chunk", "for algorithms in chunks, not switchml or those of CCUs", [](const step& s) { return abi::by_dma(s.by()); }},
        {"overlap", "with groups", [](const step& s) { return !s.groups.empty(); }},
        {"merge_up_to", "with several groups", [](const step& s) { return s.groups.size() > 1; }},
        {"groups.N.ready", "with overlap: when_ready",
         [](const step& s) { return s.overlap == overlap_rule::when_ready; }},
        {"groups.N.ready_at", "with overlap: when_ready",
         [](const step& s) { return s.overlap == overlap_rule::when_ready; }},
    };
}

bool is_sound(const training_step_config& config)
{
    bool sound = no_errors(config.validate());
    for (const gradient_group& g : config.groups)
        sound = sound && no_errors(g.validate());
    for (const step_exchange& e : config.exchanges)
        sound = sound && no_errors(e.validate());
    return sound && (!config.optimiser || no_errors(config.optimiser->validate())) &&
           (!config.pipeline || no_errors(config.pipeline->validate())) &&
           (!config.streaming || no_errors(config.streaming->validate()));
}

std::uint64_t training_step_config::ready_ps(const gradient_group& g) const
{
    const std::uint64_t slot = slot_ps();
    // A time is one of the compute alone: what else a slot has stretches it.
    const double part = g.ready_at ? static_cast<double>(g.ready_at->value()) / static_cast<double>(compute.value())
                                   : g.ready.value_or(1);
    return (slots() - 1) * slot +
           (slot == compute.value() && g.ready_at ? g.ready_at->value() : fraction_of(duration(slot), part));
}

std::vector<std::vector<std::size_t>> training_step_config::clusters(bool by_type) const
{
    std::vector<std::vector<std::size_t>> all;
    std::map<abi::element_type, std::pair<std::size_t, std::uint64_t>> open; // by type: which, and its bytes
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::uint64_t bytes = groups[i].size_bytes();
        const auto at = open.find(by_type ? groups[i].type : abi::element_type{});
        if (merge_up_to && at != open.end() && at->second.second + bytes <= merge_up_to->value()) {
            all[at->second.first].push_back(i);
            at->second.second += bytes;
            continue;
        }
        open[by_type ? groups[i].type : abi::element_type{}] = {all.size(), bytes};
        all.push_back({i});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.back() < b.back(); });
    return all;
}

std::vector<gradient_group> training_step_config::summed() const
{
    std::vector<gradient_group> all;
    for (const std::vector<std::size_t>& cluster : clusters()) {
        gradient_group one = groups[cluster.front()];
        for (auto i = cluster.begin() + 1; i != cluster.end(); ++i) {
            const gradient_group& g = groups[*i];
            const gradient_group& later = ready_ps(one) < ready_ps(g) ? g : one;
            const auto [ready, ready_at] = std::pair{later.ready, later.ready_at};
            one.ready = ready;
            one.ready_at = ready_at;
            one.name += "+" + g.name;
            one.bytes = data_size(one.size_bytes() + g.size_bytes());
            one.elements.reset();
        }
        all.push_back(std::move(one));
    }
    return all;
}

double training_step_result::law(double t_ar_ps) const
{
    const std::uint64_t in_batches = compute_ps + communication_ps + update_ps - this->t_ar_ps(); // GA T_MB
    const double ps = static_cast<double>(in_batches) + t_ar_ps;
    return ps == 0 ? 0 : static_cast<double>(samples) * 1e12 / ps;
}

std::uint64_t training_step_result::t_ar_ps() const
{
    std::uint64_t ps = update_ps;
    for (const step_part& p : parts)
        ps += p.is_exchange ? 0 : p.time_ps;
    return ps;
}

std::uint64_t training_step_config::exchange_ps(const step_exchange& e, std::uint32_t index) const
{
    return fraction_of(duration(slot_ps()), e.from + (index + 0.5) * (e.to - e.from) / e.count);
}

namespace {
collective_case case_of_group(const training_step_config& step, const gradient_group& g, abi::collective_op op,
                              abi::reduce_op redop)
{
    collective_case c = make_case(op, step.by(), g.type, redop, g.size_bytes());
    c.transposed = step.transposed;
    c.style = step.inputs;
    c.chunk_bytes = step.chunk.value();
    step.choices.take(c, abi::algorithm::ring_1d);
    return c;
}
} // namespace

collective_case training_step_config::case_of(const gradient_group& g) const
{
    return case_of_group(*this, g, sharded() ? abi::collective_op::reduce_scatter : abi::collective_op::all_reduce,
                         abi::reduce_op::sum);
}

collective_case training_step_config::gather_of(const gradient_group& g) const
{
    return case_of_group(*this, g, abi::collective_op::all_gather, abi::reduce_op::none);
}

collective_case training_step_config::case_of(const step_exchange& e) const
{
    // Groups are tiles or servers, not meshes of their own: the schemes for meshes do not apply to them.
    const bool grouped = e.ranks_per_group.has_value();
    collective_case c = make_case(abi::collective_op::all_reduce, grouped ? abi::algorithm::ring_1d : by(), e.type,
                                  abi::reduce_op::sum, e.bytes.value());
    c.transposed = transposed && !grouped;
    c.ranks_per_group = e.ranks_per_group.value_or(0);
    c.style = inputs;
    c.chunk_bytes = chunk.value();
    choices.take(c, abi::algorithm::ring_1d);
    return c;
}

std::vector<collective_case> training_step_config::cases() const
{
    std::vector<collective_case> all;
    for (const gradient_group& g : summed())
        all.push_back(case_of(g));
    for (const step_exchange& e : exchanges)
        all.push_back(case_of(e));
    if (sharded())
        for (const gradient_group& g : summed())
            all.push_back(gather_of(g));
    return all;
}

std::uint64_t training_step_config::collectives() const
{
    std::uint64_t each = summed().size() * (sharded() ? 2 : 1);
    for (const step_exchange& e : exchanges)
        each += std::uint64_t{e.count} * accumulation;
    return each * steps;
}

std::uint64_t training_step_config::buffer_bytes() const
{
    std::uint64_t bytes = 0;
    for (const gradient_group& g : summed())
        bytes += aligned(g.size_bytes());
    for (const step_exchange& e : exchanges)
        bytes += aligned(e.bytes.value());
    return bytes;
}

namespace {

/// One step on its way. Collectives take the host's thread until they are done; what compute has done meanwhile follows
/// from their time, because nothing but the next exchange stops it.
class step_run {
public:
    step_run(const training_step_config& config, step_host& host, std::uint64_t seed, training_step_result& result,
             std::string& part)
        : config_(config), groups_(config.summed()), host_(host), next_seed_(seed), result_(result), part_(part)
    {
        std::uint64_t offset = 0;
        const auto add = [&](const std::string& name, const collective_case& c, bool is_exchange) {
            step_part p;
            p.name = name;
            p.what = c;
            p.is_exchange = is_exchange;
            result_.parts.push_back(std::move(p));
            offsets_.push_back(offset);
            offset += aligned(c.size_bytes);
        };
        for (const gradient_group& g : groups_)
            add(g.name, config.case_of(g), false);
        for (std::size_t i = 0; i < config.exchanges.size(); ++i) {
            const step_exchange& e = config.exchanges[i];
            add(e.name, config.case_of(e), true);
            for (std::uint32_t batch = 0; batch < config.accumulation; ++batch)
                for (std::uint32_t k = 0; k < e.count; ++k)
                    exchanges_.push_back({batch * config.slot_ps() + config.exchange_ps(e, k), groups_.size() + i});
        }
        if (config.sharded())
            for (std::size_t i = 0; i < groups_.size(); ++i) { // in the place of their gradients
                add("weights of " + groups_[i].name, config.gather_of(groups_[i]), false);
                offsets_.back() = offsets_[i];
            }
        std::stable_sort(exchanges_.begin(), exchanges_.end(),
                         [](const pending& a, const pending& b) { return a.at_ps < b.at_ps; });
        result_.compute_ps = config.compute_ps();
        result_.samples = std::uint64_t{config.micro_batch} * config.accumulation * host.replicas();
    }

    bool run()
    {
        while (true) {
            const std::uint64_t group_ps = next_group_ps();
            if (next_exchange_ < exchanges_.size() && exchanges_[next_exchange_].at_ps <= computed_ps_) {
                const std::size_t part = exchanges_[next_exchange_++].part;
                if (!call(part, result_.time_ps - stalled_for_ps_))
                    return false;
                stalled_for_ps_ = 0;
            } else if (group_ps <= computed_ps_) {
                const std::uint64_t start_ps = result_.time_ps;
                if (!call(next_group_, ready_at_ps(group_ps)))
                    return false;
                ++next_group_;
                advance(result_.time_ps - start_ps, start_ps);
            } else if (computed_ps_ < result_.compute_ps) {
                const std::uint64_t spent = std::min(group_ps, compute_limit()) - computed_ps_;
                part_ = "compute";
                if (!host_.compute(spent))
                    return false;
                const std::uint64_t start_ps = result_.time_ps;
                result_.time_ps += spent;
                advance(spent, start_ps);
            } else {
                return update() && wait_for_samples();
            }
        }
    }

private:
    struct pending {
        std::uint64_t at_ps; ///< compute done
        std::size_t part;
    };
    /// From `time_ps` of the step on, compute went on from `computed_ps`.
    struct stretch {
        std::uint64_t computed_ps;
        std::uint64_t time_ps;
    };

    /// The optimiser; then everybody gets the weights that others have updated.
    bool update()
    {
        result_.update_ps = config_.update_ps(host_.replicas());
        part_ = "update";
        if (result_.update_ps != 0 && !host_.compute(result_.update_ps))
            return false;
        result_.time_ps += result_.update_ps;
        for (std::size_t part = groups_.size() + config_.exchanges.size(); part < result_.parts.size(); ++part)
            if (!call(part, result_.time_ps))
                return false;
        return true;
    }
    /// Until the samples of the next step are there, of which hosts begin with this one; without prefetch, as long as
    /// they take.
    bool wait_for_samples()
    {
        const std::uint64_t takes_ps = config_.input.time_ps(result_.samples);
        result_.input_ps = !config_.input.prefetch ? takes_ps : takes_ps > result_.time_ps ? takes_ps - result_.time_ps : 0;
        if (result_.input_ps == 0)
            return true;
        part_ = "input";
        result_.time_ps += result_.input_ps;
        return host_.compute(result_.input_ps);
    }
    /// Compute that must be done before the next group may start; never when there is none.
    std::uint64_t next_group_ps() const
    {
        if (next_group_ == groups_.size())
            return k_never_ps;
        return config_.overlap == overlap_rule::none ? result_.compute_ps : config_.ready_ps(groups_[next_group_]);
    }
    std::uint64_t compute_limit() const
    {
        return next_exchange_ < exchanges_.size() ? std::min(exchanges_[next_exchange_].at_ps, result_.compute_ps)
                                                  : result_.compute_ps;
    }
    /// `elapsed_ps` since `start_ps` have passed: compute has gone on, up to the next exchange.
    void advance(std::uint64_t elapsed_ps, std::uint64_t start_ps)
    {
        const std::uint64_t done = std::min(elapsed_ps, compute_limit() - computed_ps_);
        if (done > 0)
            stretches_.push_back({computed_ps_, start_ps});
        computed_ps_ += done;
        stalled_for_ps_ =
            computed_ps_ < result_.compute_ps || next_exchange_ < exchanges_.size() ? elapsed_ps - done : 0;
    }
    /// When, since the start of the step, `computed_ps` of compute were done.
    std::uint64_t ready_at_ps(std::uint64_t computed_ps) const
    {
        for (auto s = stretches_.rbegin(); s != stretches_.rend(); ++s)
            if (s->computed_ps < computed_ps)
                return s->time_ps + (computed_ps - s->computed_ps);
        return 0;
    }
    bool call(std::size_t part, std::uint64_t ready_ps)
    {
        step_part& p = result_.parts[part];
        part_ = p.name;
        case_result r;
        if (!host_.run_collective(p.what, config_.chunk.value(), offsets_[part], next_seed_++, r))
            return false;
        p.ran_in = r.what.groups;
        if (p.calls++ == 0) {
            p.ready_ps = ready_ps;
            p.start_ps = result_.time_ps;
        }
        p.shares.add(p.time_ps, r.shares, r.time_ps);
        p.time_ps += r.time_ps;
        p.steps = std::max(p.steps, r.steps);
        p.checked = r.checked;
        p.wrong += r.check.wrong;
        if (r.check.wrong > 0 && p.first_wrong.empty())
            p.first_wrong = to_string(r.check.first, r.what.type);
        p.digest = mix64(p.digest ^ r.check.digest);
        result_.communication_ps += r.time_ps;
        result_.time_ps += r.time_ps;
        return true;
    }

    const training_step_config& config_;
    std::vector<gradient_group> groups_;
    step_host& host_;
    std::uint64_t next_seed_;
    training_step_result& result_;
    std::string& part_;
    std::vector<std::uint64_t> offsets_; ///< buffer of each part
    std::vector<pending> exchanges_;     ///< in the order in which compute meets them
    std::size_t next_exchange_ = 0;
    std::size_t next_group_ = 0;
    std::uint64_t computed_ps_ = 0;
    std::uint64_t stalled_for_ps_ = 0; ///< since compute met the exchange that it waits for now
    std::vector<stretch> stretches_;
};

} // namespace

namespace {

/// A machine on which each collective takes what it took in a step before, and nothing is simulated.
class replayed_host final : public step_host {
public:
    replayed_host(const training_step_result& before, std::uint32_t replicas) : replicas_(replicas)
    {
        // As step_run lays buffers out: the weights of a group have the place of its gradients.
        std::uint64_t offset = 0, of_weights = 0;
        for (const step_part& p : before.parts) {
            const bool gathers = p.what.op == abi::collective_op::all_gather;
            std::uint64_t& at = gathers ? of_weights : offset;
            took_ps_[{at, gathers}] = p.calls == 0 ? 0 : p.time_ps / p.calls;
            at += aligned(p.what.size_bytes);
        }
    }
    bool run_collective(const collective_case& c, std::uint64_t, std::uint64_t buffer_offset, std::uint64_t,
                        case_result& result) override
    {
        result.what = c;
        result.time_ps = took_ps_.at({buffer_offset, c.op == abi::collective_op::all_gather});
        return true;
    }
    bool compute(std::uint64_t) override { return true; }
    std::uint32_t replicas() const override { return replicas_; }

private:
    std::uint32_t replicas_;
    std::map<std::pair<std::uint64_t, bool>, std::uint64_t> took_ps_; ///< by buffer, and whether weights are gathered
};

} // namespace

std::uint64_t time_without_compute_ps(training_step_config config, const training_step_result& step,
                                      std::uint32_t replicas)
{
    for (gradient_group& g : config.groups)
        if (g.ready_at) { // the same share of what is left
            g.ready = static_cast<double>(g.ready_at->value()) / static_cast<double>(config.compute.value());
            g.ready_at.reset();
        }
    config.compute = duration(0);
    replayed_host host(step, replicas);
    training_step_result without;
    std::string part;
    run_training_step(config, host, 0, without, part);
    return without.time_ps;
}

bool run_training_step(const training_step_config& config, step_host& host, std::uint64_t first_input_seed,
                       training_step_result& result, std::string& part)
{
    result = training_step_result{};
    return step_run(config, host, first_input_seed, result, part).run();
}

} // namespace weft
