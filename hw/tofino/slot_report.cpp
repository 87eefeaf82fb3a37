// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/slot_report.h"

#include <fmt/format.h>

namespace weft {

std::string waiting_slots(const tofino_job_table& jobs, const std::string& name, bool stale_filter, std::size_t at_most)
{
    std::string text;
    std::size_t found = 0;
    for (const tofino_job_state& j : jobs.all()) {
        if (!j.active)
            continue;
        for (std::size_t e = 0; e < j.watch.size(); ++e) {
            if (j.watch[e].missing == 0 || ++found > at_most)
                continue;
            std::string missing;
            for (std::size_t w = 0; w < j.job.workers.size(); ++w)
                if ((j.watch[e].seen >> w & 1) == 0)
                    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", w);
            if (missing.empty()) { // only a packet that was counted in another use than its own brings this about
                text += fmt::format(
                    "{}{}: job {} slot {} set {} has heard all {} workers, but counts {} as missing: it "
                    "has taken a late packet for a new one{}",
                    text.empty() ? "" : "\n", name, j.job.number, j.job.first_slot + e / 2, e % 2, j.job.workers.size(),
                    j.watch[e].missing, stale_filter ? "" : ", which stale_filter, now off, prevents");
                continue;
            }
            text += fmt::format("{}{}: job {} slot {} set {} waits for worker{} {} of {}", text.empty() ? "" : "\n",
                                name, j.job.number, j.job.first_slot + e / 2, e % 2,
                                missing.find(',') == std::string::npos ? "" : "s", missing, j.job.workers.size());
        }
    }
    if (found > at_most)
        text += fmt::format("\n{}: and {} more slots", name, found - at_most);
    return text;
}

std::vector<awaited_sender> awaited_senders(const tofino_job_table& jobs)
{
    std::vector<awaited_sender> all;
    for (const tofino_job_state& j : jobs.all()) {
        if (!j.active)
            continue;
        for (std::size_t w = 0; w < j.job.workers.size(); ++w) {
            awaited_sender sender;
            sender.job = j.job.number;
            sender.mac = j.job.workers[w].inside ? 0 : j.job.workers[w].mac;
            const std::uint32_t everybody = (std::uint32_t{2} << (j.job.workers.size() - 1)) - 1;
            for (const tofino_slot_watch& slot : j.watch)
                if (slot.missing != 0 && (slot.seen >> w & 1) == 0) {
                    ++sender.slots;
                    sender.alone += (slot.seen | std::uint32_t{1} << w) == everybody ? 1 : 0;
                }
            if (sender.slots != 0)
                all.push_back(sender);
        }
    }
    return all;
}

std::string broken_messages(const tofino_job_table& jobs, const std::string& name)
{
    std::string text;
    for (const tofino_job_state& j : jobs.all())
        for (std::size_t w = 0; j.active && w < j.job.workers.size(); ++w) {
            std::uint32_t dropped = 0;
            for (std::size_t q = w * j.job.queues; q < (w + 1) * j.job.queues && q < j.receive_queues.size(); ++q)
                dropped += j.receive_queues[q].gaps;
            if (dropped != 0)
                text +=
                    fmt::format("{}{}: messages of worker {} of job {} do not arrive whole and in order: {} packets "
                                "dropped behind a gap since the last whole one",
                                text.empty() ? "" : "\n", name, w, j.job.number, dropped);
        }
    return text;
}

} // namespace weft
