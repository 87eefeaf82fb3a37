// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the points of a sweep have given, and its table as CSV. Plain data, filled by whoever ran.
#pragma once

#include "platforms/config/config_dump.h"
#include "platforms/report/results_csv.h"
#include "platforms/sweep/sweep_file.h"
#include "tlm/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The value of a swept key in the resolved configuration of a point.
inline constexpr double k_parts_of_real = 1e9; ///< sweep_cell::units of 1, where a value is real

struct sweep_cell {
    std::string text; ///< as in a platform file: "82 GB/s"
    std::optional<std::uint64_t>
        units; ///< base units of a quantity, a whole number, or 10^9 times a real one; none: not a number
};

struct sweep_column {
    std::string key;
    std::optional<quantity_kind> kind; ///< of a quantity
    bool real = false;                 ///< sweep_cell::units are 10^-9
    std::string unit;                  ///< that all its texts share; "": none
    bool base = false; ///< texts have several units: the table has numbers of base units in place of them
};

enum class point_state : std::uint8_t {
    done,
    wrong,
    failed,
    unfinished, ///< stopped from outside, as by Ctrl-C of the sweep: what had ended is kept
    refused,
    missing
};
const char* name_of(point_state state);

struct swept_point {
    std::string name;              ///< "ici.router_latency=47 cycles, mesh.rows=2"
    std::string folder;            ///< below that of the sweep: "points/47_cycles_2_1a2b3c4d"
    std::vector<sweep_cell> cells; ///< by column
    point_state state = point_state::missing;
    std::string reason; ///< of all but done
    bool edited = false; ///< its files are not what was written
    std::string digest;
    std::optional<double> host_seconds;
    std::vector<stored_row> rows; ///< of a point that failed or was stopped: what had ended before

    std::size_t kept() const
    {
        return state == point_state::failed || state == point_state::unfinished ? rows.size() : 0;
    }
};
/// In place of a state: of a result that stands although its point failed or was stopped later.
inline constexpr const char* k_kept = "kept";

struct sweep_report {
    std::string name;
    std::string version;
    std::string platform;            ///< file
    std::string file;                ///< the sweep file
    std::vector<std::string> common; ///< settings of all points
    sweep_plot plot;
    std::vector<sweep_column> columns;
    std::vector<swept_point> points;

    std::size_t count(point_state state) const;
};

/// The field at "workload.0.sizes"; nullptr: there is none.
const config_field* field_at(const config_field& root, const std::string& key_path);
/// Its value, and what kind of column it stands in. A key that this configuration does not have has an empty text.
sweep_cell cell_of(const config_field& root, const std::string& key_path);
/// The column of `key` of these cells, of which `field` may be any one; nullptr: the key has no value anywhere.
sweep_column column_of(const std::string& key, const config_field* field, const std::vector<sweep_cell>& cells);

/// "ici.link_rate (GB/s)".
std::string heading_of(const sweep_column& column);
/// Without the unit where the heading has it.
std::string csv_cell(const sweep_column& column, const sweep_cell& cell);

/// One line for each result of each point, and one for a point that has not ended, whose state and reason say why;
/// results that it had before have the state `kept`.
std::string to_csv(const sweep_report& report);

} // namespace weft
