// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// "did you mean ...?": for keys, enum values and commands alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The candidate that `word` was most likely meant as: the nearest by typing errors (swapped neighbours are one, case
/// and '-' for '_' none, at most a third of the word), else the first that goes on behind it with '_', or "".
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'link_rate'?", or "legal here: 'a', 'b', 'c'" when nothing is close.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// User text as a message shows it: in single quotes, control characters replaced, cut after 60 bytes.
std::string in_quotes(std::string_view text);

/// A user's key as one part of a key path: as it is if it is a word, else in quotes.
std::string key_in_path(const std::string& key);

} // namespace weft
