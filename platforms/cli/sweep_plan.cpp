// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/sweep_plan.h"

#include "platforms/cli/host_costs.h"
#include "platforms/cli/program_identity.h"
#include "platforms/config/config_dump.h"
#include "platforms/config/suggest.h"
#include "platforms/workload/digest.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace weft::cli {

namespace {

constexpr const char* k_set = "--set";
constexpr std::size_t k_most_messages = 40;

/// A problem, told once, and the points that have it.
struct shared_problem {
    problem what;
    const sweep_setting* setting = nullptr; ///< of the sweep file that it is about; nullptr: none
    std::vector<std::size_t> points;
};

class problem_list {
public:
    problem_list(const sweep_file& file, const std::vector<std::vector<sweep_setting>>& points)
        : file_(file), points_(points)
    {
    }

    void add(std::size_t point, const problem& p)
    {
        problem moved = p;
        const sweep_setting* const setting = p.where.file == k_set ? setting_of(point, p.key_path) : nullptr;
        if (setting != nullptr)
            moved.where = is_about_key(p, *setting) ? setting->key_at : setting->value_at;
        const std::string text = to_string(moved);
        const auto found = places_.find(text);
        if (found != places_.end()) {
            all_[found->second].points.push_back(point);
            return;
        }
        places_.emplace(text, all_.size());
        all_.push_back({std::move(moved), setting, {point}});
    }
    /// `texts` of platform files by name, for the lines that they show.
    std::string text(const std::map<std::string, std::string>& texts) const
    {
        std::vector<const shared_problem*> sorted;
        for (const shared_problem& p : all_)
            sorted.push_back(&p);
        std::stable_sort(sorted.begin(), sorted.end(), [&](const shared_problem* a, const shared_problem* b) {
            const auto place = [&](const problem& p) {
                return std::make_tuple(p.level != severity::error, p.where.file != file_.file, p.where.line,
                                       p.where.column);
            };
            return place(a->what) < place(b->what);
        });
        std::string out;
        for (std::size_t i = 0; i < sorted.size() && i < k_most_messages; ++i) {
            problem p = sorted[i]->what;
            p.message += where_of(*sorted[i]);
            const auto found = texts.find(p.where.file);
            out += render(p, p.where.file == file_.file ? file_.source
                             : found == texts.end()     ? none_
                                                        : found->second) +
                   "\n";
        }
        if (sorted.size() > k_most_messages)
            out += fmt::format("... and {} more problems\n", sorted.size() - k_most_messages);
        return out;
    }

private:
    const sweep_setting* setting_of(std::size_t point, const std::string& path) const
    {
        const std::vector<sweep_setting>& own = points_[point];
        for (const auto* settings : {&own, &file_.common})
            for (auto s = settings->rbegin(); s != settings->rend(); ++s)
                if (is_within(path, s->key) || is_within(s->key, path))
                    return &*s;
        return nullptr;
    }
    /// That there is no such key, not that its value is wrong.
    static bool is_about_key(const problem& p, const sweep_setting& s)
    {
        if (!is_within(p.key_path, s.key))
            return true;
        for (const char* words :
             {"unknown key", "has no entry", "it has no key", "is no index of it", "is an empty list"})
            if (p.message.find(words) != std::string::npos)
                return p.key_path == s.key;
        return false;
    }
    bool has(std::size_t point, const sweep_setting& s) const
    {
        return std::any_of(points_[point].begin(), points_[point].end(),
                           [&](const sweep_setting& o) { return o.key == s.key && o.text == s.text; });
    }
    /// Where not all points that have the value have the problem, it is together with other values.
    std::string where_of(const shared_problem& p) const
    {
        std::size_t could = points_.size();
        if (p.setting != nullptr) {
            const auto all =
                static_cast<std::size_t>(std::count_if(points_.begin(), points_.end(), [&](const auto& point) {
                    return has(static_cast<std::size_t>(&point - points_.data()), *p.setting);
                }));
            could = all == 0 ? could : all;
        }
        if (p.points.size() >= could)
            return "";
        std::vector<std::string> settings;
        for (const sweep_setting& s : points_[p.points.front()])
            settings.push_back(s.assignment());
        return fmt::format(" (in {} of {} points{}: {})", p.points.size(), points_.size(),
                           p.points.size() == 1 ? "" : ", the first", fmt::join(settings, ", "));
    }

