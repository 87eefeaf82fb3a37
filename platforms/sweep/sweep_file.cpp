// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/sweep/sweep_file.h"

#include "platforms/config/suggest.h"
#include "platforms/config/yaml_text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

namespace {

constexpr const char* k_key_example = "for example `ici.router_latency: [4 cycles, 47 cycles]`";

bool contains(const std::vector<std::string>& all, const std::string& one)
{
    return std::find(all.begin(), all.end(), one) != all.end();
}

class sweep_reader {
public:
    sweep_reader(const yaml_document& document, sweep_file& out) : document_(document), out_(out)
    {
        problems_ = document.problems();
    }

    /// Throws user_error where the file is no sweep file.
    std::vector<problem> read()
    {
        if (const yaml_entry* const e = document_.root().find("platform");
            e != nullptr && document_.root().find("sweep") == nullptr) {
            complain(at(*e), "platform", fmt::format("this is a platform file; `weft run {}` runs it. A sweep is a file of its own, which "
                                                     "begins with `sweep: {{platform: FILE}}`.", document_.file_name()));
            throw_if_errors(problems_);
        }
        check_keys(document_.root(), "", {"sweep", "grid", "list", "plot"});
        if (const yaml_entry* const e = document_.root().find("sweep"))
            read_sweep(*e);
        else
            complain(
                {document_.file_name(), 0, 0}, "sweep",
                "is missing; begin with `sweep: {platform: FILE}`, the platform file from the folder of this file.");
        if (const yaml_entry* const e = document_.root().find("grid"))
            read_grid(*e);
        if (const yaml_entry* const e = document_.root().find("list"))
            read_list(*e);
        if (document_.root().find("grid") == nullptr && document_.root().find("list") == nullptr)
            complain(
                {document_.file_name(), 0, 0}, "grid",
                fmt::format("is missing, and so is list: there is nothing to sweep. Write one, {}.", k_key_example));
        check_clashes();
        check_count();
        if (const yaml_entry* const e = document_.root().find("plot"))
            read_plot(*e);
        sort_problems(document_, problems_);
        return problems_;
    }

private:
    source_position at(const yaml_entry& e) const { return document_.position_of_key(e); }
    source_position at(const yaml_node& n) const { return {document_.file_name(), n.line, n.column}; }
    /// Of a value, or of its key where it begins on another line or nowhere.
    source_position value_at(const yaml_entry& e) const { return e.value.line > 0 ? at(e.value) : at(e); }
    void complain(source_position where, const std::string& path, std::string message)
    {
        problems_.push_back({severity::error, std::move(where), path, std::move(message)});
    }
    void check_keys(const yaml_node& map, const std::string& path, const std::vector<std::string>& known)
    {
        for (const yaml_entry& e : map.entries)
            if (!contains(known, e.key))
                complain(at(e), join_path(path, key_in_path(e.key)),
                         fmt::format("unknown key; {}", suggestion(e.key, known)));
    }
    bool is_map(const yaml_entry& e, const std::string& path, const char* wanted)
    {
        if (e.value.kind == yaml_kind::map)
            return true;
        complain(value_at(e), path, fmt::format("must be a section of 'key: value' lines, {}.", wanted));
        return false;
    }
    bool read_text(const yaml_node& map, const std::string& path, const char* key, std::string& out)
    {
        const yaml_entry* const e = map.find(key);
        if (e == nullptr)
            return false;
        if (e->value.kind != yaml_kind::scalar || e->value.text.empty()) {
            complain(value_at(*e), join_path(path, key), "must be one word or a name of a file.");
            return false;
        }
        out = e->value.text;
        return true;
    }

