// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/yaml_document.h"

#include "platforms/config/suggest.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <unordered_map>

namespace weft {

namespace {

constexpr std::size_t k_max_bytes = 4u << 20;
constexpr std::size_t k_max_depth = 64;
constexpr std::size_t k_max_values = 200000;
constexpr const char* k_too_large = "the file is larger than 4 MiB; a configuration is smaller";

[[noreturn]] void refuse(source_position where, std::string message, std::string key_path = {})
{
    throw user_error(
        std::vector<problem>{{severity::error, std::move(where), std::move(key_path), std::move(message)}});
}

/// Position of byte `offset` of `text`.
source_position position_in(const std::string& text, std::size_t offset, const std::string& file)
{
    source_position where{file, 1, 1};
    for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
        ++where.column;
        if (text[i] == '\n') {
            ++where.line;
            where.column = 1;
        }
    }
    return where;
}

/// Length of the UTF-8 sequence at `at`, or 0 when there is none (RFC 3629: no surrogates, no overlong forms).
std::size_t utf8_length(const std::string& text, std::size_t at)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(at);
    if (first < 0x80)
        return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(at + i) & 0xc0) != 0x80)
            return 0;
    const unsigned second = byte(at + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
        return 0;
    return length;
}

/// Refuses what no YAML file of ours contains, before the YAML library sees it: binary data, other encodings, tabs as
/// indentation (the library's message for them is a riddle).
void check_text(const std::string& text, const std::string& file)
{
    bool in_indentation = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        const auto c = static_cast<unsigned char>(text[at]);
        if (length == 0)
            refuse(position_in(text, at, file),
                   fmt::format("byte 0x{:02x} is not UTF-8 text; save the file as UTF-8", static_cast<unsigned>(c)));
        const bool line_end = c == '\n' || (c == '\r' && at + 1 < text.size() && text[at + 1] == '\n');
        if ((c < 0x20 && c != '\t' && !line_end) || c == 0x7f)
            refuse(position_in(text, at, file),
                   fmt::format(
                       "byte 0x{:02x} is a control character, so this is no text file; a configuration is YAML text",
                       static_cast<unsigned>(c)));
        if (c == '\t' && in_indentation)
            refuse(position_in(text, at, file), "a tab stands in the indentation; YAML indents with blanks only");
        in_indentation = c == '\n' || (in_indentation && c == ' ');
        at += length;
    }
}

/// -?0[0-9_]+ : YAML 1.1 reads it as octal, YAML 1.2 as decimal, people as either.
bool is_leading_zero_integer(const std::string& text)
{
    const std::size_t from = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    return text.size() > from + 1 && text[from] == '0' &&
           text.find_first_not_of("0123456789_", from) == std::string::npos;
}

/// False if a quoted scalar begins at `at` and runs to the end of the text. The library takes the end of the last
/// line for the closing quote, so that a file cut short would pass.
bool is_closed_quote(const std::string& text, std::size_t at)
{
    if (at >= text.size() || (text[at] != '"' && text[at] != '\''))
        return true; // a block scalar
    const char quote = text[at];
    for (++at; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\')
            ++at;
        else if (text[at] == quote && quote == '\'' && at + 1 < text.size() && text[at + 1] == quote)
            ++at; // '' is a quote inside the text
        else if (text[at] == quote)
            return true;
    }
    return false;
}

/// The messages of the YAML library, where they are riddles, in words of the file.
std::string explained(const std::string& message)
{
    static constexpr std::pair<const char*, const char*> k_words[] = {
        {"end of map not found",
         "this does not continue the section above; look at its indentation, or for text behind a finished value"},
        {"end of sequence not found",
         "this does not continue the list above; look at its indentation, or for text behind a finished value"},
        {"end of sequence flow not found", "a '[' before this place has no matching ']', or a ',' is missing"},
        {"end of map flow not found", "a '{' before this place has no matching '}', or a ',' is missing"},
        {"illegal flow end", "this bracket closes nothing"},
        {"illegal map value",
         "a ':' cannot stand here; keys of one section are indented alike, and text that contains ': ' needs quotes"},
        {"illegal block entry", "a list entry '- ' begins on a line of its own, below its key"},
        {"illegal EOF in scalar", "a quote is never closed"},
        {"unknown token", "this character cannot begin a value; text that begins with it needs quotes"},
    };
    for (const auto& [theirs, ours] : k_words)
        if (message == theirs)
            return ours;
    return message.substr(0, 200);
}

