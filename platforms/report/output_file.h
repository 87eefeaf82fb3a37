// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that a command writes. One rule for all of them:
//   - a regular file appears under its name when it is complete, with the permissions of the file that stood there;
//   - a symbolic link stays; the file that it leads to is written;
//   - what is no regular file (device, FIFO, socket) is written straight to and never replaced;
//   - what a library writes (waves) is a regular file or new, and stands under its name from the start;
//   - a file that the command reads, or writes by another name, is refused before anything is run.
#pragma once

#include "tlm/check.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// An output that cannot be written completely after the work is done, or at all because the disk is full: exit code 1,
/// not 2.
class output_lost : public user_error {
public:
    /// `error`: the errno of what failed.
    output_lost(const std::string& message, int error) : user_error(message), error_(error) {}
    int error() const { return error_; }
    /// Or a quota that is used up.
    bool is_full_disk() const;

private:
    int error_;
};
/// Of a program that another one of weft has started, when its outputs found a full disk.
inline constexpr int k_full_disk_exit_code = 74; // EX_IOERR of sysexits.h

/// One file. write() as often as needed, then commit(); without commit() a regular file stays as it was.
class output_file {
public:
    /// Throws user_error with a remedy. A FIFO waits here for its reader.
    explicit output_file(const std::string& path);
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;
    ~output_file();

    /// Never throws: the first failure is kept, and what follows it is dropped. Then a regular file holds no disk space
    /// any more: other outputs may need it.
    void write(std::string_view content);
    /// Makes room for others on a full disk: commit() will fail with that.
    void give_up();
    /// Hands on what is buffered; errno of the first failure so far, 0: none.
    int flush();
    /// What temporary() will be for this name; "" when it is written straight to, or cannot be told.
    static std::string temporary_for(const std::string& path);
    /// The file that has the content until commit(); "" when it is written straight to.
    const std::string& temporary() const { return temporary_; }
    /// Completes the file. Throws output_lost with a remedy when something is missing in it.
    void commit();

private:
    std::string name_;      ///< as the user gave it
    std::string target_;    ///< behind all symbolic links
    std::string temporary_; ///< beside the target; "" when it is written straight to
    std::FILE* file_ = nullptr;
    int error_ = 0; ///< errno of the first failure

    void give_up(int error);
};

/// What an output may be.
enum class target_kind : std::uint8_t {
    any,
    no_fifo,     ///< nobody may have to wait for its reader
    regular_file ///< or nothing yet: a library writes it, which replaces links and devices
};

/// Everything that a command reads and writes, collected before it does anything.
class output_targets {
public:
    /// `what` is for messages: "the platform file". Files that do not exist are ignored.
    void add_input(const std::string& path, std::string what);
    /// The file behind an open descriptor, such as standard input; ignored when it is no regular file.
    void add_input(int descriptor, std::string what);
    /// `what` names the option: "--json", or what makes the file: "results.json of --out".
    void add_output(const std::string& path, std::string what, target_kind kind = target_kind::any);
    /// Throws user_error with every clash and every place that is no file. Files that standard output and standard
    /// error go to count as outputs.
    void check() const;

private:
    struct entry {
        std::string path;
        std::string what;
        std::string identity; ///< equal for two names of one file; "" when two may share it
        target_kind kind = target_kind::any;
    };
    std::vector<entry> inputs_;
    std::vector<entry> outputs_;
};

/// Before a run: make the folder and prove that files can be written there. Throws user_error with a remedy.
void prepare_output_dir(const std::string& dir);

/// The folders that a command makes for its outputs: those that are empty go with it.
class made_folders {
public:
    /// Before prepare_output_dir().
    explicit made_folders(const std::string& dir);
    ~made_folders();
    /// Another program uses them, too.
    void keep() { missing_.clear(); }
    made_folders(const made_folders&) = delete;
    made_folders& operator=(const made_folders&) = delete;

private:
    std::vector<std::string> missing_; ///< innermost first
};

/// The same for a single file in a folder that is there.
void prepare_output_file(const std::string& path);

/// An output_file with this content, at once.
void write_file_atomically(const std::string& path, const std::string& content);

} // namespace weft
