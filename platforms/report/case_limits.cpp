// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/case_limits.h"

#include <algorithm>

namespace weft {

void case_shares::add(std::uint64_t time_ps, const case_shares& more, std::uint64_t more_ps)
{
    if (!known || time_ps == 0) {
        *this = more;
        return;
    }
    if (!more.known || more_ps == 0)
        return;
    const double weight = static_cast<double>(more_ps) / (static_cast<double>(time_ps) + static_cast<double>(more_ps));
    for (double case_shares::*share : {&case_shares::core, &case_shares::dma, &case_shares::memory, &case_shares::offload, &case_shares::link,
                                       &case_shares::credits, &case_shares::arbitration, &case_shares::core_waits})
        this->*share += (more.*share - this->*share) * weight;
    lost = lost || more.lost;
}

std::vector<std::pair<const char*, double>> case_shares::listed() const
{
    return {{"core", core}, {"dma", dma},         {"memory", memory},          {"offload", offload},
            {"link", link}, {"credits", credits}, {"arbitration", arbitration}};
}

std::string limited_by(const case_shares& shares)
{
    constexpr double k_busy = 0.5, k_waited = 0.25;
    // The busiest core works beside what it has started, and waits for its bus: it limits where it is clearly busier.
    constexpr double k_core_weight = 0.8;
    if (!shares.known)
        return "";
    // Links whose heads wait for each other's turn fill buffers, too: larger ones help little there (Trainium's mesh:
    // 3 % by buffers, 35 % by links).
    const double credits = shares.credits > 2 * shares.arbitration ? shares.credits : 0;
    // Of equals the one nearer to the wire: a port that feeds one link is as busy as the link.
    std::pair<const char*, double> most{"link", shares.link};
    for (const std::pair<const char*, double>& other : {std::pair<const char*, double>{"offload", shares.offload},
                                                        {"memory", shares.memory},
                                                        {"dma", shares.dma},
                                                        {"credits", credits}})
        if (other.second > most.second)
            most = other;
    const double core = shares.core + shares.core_waits;
    if (most.second < k_busy || most.second < k_core_weight * core)
        most = {shares.core >= shares.core_waits ? "core" : "memory", core};
    if (most.second >= k_busy)
        return most.first;
    if (shares.lost) // nothing else is short
        return "timeout";
    // Waits end when what is waited for ends, so less of them is much.
    if (std::max(shares.arbitration, credits) < k_waited)
        return "latency";
    return shares.arbitration >= credits ? "arbitration" : "credits";
}

} // namespace weft
