// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/case_limits.h"

namespace weft {

std::vector<std::pair<const char*, double>> case_shares::listed() const
{
    return {{"core", core}, {"dma", dma},         {"memory", memory},
            {"link", link}, {"credits", credits}, {"arbitration", arbitration}};
}

std::string limited_by(const case_shares& shares)
{
    constexpr double k_busy = 0.5, k_waited = 0.25;
    if (!shares.known)
        return "";
    // Of equals the one nearer to the wire: a port that feeds one link is as busy as the link.
    std::pair<const char*, double> most{"link", shares.link};
    for (const std::pair<const char*, double>& other : {std::pair<const char*, double>{"memory", shares.memory},
                                                        {"dma", shares.dma},
                                                        {"core", shares.core},
                                                        {"credits", shares.credits}})
        if (other.second > most.second)
            most = other;
    if (most.second >= k_busy)
        return most.first;
    return shares.arbitration >= k_waited ? "arbitration" : "latency";
}

} // namespace weft
