// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/link_conditions.h"

#include <algorithm>

namespace weft {

std::uint32_t link_conditions::plan_failure(std::uint32_t link, std::uint64_t at_ps)
{
    std::uint32_t last = k_no_part; // failure of this link that is not over at `at_ps`
    for (std::uint32_t i = cold_.at(link).failure; i < failures_.size(); ++i)
        if (failures_[i].link == link && at_ps < failures_[i].restored_ps)
            last = last == k_no_part ? i : last;
    if (last == k_no_part) {
        last = static_cast<std::uint32_t>(failures_.size());
        link_failure f;
        f.link = link;
        f.at_ps = at_ps;
        failures_.push_back(f);
        if (cold_[link].failure == k_no_part) {
            cold_[link].failure = last;
            links_[link].special |= k_fails;
        }
    }
    failures_[last].at_ps = std::min(failures_[last].at_ps, at_ps);
    return last;
}

std::uint32_t link_conditions::plan_restoration(std::uint32_t link, std::uint64_t at_ps)
{
    std::uint32_t last = k_no_part;
    for (std::uint32_t i = cold_.at(link).failure; i < failures_.size(); ++i)
        if (failures_[i].link == link && failures_[i].at_ps < at_ps)
            last = i;
    if (last != k_no_part)
        failures_[last].restored_ps = at_ps;
    return last;
}

bool link_conditions::blocks(std::uint32_t link, std::uint64_t now_ps)
{
    if ((links_[link].special & k_fails) == 0)
        return !links_[link].up;
    link_failure& f = failure_of(link);
    if (now_ps < f.at_ps)
        return !links_[link].up;
    f.affected = true;
    return true;
}

bool link_conditions::declare(std::uint32_t number, std::uint64_t now_ps, std::uint64_t detection_ps)
{
    link_failure& f = failures_[number];
    const std::uint64_t due_ps = f.at_ps + (f.exhausted ? 0 : detection_ps);
    if (!is_present(number) || f.declared_ps != k_never_ps || now_ps < due_ps)
        return false;
    f.declared_ps = now_ps;
    links_[f.link].special |= k_dead;
    return true;
}

bool link_conditions::restore(std::uint32_t number, std::uint64_t now_ps)
{
    const std::uint32_t link = failures_[number].link;
    if (!is_present(number) || failures_[number].restored_ps != now_ps)
        return false;
    link_state& l = links_[link];
    l.special = static_cast<std::uint8_t>(l.special & ~(k_fails | k_dead));
    cold_[link].failure = k_no_part;
    for (std::uint32_t i = number + 1; i < failures_.size(); ++i)
        if (failures_[i].link == link && cold_[link].failure == k_no_part) {
            cold_[link].failure = i; // planned already
            l.special |= k_fails;
        }
    return true;
}

void link_conditions::plan_rate(std::uint32_t link, std::uint64_t at_ps, bandwidth rate)
{
    rate_changes_.push_back({link, at_ps, rate});
    link_cold& cold = cold_.at(link);
    cold.next_rate_ps = std::min(cold.next_rate_ps, at_ps);
    links_[link].special |= k_new_rate;
}

bandwidth link_conditions::rate_at(std::uint32_t link, std::uint64_t at_ps) const
{
    bandwidth rate = cold_[link].rate;
    std::uint64_t since_ps = 0;
    for (const rate_change& c : rate_changes_)
        if (c.link == link && c.at_ps <= at_ps && c.at_ps >= since_ps) {
            rate = c.rate;
            since_ps = c.at_ps;
        }
    return rate;
}

bool link_conditions::take_rate(std::uint32_t link, std::uint64_t now_ps)
{
    link_cold& cold = cold_[link];
    if (now_ps < cold.next_rate_ps)
        return false;
    link_state& l = links_[link];
    l.rate = wire_rate(rate_at(link, now_ps));
    cold.next_rate_ps = k_never_ps;
    for (const rate_change& c : rate_changes_)
        if (c.link == link && c.at_ps > now_ps)
            cold.next_rate_ps = std::min(cold.next_rate_ps, c.at_ps);
    if (cold.next_rate_ps == k_never_ps)
        l.special = static_cast<std::uint8_t>(l.special & ~k_new_rate);
    return true;
}

} // namespace weft
