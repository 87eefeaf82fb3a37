// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of virtual lanes (TFC in UB-Mesh, arXiv 2503.20377 section 4.1.3; its details are not published, these are
// ours).
//
// A rule is a word of letters. A letter is one class of channels, or several directions of mesh dimensions with one
// sign, such as {X+, Y+}. A class stands in at most two letters: the first is its lane 0, the second its lane 1. A
// packet takes letters in the order of the word and stays at a letter only where it is made of directions. Proof by
// rank: a channel (link, lane) ranks by the place of its letter, then by the sum of the coordinates of the router that
// it leads to, rising for plus and falling for minus. Every turn that the word allows leads to a higher rank, so no
// circle of channels exists. The lowest lane that the word allows is always a best choice: it leaves the longest rest
// of the word.
//
// The mesh word is made of this: by signs, every way of three hops in a plane of two dimensions is a part of
// (plus)(minus)(plus)(minus), whatever the order of the dimensions. So X and Y need P N ... P N, with the way over LRS
// and racks between them, where Z and alpha stand the same way: every shortest, one-detour and borrowed path is
// admitted. docs/adr/0012-lane-rule.md tells what else was tried.
#pragma once

#include "hw/routing/ub/ub_plan.h"
#include "hw/routing/ub/ub_shape.h"

#include <string>
#include <vector>

namespace weft {

using ub_lane_letter = std::vector<ub_channel>;
using ub_lane_word = std::vector<ub_lane_letter>;

/// The rule of a word. From and to `local` every class is allowed: a packet starts on lane 0.
ub_lane_rule lane_rule_of(const ub_lane_word& word);
/// What is wrong with a word, "" when nothing is: a class more than twice, `local`, classes in one letter that may turn
/// in circles.
std::string problem_of(const ub_lane_word& word);
/// "{X+ Y+}, U, {X+' Y+'}" as report and docs print it; a class on lane 1 has a prime.
std::string text_of(const ub_lane_word& word);

/// The first rule that we had: meshes by dimension, then once more in the other order.
ub_lane_word stand_in_lane_word();
/// The best without letters of several classes: X, then Y, twice (of all words over X+ X- Y+ Y-).
ub_lane_word x_before_y_lane_word();
/// Of 2d_fm racks, joined in any way.
ub_lane_word mesh_lane_word();
/// Of 1d_fm_a, 1d_fm_b and Clos racks: there is no Y, and CPUs reach other racks through an NPU (1d_fm_a).
ub_lane_word switched_lane_word();
/// The word of a machine.
ub_lane_word lane_word_for(const ub_shape& shape);

/// Lanes of a sequence of classes under the rule, from lane 0 on. Returns false where a turn is refused. `lanes` may be
/// null.
bool admitted(const ub_lane_rule& rule, const ub_channel* classes, std::size_t count, std::uint8_t* lanes = nullptr);

} // namespace weft