    /// The key of a platform file in front of a value.
    bool is_swept_key(const yaml_entry& e, const std::string& path)
    {
        const std::string name = join_path(path, key_in_path(e.key));
        const bool word =
            e.key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
                std::string::npos &&
            !e.key.empty() && e.key.front() != '.' && e.key.back() != '.' && e.key.find("..") == std::string::npos;
        if (!word)
            complain(at(e), name,
                     fmt::format("is no key of a platform file; write its path with dots, {}.", k_key_example));
        return word;
    }
    bool has_value(const yaml_node& value, const source_position& where, const std::string& name)
    {
        if (value.kind != yaml_kind::empty)
            return true;
        complain(where, name, "has no value.");
        return false;
    }
    std::vector<sweep_setting> settings_of(const yaml_node& map, const std::string& path)
    {
        std::vector<sweep_setting> all;
        for (const yaml_entry& e : map.entries)
            if (is_swept_key(e, path) && has_value(e.value, at(e), join_path(path, e.key)))
                all.push_back({e.key, flow_text(e.value), at(e), value_at(e)});
        return all;
    }
    void read_sweep(const yaml_entry& section)
    {
        if (!is_map(section, "sweep", "for example `platform: ../tpu_v3/mesh_4x4.yaml`"))
            return;
        const yaml_node& map = section.value;
        check_keys(map, "sweep", {"platform", "name", "out", "set"});
        std::string platform;
        if (read_text(map, "sweep", "platform", platform))
            out_.platform = (std::filesystem::path(out_.file).parent_path() / platform).lexically_normal().string();
        else if (map.find("platform") == nullptr)
            complain(at(section), "sweep.platform",
                     "is missing; write the platform file, from the folder of this file.");
        if (read_text(map, "sweep", "name", out_.name) && out_.name.find('/') != std::string::npos)
            complain(value_at(*map.find("name")), "sweep.name", "has a '/'; write one word, and a folder as `out`.");
        read_text(map, "sweep", "out", out_.out);
        if (const yaml_entry* const e = map.find("set");
            e != nullptr && is_map(*e, "sweep.set", "keys of the platform file with dots"))
            out_.common = settings_of(e->value, "sweep.set");
    }
    void read_grid(const yaml_entry& section)
    {
        if (!is_map(section, "grid", k_key_example))
            return;
        if (section.value.entries.empty())
            complain(at(section), "grid", fmt::format("is empty; write keys with lists of values, {}.", k_key_example));
        for (const yaml_entry& e : section.value.entries) {
            const std::string name = join_path("grid", e.key);
            if (!is_swept_key(e, "grid"))
                continue;
            if (e.value.kind == yaml_kind::map) {
                complain(at(e), name,
                         fmt::format("is a section; write the whole path as one key, `{}.{}: [...]`.", e.key,
                                     e.value.entries.empty() ? "KEY" : e.value.entries.front().key));
                continue;
            }
            if (e.value.kind != yaml_kind::list || e.value.items.empty()) {
                complain(value_at(e), name,
                         "must be a list with one value at least; a key that all points share belongs to `sweep.set`.");
                continue;
            }
            swept_key key;
            for (const yaml_node& value : e.value.items) {
                const source_position where = value.line > 0 ? at(value) : at(e);
                if (!has_value(value, where, name))
                    continue;
                const std::string text = flow_text(value);
                if (std::any_of(key.begin(), key.end(), [&](const sweep_setting& s) { return s.text == text; }))
                    complain(where, name, fmt::format("has {} twice; write each value once.", in_quotes(text)));
                else
                    key.push_back({e.key, text, at(e), where});
            }
            if (!key.empty())
                out_.grid.push_back(std::move(key));
        }
    }
    void read_list(const yaml_entry& section)
    {
        if (section.value.kind != yaml_kind::list || section.value.items.empty()) {
            complain(value_at(section), "list",
                     "must be a list of sections, for example `- {mesh.rows: 2, mesh.cols: 4}`.");
            return;
        }
        for (std::size_t i = 0; i < section.value.items.size(); ++i) {
            const yaml_node& item = section.value.items[i];
            const std::string name = fmt::format("list.{}", i);
            if (item.kind != yaml_kind::map || item.entries.empty()) {
                complain(at(item), name, "must be a section of keys, for example `{mesh.rows: 2, mesh.cols: 4}`.");
                continue;
            }
            std::vector<sweep_setting> settings = settings_of(item, name);
            const auto same = [&](const std::vector<sweep_setting>& other) {
                return std::is_permutation(
                    settings.begin(), settings.end(), other.begin(), other.end(),
                    [](const sweep_setting& a, const sweep_setting& b) { return a.key == b.key && a.text == b.text; });
            };
            if (std::any_of(out_.list.begin(), out_.list.end(), same))
                complain(at(item), name, "is the same point as one before; remove it.");
            else
                out_.list.push_back(std::move(settings));
        }
    }
    /// A key that two places set, of which one would do nothing.
    void check_clashes()
    {
        const auto clash = [&](const sweep_setting& later, const sweep_setting& earlier, const char* where) {
            if (is_within(earlier.key, later.key) || is_within(later.key, earlier.key))
                complain(earlier.key_at, earlier.key,
                         fmt::format("is set here and as {} in {}; write it in one place.", later.key, where));
        };
        for (std::size_t i = 0; i < out_.grid.size(); ++i) {
            for (std::size_t k = i + 1; k < out_.grid.size(); ++k)
                clash(out_.grid[i].front(), out_.grid[k].front(), "the grid, too");
            for (const std::vector<sweep_setting>& point : out_.list)
                for (const sweep_setting& s : point)
                    clash(out_.grid[i].front(), s, "the grid");
        }
        // A common value may be a section of which points change a part.
        for (const sweep_setting& s : out_.common)
            for (const std::string& key : out_.keys())
                if (is_within(s.key, key))
                    complain(s.key_at, "sweep.set." + s.key,
                             fmt::format("is of no use: every value of the swept key {} replaces it.", key));
    }
    void check_count()
    {
        std::size_t count = std::max<std::size_t>(out_.list.size(), 1);
        for (const swept_key& key : out_.grid) {
            count *= key.size();
            if (count > k_most_sweep_points) {
                complain(key.front().key_at, "grid." + key.front().key,
                         fmt::format("makes more than {} points with the keys before it; take fewer values.",
                                     k_most_sweep_points));
                out_.grid.clear(); // what is left of the file can still be checked
                return;
            }
        }
    }
    void read_names(const yaml_node& map, const char* key, std::vector<std::string>& out,
                    const std::vector<std::string>& known)
    {
        const yaml_entry* const e = map.find(key);
        if (e == nullptr)
            return;
        const std::string path = join_path("plot", key);
        if (e->value.kind != yaml_kind::list && e->value.kind != yaml_kind::scalar) {
            complain(value_at(*e), path,
                     fmt::format("must be names, for example [algorithm]; {}", suggestion("", known)));
            return;
        }
        const std::vector<yaml_node> items =
            e->value.kind == yaml_kind::list ? e->value.items : std::vector<yaml_node>{e->value};
        for (const yaml_node& item : items) {
            if (item.kind != yaml_kind::scalar || !contains(known, item.text))
                complain(at(item), path,
                         fmt::format("{} is neither a swept key nor a column of results; {}", in_quotes(item.text),
                                     suggestion(item.text, known)));
            else if (contains(used_, item.text))
                complain(at(item), path, fmt::format("{} has a place in the plot already.", in_quotes(item.text)));
            else {
                used_.push_back(item.text);
                out.push_back(item.text);
            }
        }
    }
    void read_plot(const yaml_entry& section)
    {
        if (!is_map(section, "plot", "for example `x: size`"))
            return;
        const yaml_node& map = section.value;
        check_keys(map, "plot", {"x", "y", "lines", "panels"});
        std::vector<std::string> known = out_.keys();
        known.insert(known.end(), sweep_dimensions().begin(), sweep_dimensions().end());
        std::vector<std::string> x;
        read_names(map, "x", x, known);
        if (x.size() > 1)
            complain(value_at(*map.find("x")), "plot.x", "must be one name; others belong to lines or panels.");
        if (!x.empty())
            out_.plot.x = x.front();
        const std::vector<std::string> figures{"time", "busbw", "algbw"};
        if (read_text(map, "plot", "y", out_.plot.y) && !contains(figures, out_.plot.y))
            complain(value_at(*map.find("y")), "plot.y",
                     fmt::format("is {}; {}", in_quotes(out_.plot.y), suggestion(out_.plot.y, figures)));
        read_names(map, "lines", out_.plot.lines, known);
        read_names(map, "panels", out_.plot.panels, known);
    }

