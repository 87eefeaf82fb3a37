// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/report_page.h"

#include "platforms/report/page_files.h"
#include "platforms/report/results_file.h"
#include "tlm/check.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string_view>

namespace weft {

namespace {

using json = nlohmann::ordered_json;
constexpr const char* k_chart_file = "/usr/share/javascript/chart.js/chart.min.js";

std::optional<std::string> text_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file)
        return std::nullopt;
    return text.str();
}

/// Nothing inside a script ends it: "</" and "<!--" are written otherwise in strings of JSON.
std::string for_script(const std::string& text)
{
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text)
        c == '<' ? safe += "\\u003c" : safe += c;
    return safe;
}

json read_json(const std::string& path, const char* remedy)
{
    const auto text = text_of(path);
    if (!text)
        throw user_error(fmt::format("{}: cannot be read. {}", path, remedy));
    json j = json::parse(*text, nullptr, false);
    if (j.is_discarded() || !j.is_object())
        throw user_error(fmt::format("{}: is no whole JSON file, perhaps cut off. {}", path, remedy));
    return j;
}

} // namespace

std::string chart_library()
{
    const char* const named = std::getenv("WEFT_CHART_JS");
    const std::string path = named != nullptr && *named != '\0' ? named : k_chart_file;
    const auto text = text_of(path);
    if (!text || text->empty())
        throw user_error(fmt::format(
            "{}: Chart.js, which the report contains, is not there. On Debian: apt-get install libjs-chart.js; elsewhere name "
            "a chart.min.js of version 3 in the environment: WEFT_CHART_JS=FILE.",
            path));
    if (text->find("</script") != std::string::npos)
        throw user_error(fmt::format("{}: contains </script, so no page can contain it.", path));
    return *text;
}

std::string report_page(const json& results, const json& activity, const json& published, const std::string& library)
{
    json data;
    data["results"] = results;
    for (const char* rows : {"links", "ranks"}) // the page has those of its activity
        data["results"].erase(rows);
    data["activity"] = activity;
    data["published"] = published;
    const std::string block = for_script(data.dump(-1, ' ', false, json::error_handler_t::replace));
    const auto tag = [](const std::string& script) { return "<script>\n" + script + "\n</script>\n"; };
    std::string scripts = tag(library);
    for (const page_file& file : page_scripts())
        scripts += tag(std::string(file.text));
    std::string page(page_skeleton().text);
    const auto fill = [&page](std::string_view mark, const std::string& text) {
        const std::size_t at = page.find(mark);
        if (at == std::string::npos)
            throw bug("report_page", 0, "page.html has no mark " + std::string(mark));
        page.replace(at, mark.size(), text);
    };
    fill("<!--style-->", "<style>\n" + std::string(page_style().text) + "</style>");
    fill("<!--data-->", "<script type=\"application/json\" id=\"data\">" + block + "</script>");
    fill("<!--scripts-->", scripts);
    return page;
}

std::string report_page_of(const std::string& dir, const std::string& published, const std::string& library)
{
    if (!std::filesystem::exists(dir))
        throw user_error(fmt::format("{}: there is no such folder.", dir));
    const char* const run_again = "Run again: weft run FILE --report --out DIR.";
    const json results = read_json(dir + "/results.json", run_again);
    for (const char* key : {"results", "digest", "simulated_time_ps", "config", "stats"})
        if (!results.contains(key))
            throw user_error(
                fmt::format("{}/results.json: has no \"{}\"; it is of another version or no result of weft. {}", dir,
                            key, run_again));
    const json activity =
        read_json(dir + "/" + k_activity_file,
                  "It is written by a run with --report. Run again: weft run FILE --report --out DIR.");
    for (const char* key : {"schema", "digest", "map", "cases", "configuration"})
        if (!activity.contains(key))
            throw user_error(fmt::format("{}/{}: has no \"{}\"; it is of another version. {}", dir, k_activity_file,
                                         key, run_again));
    if (activity["schema"] != 1)
        throw user_error(fmt::format("{}/{}: has schema {}, and this version reads schema 1. {}", dir, k_activity_file,
                                     activity["schema"].dump(), run_again));
    if (activity["digest"] != results["digest"])
        throw user_error(fmt::format("{}/{}: belongs to a run with digest {}, and results.json to one with {}. {}", dir,
                                     k_activity_file, activity["digest"].dump(), results["digest"].dump(), run_again));
    for (const auto& [name, file] : {std::pair{"results.json", &results}, {k_activity_file, &activity}})
        if (is_changed(*file))
            throw user_error(fmt::format(
                "{}/{}: is not what the run has written: it was changed since, or is of another version. {}", dir, name,
                run_again));
    if (activity.value(k_results_checksum, "") != results[k_checksum])
        throw user_error(fmt::format("{}/{}: belongs to another run than results.json. {}", dir, k_activity_file,
                                     run_again));
    const char* const validate = "It is written by: weft validate PLATFORM --json FILE.";
    const json page_of_validation = published.empty() ? json() : read_json(published, validate);
    if (!published.empty() && !page_of_validation.contains("targets"))
        throw user_error(fmt::format("{}: has no published figures. {}", published, validate));
    return report_page(results, activity, page_of_validation, library);
}

} // namespace weft
