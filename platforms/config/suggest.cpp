// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/suggest.h"

#include <algorithm>

namespace weft {

namespace {

constexpr std::size_t k_longest_word = 64; // longer words are not typing errors; keeps the table small

constexpr std::size_t k_shortest_beginning = 3;

std::string folded(std::string_view word)
{
    std::string out(word);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
        if (c == '-')
            c = '_';
    }
    return out;
}

/// Optimal string alignment distance: insert, delete, replace, swap two neighbours.
std::size_t edit_distance(const std::string& a, const std::string& b)
{
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

} // namespace

std::string closest(std::string_view word, const std::vector<std::string>& candidates)
{
    if (word.empty() || word.size() > k_longest_word)
        return {};
    const std::string wanted = folded(word);
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        if (candidate.size() > k_longest_word)
            continue;
        const std::size_t distance = edit_distance(wanted, folded(candidate));
        if (distance < best_distance && distance < candidate.size()) {
            best = candidate;
            best_distance = distance;
        }
    }
    if (!best.empty() || wanted.size() < k_shortest_beginning)
        return best;
    for (const auto& candidate : candidates) // the first part of a name: "ring" of ring_1d
        if (folded(candidate).compare(0, wanted.size() + 1, wanted + "_") == 0)
            return candidate;
    return {};
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates)
{
    const std::string best = closest(word, candidates);
    if (!best.empty())
        return "did you mean '" + best + "'?";
    if (candidates.empty())
        return "nothing is legal here";
    std::string list = "legal here: ";
    for (std::size_t i = 0; i < candidates.size(); ++i)
        list += (i == 0 ? "'" : ", '") + candidates[i] + "'";
    return list;
}

std::string in_quotes(std::string_view text)
{
    constexpr std::size_t k_longest = 60;
    std::size_t end = std::min(text.size(), k_longest);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end; // do not cut a UTF-8 sequence in two
    std::string out = "'";
    for (const char c : text.substr(0, end))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    return out + (end < text.size() ? "...'" : "'");
}

std::string key_in_path(const std::string& key)
{
    const bool word = !key.empty() && key.size() <= k_longest_word && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    return word ? key : in_quotes(key);
}

} // namespace weft
