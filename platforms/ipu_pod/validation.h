// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft validate ipu_pod`: what is published of IPU-Pods and their communication library, against the model.
#pragma once

#include "platforms/report/validation_report.h"

namespace weft {

validation_report validate_ipu_pod(const validation_settings& how);

} // namespace weft