    const yaml_document& document_;
    sweep_file& out_;
    std::vector<problem> problems_;
    std::vector<std::string> used_; ///< names in the plot
};

} // namespace

std::vector<std::string> sweep_file::keys() const
{
    std::vector<std::string> all;
    const auto add = [&](const std::string& key) {
        if (!contains(all, key))
            all.push_back(key);
    };
    for (const std::vector<sweep_setting>& point : list)
        for (const sweep_setting& s : point)
            add(s.key);
    for (const swept_key& key : grid)
        add(key.front().key);
    return all;
}

std::vector<std::vector<sweep_setting>> sweep_file::points() const
{
    std::vector<std::vector<sweep_setting>> all = list.empty() ? std::vector<std::vector<sweep_setting>>(1) : list;
    for (const swept_key& key : grid) {
        std::vector<std::vector<sweep_setting>> longer;
        for (const std::vector<sweep_setting>& point : all)
            for (const sweep_setting& value : key) {
                longer.push_back(point);
                longer.back().push_back(value);
            }
        all = std::move(longer);
    }
    return all;
}

namespace {
sweep_file read_text(std::string text, const std::string& path, std::vector<problem>& problems)
{
    sweep_file file;
    file.file = path;
    const yaml_document document = yaml_document::parse(std::move(text), path);
    file.source = document.source();
    file.name = std::filesystem::path(path).stem().string();
    problems = sweep_reader(document, file).read();
    if (file.out.empty())
        file.out = "out/sweeps/" + file.name;
    return file;
}
} // namespace

sweep_file read_sweep_text(std::string text, const std::string& path)
{
    std::vector<problem> problems;
    sweep_file file = read_text(std::move(text), path, problems);
    throw_if_errors(problems);
    return file;
}

sweep_file read_sweep_file(const std::string& path) { return read_sweep_text(yaml_document::read_file(path), path); }

sweep_file read_sweep_file(const std::string& path, std::vector<problem>& problems)
{
    return read_text(yaml_document::read_file(path), path, problems);
}

const std::vector<std::string>& sweep_dimensions()
{
    static const std::vector<std::string> names{"op", "algorithm", "type", "redop", "group", "size"};
    return names;
}

bool is_within(const std::string& inner, const std::string& outer) { return inner == outer || inner.rfind(outer + ".", 0) == 0; }

} // namespace weft
