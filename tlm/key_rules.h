// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys that only some configurations use. A config struct (tlm/config_fields.h) lists them once, for everyone: the
// reader warns about such a key where a file sets it and nothing uses it, the resolved dump shows it as a comment, docs
// and schema say when it applies.
//
//   struct ub_config {
//       ...
//       static std::vector<key_rule<ub_config>> key_rules()
//       {
//           return {{"rtp_window", "with transport: rtp", [](const ub_config& c) { return c.transport ==
//           ub_transport::rtp; }}};
//       }
//   };
#pragma once

#include <type_traits>
#include <vector>

namespace weft {

template <class C> struct key_rule {
    const char* key;             ///< relative to the struct; N is every entry of a list: "workload.N.transposed"
    const char* only;            ///< ends the sentence "it applies only ...": "with transport: rtp"
    bool (*applies)(const C& c); ///< whether anything uses the key
};

template <class T, class = void> struct has_key_rules : std::false_type {
};
template <class T> struct has_key_rules<T, std::void_t<decltype(T::key_rules())>> : std::true_type {
};

} // namespace weft