/// Receives the events of the YAML library and builds the strict tree. Recursion of the library is bounded by the depth
/// limit here: every level announces itself before it descends.
class tree_builder : public YAML::EventHandler {
public:
    tree_builder(const std::string& text, const std::string& file, std::vector<problem>& problems)
        : text_(text), file_(file), problems_(problems)
    {
    }

    bool has_root() const { return has_root_; }
    yaml_node& root() { return root_; }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        check_anchor(mark, anchor);
        yaml_node node = node_at(yaml_kind::empty, null_position(mark));
        node.is_null = is_written(mark);
        attach(std::move(node));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override
    {
        yaml_node node = node_at(yaml_kind::empty, mark);
        node.flagged = true;
        complain(mark,
                 "aliases (*name) are not supported, so that every value stands where it is used; repeat the value");
        attach(std::move(node));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override
    {
        check_anchor(mark, anchor);
        yaml_node node = node_at(yaml_kind::scalar, mark);
        node.flagged = check_tag(mark, tag);
        node.quoted = tag == "!";
        if (node.quoted && !is_closed_quote(text_, static_cast<std::size_t>(std::max(mark.pos, 0))))
            refuse(where(mark), "this is not valid YAML: the quote that opens here is never closed");
        node.text = value;
        if (!node.quoted && !node.flagged && !awaits_key() && is_leading_zero_integer(value)) {
            node.flagged = true;
            complain(mark, fmt::format("{} has a leading zero, which YAML tools read as octal or as decimal; write it "
                                       "without the zero, or in quotes if it is text",
                                       in_quotes(value)));
        }
        attach(std::move(node));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override
    {
        open(yaml_kind::list, mark, tag, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override
    {
        open(yaml_kind::map, mark, tag, anchor);
    }
    void OnMapEnd() override { close(); }

private:
    struct frame {
        yaml_node node;
        bool has_key = false; // a map whose next node is the value of `key`
        bool drop = false;    // ... but the value is thrown away, its key is a problem
        yaml_entry key;
        std::unordered_map<std::string, int> line_of_key;
    };

    bool awaits_key() const
    {
        return !frames_.empty() && frames_.back().node.kind == yaml_kind::map && !frames_.back().has_key;
    }

    source_position where(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

    void complain(const YAML::Mark& mark, std::string message)
    {
        problems_.push_back({severity::error, where(mark), path(), std::move(message)});
    }

    /// Path of the node that is being read.
    std::string path() const
    {
        std::string text;
        for (const auto& f : frames_) {
            if (f.node.kind == yaml_kind::list)
                text = join_path(text, std::to_string(f.node.items.size()));
            else if (f.has_key && !f.drop)
                text = join_path(text, key_in_path(f.key.key));
        }
        return text;
    }

    yaml_node node_at(yaml_kind kind, const YAML::Mark& mark)
    {
        if (++values_ > k_max_values)
            refuse(where(mark),
                   fmt::format("the file has more than {} values; a configuration is smaller", k_max_values));
        yaml_node node;
        node.kind = kind;
        node.line = mark.line + 1;
        node.column = mark.column + 1;
        return node;
    }

    /// Whether the empty value at this mark stands there as null or ~. What follows a value that is not there is a key,
    /// which may begin with the same letter.
    bool is_written(const YAML::Mark& mark) const
    {
        const std::string_view rest = std::string_view(text_).substr(
            std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size()));
        const std::string_view word = rest.substr(0, rest.find_first_of(" \r\n\t,]}"));
        return word == "~" || word == "null" || word == "Null" || word == "NULL";
    }

    /// A value that is not there has the mark of what follows it, perhaps lines later: point at the text before it.
    YAML::Mark null_position(YAML::Mark mark) const
    {
        if (is_written(mark))
            return mark;
        const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
        std::size_t end = text_.find_last_not_of(" \r\n", at == 0 ? 0 : std::min(at, text_.size()) - 1);
        if (at == 0 || end == std::string::npos)
            return mark;
        const auto lines = std::count(text_.begin() + static_cast<std::ptrdiff_t>(end),
                                      text_.begin() + static_cast<std::ptrdiff_t>(std::min(at, text_.size())), '\n');
        const std::size_t line_begin = lines == 0 ? at - static_cast<std::size_t>(mark.column)
                                                  : text_.find_last_of('\n', end) + 1; // npos + 1 == 0
        mark.line -= static_cast<int>(lines);
        mark.column = static_cast<int>(end - line_begin);
        return mark;
    }

    void check_anchor(const YAML::Mark& mark, YAML::anchor_t anchor)
    {
        if (anchor != 0)
            complain(mark, "anchors (&name) are not supported, so that every value stands where it is used; remove it");
    }

    bool check_tag(const YAML::Mark& mark, const std::string& tag)
    {
        if (tag.empty() || tag == "?" || tag == "!")
            return false;
        complain(mark, "tags (!type) are not supported, the key alone decides the type; remove it");
        return true;
    }

    void open(yaml_kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor)
    {
        if (frames_.size() >= k_max_depth)
            refuse(where(mark),
                   fmt::format("the file is nested more than {} levels deep; a configuration is not", k_max_depth));
        check_anchor(mark, anchor);
        const bool flagged = check_tag(mark, tag);
        frames_.emplace_back();
        frames_.back().node = node_at(kind, mark);
        frames_.back().node.flagged = flagged;
    }

    void close()
    {
        yaml_node node = std::move(frames_.back().node);
        frames_.pop_back();
        attach(std::move(node));
    }

    void attach(yaml_node&& node)
    {
        if (frames_.empty()) {
            root_ = std::move(node);
            has_root_ = true;
            return;
        }
        frame& parent = frames_.back();
        if (parent.node.kind == yaml_kind::list) {
            parent.node.items.push_back(std::move(node));
        } else if (!parent.has_key) {
            take_key(parent, node);
        } else {
            parent.has_key = false;
            if (!parent.drop) {
                parent.key.value = std::move(node);
                parent.node.entries.push_back(std::move(parent.key));
            }
            parent.key = {};
        }
    }

    void take_key(frame& parent, const yaml_node& node)
    {
        const auto complain_here = [&](std::string message) {
            problems_.push_back({severity::error, {file_, node.line, node.column}, path(), std::move(message)});
            parent.drop = true;
        };
        parent.drop = false;
        if (node.flagged) {
            parent.drop = true;
        } else if (node.kind == yaml_kind::empty || (node.kind == yaml_kind::scalar && node.text.empty())) {
            complain_here("a key is missing before ':'");
        } else if (node.kind != yaml_kind::scalar) {
            complain_here("a key is one word here, but a list or a map stands in its place");
        } else if (node.text == "<<" && !node.quoted) {
            complain_here(
                "merge keys ('<<') are not supported, so that every value stands where it is used; repeat the values");
        } else {
            const auto [first, is_new] = parent.line_of_key.emplace(node.text, node.line);
            if (!is_new)
                complain_here(fmt::format("the key {} stands here a second time, first in line {}; keep one of them",
                                          in_quotes(node.text), first->second));
        }
        parent.key.key = node.text;
        parent.key.line = node.line;
        parent.key.column = node.column;
        parent.has_key = true;
    }

    const std::string& text_;
    const std::string& file_;
    std::vector<problem>& problems_;
    std::vector<frame> frames_;
    yaml_node root_;
    bool has_root_ = false;
    std::size_t values_ = 0;
};

/// Any event means that a second document stands in the file.
class second_document : public YAML::EventHandler {
public:
    explicit second_document(const std::string& file) : file_(file) {}
    void OnDocumentStart(const YAML::Mark& mark) override
    {
        refuse({file_, mark.line + 1, mark.column + 1},
               "a second YAML document begins here; a file holds one configuration");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

private:
    const std::string& file_;
};

/// Parses one document; nullopt when there is none. Throws user_error.
std::optional<yaml_node> parse_tree(const std::string& text, const std::string& file, std::vector<problem>& problems)
{
    check_text(text, file);
    tree_builder builder(text, file, problems);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        if (!parser.HandleNextDocument(builder))
            return std::nullopt;
        second_document nothing_more(file);
        parser.HandleNextDocument(nothing_more);
    } catch (const YAML::Exception& e) {
        source_position where{file, 0, 0};
        if (!e.mark.is_null())
            where = {file, e.mark.line + 1, e.mark.column + 1};
        refuse(where, "this is not valid YAML: " + explained(e.msg));
    } catch (const user_error&) {
        throw;
    } catch (const std::exception& e) { // the library lets a few standard exceptions through
        refuse({file, 0, 0}, std::string("this is not valid YAML: ") + e.what());
    }
    if (!builder.has_root())
        return std::nullopt;
    return std::move(builder.root());
}

void mark_override(yaml_node& node)
{
    node.from_override = true;
    node.line = node.column = 0;
    for (auto& item : node.items)
        mark_override(item);
    for (auto& entry : node.entries) {
        entry.line = entry.column = 0;
        mark_override(entry.value);
    }
}

std::vector<std::string> split_path(std::string_view path)
{
    std::vector<std::string> parts;
    std::size_t from = 0;
    while (!path.empty()) {
        const std::size_t dot = path.find('.', from);
        parts.emplace_back(path.substr(from, dot == std::string_view::npos ? dot : dot - from));
        if (dot == std::string_view::npos)
            break;
        from = dot + 1;
    }
    return parts;
}

bool is_index(const std::string& text)
{
    return !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == std::string::npos &&
           (text.size() == 1 || text[0] != '0');
}

bool is_key(const std::string& text)
{
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
               std::string::npos;
}

} // namespace

yaml_entry* find_entry(yaml_node& map, const std::string& key)
{
    const auto found =
        std::find_if(map.entries.begin(), map.entries.end(), [&](const yaml_entry& e) { return e.key == key; });
    return found == map.entries.end() ? nullptr : &*found;
}

const yaml_entry* yaml_node::find(std::string_view key) const
{
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const yaml_entry& e) { return e.key == key; });
    return found == entries.end() ? nullptr : &*found;
}

std::string yaml_document::read_stdin()
{
    const source_position where{"<stdin>", 0, 0};
    std::string text(k_max_bytes + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), stdin)); // std::cin takes a folder for an empty file
    if (std::ferror(stdin) != 0)
        refuse(where, std::string("the file cannot be read: ") + std::strerror(errno));
    if (text.size() > k_max_bytes)
        refuse(where, k_too_large);
    return text;
}

