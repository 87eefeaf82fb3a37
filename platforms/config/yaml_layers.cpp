// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/yaml_layers.h"

#include "platforms/config/suggest.h"
#include "platforms/config/yaml_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

namespace weft {

namespace {

constexpr std::size_t k_most_layers = 16;
constexpr std::size_t k_most_files = 64;

void mark_file(yaml_node& node, std::uint16_t file)
{
    node.file = file;
    for (yaml_node& item : node.items)
        mark_file(item, file);
    for (yaml_entry& entry : node.entries) {
        entry.file = file;
        mark_file(entry.value, file);
    }
}

/// Puts `over` over `base`: sections key by key, everything else as a whole. A null takes the key of `base` away, and
/// stays where there is none: it may be meant for a file further below.
void lay_over(yaml_node& base, yaml_node&& over)
{
    for (yaml_entry& entry : over.entries) {
        yaml_entry* const below = find_entry(base, entry.key);
        if (below == nullptr) {
            base.entries.push_back(std::move(entry));
        } else if (entry.value.is_null && !below->value.is_null) {
            base.entries.erase(base.entries.begin() + (below - base.entries.data()));
        } else if (below->value.kind != yaml_kind::map || entry.value.kind != yaml_kind::map) {
            *below = std::move(entry);
        } else { // what is told about the section points at the upper file
            below->line = entry.line;
            below->column = entry.column;
            below->file = entry.file;
            lay_over(below->value, std::move(entry.value));
        }
    }
    base.line = over.line;
    base.column = over.column;
    base.file = over.file;
}

/// The file system's own name of a file, so that two spellings of one are told.
std::string identity_of(const std::string& path)
{
    std::error_code error;
    const std::filesystem::path canonical = std::filesystem::canonical(path, error);
    return error ? path : canonical.string();
}

/// "did you mean ..." among the YAML files of the folder; "" when none is near.
std::string near_file(const std::string& path)
{
    const std::filesystem::path wanted(path);
    std::vector<std::string> names;
    std::error_code error;
    const std::filesystem::path folder = wanted.has_parent_path() ? wanted.parent_path() : std::filesystem::path(".");
    for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
        if (i->path().extension() == ".yaml" || i->path().extension() == ".yml")
            names.push_back(i->path().filename().string());
    std::sort(names.begin(), names.end()); // folders have no order
    const std::string near = closest(wanted.filename().string(), names);
    return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

} // namespace

class layer_reader {
public:
    explicit layer_reader(yaml_document& document) : document_(document) {}

    void read()
    {
        open_.push_back(identity_of(document_.file_name()));
        resolve(document_.root_);
        if (document_.files_.size() > 1)
            refuse_nulls(document_.root_, "");
        if (problems_.empty())
            return;
        // What a file lacks that could not be read would look like mistakes of the others.
        problems_.insert(problems_.end(), document_.problems_.begin(), document_.problems_.end());
        sort_problems(document_, problems_);
        throw_if_errors(problems_);
    }

private:
    /// Replaces `root` by what it is with the files below it.
    void resolve(yaml_node& root)
    {
        if (root.find(k_extends_key) == nullptr && root.find(k_include_key) == nullptr)
            return;
        yaml_node below;
        below.kind = yaml_kind::map;
        if (const std::optional<yaml_node> base = take(root, k_extends_key)) {
            if (base->kind == yaml_kind::list && !base->flagged)
                complain(*base, k_extends_key,
                         "names one platform file; parts of which there are several stand in `include`.");
            else
                below = file_of(*base, k_extends_key);
        }
        if (const std::optional<yaml_node> parts = take(root, k_include_key)) {
            yaml_node all;
            all.kind = yaml_kind::map;
            const std::vector<yaml_node> one{*parts};
            for (const yaml_node& name : parts->kind == yaml_kind::list ? parts->items : one) {
                yaml_node part = file_of(name, k_include_key);
                refuse_common_keys(all, part, "", name);
                lay_over(all, std::move(part));
            }
            lay_over(below, std::move(all));
        }
        refuse_other_platform(below, root);
        lay_over(below, std::move(root));
        root = std::move(below);
    }

    /// One sentence in place of one for each key that the other platform does not have.
    void refuse_other_platform(const yaml_node& below, const yaml_node& root)
    {
        const yaml_entry* const base = below.find(k_platform_key);
        const yaml_entry* const own = root.find(k_platform_key);
        if (base == nullptr || own == nullptr || base->value.kind != yaml_kind::scalar ||
            own->value.kind != yaml_kind::scalar || base->value.text == own->value.text)
            return;
        problems_.push_back({severity::error, document_.position_of_key(*own), k_platform_key,
                             fmt::format("is {}, but {}, which lies below this file, is for {}; a variant stays on the "
                                         "platform of what it extends.",
                                         own->value.text, document_.files_[base->file].name, base->value.text)});
    }

    /// Of nulls that have found nothing to take away.
    void refuse_nulls(yaml_node& map, const std::string& path)
    {
        for (yaml_entry& entry : map.entries) {
            const std::string key = join_path(path, key_in_path(entry.key));
            if (entry.value.is_null) {
                document_.problems_.push_back({severity::error, document_.position_of_key(entry), key,
                                               "null takes away a key that a file below sets, and none sets this one; leave the "
                                               "line out."});
                entry.value.flagged = true;
            }
            refuse_nulls(entry.value, key);
        }
    }

