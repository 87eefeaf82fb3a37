// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures that are replayed, frame by frame: none is held whole. A first reading tells what they have, and refuses
// what gives other answers: files that were cut, frames out of order, a wire in two files.
#pragma once

#include "platforms/report/pcapng_file.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

struct replayed_frame {
    std::uint64_t time_ps = 0;
    std::string bytes;
    std::uint32_t original_bytes = 0;
    bool damaged = false, lost = false;
    std::uint32_t wire = 0;
    std::uint32_t start = 0, draw = 0; ///< where the comment tells; 0: it does not
};

class replay_files {
public:
    static constexpr std::uint32_t k_passed_over = 0xffff'ffff;
    /// Which wire an interface of a file stands for; k_passed_over: none that is replayed. May throw user_error.
    using wire_finder = std::function<std::uint32_t(const std::string& file, const pcapng_interface& i)>;

    /// `named`: files, and folders of which all .pcapng files are taken. `fed`: by wire, whether its frames are fed.
    /// Reads all once; throws user_error.
    replay_files(const std::vector<std::string>& named, const wire_finder& wire_of, std::vector<bool> fed);

    /// Frames of a wire; nothing: the files do not have it.
    std::optional<std::uint64_t> frames_of(std::uint32_t wire) const { return frames_of_.at(wire); }
    /// The next frame of all wires that are fed, in the order of time; false: there are no more.
    bool next_fed(replayed_frame& f);
    /// The next frame of `wire`, which is not fed; false: there are no more.
    bool next_of(std::uint32_t wire, replayed_frame& f);

private:
    /// A file that is being read.
    struct reading {
        std::size_t file;
        pcapng_reader reader;
        std::uint64_t packets = 0;
        std::optional<replayed_frame> ahead = {};
    };
    reading begin(std::size_t file) const { return {file, pcapng_reader(files_[file])}; }
    bool read(reading& r, replayed_frame& f) const;
    void check(std::size_t file, const wire_finder& wire_of);

    std::vector<std::string> files_;
    std::vector<bool> fed_;
    std::vector<std::vector<std::uint32_t>> wire_of_; ///< by file, then interface
    std::vector<std::optional<std::uint64_t>> frames_of_;
    std::vector<std::size_t> file_of_; ///< of wires that the files have
    std::vector<reading> feeds_;       ///< one a file
    std::vector<reading> answers_;
    std::vector<std::deque<replayed_frame>> waiting_; ///< by wire: read for another one of the same file
};

} // namespace weft::cli
