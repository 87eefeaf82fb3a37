// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// M13: the registers of a pipe against a reference that is written from the published table alone, on random passes;
// and model against Verilog where the build has it.
#include "hw/tofino/aggregation_model.h"
#include "platforms/switchml/aggregators.h"
#include "platforms/switchml/validation_runs.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint32_t k_passes = 200'000;
constexpr std::uint32_t k_lockstep_passes = 20'000;
constexpr std::uint32_t k_slots = 4; ///< few, so that passes meet

class random_source {
public:
    std::uint64_t next()
    {
        state_ += 0x9e37'79b9'7f4a'7c15;
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
        z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
        return z ^ z >> 31;
    }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }

private:
    std::uint64_t state_ = 1;
};

/// One pass after the other, a plain array for every register.
class reference_pipe {
public:
    aggregation_result run(const aggregation_pass& p)
    {
        aggregation_result r;
        entry& e = entries_[p.pool_index];
        if (is_consume(p.type)) {
            entry& other = entries_[p.pool_index ^ 1];
            const std::uint32_t own = 1u << p.worker;
            r.bitmap_before = e.bitmap;
            r.map_result = e.bitmap & own;
            e.bitmap |= own;
            other.bitmap &= ~own;
            r.count = e.count; // workers still missing before this one; of an empty or complete slot 0
            if (r.map_result == 0) {
                if (p.workers == 1)
                    r.count = 1; // it is first and last at once
                else
                    e.count = static_cast<std::uint8_t>(e.count == 0 ? p.workers - 1 : e.count - 1);
            }
            add_words(e, p, r);
        } else {
            r.map_result = p.map_result;
            r.count = p.count;
            const bool odd = (static_cast<std::uint32_t>(p.type) & 1) != 0;
            r.writes_d0 = odd;
            for (std::uint32_t k = 0; k < k_aggregation_alus; ++k)
                r.words[k] = odd ? e.first[k] : e.second[k];
        }
        exponents(e, p, r);
        step(p, r);
        return r;
    }

private:
    struct entry {
        std::uint32_t bitmap = 0;
        std::uint8_t count = 0;
        std::int8_t exponent0 = 0, exponent1 = 0;
        std::array<std::uint32_t, k_aggregation_alus> first{}, second{};
    };

    static void add_words(entry& e, const aggregation_pass& p, aggregation_result& r)
    {
        for (std::uint32_t k = 0; k < k_aggregation_alus; ++k) {
            if (r.bitmap_before == 0) {
                e.first[k] = p.d0[k];
                e.second[k] = p.d1[k];
            } else if (r.map_result == 0) {
                e.first[k] += p.d0[k];
                e.second[k] += p.d1[k];
            }
            r.words[k] = e.second[k];
        }
    }
    /// Only the last packet of a message has them, and only its first and its last pass touch them.
    static void exponents(entry& e, const aggregation_pass& p, aggregation_result& r)
    {
        if (!p.last_of_message)
            return;
        if (p.type == pass_type::consume0) {
            if (r.bitmap_before == 0) {
                e.exponent0 = p.exponent0;
                e.exponent1 = p.exponent1;
            } else if (r.map_result == 0) {
                e.exponent0 = std::max(e.exponent0, p.exponent0);
                e.exponent1 = std::max(e.exponent1, p.exponent1);
            }
            r.reads_exponent0 = true;
            r.exponent = e.exponent0;
        } else if (p.type == pass_type::harvest7) {
            r.reads_exponent1 = true;
            r.exponent = e.exponent1;
        }
    }
    /// The published table, line by line.
    static void step(const aggregation_pass& p, aggregation_result& r)
    {
        const bool first_time = r.map_result == 0;
        const auto go = [&](pass_type next) {
            r.step = next_step::recirculate;
            r.next_type = next;
        };
        r.step = next_step::drop;
        const bool any_size = p.type == pass_type::consume0 || p.type == pass_type::harvest7;
        if (!any_size && p.size != packet_size::words256)
            return; // in no line
        switch (p.type) {
        case pass_type::consume0:
            if (p.size == packet_size::words64) {
                if (r.count == 1)
                    go(pass_type::harvest7);
                else if (first_time)
                    r.step = next_step::finish_consume;
                else if (r.count == 0)
                    go(pass_type::harvest7);
            } else if (p.size == packet_size::words256 && (first_time || r.count == 0)) {
                go(pass_type::consume1);
            }
            break;
        case pass_type::consume1: go(pass_type::consume2); break;
        case pass_type::consume2: go(pass_type::consume3); break;
        case pass_type::consume3:
            if (r.count == 1 || (!first_time && r.count == 0))
                go(pass_type::harvest1);
            else if (first_time)
                r.step = next_step::finish_consume;
            break;
        case pass_type::harvest7:
            if (r.count == 1 && first_time)
                r.step = next_step::broadcast;
            else if (r.count == 0 && !first_time)
                r.step = next_step::retransmit;
            break;
        default: go(static_cast<pass_type>(static_cast<std::uint32_t>(p.type) + 1)); break;
        }
    }