    const sweep_file& file_;
    const std::vector<std::vector<sweep_setting>>& points_;
    std::vector<shared_problem> all_;
    std::map<std::string, std::size_t> places_; ///< by text
    std::string none_;
};

std::string name_of_point(const std::vector<sweep_setting>& settings)
{
    std::vector<std::string> all;
    for (const sweep_setting& s : settings)
        all.push_back(s.assignment());
    return fmt::format("{}", fmt::join(all, ", "));
}

/// "points/47_cycles_2_1a2b3c4d": for people, and different for every name.
std::string folder_of_point(const std::vector<sweep_setting>& settings, const std::string& name)
{
    constexpr std::size_t k_readable = 48, k_digits = 8;
    std::string readable;
    for (const sweep_setting& s : settings) {
        for (const char c : s.text)
            if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-')
                readable += c;
            else if (!readable.empty() && readable.back() != '_')
                readable += '_';
        if (!readable.empty() && readable.back() != '_')
            readable += '_';
    }
    return "points/" + readable.substr(0, k_readable) + (readable.size() > k_readable ? "_" : "") +
           digest_of_text(name).substr(0, k_digits);
}

/// A quantity with the unit of the sweep file, where it says the same.
sweep_cell as_written(sweep_cell cell, const std::vector<sweep_setting>& settings, const std::string& key,
                      const config_field* field)
{
    for (const sweep_setting& s : settings)
        if (s.key == key && field != nullptr && field->type == field_type::quantity && cell.units)
            if (const parsed_quantity q = parse_quantity(field->kind, s.text); q.ok && q.value == *cell.units)
                cell.text = s.text;
    return cell;
}

/// What identities of points are made of, for all points once.
struct identity_parts {
    std::string program = program_identity();
    std::map<std::string, std::string> digests; ///< of files that platforms read
};

void fill(planned_point& point, const loaded_platform& loaded, const config_field& resolved, identity_parts& parts)
{
    const platform& p = *loaded.platform;
    point.config = to_json(resolved);
    point.config_text = to_yaml(resolved, &*loaded.document);
    point.memory_bytes = host_memory_bytes(p);
    point.seconds = host_seconds(p);
    std::string all =
        parts.program + "\n" + point.config.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (const std::string& file : p.input_files())
        if (!file.empty()) {
            const auto [known, is_new] = parts.digests.try_emplace(file);
            if (is_new)
                known->second = digest_of_file(file);
            all += "\n" + file + " " + known->second;
        }
    point.identity = digest_of_text(all);
}

/// A value of the command line that the sweep would replace.
void refuse_swept(const std::vector<std::vector<sweep_setting>>& points, const std::vector<std::string>& overrides)
{
    std::vector<problem> problems;
    for (const std::string& o : overrides)
        for (const std::vector<sweep_setting>& point : points)
            for (const sweep_setting& s : point)
                if (is_within(o.substr(0, o.find('=')), s.key))
                    problems.push_back(
                        {severity::error, s.key_at, s.key,
                         fmt::format("is swept here, so that {} {} would be replaced; leave one of them out.", k_set,
                                     in_quotes(o))});
    std::set<std::string> told;
    problems.erase(std::remove_if(problems.begin(), problems.end(),
                                  [&](const problem& p) { return !told.insert(to_string(p)).second; }),
                   problems.end());
    throw_if_errors(problems);
}

} // namespace

sweep_plan plan_sweep(const sweep_file& file, const std::vector<std::string>& overrides,
                      std::optional<std::uint64_t> seed)
{
    const std::vector<std::vector<sweep_setting>> settings = file.points();
    refuse_swept(settings, overrides);
    platform_source shared;
    shared.file = file.platform;
    shared.seed = seed;
    for (const sweep_setting& s : file.common)
        shared.overrides.push_back(s.assignment());
    shared.overrides.insert(shared.overrides.end(), overrides.begin(), overrides.end());
    const std::string text = source_text_of(shared).text;

    sweep_plan plan;
    plan.common = shared.overrides;
    const std::vector<std::string> keys = file.keys();
    problem_list problems(file, settings);
    std::vector<std::optional<config_field>> kinds(keys.size()); // of the first point that has the key
    std::map<std::string, std::size_t> writers;
    std::set<std::string> inputs;
    std::map<std::string, std::string> texts{{file.platform, text}};
    identity_parts identities;
    std::map<std::string, std::size_t> first_of_identity;
    std::string repeated;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        planned_point point;
        point.name = name_of_point(settings[i]);
        point.folder = folder_of_point(settings[i], point.name);
        point.source = shared;
        for (const sweep_setting& s : settings[i])
            point.source.overrides.push_back(s.assignment());
        const loaded_platform loaded = read_platform_text(text, file.platform, point.source);
        for (const problem& p : loaded.problems)
            problems.add(i, p);
        if (loaded.document)
            for (const yaml_document::source_file& f : loaded.document->files())
                texts.emplace(f.name, f.text);
        for (const std::string& layer : loaded.layers())
            inputs.insert(layer);
        if (loaded.platform) {
            const config_field resolved = loaded.platform->resolved();
            fill(point, loaded, resolved, identities);
            if (const auto [first, is_new] = first_of_identity.emplace(point.identity, i); !is_new)
                repeated += fmt::format("{}: warning: points {} and {} are the same run: {} and {}; remove one.\n", file.file, first->second, i,
                                        plan.points[first->second].name, point.name);
            for (std::size_t k = 0; k < keys.size(); ++k) {
                const config_field* const field = field_at(resolved, keys[k]);
                point.cells.push_back(as_written(cell_of(resolved, keys[k]), settings[i], keys[k], field));
                if (field != nullptr && !kinds[k])
                    kinds[k] = *field;
            }
            for (const std::string& written : loaded.platform->output_files())
                if (const auto [other, is_new] = writers.emplace(written, i); !is_new)
                    throw user_error(fmt::format(
                        "{}: points {} and {} would both write {}, which the platform file names; leave it out, or sweep its key.",
                        file.file, other->second, i, written));
            for (const std::string& read : loaded.platform->input_files())
                if (!read.empty())
                    inputs.insert(read);
        } else {
            const problem* const error = loaded.first_error();
            point.refusal = error == nullptr ? "cannot be read"
                                             : (error->key_path.empty() ? "" : error->key_path + ": ") + error->message;
            for (const std::string& key : keys) { // as the file has it
                const auto own = std::find_if(settings[i].begin(), settings[i].end(),
                                              [&](const sweep_setting& s) { return s.key == key; });
                point.cells.push_back({own == settings[i].end() ? "" : own->text, std::nullopt});
            }
            ++plan.refused;
        }
        plan.points.push_back(std::move(point));
    }
    for (std::size_t k = 0; k < keys.size(); ++k) {
        std::vector<sweep_cell> cells;
        for (const planned_point& p : plan.points)
            cells.push_back(p.cells[k]);
        plan.columns.push_back(column_of(keys[k], kinds[k] ? &*kinds[k] : nullptr, cells));
    }
    plan.inputs.assign(inputs.begin(), inputs.end());
    plan.messages = problems.text(texts) + repeated;
    return plan;
}

} // namespace weft::cli