std::string yaml_document::read_file(const std::string& path)
{
    const source_position where{path, 0, 0};
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        refuse(where, status.type() == std::filesystem::file_type::not_found
                          ? "there is no such file"
                          : "the file cannot be read: " + error.message());
    if (std::filesystem::is_directory(status))
        refuse(where, "this is a directory, not a file; give the path of a YAML file");
    std::ifstream file(path, std::ios::binary);
    if (!file)
        refuse(where, std::string("the file cannot be read: ") + std::strerror(errno));
    std::string text(k_max_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad())
        refuse(where, std::string("the file cannot be read: ") + std::strerror(errno));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > k_max_bytes)
        refuse(where, k_too_large);
    return text;
}

yaml_document yaml_document::load(const std::string& path) { return parse(read_file(path), path); }

yaml_document yaml_document::parse(std::string text, std::string file_name)
{
    yaml_document document;
    if (text.size() > k_max_bytes)
        refuse({file_name, 0, 0}, k_too_large);
    if (text.compare(0, 3, "\xef\xbb\xbf") == 0)
        text.erase(0, 3); // byte-order mark
    document.files_ = {{std::move(file_name), std::move(text)}};
    auto root = parse_tree(document.source(), document.file_name(), document.problems_);
    if (!root || root->kind == yaml_kind::empty)
        refuse({document.file_name(), 0, 0}, "the file is empty; a configuration has at least one 'key: value' line");
    if (root->kind != yaml_kind::map)
        refuse({document.file_name(), root->line, root->column},
               fmt::format("the file holds {} at its top level; a configuration is made of 'key: value' lines",
                           root->kind == yaml_kind::list ? "a list" : "plain text"));
    document.root_ = std::move(*root);
    return document;
}

