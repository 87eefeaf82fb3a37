// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/command_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::cli {

namespace {

/// Commands of the launcher ./weft, which the program does not know.
constexpr const char* k_launcher_commands = "build clean test";

std::vector<const CLI::App*> commands_of(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> spellings(const CLI::Option& option)
{
    std::vector<std::string> all;
    for (const std::string& name : option.get_snames())
        all.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        all.push_back("--" + name);
    return all;
}

/// Text of roff: no line of it is taken for a command, no character for an escape.
std::string roff(const std::string& text)
{
    std::string out;
    bool begins_line = true;
    for (const char c : text) {
        if (begins_line && (c == '.' || c == '\''))
            out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
        begins_line = c == '\n';
    }
    return out;
}

std::string value_name_of(const CLI::Option& option)
{
    std::string type = option.get_type_name();
    const std::size_t first = type.find_first_not_of(' ');
    return first == std::string::npos ? "" : type.substr(first);
}

/// Without those that are not for users.
std::vector<const CLI::Option*> options_of(const CLI::App& app)
{
    return app.get_options([](const CLI::Option* option) { return !option->get_group().empty() || option->get_positional(); });
}

void add_options(const CLI::App& app, std::string& out)
{
    for (const CLI::Option* option : options_of(app)) {
        if (option->get_positional()) {
            out += fmt::format(".TP\n.I {}\n{}\n", roff(option->get_name(true)), roff(option->get_description()));
            continue;
        }
        std::string names;
        for (const std::string& name : spellings(*option))
            names += (names.empty() ? "" : ", ") + name;
        const std::string value = value_name_of(*option);
        out += fmt::format(".TP\n.B {}{}\n{}\n", roff(names), value.empty() ? "" : " \\fI" + roff(value) + "\\fR",
                           roff(option->get_description()));
    }
}

void add_command(const CLI::App& app, const std::string& name, std::string& out)
{
    if (commands_of(app).empty()) {
        std::string usage = name;
        for (const CLI::Option* option : options_of(app))
            if (option->get_positional())
                usage += fmt::format(option->get_required() ? " {}" : " [{}]", option->get_name(true));
        out += fmt::format(".SS \"{}\"\n{}.\n", roff(usage), roff(app.get_description()));
        add_options(app, out);
    }
    for (const CLI::App* inner : commands_of(app))
        add_command(*inner, name + " " + inner->get_name(), out);
}

/// "run) words='...' ;;" for a command and for those in it.
void add_case(const CLI::App& app, const std::string& path, std::string& out)
{
    std::string words;
    for (const CLI::App* inner : commands_of(app))
        words += inner->get_name() + " ";
    for (const CLI::Option* option : options_of(app))
        for (const std::string& name : spellings(*option))
            words += name + " ";
    if (path.empty())
        words += std::string(k_launcher_commands) + " ";
    words.pop_back();
    std::string values; // options that take one
    std::string first_argument = "files";
    for (const CLI::Option* option : options_of(app)) {
        if (option->get_positional() && option->get_name(true) == "PLATFORM")
            first_argument = "platforms";
        if (!option->get_positional() && option->get_items_expected_max() > 0)
            for (const std::string& name : spellings(*option))
                values += (values.empty() ? "" : "|") + name;
    }
    const bool group = !commands_of(app).empty();
    out += fmt::format("        '{}') words='{}'; arguments={}; with_value='{}' ;;\n", path, words,
                       group ? "words" : first_argument, values);
    for (const CLI::App* inner : commands_of(app))
        add_case(*inner, path.empty() ? inner->get_name() : path + " " + inner->get_name(), out);
}

/// "run|check|ccu|ccu check": what is a command behind what was read so far.
void add_paths(const CLI::App& app, const std::string& path, std::string& out)
{
    for (const CLI::App* inner : commands_of(app)) {
        const std::string whole = path.empty() ? inner->get_name() : path + " " + inner->get_name();
        out += fmt::format("{}'{}'", out.empty() ? "" : "|", whole);
        add_paths(*inner, whole, out);
    }
}

/// What `weft COMMAND --help` prints, of a command and those in it, each behind a line "==== COMMAND"; in place of
/// `footer`, which nearly all have, "<footer>".
void add_help(const CLI::App& app, const std::string& name, const std::string& footer, std::string& out)
{
    std::string text = app.get_formatter()->make_help(&app, "weft " + name, CLI::AppFormatMode::Normal);
    if (const std::size_t at = text.rfind(footer); at != std::string::npos)
        text.replace(at, std::string::npos, "<footer>\n");
    out += fmt::format("==== {}\n{}", name, text);
    for (const CLI::App* inner : commands_of(app))
        add_help(*inner, name + " " + inner->get_name(), footer, out);
}

} // namespace

std::string help_page(const CLI::App& app)
{
    std::string out = app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
    for (const CLI::App* command : commands_of(app))
        add_help(*command, command->get_name(), app.get_footer(), out);
    return out;
}

std::string man_page(const CLI::App& app)
{
    std::string out = ".\\\" Made by `weft docs`; do not edit.\n"
                      ".TH WEFT 1 \"\" \"weft\" \"User Commands\"\n"
                      ".SH NAME\nweft \\- virtual platforms of the machines that train large models\n"
                      ".SH SYNOPSIS\n.B weft\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]\n"
                      ".SH DESCRIPTION\n.nf\n" +
                      roff(app.get_description()) + ".fi\n.SH OPTIONS\n";
    add_options(app, out);
    out += ".SH COMMANDS\n";
    for (const CLI::App* command : commands_of(app))
        add_command(*command, command->get_name(), out);
    out += ".SH NOTES\n.nf\n" + roff(app.get_footer()) + ".fi\n";
    return out;
}

std::string bash_completion(const CLI::App& app, const std::vector<std::string>& platforms)
{
    std::string cases, paths;
    add_case(app, "", cases);
    add_paths(app, "", paths);
    return fmt::format(
        R"(# Made by `weft docs`; do not edit.
#
# Completion of weft and of its launcher ./weft for bash:  source docs/weft.bash
_weft()
{{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev='' path='' words='' arguments=files with_value='' i
    [ "$COMP_CWORD" -gt 0 ] && prev=${{COMP_WORDS[COMP_CWORD - 1]}}
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${{path:+$path }}${{COMP_WORDS[i]}}" in
            {}) path="${{path:+$path }}${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$path" in
{}    esac
    COMPREPLY=()
    if [ -n "$with_value" ] && [[ "$prev" =~ ^($with_value)$ ]]; then
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    elif [[ "$cur" == -* || "$arguments" == words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    elif [ "$arguments" = platforms ]; then
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -W '{}' -- "$cur"; compgen -f -- "$cur")
    else
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}}
complete -F _weft weft ./weft
)",
        paths, cases, fmt::join(platforms, " "));
}

} // namespace weft::cli
