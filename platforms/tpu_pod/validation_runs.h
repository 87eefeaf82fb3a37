// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the targets of validation.h share: running platform files and collecting rows. Internal to this folder.
#pragma once

#include "platforms/tpu_pod/tpu_pod.h"
#include "platforms/tpu_pod/validation.h"

#include <map>
#include <optional>

namespace weft {

/// A mesh that runs all-reduces of one size by the given schemes, without bytes.
tpu_pod_config all_reduces(std::uint32_t rows, std::uint32_t cols, std::vector<abi::algorithm> algorithms,
                           std::uint64_t bytes);

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
    explicit validation(const tpu_v3_validation& how) : how_(how) {}

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

    tpu_pod_config config_of(const char* name) const; ///< throws user_error when the file cannot be used
    validation_report report;

private:
    void add(validation_row row);
    run_figures run(const tpu_pod_config& config);
    /// The figures of a platform file; it is run once.
    const run_figures& run_of(const char* name);
    void try_variant(const std::string& what, const tpu_pod_config& config);
    void links_of_one_run(const std::string& what, const run_figures& figures);

    const tpu_v3_validation& how_;
    std::map<std::string, run_figures> done_;
};

} // namespace weft
