// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the targets of validation.h share: running platform files and collecting rows. Internal to this folder.
#pragma once

#include "platforms/tpu_v3/tpu_v3.h"
#include "platforms/tpu_v3/validation.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace weft {

/// A mesh that runs all-reduces of one size by the given schemes, without bytes.
tpu_v3_config all_reduces(std::uint32_t rows, std::uint32_t cols, std::vector<abi::algorithm> algorithms,
                           std::uint64_t bytes);

/// Gradient groups of a step that are alike and run one after another: one of them, with its part of the compute, has
/// the same share of the step. 1 when they are not, or when anything else is exchanged.
std::size_t alike_groups(const tpu_v3_config& config);

/// A row of Table 2, with its full mesh and the one with a failed host.
struct table_2_row {
    const char* full;   ///< platform file
    const char* broken; ///< platform file
    const char* model;
    std::uint32_t chips;       ///< of the full mesh
    std::uint32_t chips_left;  ///< of the broken one
    double share_percent;      ///< Table 2, full mesh
    double broken_percent;     ///< Table 2, fault-tolerant mesh
    double broken_tolerance;   ///< percent of broken_percent
    double efficiency_percent; ///< Table 1
};
extern const table_2_row k_table_2[4];

class validation {
public:
    explicit validation(const validation_settings& how) : how_(how) {}

    /// Runs what the targets need, several at a time.
    void run_ahead();
    // validation_null.cpp
    void fit_null_models();
    // validation_public.cpp
    void bisection();        ///< T8
    void throughput();       ///< T9
    void predicted_steps();  ///< T10, T11
    void measured_gathers(); ///< T12 to T14
    // validation.cpp
    void shares();
    void steps_and_bandwidth();
    void sensitivities();
    void inputs();
    void notes();
    // validation_faults.cpp
    void fault_tolerant_shares();
    void share_ratios();
    void efficiencies();
    void ring_links();
    void fault_sensitivities();

    /// A platform file, or what is made of one. Throws user_error when the file cannot be used.
    tpu_v3_config config_of(const std::string& name) const;
    validation_report report;

private:
    void add(validation_row row);
    /// Of a step of alike groups one is simulated, and stands for all.
    run_figures run(const tpu_v3_config& config);
    /// The figures of config_of(name); it is run once.
    const run_figures& run_of(const std::string& name);
    /// What is not known of these, several at a time.
    void run_all(const std::vector<std::pair<std::string, tpu_v3_config>>& named);
    /// Runs what was tried, several at a time, and shows it.
    void show_variants();
    void try_variant(const std::string& what, const tpu_v3_config& config) { variants_.emplace_back(what, config); }
    // Null models: bytes / rate + a constant, with failed chips times a factor.
    double null_all_reduce_ms(const std::string& name) const;
    double null_step_ms(const std::string& name) const;
    double null_share_percent(const std::string& name) const;
    std::optional<double> null_efficiency_percent(const table_2_row& t) const;
    void add_null(const char* target, std::string what) { report.null_models.push_back({target, std::move(what)}); }
    void public_row(const char* target, const std::string& what, const char* unit, double published,
                    std::optional<double> simulated, double tolerance_percent, double null_value, const char* source,
                    const char* why_miss);
    void links_of_one_run(const std::string& what, const run_figures& figures);

    const validation_settings& how_;
    std::map<std::string, run_figures> done_;
    std::vector<std::pair<std::string, tpu_v3_config>> variants_;
    double null_constant_ms_ = 0; ///< fitted to T1
    double null_factor_ = 1;      ///< fitted to T2
};

/// The value of `from`, `from` + `step`, .. `to` with the smallest worst(value); the least that a fit of one constant
/// can be.
template <class Worst> double least_worst(double from, double to, double step, Worst&& worst)
{
    double best = from, least = worst(from);
    for (double at = from + step; at <= to; at += step)
        if (const double now = worst(at); now < least) {
            least = now;
            best = at;
        }
    return best;
}

/// Files that are made of platform files, see config_of().
inline constexpr const char* k_resnet50_256 = "resnet50_256";
inline constexpr const char* k_mesh_128x32 = "mesh_128x32";

} // namespace weft
