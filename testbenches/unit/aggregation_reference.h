// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of the SwitchML program, written down once more and as slowly as can be: sets of workers, maps of registers, rows
// tried from the top. Shares no code with aggregation_model.
#pragma once

#include "hw/tofino/aggregation_unit.h"

#include <map>
#include <set>
#include <vector>

namespace weft::testing {

class aggregation_reference {
public:
    aggregation_result pass(const aggregation_pass& p)
    {
        const int slot = p.pool_index / 2;
        const int version = p.pool_index % 2;
        const int number = static_cast<int>(p.type);
        aggregation_result r;
        if (number < 8) {
            const std::set<int> before = workers_[{slot, version}];
            workers_[{slot, version}].insert(p.worker);
            workers_[{slot, 1 - version}].erase(p.worker);
            const bool repeated = before.count(p.worker) != 0;
            for (const int worker : before)
                r.bitmap_before |= 1u << worker;
            r.map_result = repeated ? 1u << p.worker : 0;
            r.count = count(p, repeated);
            exponents(p, before.empty(), repeated, r);
            for (int k = 0; k < 32; ++k) {
                std::int64_t& first = values_[{p.pool_index, k}];
                std::int64_t& second = values_[{p.pool_index, 32 + k}];
                if (before.empty())
                    first = second = 0;
                if (before.empty() || !repeated) {
                    first = wrapped(first + static_cast<std::int32_t>(p.d0[static_cast<std::size_t>(k)]));
                    second = wrapped(second + static_cast<std::int32_t>(p.d1[static_cast<std::size_t>(k)]));
                }
                r.words[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(second);
            }
        } else {
            r.map_result = p.map_result;
            r.count = p.count;
            if (number == 15 && p.last_of_message) {
                r.reads_exponent1 = true;
                r.exponent = static_cast<std::int8_t>(exponents_[p.pool_index].second);
            }
            r.writes_d0 = number == 9 || number == 11 || number == 13 || number == 15;
            for (int k = 0; k < 32; ++k)
                r.words[static_cast<std::size_t>(k)] =
                    static_cast<std::uint32_t>(values_[{p.pool_index, r.writes_d0 ? k : 32 + k}]);
        }
        decide(p, r);
        return r;
    }

private:
    static std::int64_t wrapped(std::int64_t sum)
    {
        while (sum > 2147483647)
            sum -= 4294967296;
        while (sum < -2147483648LL)
            sum += 4294967296;
        return sum;
    }

    std::uint8_t count(const aggregation_pass& p, bool repeated)
    {
        int& missing = missing_[p.pool_index];
        const int old = missing;
        if (!repeated && old == 0)
            missing = p.workers - 1;
        else if (!repeated)
            missing = old - 1;
        if (p.workers == 1)
            return repeated ? 0 : 1;
        return static_cast<std::uint8_t>(old);
    }

    void exponents(const aggregation_pass& p, bool first, bool repeated, aggregation_result& r)
    {
        if (p.type != pass_type::consume0 || !p.last_of_message)
            return;
        auto& pair = exponents_[p.pool_index];
        if (first)
            pair = {p.exponent0, p.exponent1};
        else if (!repeated)
            pair = {pair.first > p.exponent0 ? pair.first : p.exponent0,
                    pair.second > p.exponent1 ? pair.second : p.exponent1};
        r.reads_exponent0 = true;
        r.exponent = static_cast<std::int8_t>(pair.first);
    }

    enum condition { any, zero, one, not_zero };
    struct row {
        int size; ///< code, -1: any
        int type;
        condition count;
        condition map_result;
        next_step step;
        int next_type;
    };
    static bool holds(condition c, std::uint32_t value)
    {
        return c == any || (c == zero && value == 0) || (c == one && value == 1) || (c == not_zero && value != 0);
    }
    static void decide(const aggregation_pass& p, aggregation_result& r)
    {
        static const std::vector<row> rows = {
            {1, 4, one, any, next_step::recirculate, 15},
            {1, 4, any, zero, next_step::finish_consume, 0},
            {1, 4, zero, any, next_step::recirculate, 15},
            {1, 4, any, any, next_step::drop, 0},
            {3, 4, any, zero, next_step::recirculate, 5},
            {3, 4, zero, any, next_step::recirculate, 5},
            {3, 4, any, any, next_step::drop, 0},
            {3, 5, any, any, next_step::recirculate, 6},
            {3, 6, any, any, next_step::recirculate, 7},
            {3, 7, one, any, next_step::recirculate, 9},
            {3, 7, zero, not_zero, next_step::recirculate, 9},
            {3, 7, any, zero, next_step::finish_consume, 0},
            {3, 7, any, any, next_step::drop, 0},
            {3, 9, any, any, next_step::recirculate, 10},
            {3, 10, any, any, next_step::recirculate, 11},
            {3, 11, any, any, next_step::recirculate, 12},
            {3, 12, any, any, next_step::recirculate, 13},
            {3, 13, any, any, next_step::recirculate, 14},
            {3, 14, any, any, next_step::recirculate, 15},
            {-1, 15, one, zero, next_step::broadcast, 0},
            {-1, 15, zero, not_zero, next_step::retransmit, 0},
        };
        for (const row& row : rows)
            if ((row.size == -1 || row.size == static_cast<int>(p.size)) && row.type == static_cast<int>(p.type) &&
                holds(row.count, r.count) && holds(row.map_result, r.map_result)) {
                r.step = row.step;
                if (row.step == next_step::recirculate)
                    r.next_type = static_cast<pass_type>(row.next_type);
                return;
            }
        r.step = next_step::drop; // what no row names
    }

    std::map<std::pair<int, int>, std::set<int>> workers_;
    std::map<int, int> missing_;
    std::map<int, std::pair<int, int>> exponents_;
    std::map<std::pair<int, int>, std::int64_t> values_;
};

} // namespace weft::testing
