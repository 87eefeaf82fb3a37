// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/run_outcome.h"

#include "platforms/workload/digest.h"

#include <algorithm>

namespace weft {

void add_repeat(case_result& all, const case_result& r)
{
    if (all.repeats_ps.empty()) {
        all = r;
        all.repeats_ps.push_back(r.time_ps);
        return;
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t ps : all.repeats_ps)
        sum += ps;
    all.shares.add(sum, r.shares, r.time_ps);
    all.repeats_ps.push_back(r.time_ps);
    sum += r.time_ps;
    all.time_ps = (sum + all.repeats_ps.size() / 2) / all.repeats_ps.size();
    all.steps = std::max(all.steps, r.steps);
    all.messages += r.messages;
    if (all.check.wrong == 0)
        all.check.first = r.check.first;
    all.check.checked += r.check.checked;
    all.check.wrong += r.check.wrong;
    all.check.digest = mix64(all.check.digest ^ r.check.digest);
}

namespace {

void add_case(digest64& digest, const case_result& r)
{
    digest.update_u64(static_cast<std::uint64_t>(r.what.op) | static_cast<std::uint64_t>(r.what.algo) << 8 |
                      static_cast<std::uint64_t>(r.what.type) << 16 | static_cast<std::uint64_t>(r.what.redop) << 24);
    digest.update_u64(r.what.count);
    digest.update_u64(r.time_ps);
    digest.update_u64(r.steps);
    digest.update_u64(r.messages);
    digest.update_u64(r.checked ? r.check.digest : 0);
    digest.update_u64(r.check.wrong);
    for (const std::uint64_t ps : r.repeats_ps)
        digest.update_u64(ps);
}

void add_training_step(digest64& digest, const training_step_result& s)
{
    digest.update_u64(s.time_ps);
    digest.update_u64(s.communication_ps);
    for (const step_part& p : s.parts) {
        digest.update_u64(p.what.count);
        if (p.what.ranks_per_group != 0)
            digest.update_u64(p.what.ranks_per_group);
        digest.update_u64(p.start_ps);
        digest.update_u64(p.time_ps);
        digest.update_u64(p.checked ? p.digest : 0);
        digest.update_u64(p.wrong);
    }
}

} // namespace

std::uint64_t digest_of(const run_outcome& outcome, const std::vector<abi::response>& answers)
{
    digest64 digest;
    for (const case_result& r : outcome.cases)
        add_case(digest, r);
    for (const training_step_result& s : outcome.training_steps)
        add_training_step(digest, s);
    for (const job_restart& r : outcome.restarts) {
        digest.update_u64(r.at_ps);
        digest.update_u64(r.resumed_ps);
    }
    for (const checkpoint_result& c : outcome.checkpoints) {
        digest.update_u64(std::uint64_t{c.number} << 1 | (c.load ? 1 : 0));
        for (const std::uint64_t value : {c.start_ps, c.time_ps, c.bytes, c.resent, c.checksum, c.wrong_bytes})
            digest.update_u64(value);
    }
    for (const host_stream_result& s : outcome.host_streams)
        for (const std::uint64_t value : {s.bytes, s.messages, s.late, s.lost, s.latency_sum_ps, s.wrong_bytes})
            digest.update_u64(value);
    if (outcome.failed_case) {
        digest.update_u64(static_cast<std::uint64_t>(outcome.failed_case->op) |
                          static_cast<std::uint64_t>(outcome.failed_case->algo) << 8);
        digest.update_u64(outcome.failed_case->count);
        digest.update_u64(outcome.simulated_time_ps);
        for (const abi::response& r : answers) {
            digest.update_u64(r.sequence | static_cast<std::uint64_t>(r.code) << 32);
            digest.update_u64(r.failed_step | static_cast<std::uint64_t>(r.failed_peer) << 32);
        }
    }
    return digest.value();
}

} // namespace weft
