// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files made of files. At the top of a platform file may stand
//
//   extends: rack.yaml                          a whole platform file, of which this one is a variant
//   include: [slow_links.yaml, small_hbm.yaml]  parts that several files share; one name alone needs no brackets
//
// Names are relative to the folder of the file that has them. Parts lie over the extended file, and the file itself
// over both: section by section, key by key; a list or a value replaces what stood there as a whole, and null takes the
// key away. Two parts must not set the same key, unless they have it from the same part. Extended and included files
// may do the same in turn, 16 deep and 64 files together. Every value keeps its own place: messages and `weft check
// FILE --resolved` name the file and line that set it.
//
// yaml_document::read_layers() does it.
#pragma once

#include <string>
#include <vector>

namespace weft {

inline constexpr const char* k_platform_key = "platform";
inline constexpr const char* k_extends_key = "extends";
inline constexpr const char* k_include_key = "include";
/// What stands at the top of a platform file beside its configuration.
inline const std::vector<std::string> k_platform_file_keys = {k_platform_key, k_extends_key, k_include_key};

} // namespace weft