void yaml_document::apply_overrides(const std::vector<std::string>& assignments)
{
    std::vector<problem> problems;
    for (const auto& assignment : assignments)
        for (const auto& one : for_each_entry(assignment, problems))
            apply(one, problems);
    throw_if_errors(problems);
}

void yaml_document::apply(const std::string& assignment, std::vector<problem>& problems)
{
    const auto complain = [&](const std::string& path, std::string message) {
        problems.push_back({severity::error, {k_override_file, 0, 0}, path, std::move(message)});
    };
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
        return complain({}, in_quotes(assignment) + " is not of the form key.path=value, for example mesh.rows=4");
    const std::string path = assignment.substr(0, equals);
    const auto parts = split_path(path);
    for (const auto& part : parts)
        if (!is_key(part))
            return complain({}, fmt::format("{} is not a key path; write words and list indices joined by points, "
                                            "for example workload.0.op",
                                            in_quotes(path)));
    if (parts.size() >= k_max_depth)
        return complain({}, fmt::format("the key path is more than {} levels deep", k_max_depth));

    std::optional<yaml_node> value;
    std::vector<problem> value_problems;
    try {
        value = parse_tree(assignment.substr(equals + 1), k_override_file, value_problems);
    } catch (const user_error& e) {
        value_problems.insert(value_problems.end(), e.problems().begin(), e.problems().end());
    }
    for (const auto& p : value_problems)
        complain(join_path(path, p.key_path), p.message);
    if (!value_problems.empty())
        return;
    if (!value || value->kind == yaml_kind::empty) {
        if (assignment.find_first_not_of(" \t", equals + 1) == std::string::npos)
            return complain(path, "no value follows '='; null takes a key out");
        if (!take_out(path))
            complain(path, "is null, which takes a key out, but no such key is set; an entry of a list goes with the list that is written without it");
        return;
    }
    mark_override(*value);

    // First look whether the path fits the tree, then change it: a refused override leaves the document as it was.
    yaml_node* node = &root_;
    std::string walked;
    for (const auto& part : parts) {
        if (node->kind == yaml_kind::list) {
            if (!is_index(part))
                return complain(path, fmt::format("{} is a list; {} is no index of it, write a number from 0",
                                                  in_quotes(walked), in_quotes(part)));
            const std::size_t index = std::stoul(part);
            if (index >= node->items.size())
                return complain(path, node->items.empty()
                                          ? fmt::format("{} is an empty list", in_quotes(walked))
                                          : fmt::format("{} has no entry {}; its entries count from 0, the last is {}",
                                                        in_quotes(walked), part, node->items.size() - 1));
            node = &node->items[index];
        } else if (node->kind == yaml_kind::map) {
            yaml_entry* entry = find_entry(*node, part);
            if (entry == nullptr)
                break; // the rest of the path is added below
            node = &entry->value;
        } else if (node->kind == yaml_kind::scalar) {
            return complain(path, fmt::format("{} is the single value {}, it has no key {}", in_quotes(walked),
                                              in_quotes(node->text), in_quotes(part)));
        } else {
            break;
        }
        walked = join_path(walked, part);
    }
    node = &root_;
    for (const auto& part : parts) {
        if (node->kind == yaml_kind::list) {
            node = &node->items[std::stoul(part)];
            continue;
        }
        node->kind = yaml_kind::map; // an empty value becomes a section
        yaml_entry* entry = find_entry(*node, part);
        if (entry == nullptr) {
            yaml_entry added;
            added.key = part;
            added.value.from_override = true;
            node->entries.push_back(std::move(added));
            entry = &node->entries.back();
        }
        node = &entry->value;
    }
    *node = std::move(*value);
}

