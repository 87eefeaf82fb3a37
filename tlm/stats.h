// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Named statistics with units. A module owns its statistics as plain members (one std::uint64_t each, cheap to count)
// and lists them once in a stat_group, which component::stat_groups() shows to reports.
//
//   counter reads;                                        // members of the module
//   stat_group stats{"chip0.hbm"};
//   stats.add("reads", "1", "Read accesses", reads);      // in the constructor
//
// Units are "B", "ps", "packets", "flits", "1" (a plain number). No SystemC, no global.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Counts things.
class counter {
public:
    void add(std::uint64_t n) { value_ += n; }
    counter& operator++()
    {
        ++value_;
        return *this;
    }
    std::uint64_t value() const { return value_; }
    void reset() { value_ = 0; }

private:
    std::uint64_t value_ = 0;
};

/// Sum of spans of simulated time, in picoseconds.
class accumulated_time {
public:
    void add_ps(std::uint64_t span_ps) { value_ += span_ps; }
    std::uint64_t value() const { return value_; }
    void reset() { value_ = 0; }

private:
    std::uint64_t value_ = 0;
};

/// The largest value ever recorded.
class maximum {
public:
    void record(std::uint64_t v)
    {
        if (v > value_)
            value_ = v;
    }
    std::uint64_t value() const { return value_; }
    void reset() { value_ = 0; }

private:
    std::uint64_t value_ = 0;
};

/// One statistic of a group. The texts are static; `object` outlives the row because both belong to one module.
struct stat_row {
    const char* name;
    const char* unit;
    const char* description;
    const void* object;
    std::uint64_t (*read)(const void* object);
    std::uint64_t value() const { return read(object); }
};

/// The statistics of one module. Neither copied nor moved: its rows point into its owner.
class stat_group {
public:
    explicit stat_group(std::string name) : name_(std::move(name)) {}
    stat_group(const stat_group&) = delete;
    stat_group& operator=(const stat_group&) = delete;

    /// List `stat` (anything with `std::uint64_t value() const`) under `name`, unique in this group; throws `bug` if
    /// not.
    template <class Stat> void add(const char* name, const char* unit, const char* description, const Stat& stat)
    {
        add_row({name, unit, description, &stat,
                 [](const void* object) -> std::uint64_t { return static_cast<const Stat*>(object)->value(); }});
    }
    /// The general form, for a value that is computed when asked for.
    void add_row(const stat_row& row);

    const std::string& name() const { return name_; }
    const std::vector<stat_row>& rows() const { return rows_; }
    /// The row called `name`, nullptr when there is none.
    const stat_row* find(const char* name) const;
    /// fn(const stat_row&) for every row, in the order of add().
    template <class Fn> void visit(Fn&& fn) const
    {
        for (const auto& row : rows_)
            fn(row);
    }

private:
    std::string name_;
    std::vector<stat_row> rows_;
};

} // namespace weft
