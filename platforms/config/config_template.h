// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A configuration as a file to begin with: every key on a line, above it what it means, what it may be, and where its
// default comes from. What `weft new` writes.
#pragma once

#include "platforms/config/config_dump.h"

#include <string>

namespace weft {

/// YAML that reads back to the same values. Prose stands behind "# "; a key that nothing uses, or that has no value,
/// stands behind "#" alone, so that the file is YAML still when that one character is taken away. `origin` has the keys
/// whose values are no defaults.
std::string template_yaml(const config_field& config, const yaml_document& origin);

} // namespace weft