const yaml_node* yaml_document::find(std::string_view key_path) const
{
    const yaml_node* node = &root_;
    for (const auto& part : split_path(key_path)) {
        if (node->kind == yaml_kind::list && is_index(part) && std::stoul(part) < node->items.size()) {
            node = &node->items[std::stoul(part)];
        } else if (const yaml_entry* entry = node->find(part)) {
            node = &entry->value;
        } else {
            return nullptr;
        }
    }
    return node;
}

std::string yaml_document::text_of(const std::string& file) const
{
    for (const source_file& f : files_)
        if (f.name == file)
            return f.text;
    return {};
}

const std::string& yaml_document::file_that_sets(std::string_view key_path) const
{
    const yaml_node* const node = find(key_path);
    return files_[node == nullptr || node->from_override ? 0 : node->file].name;
}

source_position yaml_document::position(std::uint16_t file, int line, int column, bool from_override) const
{
    if (from_override)
        return {k_override_file, 0, 0};
    return {files_[file].name, line, column};
}

source_position yaml_document::position_of_key(const yaml_entry& entry) const
{
    return position(entry.file, entry.line, entry.column, entry.line == 0);
}

source_position yaml_document::position_of(std::string_view key_path) const
{
    const yaml_node* node = &root_;
    source_position found = position(root_.file, root_.line, root_.column, false);
    for (const auto& part : split_path(key_path)) {
        if (node->kind == yaml_kind::list && is_index(part) && std::stoul(part) < node->items.size()) {
            node = &node->items[std::stoul(part)];
            found = position(node->file, node->line, node->column, node->from_override);
        } else if (const yaml_entry* entry = node->find(part)) {
            node = &entry->value;
            // A list or map begins a line below its key, and an empty value nowhere.
            found = node->kind == yaml_kind::scalar || node->from_override
                        ? position(node->file, node->line, node->column, node->from_override)
                        : position_of_key(*entry);
        } else {
            break;
        }
    }
    return found;
}

