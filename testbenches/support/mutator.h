// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Damages texts of configurations, reproducibly: the same seed and text give the same damage.
#pragma once

#include <array>
#include <cctype>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace weft::testing {

/// Damages a configuration the way people and disks do.
class mutator {
public:
    explicit mutator(std::uint64_t seed) : random_(seed) {}

    std::string operator()(std::string text)
    {
        for (std::size_t n = 1 + below(4); n > 0; --n)
            change(text);
        return text;
    }

private:
    std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }

    /// Begin and length of a random word (a run of letters, digits, '_', '.', '+', '-').
    std::pair<std::size_t, std::size_t> word_of(const std::string& text)
    {
        const auto in_word = [&](std::size_t i) {
            return std::isalnum(static_cast<unsigned char>(text[i])) != 0 ||
                   std::string("_.+-").find(text[i]) != std::string::npos;
        };
        std::size_t at = below(text.size());
        for (std::size_t tries = 0; tries < text.size() && !in_word(at); ++tries)
            at = (at + 1) % text.size();
        std::size_t end = at;
        while (end < text.size() && in_word(end))
            ++end;
        while (at > 0 && in_word(at - 1))
            --at;
        return {at, end - at};
    }
    std::pair<std::size_t, std::size_t> line_of(const std::string& text)
    {
        const std::size_t at = below(text.size());
        const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
        const std::size_t end = text.find('\n', at);
        return {begin, (end == std::string::npos ? text.size() : end + 1) - begin};
    }

    void change(std::string& text)
    {
        static const std::array<const char*, 44> k_values = {"0",          "1",
                                                             "-1",         "2",
                                                             "3",          "5",
                                                             "16",         "255",
                                                             "256",        "65536",
                                                             "4294967295", "18446744073709551615",
                                                             "0 B",        "1 B",
                                                             "4 B",        "3 B",
                                                             "1 TiB",      "16777216 TiB",
                                                             "1 ps",       "1 s",
                                                             "18446744 s", "0 Hz",
                                                             "1 Hz",       "1 bps",
                                                             "1 Mbps",     "1000 Tbps",
                                                             "1 packet",   "65536 packets",
                                                             "1 cycle",    "1000000 cycles",
                                                             "none",       "true",
                                                             "off",        "[]",
                                                             "{}",         "~",
                                                             "[[[[",       "{a: b}",
                                                             "'",          "\"",
                                                             "&a",         "*a",
                                                             "!!int 3",    "all_to_all"};
        static const std::array<const char*, 44> k_lines = {"mesh: {rows: 3, cols: 3}\n",
                                                            "mesh: {rows: 128, cols: 128}\n",
                                                            "data: checked\n",
                                                            "data: off\n",
                                                            "burst: 65536 packets\n",
                                                            "  - {op: broadcast, sizes: [1 TiB]}\n",
                                                            "  - {op: all_to_all, sizes: [1 B]}\n",
                                                            "    transposed: true\n",
                                                            "    root: 4000\n",
                                                            "    types: [float16, bfloat16, float32, int32]\n",
                                                            "    redops: [max, none]\n",
                                                            "    inputs: random\n",
                                                            "    chunk: 1 B\n",
                                                            "  flit: 1 B\n",
                                                            "  header: 0 B\n",
                                                            "  max_payload: 1 MiB\n",
                                                            "  max_payload: 4 B\n",
                                                            "  buffer_per_vl: 64 B\n",
                                                            "  local_ports: 4\n",
                                                            "  switching: store_and_forward\n",
                                                            "faults: {links_down: [{row: 0, col: 0, direction: -X}]}\n",
                                                            "workers: 17\n",
                                                            "tree: [2, 2]\n",
                                                            "job: {transport: rdma, slots: 64}\n",
                                                            "job: {jobs: 2, slots: 16}\n",
                                                            "switch: {aggregator: lockstep}\n",
                                                            "worker: {cores: 8}\n",
                                                            "  elements_per_packet: 64\n",
                                                            "  first_slot: 8000\n",
                                                            "faults: {outages: [{worker: 1, from: 1 us}]}\n",
                                                            "    algorithms: [switchml, switchml_lossless]\n",
                                                            "ub: {transport: rtp, rtp_timeout: 1 us}\n",
                                                            "ub: {bit_error_rate: 0.01, retries: 1}\n",
                                                            "    lanes: 1\n",
                                                            "    until: 1 ps\n",
                                                            "  notification: hop_by_hop\n",
                                                            "  recovery: mask\n",
                                                            "  boards: 2\n",
                                                            "  npus: 3\n",
                                                            "time_limit: 1 us\n",
                                                            "training_step: {compute: 1 us, groups: [{bytes: 4 B}]}\n",
                                                            "---\n",
                                                            "\t\n",
                                                            "...\n"};
        if (text.empty()) {
            text = k_lines[below(k_lines.size())];
            return;
        }
        switch (below(9)) {
        case 0: // a byte
            text[below(text.size())] = static_cast<char>(random_());
            break;
        case 1: // a bit
            text[below(text.size())] ^= static_cast<char>(1 << below(8));
            break;
        case 2: { // another value
            const auto [at, length] = word_of(text);
            text.replace(at, length, k_values[below(k_values.size())]);
            break;
        }
        case 3: { // two words change places
            const auto [at, length] = word_of(text);
            const std::string word = text.substr(at, length);
            const auto [to, to_length] = word_of(text);
            text.replace(to, to_length, word);
            break;
        }
        case 4: { // a line is lost
            const auto [at, length] = line_of(text);
            text.erase(at, length);
            break;
        }
        case 5: { // a line stands twice
            const auto [at, length] = line_of(text);
            const std::string line = text.substr(at, length);
            text.insert(line_of(text).first, line);
            break;
        }
        case 6: // a line is added
            text.insert(line_of(text).first, k_lines[below(k_lines.size())]);
            break;
        case 7: // the file is cut
            if (below(4) == 0)
                text.resize(below(text.size()));
            break;
        default: { // a value behind a colon
            std::size_t at = text.find(": ", below(text.size()));
            if (at != std::string::npos) {
                const std::size_t end = text.find_first_of(",}]\n#", at + 2);
                text.replace(at + 2, end == std::string::npos ? std::string::npos : end - at - 2,
                             k_values[below(k_values.size())]);
            }
        }
        }
    }

    std::mt19937_64 random_;
};

} // namespace weft::testing