    static std::optional<yaml_node> take(yaml_node& root, const char* key)
    {
        const auto found =
            std::find_if(root.entries.begin(), root.entries.end(), [&](const yaml_entry& e) { return e.key == key; });
        if (found == root.entries.end())
            return std::nullopt;
        yaml_node value = std::move(found->value);
        if (value.kind == yaml_kind::empty) { // it stands nowhere
            value.line = found->line;
            value.column = found->column;
        }
        root.entries.erase(found);
        return value;
    }

    /// The tree of the file that `name` names, an empty section where there is none; then a problem has been added.
    yaml_node file_of(const yaml_node& name, const char* key)
    {
        yaml_node nothing;
        nothing.kind = yaml_kind::map;
        if (name.flagged)
            return nothing;
        if (name.kind != yaml_kind::scalar || name.text.empty()) {
            complain(name, key,
                     "needs the name of a file, relative to the folder of this one, for example \"rack.yaml\".");
            return nothing;
        }
        const std::string& from = document_.files_[name.file].name;
        const std::size_t slash = from.rfind('/');
        const std::string path =
            name.text.front() == '/' || slash == std::string::npos ? name.text : from.substr(0, slash + 1) + name.text;
        const std::string identity = identity_of(path);
        if (const auto again = std::find(open_.begin(), open_.end(), identity); again != open_.end()) {
            std::string way;
            for (auto i = again; i != open_.end(); ++i)
                way += std::filesystem::path(*i).filename().string() + " > ";
            complain(name, key,
                     fmt::format("leads back to a file that is being read: {}{}; take one of these names out.", way,
                                 std::filesystem::path(identity).filename().string()));
            return nothing;
        }
        if (open_.size() > k_most_layers) {
            complain(name, key,
                     fmt::format("files stand on each other more than {} deep; join some of them.", k_most_layers));
            return nothing;
        }
        if (document_.files_.size() > k_most_files) {
            complain(name, key,
                     fmt::format("more than {} files are read for one platform; join some of them.", k_most_files));
            return nothing;
        }
        return parsed(name, key, path, identity);
    }

    yaml_node parsed(const yaml_node& name, const char* key, const std::string& path, const std::string& identity)
    {
        yaml_node nothing;
        nothing.kind = yaml_kind::map;
        std::string text;
        try {
            text = yaml_document::read_file(path);
        } catch (const user_error& e) {
            for (const problem& p : e.problems())
                complain(name, key, fmt::format("{}: {}{}", path, p.message, near_file(path)));
            return nothing;
        }
        // A part of two parts is read twice and is one file.
        const auto [known, is_new] = index_of_.emplace(identity, static_cast<std::uint16_t>(document_.files_.size()));
        const std::uint16_t index = known->second;
        if (is_new)
            document_.files_.push_back({path, text}); // first: messages show its lines even where it is no YAML
        try {
            yaml_document layer = yaml_document::parse(std::move(text), path);
            document_.files_[index].text = layer.source();
            if (is_new)
                document_.problems_.insert(document_.problems_.end(), layer.problems_.begin(), layer.problems_.end());
            yaml_node root = std::move(layer.root_);
            mark_file(root, index);
            open_.push_back(identity);
            resolve(root);
            open_.pop_back();
            return root;
        } catch (const user_error& e) {
            problems_.insert(problems_.end(), e.problems().begin(), e.problems().end());
            return nothing;
        }
    }

    /// Of two parts, neither is over the other.
    void refuse_common_keys(const yaml_node& earlier, const yaml_node& part, const std::string& path,
                            const yaml_node& name)
    {
        for (const yaml_entry& entry : part.entries) {
            const yaml_entry* const other = earlier.find(entry.key);
            if (other == nullptr)
                continue;
            if (other->file == entry.file && other->line == entry.line && other->column == entry.column)
                continue; // of one part that both include
            const std::string key = join_path(path, entry.key);
            if (other->value.kind == yaml_kind::map && entry.value.kind == yaml_kind::map)
                refuse_common_keys(other->value, entry.value, key, name);
            else
                document_.problems_.push_back(
                    {severity::error, document_.position_of_key(entry), key,
                     fmt::format(
                         "is set by {}:{}, too, which is included beside this file; parts must not set the same key.",
                         document_.files_[other->file].name, other->line)});
        }
    }

    void complain(const yaml_node& at, const char* key, std::string message)
    {
        problems_.push_back(
            {severity::error, document_.position(at.file, at.line, at.column, false), key, std::move(message)});
    }

    yaml_document& document_;
    std::vector<problem> problems_; ///< for which a file is missing; others are those of the document
    std::map<std::string, std::uint16_t> index_of_; ///< in the document's files, by identity
    std::vector<std::string> open_; ///< identities of the files that are being read, the outermost first
};

yaml_document yaml_document::load_layered(const std::string& path)
{
    yaml_document document = load(path);
    document.read_layers();
    return document;
}

void yaml_document::read_layers() { layer_reader(*this).read(); }

} // namespace weft
