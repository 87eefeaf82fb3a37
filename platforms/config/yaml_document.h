// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A YAML file as a strict tree that knows where everything stands. The shapes that YAML libraries silently accept and
// people silently misread are problems here: duplicate keys, 010, anchors, aliases, merge keys, tags, tabs, several
// documents in one file. Values stay text until the config reader asks for a type.
//
// Limits: 4 MiB, 64 levels, 200,000 values. A file beyond one of them is refused with a user_error, never a crash.
#pragma once

#include "tlm/check.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class yaml_kind { empty, scalar, list, map };

struct yaml_entry;

struct yaml_node {
    yaml_kind kind = yaml_kind::empty;
    bool quoted = false;             ///< scalar written in quotes or as a block: text, never a number or a switch
    bool flagged = false;            ///< a problem of the document already stands for it; say nothing more
    bool from_override = false;      ///< came from --set
    bool is_null = false;            ///< empty, and written so: null or ~
    int line = 0;                    ///< of the value, counts from 1
    int column = 0;                  ///< in bytes, counts from 1
    std::uint16_t file = 0;          ///< where it stands, in yaml_document::files()
    std::string text;                ///< of a scalar
    std::vector<yaml_entry> entries; ///< of a map, in the order of the file, keys unique
    std::vector<yaml_node> items;    ///< of a list

    const yaml_entry* find(std::string_view key) const;
};

struct yaml_entry {
    std::string key;
    int line = 0;
    int column = 0;
    std::uint16_t file = 0;
    yaml_node value;
};

/// The entry of a map with this key; nullptr: there is none.
yaml_entry* find_entry(yaml_node& map, const std::string& key);

/// Where overrides are, in messages.
inline constexpr const char* k_override_file = "--set";

class yaml_document {
public:
    /// Text of a file, for load() and for render(). Throws user_error: missing, unreadable, a directory, too big.
    static std::string read_file(const std::string& path);
    /// The same from standard input, which messages name "<stdin>".
    static std::string read_stdin();

    /// Reads and parses `path`. Throws user_error when there is no tree to work on: not readable, not text, not YAML,
    /// empty, not a map at the top, beyond a limit. Everything milder is in problems().
    static yaml_document load(const std::string& path);
    /// The same with the files that it extends and includes.
    static yaml_document load_layered(const std::string& path);
    static yaml_document parse(std::string text, std::string file_name);

    /// Applies `--set key.path=value` overrides in order, the later one wins. The value is YAML ("82 GB/s", "[4, 4]",
    /// "{op: all_reduce}"); a number in the path is a list index, from 0, and `*` every index; a missing key is added,
    /// and `null` takes one out, as if no file had it.
    /// Throws user_error with all that cannot be applied.
    void apply_overrides(const std::vector<std::string>& assignments);

    /// Puts the files that the keys `extends` and `include` at the top name below this one (yaml_layers.h), and takes
    /// these keys out. Before overrides. Throws user_error with all that is wrong with the names and with files that
    /// are no tree.
    void read_layers();

    /// Takes a key at the top out, as if the file did not have it.
    void leave_out(const std::string& key);

    const yaml_node& root() const { return root_; }
    const std::string& source() const { return files_[0].text; }
    const std::string& file_name() const { return files_[0].name; }

    struct source_file {
        std::string name, text;
    };
    /// The file itself, then those that it extends or includes, in the order of reading.
    const std::vector<source_file>& files() const { return files_; }
    /// Of the file of this name; "" for others.
    std::string text_of(const std::string& file) const;
    /// The file that sets `key_path`; the document's own for an override and for a key that nobody sets.
    const std::string& file_that_sets(std::string_view key_path) const;

    /// Duplicate keys, leading zeros, anchors, tags ...: the tree stands, but the file must not be used as it is.
    /// read_config() reports them together with its own.
    const std::vector<problem>& problems() const { return problems_; }

    /// Node at "workload.0.op", or nullptr. "" is the root.
    const yaml_node* find(std::string_view key_path) const;

    /// Where a message about `key_path` points: at the value if it is a scalar, else at its key; for a key that is not
    /// in the file, at the nearest section that is.
    source_position position_of(std::string_view key_path) const;
    source_position position_of_key(const yaml_entry& entry) const;

    struct located_text {
        std::string text;
        source_position where;
    };
    /// Top-level text such as `platform:`, before anyone knows the rest. Empty when the key is absent; when its value
    /// is no text, empty and a problem is added.
    std::optional<located_text> peek_string(const std::string& key, std::vector<problem>& problems) const;

private:
    /// Whether there was such a key; entries of lists stay.
    bool take_out(const std::string& path);
    void apply(const std::string& assignment, std::vector<problem>& problems);
    std::vector<std::string> for_each_entry(const std::string& assignment, std::vector<problem>& problems) const;
    source_position position(std::uint16_t file, int line, int column, bool from_override) const;
    friend class layer_reader;

    std::vector<source_file> files_{1};
    yaml_node root_;
    std::vector<problem> problems_;
};

/// What YAML 1.1 takes this plain word for: true (true, yes, on), false (false, no, off) in three spellings each, or
/// none. Many tools still read `off` so and write it back as `false`; YAML 1.2 knows true and false only.
std::optional<bool> yaml_1_1_boolean(std::string_view word);

/// "ici" + "link_rate" -> "ici.link_rate"; either may be empty.
std::string join_path(const std::string& path, const std::string& key);

/// Adds a problem about `key_path`, with its position in the document.
void add_problem(const yaml_document& document, std::vector<problem>& problems, const std::string& key_path,
                 std::string message, severity level = severity::error);

/// In the order of the file (line, then column; overrides last), each once.
void sort_problems(const yaml_document& document, std::vector<problem>& problems);

/// Throws user_error with all of them when at least one is an error; warnings alone pass.
void throw_if_errors(const std::vector<problem>& problems);

/// The problem as a terminal shows it: its line, then the line of the source, then a caret. Only the first where the
/// source (text of the file that the problem names) has no such line. Ends without a newline.
std::string render(const problem& p, const std::string& source);

} // namespace weft
