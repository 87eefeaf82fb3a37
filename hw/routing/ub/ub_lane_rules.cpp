// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_lane_rules.h"

#include <fmt/format.h>

namespace weft {

namespace {

using c = ub_channel;

/// A packet may pass two channels of these classes one after the other: the coordinate goes on in one direction.
bool is_direction(ub_channel a)
{
    return (a >= c::x_plus && a <= c::y_minus) || (a >= c::z_plus && a <= c::alpha_minus);
}
bool is_minus(ub_channel a) { return a == c::x_minus || a == c::y_minus || a == c::z_minus || a == c::alpha_minus; }

} // namespace

std::string problem_of(const ub_lane_word& word)
{
    std::uint32_t seen[k_ub_channels] = {};
    for (const ub_lane_letter& letter : word)
        for (const ub_channel a : letter) {
            if (a == c::local)
                return "a word of lanes has no local channels";
            if (++seen[static_cast<unsigned>(a)] > k_ub_lanes_per_class)
                return fmt::format("{} stands more than twice in the word: there are two lanes", name_of(a));
            if (letter.size() > 1 && (!is_direction(a) || is_minus(a) != is_minus(letter[0])))
                return fmt::format("{} cannot share a letter: only directions of one sign are free of circles",
                                   name_of(a));
        }
    return "";
}

ub_lane_rule lane_rule_of(const ub_lane_word& word)
{
    constexpr int k_absent = 1 << 20;
    int place[k_ub_channels][k_ub_lanes_per_class];
    for (auto& p : place)
        p[0] = p[1] = k_absent;
    for (std::size_t i = 0; i < word.size(); ++i)
        for (const ub_channel a : word[i]) {
            auto& p = place[static_cast<unsigned>(a)];
            (p[0] == k_absent ? p[0] : p[1]) = static_cast<int>(i);
        }
    ub_lane_rule rule;
    for (unsigned in = 0; in < k_ub_channels; ++in)
        for (std::uint8_t lane = 0; lane < k_ub_lanes_per_class; ++lane) {
            const auto from = static_cast<ub_channel>(in);
            rule.set(from, lane, c::local, 0);
            if (from != c::local && place[in][lane] == k_absent)
                continue;
            for (unsigned out = 1; out < k_ub_channels; ++out)
                for (std::uint8_t next = k_ub_lanes_per_class; next-- > 0;) {
                    if (place[out][next] == k_absent)
                        continue;
                    const bool onward = from == c::local || place[out][next] > place[in][lane] ||
                                        (place[out][next] == place[in][lane] && is_direction(from));
                    if (onward)
                        rule.set(from, lane, static_cast<ub_channel>(out), next);
                }
        }
    return rule;
}

std::string text_of(const ub_lane_word& word)
{
    std::string text;
    bool seen[k_ub_channels] = {};
    for (const ub_lane_letter& letter : word) {
        std::string one;
        for (const ub_channel a : letter) {
            bool& again = seen[static_cast<unsigned>(a)];
            one += fmt::format("{}{}{}", one.empty() ? "" : " ", name_of(a), again ? "'" : "");
            again = true;
        }
        text += fmt::format(letter.size() > 1 ? "{}{{{}}}" : "{}{}", text.empty() ? "" : ", ", one);
    }
    return text;
}

ub_lane_word stand_in_lane_word()
{
    return {{c::side_up},
            {c::spine_down},
            {c::x_plus},
            {c::x_minus},
            {c::y_plus},
            {c::y_minus},
            {c::up},
            {c::z_plus},
            {c::z_minus},
            {c::alpha_plus},
            {c::alpha_minus},
            {c::hrs_up},
            {c::hrs_down},
            {c::spine_up},
            {c::spine_down},
            {c::down},
            // lane 1
            {c::z_plus},
            {c::z_minus},
            {c::alpha_plus},
            {c::alpha_minus},
            {c::hrs_up},
            {c::hrs_down},
            {c::down},
            {c::y_plus},
            {c::y_minus},
            {c::x_plus},
            {c::x_minus},
            {c::up},
            {c::spine_up},
            {c::side_down}};
}

ub_lane_word x_before_y_lane_word()
{
    return {{c::side_up},    {c::spine_down}, {c::x_plus},      {c::x_minus},    {c::y_plus},      {c::y_minus},
            {c::up},         {c::z_plus},     {c::z_minus},     {c::alpha_plus}, {c::alpha_minus}, {c::z_plus},
            {c::z_minus},    {c::alpha_plus}, {c::alpha_minus}, {c::hrs_up},     {c::hrs_down},    {c::spine_up},
            {c::spine_down}, {c::down},       {c::x_plus},      {c::x_minus},    {c::y_plus},      {c::y_minus},
            {c::up},         {c::spine_up},   {c::side_down}};
}

ub_lane_word mesh_lane_word()
{
    const ub_lane_letter xy_plus = {c::x_plus, c::y_plus}, xy_minus = {c::x_minus, c::y_minus};
    const ub_lane_letter za_plus = {c::z_plus, c::alpha_plus}, za_minus = {c::z_minus, c::alpha_minus};
    return {{c::side_up},
            {c::spine_down},
            xy_plus,
            xy_minus,
            {c::up},
            za_plus,
            za_minus,
            za_plus,
            za_minus,
            {c::hrs_up},
            {c::hrs_down},
            {c::spine_up},
            {c::spine_down},
            {c::down},
            xy_plus,
            xy_minus,
            // From a NIC to a NIC of another plane, by an NPU.
            {c::up},
            {c::spine_up},
            {c::side_down}};
}

ub_lane_word switched_lane_word()
{
    const ub_lane_letter za_plus = {c::z_plus, c::alpha_plus}, za_minus = {c::z_minus, c::alpha_minus};
    return {{c::side_up}, {c::spine_down}, {c::x_plus},   {c::x_minus},  {c::down}, {c::up},
            za_plus,      za_minus,        za_plus,       za_minus,      {c::down}, {c::x_plus},
            {c::x_minus}, {c::up},         {c::spine_up}, {c::side_down}};
}

ub_lane_word lane_word_for(const ub_shape& shape)
{
    return shape.rack == ub_rack_kind::full_mesh_2d ? mesh_lane_word() : switched_lane_word();
}

bool admitted(const ub_lane_rule& rule, const ub_channel* classes, std::size_t count, std::uint8_t* lanes)
{
    ub_channel in = ub_channel::local;
    std::uint8_t lane = 0;
    for (std::size_t i = 0; i < count; ++i) {
        lane = rule.next(in, lane, classes[i]);
        if (lane == ub_lane_rule::k_refused)
            return false;
        if (lanes != nullptr)
            lanes[i] = lane;
        in = classes[i];
    }
    return true;
}

} // namespace weft
