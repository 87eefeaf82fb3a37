// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// M12: published sequences of packets against the registers of a pipe: the scenarios of the packet tests of
// microsoft/SwitchML, two workers, and the example of appendix A (Fig. 8), three. Packets of 64 words; word i of a
// packet is m * i, as in those tests.
#include "hw/tofino/aggregation_model.h"
#include "platforms/switchml/validation_runs.h"
#include "tlm/standard_error.h"

#include <fmt/format.h>
#include <vector>

namespace weft {

namespace {

constexpr std::uint32_t k_trace_slots = 8;

enum class answer { none, all, sender };
const char* name_of(answer a) { return a == answer::all ? "all" : a == answer::sender ? "its sender" : "nobody"; }

/// A packet of a sequence and what the switch must make of it: who is answered, with which multiple of i in word i.
struct event {
    std::uint8_t worker;
    bool version;
    std::uint32_t m;
    answer to = answer::none;
    std::uint32_t sum = 0;
    std::uint16_t slot = 0;
};
struct sequence {
    const char* name;
    std::uint8_t workers;
    std::vector<event> events;
};

std::vector<sequence> published_sequences()
{
    using a = answer;
    std::vector<sequence> all = {
        {"reduction", 2, {{0, false, 3}, {1, false, 3, a::all, 6}}},
        {"sent again after the reduction", 2, {{0, false, 1}, {1, false, 1, a::all, 2}, {0, false, 1, a::sender, 2}}},
        {"the other set first", 2, {{0, true, 3}, {1, true, 3, a::all, 6}}},
        {"both sets", 2, {{0, false, 1}, {1, false, 1, a::all, 2}, {1, true, 3}, {0, true, 3, a::all, 6}}},
        {"sent again amid a slot",
         2,
         {{0, false, 3}, {0, false, 3}, {0, false, 3}, {0, false, 3}, {1, false, 3, a::all, 6}}},
        {"sent again from the previous set while the other is half full",
         2,
         {{0, false, 1}, {1, false, 1, a::all, 2}, {1, true, 3}, {0, false, 1, a::sender, 2}, {0, true, 3, a::all, 6}}},
        // t2 and t3: the packet of the third worker is lost; t7: the answer to the first one.
        {"example of appendix A",
         3,
         {{0, false, 1},
          {1, false, 1},
          {0, false, 1},
          {1, false, 1},
          {2, false, 1, a::all, 3},
          {1, true, 3},
          {2, true, 3},
          {0, false, 1, a::sender, 3},
          {0, true, 3, a::all, 9}}}};
    sequence reuse{"a slot used four times", 2, {}};
    sequence again{"a slot used again, packets sent again in between", 2, {}};
    for (std::uint32_t i = 0; i < 4; ++i) {
        const bool version = i % 2 != 0;
        const std::uint32_t m = 1 + i;
        reuse.events.push_back({0, version, m});
        reuse.events.push_back({1, version, m, a::all, 2 * m});
        again.events.push_back({0, version, m});
        again.events.push_back({0, version, m});
        again.events.push_back({1, version, m, a::all, 2 * m});
        again.events.push_back({1, version, m, a::sender, 2 * m});
        again.events.push_back({0, version, m, a::sender, 2 * m});
    }
    all.push_back(reuse);
    all.push_back(again);
    return all;
}

/// What the pipe makes of one packet; its sum must be `sum` * i in every word.
std::string difference(aggregation_model& pipe, const sequence& s, const event& e)
{
    aggregation_pass p;
    p.size = packet_size::words64;
    p.pool_index = static_cast<std::uint16_t>(e.slot << 1 | (e.version ? 1 : 0));
    p.worker = e.worker;
    p.workers = s.workers;
    for (std::uint32_t k = 0; k < k_aggregation_alus; ++k) {
        p.d0[k] = e.m * k;
        p.d1[k] = e.m * (k_aggregation_alus + k);
    }
    const aggregation_result first = pipe.take(pipe.submit(p, 0), 0);
    answer got = answer::none;
    std::uint32_t wrong = 0;
    if (first.step == next_step::recirculate) {
        p.type = first.next_type;
        p.map_result = first.map_result;
        p.count = first.count;
        const aggregation_result second = pipe.take(pipe.submit(p, 0), 0);
        got = second.step == next_step::broadcast    ? answer::all
              : second.step == next_step::retransmit ? answer::sender
                                                     : answer::none;
        for (std::uint32_t k = 0; got != answer::none && k < k_aggregation_alus; ++k)
            wrong += (second.words[k] != e.sum * k) + (first.words[k] != e.sum * (k_aggregation_alus + k));
    }
    if (got == e.to && wrong == 0)
        return {};
    return fmt::format("{}: worker {}, version {}: answered {}, published {}; {} words wrong", s.name, e.worker,
                       e.version ? 1 : 0, name_of(got), name_of(e.to), wrong);
}

} // namespace

void switchml_checks::traces()
{
    for (const sequence& s : published_sequences()) {
        aggregation_model pipe(2 * k_trace_slots);
        double different = 0;
        for (const event& e : s.events)
            if (const std::string text = difference(pipe, s, e); !text.empty()) {
                ++different;
                print_to_stderr("M12: {}\n", text);
            }
        const bool example = s.workers == 3;
        add(row_of(
            row_kind::conformity(), "M12",
            fmt::format("{}, {} workers, {} packets: those answered otherwise", s.name, s.workers, s.events.size()), 0,
            different, "packets",
            example ? "Sapio et al., appendix A and Fig. 8 (quoted)" : "microsoft/SwitchML, packet tests (quoted)"));
    }
}

} // namespace weft
