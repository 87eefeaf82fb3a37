// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platforms/report/validation_report.h"

namespace weft {

/// N1 to N10: AWS Neuron documentation, "Intra-node Collective Communications with AWS Neuron", and what follows from
/// it.
validation_report validate_trainium(const validation_settings& how);

} // namespace weft