std::optional<yaml_document::located_text> yaml_document::peek_string(const std::string& key,
                                                                      std::vector<problem>& problems) const
{
    const yaml_entry* entry = root_.find(key);
    if (entry == nullptr)
        return std::nullopt;
    if (entry->value.kind != yaml_kind::scalar || entry->value.text.empty()) {
        add_problem(*this, problems, key, "needs one word, for example a name");
        return std::nullopt;
    }
    return located_text{entry->value.text, position_of(key)};
}

std::optional<bool> yaml_1_1_boolean(std::string_view word)
{
    for (const char* yes : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})
        if (word == yes)
            return true;
    for (const char* no : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})
        if (word == no)
            return false;
    return std::nullopt;
}

std::string join_path(const std::string& path, const std::string& key)
{
    return path.empty() || key.empty() ? path + key : path + "." + key;
}

void add_problem(const yaml_document& document, std::vector<problem>& problems, const std::string& key_path,
                 std::string message, severity level)
{
    problems.push_back({level, document.position_of(key_path), key_path, std::move(message)});
}

void sort_problems(const yaml_document& document, std::vector<problem>& problems)
{
    const auto rank_of_file = [&](const std::string& file) { // 0: the document's own, last: overrides and others
        const auto& files = document.files();
        return std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == file; }) - files.begin();
    };
    const auto place = [&](const problem& p) {
        return std::make_tuple(rank_of_file(p.where.file), p.where.line, p.where.column);
    };
    std::stable_sort(problems.begin(), problems.end(),
                     [&](const problem& a, const problem& b) { return place(a) < place(b); });
    std::set<std::string> seen;
    problems.erase(std::remove_if(problems.begin(), problems.end(),
                                  [&](const problem& p) { return !seen.insert(to_string(p)).second; }),
                   problems.end());
}

void throw_if_errors(const std::vector<problem>& problems)
{
    if (std::any_of(problems.begin(), problems.end(), [](const problem& p) { return p.level == severity::error; }))
        throw user_error(problems);
}

std::string render(const problem& p, const std::string& source)
{
    constexpr std::size_t k_widest = 120;
    std::string out = to_string(p);
    if (p.where.line <= 0 || p.where.file == k_override_file)
        return out;
    std::size_t from = source.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0;
    for (int line = 1; line < p.where.line; ++line) {
        from = source.find('\n', from);
        if (from == std::string::npos)
            return out;
        ++from;
    }
    std::string text = source.substr(from, source.find('\n', from) - from);
    while (!text.empty() && text.back() == '\r')
        text.pop_back();
    if (text.empty())
        return out;
    const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
    std::size_t caret = p.where.column > 0 ? static_cast<std::size_t>(p.where.column - 1) : 0;
    caret = std::min(caret, text.size());
    if (text.size() > k_widest) { // show the part around the caret
        std::size_t begin = caret > k_widest / 2 ? caret - k_widest / 2 : 0;
        while (begin > 0 && is_continuation(text[begin]))
            --begin;
        std::size_t end = std::min(text.size(), begin + k_widest);
        while (end < text.size() && is_continuation(text[end]))
            ++end;
        const std::string before = begin > 0 ? "..." : "";
        text = before + text.substr(begin, end - begin) + (end < text.size() ? "..." : "");
        caret = caret - begin + before.size();
    }
    // A caret stands below a character, not below a byte; tabs stay tabs. Control characters never reach the terminal.
    std::string indent;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            text[i] = '?';
        if (i < caret && !is_continuation(text[i]))
            indent += text[i] == '\t' ? '\t' : ' ';
    }
    out += "\n    " + text;
    if (p.where.column > 0)
        out += "\n    " + indent + "^";
    return out;
}

} // namespace weft
