// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of packets of a run that is longer than memory: it holds the last ones while they are recorded, and those
// around a time while a path goes back. All others are in a file without a name in the folder for temporary files
// (TMPDIR), part by part; a part is a span of time.
#pragma once

#include "platforms/explain/recorded_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

class step_store {
public:
    /// Steps that memory holds at a time, of all kinds together.
    explicit step_store(std::size_t in_memory);

    // --- While the run is recorded
    /// Nothing is recorded yet; of `steps`, too.
    void clear(packet_steps& steps);
    /// Before a step at `now_ps` is added. False when it cannot be kept: problem() says why.
    bool make_room(packet_steps& steps, std::uint64_t now_ps)
    {
        if (in_part_ == 0)
            begin_part(steps, now_ps);
        return ++in_part_ < part_steps_ || end_part(steps);
    }
    /// The last step is there. False as make_room().
    bool finish(packet_steps& steps);
    const std::string& problem() const { return problem_; }

    // --- While a path goes back
    /// Which of `steps` must be here beside those around a time.
    struct needed_steps {
        std::optional<std::uint32_t> sent = {}, accepted = {}, crossing = {};
        bool none() const { return !sent && !accepted && !crossing; }
    };
    /// Steps before and after `at_ps` are here. True when they have come from the file: `steps` has others now.
    bool reach(packet_steps& steps, std::uint64_t at_ps, const needed_steps& needed);
    /// Earlier steps than those that are here may have been at `at_ps` or later: a part ends when a step is made, not
    /// when it is over.
    bool has_before(std::uint64_t at_ps) const
    {
        return held_from_ != 0 && parts_[std::min(held_from_ + 1, parts_.size() - 1)].begin_ps > at_ps;
    }
    /// Earlier ones come; those that are needed stay, and then those around `at_ps`, too. False when there are none, or
    /// too many between them.
    bool reach_back(packet_steps& steps, std::uint64_t at_ps, const needed_steps& needed);

private:
    /// Numbers of records at which a part begins, by kind.
    struct step_numbers {
        std::uint32_t sent = 0, crossings = 0, accepted = 0, completions = 0;
    };
    struct part {
        std::uint64_t begin_ps = 0;
        step_numbers first;
        long offset = 0; ///< in the file
    };
    struct file_closer {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };

    void begin_part(const packet_steps& steps, std::uint64_t now_ps);
    bool end_part(packet_steps& steps);
    bool write(const packet_steps& steps, std::size_t number);
    bool open_file();
    void load(packet_steps& steps, std::size_t from, std::size_t until);
    bool has(std::size_t from, std::size_t until, const needed_steps& needed) const;
    bool load_around(packet_steps& steps, std::size_t from, std::size_t until, const needed_steps& needed);
    std::size_t part_at(std::uint64_t at_ps) const;
    step_numbers first_of(std::size_t number) const { return number < parts_.size() ? parts_[number].first : ends_; }

    std::size_t part_steps_;
    std::size_t in_part_ = 0;
    std::vector<part> parts_;
    step_numbers ends_;        ///< behind the last part
    std::size_t written_ = 0;  ///< parts that are in the file, the first ones
    std::size_t held_from_ = 0, held_until_ = 0; ///< parts that are here
    std::unique_ptr<std::FILE, file_closer> file_;
    std::string problem_;
};

} // namespace weft