    std::array<entry, 2 * k_slots> entries_;
};

aggregation_pass random_pass(random_source& random, std::uint32_t workers)
{
    static constexpr pass_type k_types[] = {
        pass_type::consume0, pass_type::consume0, pass_type::consume0, pass_type::consume0, pass_type::consume1,
        pass_type::consume2, pass_type::consume3, pass_type::harvest1, pass_type::harvest2, pass_type::harvest3,
        pass_type::harvest4, pass_type::harvest5, pass_type::harvest6, pass_type::harvest7, pass_type::harvest7};
    aggregation_pass p;
    p.type = k_types[random.below(15)];
    p.size = random.below(3) == 0 ? packet_size::words64 : packet_size::words256;
    p.pool_index = static_cast<std::uint16_t>(random.below(2 * k_slots));
    p.worker = static_cast<std::uint8_t>(random.below(workers));
    p.workers = static_cast<std::uint8_t>(workers);
    p.last_of_message = random.below(4) != 0;
    p.exponent0 = static_cast<std::int8_t>(random.next());
    p.exponent1 = static_cast<std::int8_t>(random.next());
    if (!is_consume(p.type)) {
        p.map_result = random.below(2) == 0 ? 0 : 1u << p.worker;
        p.count = static_cast<std::uint8_t>(random.below(3));
    }
    for (std::uint32_t k = 0; k < k_aggregation_alus; ++k) {
        p.d0[k] = static_cast<std::uint32_t>(random.next());
        p.d1[k] = static_cast<std::uint32_t>(random.next());
    }
    return p;
}

/// Passes in which model and reference differ, over jobs of 1, 2, 8 and 32 workers.
double differences(std::string& first)
{
    std::uint32_t count = 0;
    random_source random;
    for (const std::uint32_t workers : {1u, 2u, 8u, 32u}) {
        aggregation_model model(2 * k_slots);
        reference_pipe reference;
        for (std::uint32_t i = 0; i < k_passes / 4; ++i) {
            const aggregation_pass p = random_pass(random, workers);
            const aggregation_result got = model.take(model.submit(p, i), i);
            const aggregation_result wanted = reference.run(p);
            if (got != wanted && count++ == 0)
                first = fmt::format("{}\ngot\n{}\nwanted\n{}", to_string(p), to_string(got), to_string(wanted));
        }
    }
    return count;
}

} // namespace

void switchml_checks::registers()
{
    std::string first;
    const double different = differences(first);
    if (!first.empty())
        print_to_stderr("M13: first difference\n{}\n", first);
    add(row_of(
        row_kind::conformity(), "M13",
        fmt::format("{} random passes, jobs of 1 to 32 workers: C++ model differs from the published table", k_passes),
        0, different, "passes", "p4app-switchML (quoted)"));
    validation_row row = row_of(row_kind::conformity(), "M13",
                                fmt::format("{} random passes: Verilog differs from the C++ model", k_lockstep_passes),
                                0, std::nullopt, "passes", "the same contract");
    const tofino_config chip;
    row.why_not_run = aggregator_refusal(aggregator_kind::lockstep, chip);
    if (row.why_not_run.empty()) {
        // The first difference throws, in the child.
        const run_figures figures = how_.isolated([&] {
            switchml_switch_config config;
            config.aggregator = aggregator_kind::lockstep;
            config.chip = chip;
            const auto unit = aggregators(config, 0, nullptr)(0);
            random_source random;
            for (std::uint32_t i = 0; i < k_lockstep_passes; ++i) {
                const std::uint64_t now_ps = std::uint64_t{i} * 1000;
                unit->take(unit->submit(random_pass(random, 8), now_ps), now_ps);
            }
            return run_figures{{"differences", 0}};
        });
        row.simulated = figure(figures, "differences");
    }
    add(std::move(row));
}

} // namespace weft
