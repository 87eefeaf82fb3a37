// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A value of a YAML document as text again, on one line: what --set takes.
#pragma once

#include "platforms/config/yaml_document.h"

#include <string>

namespace weft {

/// "[4 KiB, 1 MiB]", "{op: all_reduce}", "82 GB/s": reads back to the same tree. An empty value is "".
std::string flow_text(const yaml_node& value);

} // namespace weft
