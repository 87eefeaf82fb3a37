// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_expression.h"

#include "hw/abi/ccu.h"
#include "platforms/ccu/ccu_operands.h"
#include "platforms/config/suggest.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace weft {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct helper_row {
    const char* name;
    std::vector<std::pair<const char*, std::uint64_t>> arguments; ///< and the largest
};
const std::vector<helper_row>& helpers()
{
    static const std::vector<helper_row> all{
        {"loop", {{"iterations", abi::ccu::k_most_iterations}, {"step", 0xffff'ffff}}},
        {"counts", {{"first", 0xff}, {"replicas", 0xfff}}},
        {"offsets", {{"address", 0xffff'ffff}, {"slice", 0xffff}, {"entry", 0xffff}}},
    };
    return all;
}

constexpr std::pair<const char*, unsigned> k_units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};

unsigned shift_of(std::string_view unit)
{
    for (const auto& [name, shift] : k_units)
        if (unit == name)
            return shift;
    return 0;
}

} // namespace

std::vector<ccu_token> ccu_tokens(std::string_view line, const std::string& file, int number, std::vector<problem>& problems)
{
    std::vector<ccu_token> tokens;
    std::size_t at = 0;
    while (at < line.size() && line[at] != ';' && line[at] != '#') {
        const char c = line[at];
        const std::size_t from = at;
        if (c == ' ' || c == '\t' || c == '\r') {
            ++at;
            continue;
        }
        const auto run = [&](ccu_token::kind what, auto&& in) {
            while (at < line.size() && in(line[at]))
                ++at;
            tokens.push_back({what, std::string(line.substr(from, at - from)), static_cast<int>(from) + 1});
        };
        const auto in_word = [](char x) { return is_letter(x) || is_digit(x); };
        if (is_letter(c)) {
            run(ccu_token::kind::word, in_word);
        } else if (c == '.' && at + 1 < line.size() && is_letter(line[at + 1])) {
            ++at;
            run(ccu_token::kind::word, in_word);
        } else if (is_digit(c)) {
            run(ccu_token::kind::number, in_word);
        } else if (line.substr(at, 2) == "..") {
            tokens.push_back({ccu_token::kind::sign, "..", static_cast<int>(from) + 1});
            at += 2;
        } else if (std::string_view(":,()+-*/").find(c) != std::string_view::npos) {
            tokens.push_back({ccu_token::kind::sign, std::string(1, c), static_cast<int>(from) + 1});
            ++at;
        } else {
            std::size_t end = at + 1;
            while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80)
                ++end; // a character is shown whole
            problems.push_back({severity::error, {file, number, static_cast<int>(from) + 1}, "",
                                fmt::format("{} has no meaning here; comments begin with ';' or '#'.", in_quotes(line.substr(at, end - at)))});
            at = end;
        }
    }
    tokens.push_back({ccu_token::kind::end, "", static_cast<int>(at) + 1});
    return tokens;
}

std::optional<ccu_register_name> ccu_register_of(std::string_view word)
{
    if (word.size() < 2 || std::string_view("axmc").find(word[0]) == std::string_view::npos || (word[1] == '0' && word.size() > 2) ||
        !std::all_of(word.begin() + 1, word.end(), is_digit))
        return std::nullopt;
    ccu_register_name name{word[0], 0};
    const auto read = std::from_chars(word.data() + 1, word.data() + word.size(), name.number);
    if (read.ec != std::errc())
        name.number = ~std::uint64_t{0}; // beyond every unit
    return name;
}

std::string reserved_name(const std::string& name)
{
    if (ccu_register_of(name))
        return "is the name of a register, slice or channel";
    for (const char* word : {"len", "type", "op", "wait", "clear", "set", "loop", "counts", "offsets"})
        if (name == word)
            return "is a word of the text form";
    if (shift_of(name) != 0)
        return "is a unit";
    if (ccu_row(name) != nullptr)
        return "is an instruction";
    return {};
}

bool ccu_line_reader::accept(std::string_view sign)
{
    if (!peek().is(sign))
        return false;
    ++at_;
    return true;
}

void ccu_line_reader::tell(const ccu_token& where, std::string message)
{
    problems_.push_back({severity::error, position_of(where), "", std::move(message)});
}

std::string ccu_line_reader::name_of(const ccu_token& t) { return t.what == ccu_token::kind::end ? "the end of the line" : in_quotes(t.text); }

std::optional<ccu_line_reader::wide> ccu_line_reader::bounded(const ccu_token& where, wide value)
{
    if (value > wide{~std::uint64_t{0}} || value < -(wide{1} << 63)) {
        tell(where, "the number is beyond 64 bits; write one from -2^63 to 2^64 - 1.");
        return std::nullopt;
    }
    return value;
}

std::optional<ccu_line_reader::wide> ccu_line_reader::literal(const ccu_token& t)
{
    std::string_view digits = t.text;
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'b')) {
        base = digits[1] == 'x' ? 16 : 2;
        digits.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    std::string_view unit = digits.substr(static_cast<std::size_t>(read.ptr - digits.data()));
    if (read.ec == std::errc::result_out_of_range) {
        tell(t, "the number is beyond 64 bits; write one from -2^63 to 2^64 - 1.");
        return std::nullopt;
    }
    if (read.ec != std::errc() || (!unit.empty() && shift_of(unit) == 0)) {
        tell(t, fmt::format("{} is no number; write decimal (4096), hexadecimal (0x1000) or with a unit (4 KiB).", in_quotes(t.text)));
        return std::nullopt;
    }
    if (base == 10 && digits.size() > 1 && digits[0] == '0') {
        tell(t, fmt::format("{} begins with 0, which some read as octal; leave the 0 out, or write 0x.", in_quotes(t.text)));
        return std::nullopt;
    }
    if (unit.empty() && peek().what == ccu_token::kind::word && shift_of(peek().text) != 0)
        return bounded(t, wide{value} << shift_of(take().text));
    return bounded(t, wide{value} << shift_of(unit));
}

std::optional<ccu_line_reader::wide> ccu_line_reader::helper(const ccu_token& name)
{
    const auto row = std::find_if(helpers().begin(), helpers().end(), [&](const helper_row& h) { return name.is(h.name); });
    if (row == helpers().end()) {
        tell(name, fmt::format("{} is no function; {}", in_quotes(name.text), suggestion(name.text, {"loop", "counts", "offsets"})));
        return std::nullopt;
    }
    take(); // (
    std::uint64_t values[3] = {};
    for (std::size_t i = 0; i < row->arguments.size(); ++i) {
        const auto& [what, most] = row->arguments[i];
        const ccu_token at = peek();
        const std::string wanted = wanted_;
        wanted_ = fmt::format("{} of {}()", what, row->name);
        const auto value = sum();
        wanted_ = wanted;
        if (!value)
            return std::nullopt;
        if (*value < 0 || *value > wide{most})
            tell(at, fmt::format("{} of {}() must be 0 to {}.", what, row->name, most));
        values[i] = static_cast<std::uint64_t>(*value);
        const bool last = i + 1 == row->arguments.size();
        if (!accept(last ? ")" : ",")) {
            std::string all;
            for (const auto& a : row->arguments)
                all += (all.empty() ? "" : ", ") + std::string(a.first);
            tell(peek(), fmt::format("{} stands where '{}' must be; write {}({}).", name_of(peek()), last ? ")" : ",", row->name, all));
            return std::nullopt;
        }
    }
    using namespace abi::ccu;
    if (name.is("loop"))
        return wide{loop_parameter(static_cast<std::uint32_t>(values[0]), static_cast<std::uint32_t>(values[1]))};
    if (name.is("counts"))
        return wide{group_counts(static_cast<std::uint32_t>(values[0]), static_cast<std::uint32_t>(values[1]))};
    return wide{group_offsets(static_cast<std::uint32_t>(values[0]), static_cast<std::uint16_t>(values[1]), static_cast<std::uint16_t>(values[2]))};
}

std::optional<ccu_line_reader::wide> ccu_line_reader::factor()
{
    constexpr unsigned k_deepest = 64;
    const ccu_token t = peek();
    if (depth_ > k_deepest) {
        tell(t, fmt::format("parentheses are nested more than {} deep; use .equ for the parts.", k_deepest));
        return std::nullopt;
    }
    ++depth_;
    std::optional<wide> value;
    if (accept("-")) {
        if (const auto v = factor())
            value = bounded(t, -*v);
    } else if (accept("(")) {
        value = sum();
        if (value && !accept(")")) {
            tell(peek(), fmt::format("{} stands where ')' must be.", name_of(peek())));
            value = std::nullopt;
        }
    } else if (t.what == ccu_token::kind::number) {
        take();
        value = literal(t);
    } else if (t.what == ccu_token::kind::word && t.text[0] != '.') {
        take();
        if (peek().is("(")) {
            value = helper(t);
        } else if (const auto found = symbols_.find(t.text); found != symbols_.end() && found->second.what != ccu_symbol::kind::reg) {
            value = wide{found->second.number};
        } else if (found != symbols_.end() || ccu_register_of(t.text)) {
            tell(t, fmt::format("{} is {}, where {} must be.", in_quotes(t.text), "a register, slice or channel", wanted_));
        } else {
            std::vector<std::string> names;
            for (const auto& s : symbols_)
                if (s.second.what != ccu_symbol::kind::reg)
                    names.push_back(s.first);
            const std::string near = closest(t.text, names);
            tell(t, fmt::format("there is no label and no constant {}; {}", in_quotes(t.text),
                                near.empty() ? fmt::format("write {} with a ':' before an instruction, or .equ {} and a number.", t.text, t.text)
                                             : fmt::format("did you mean '{}'?", near)));
        }
    } else {
        tell(t, fmt::format("{} stands where {} must be.", name_of(t), wanted_));
    }
    --depth_;
    return value;
}

std::optional<ccu_line_reader::wide> ccu_line_reader::product()
{
    auto value = factor();
    while (value && (peek().is("*") || peek().is("/"))) {
        const ccu_token sign = take();
        const auto right = factor();
        if (!right)
            return std::nullopt;
        if (sign.is("/") && *right == 0) {
            tell(sign, "the number is divided by zero.");
            return std::nullopt;
        }
        wide result = *value;
        if (sign.is("/"))
            result /= *right;
        else if (__builtin_mul_overflow(*value, *right, &result))
            result = wide{1} << 100; // beyond 64 bits, which is told
        value = bounded(sign, result);
    }
    return value;
}

std::optional<ccu_line_reader::wide> ccu_line_reader::sum()
{
    auto value = product();
    while (value && (peek().is("+") || peek().is("-"))) {
        const ccu_token sign = take();
        const auto right = product();
        if (!right)
            return std::nullopt;
        value = bounded(sign, sign.is("+") ? *value + *right : *value - *right);
    }
    return value;
}

std::optional<std::uint64_t> ccu_line_reader::number(const std::string& what)
{
    wanted_ = what;
    const auto value = sum();
    return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::optional<std::uint64_t> ccu_line_reader::number(const std::string& what, std::uint64_t least, std::uint64_t most)
{
    wanted_ = what;
    const ccu_token at = peek();
    const auto value = sum();
    if (!value)
        return std::nullopt;
    if (*value < wide{least} || *value > wide{most}) {
        tell(at, fmt::format("{} must be {} to {}.", what, least, most));
        return least;
    }
    return static_cast<std::uint64_t>(*value);
}

std::optional<ccu_register_name> ccu_line_reader::register_here(const ccu_token& t) const
{
    if (t.what != ccu_token::kind::word)
        return std::nullopt;
    if (const auto found = symbols_.find(t.text); found != symbols_.end())
        return found->second.what == ccu_symbol::kind::reg ? std::optional(found->second.reg) : std::nullopt;
    return ccu_register_of(t.text);
}

bool ccu_line_reader::is_reg(char kind) const
{
    const auto r = register_here(peek());
    return r && r->kind == kind;
}

std::optional<std::uint64_t> ccu_line_reader::reg(char kind, const std::string& what, std::uint64_t most)
{
    const ccu_token t = peek();
    const auto found = register_here(t);
    if (!found || found->kind != kind) {
        tell(t, fmt::format("{} stands where {} must be.", name_of(t), what));
        return std::nullopt;
    }
    take();
    if (found->number > most) {
        tell(t, fmt::format("{} is beyond what an instruction can name; numbers go from 0 to {}.", in_quotes(t.text), most));
        return 0;
    }
    return found->number;
}

} // namespace weft
