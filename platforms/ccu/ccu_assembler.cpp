// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_assembler.h"

#include "platforms/ccu/ccu_expression.h"
#include "platforms/ccu/ccu_operands.h"
#include "platforms/config/suggest.h"
#include "platforms/config/yaml_document.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

using namespace abi::ccu;

namespace {

constexpr std::uint64_t k_most_16 = 0xffff;

struct text_line {
    int number;
    std::vector<ccu_token> tokens; ///< without labels
};

class assembler {
public:
    assembler(const std::string& text, std::string file, std::vector<problem>& problems) : problems_(problems)
    {
        program_.file = std::move(file);
        std::string_view rest = text;
        if (rest.substr(0, 3) == "\xef\xbb\xbf")
            rest.remove_prefix(3); // byte-order mark
        int number = 0;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            add_line(rest.substr(0, end), ++number);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        // Names first: they may stand below the line that uses them.
        for (const text_line& l : directives_)
            if (l.tokens[0].is(".equ"))
                define(l);
        for (const text_line& l : directives_)
            if (!l.tokens[0].is(".equ"))
                declare(l);
        for (const text_line& l : instructions_)
            assemble(l);
        for (const auto& [name, symbol] : symbols_)
            if (symbol.what == ccu_symbol::kind::label)
                program_.labels[name] = static_cast<std::uint32_t>(symbol.number);
    }

    ccu_program program() { return std::move(program_); }

private:
    ccu_line_reader reader(const text_line& l) { return {l.tokens, program_.file, l.number, symbols_, problems_}; }
    void tell(int line, const ccu_token& where, std::string message)
    {
        problems_.push_back({severity::error, {program_.file, line, where.column}, "", std::move(message)});
    }

    void add_name(int line, const ccu_token& name, const ccu_symbol& symbol)
    {
        const char* const what = symbol.what == ccu_symbol::kind::label ? "label" : "constant";
        if (const std::string why = reserved_name(name.text); !why.empty()) {
            tell(line, name, fmt::format("{} {}, so it cannot be a {}; choose another name.", in_quotes(name.text), why, what));
            return;
        }
        const auto [at, is_new] = symbols_.emplace(name.text, symbol);
        if (!is_new)
            tell(line, name, fmt::format("{} stands for something since line {}; choose another name.", in_quotes(name.text), at->second.line));
    }

    void add_line(std::string_view line, int number)
    {
        std::vector<ccu_token> tokens = ccu_tokens(line, program_.file, number, problems_);
        while (tokens.size() > 2 && tokens[0].what == ccu_token::kind::word && tokens[0].text[0] != '.' && tokens[1].is(":")) {
            ccu_symbol label;
            label.what = ccu_symbol::kind::label;
            label.number = instructions_.size();
            label.line = number;
            add_name(number, tokens[0], label);
            tokens.erase(tokens.begin(), tokens.begin() + 2);
        }
        if (tokens[0].what == ccu_token::kind::end)
            return;
        if (tokens[0].text[0] == '.')
            directives_.push_back({number, std::move(tokens)});
        else
            instructions_.push_back({number, std::move(tokens)});
    }

    void expect_end(ccu_line_reader& r)
    {
        if (!r.at_end())
            r.tell(r.peek(), fmt::format("{} stands behind the end of the line's meaning; remove it.", r.name_of(r.peek())));
    }

    void define(const text_line& l)
    {
        ccu_line_reader r = reader(l);
        r.take();
        const ccu_token name = r.take();
        if (name.what != ccu_token::kind::word || name.text[0] == '.') {
            r.tell(name, fmt::format("{} stands where a name must be; write .equ name value.", r.name_of(name)));
            return;
        }
        ccu_symbol symbol;
        symbol.line = l.number;
        for (const char kind : {'a', 'x', 'm', 'c'})
            if (r.is_reg(kind)) {
                symbol.what = ccu_symbol::kind::reg;
                symbol.reg = {kind, r.reg(kind, "", k_most_16).value_or(0)};
            }
        if (symbol.what != ccu_symbol::kind::reg) {
            const auto value = r.number("a number, a register, a slice or a channel");
            symbol.number = value.value_or(0);
            if (value)
                expect_end(r);
        } else {
            expect_end(r);
        }
        add_name(l.number, name, symbol);
    }

    std::optional<std::pair<std::uint16_t, std::uint16_t>> bits(ccu_line_reader& r, std::uint64_t least_mask)
    {
        const auto entry = r.number("the check-bit entry", 0, k_most_16);
        if (!entry)
            return std::nullopt;
        if (!r.accept(":")) {
            r.tell(r.peek(), fmt::format("{} stands where ':' must be; write {}.", r.name_of(r.peek()), text_of(ccu_operand_kind::check_bits)));
            return std::nullopt;
        }
        const auto mask = r.number("the mask of check bits", least_mask, k_most_16);
        if (!mask)
            return std::nullopt;
        return std::pair(static_cast<std::uint16_t>(*entry), static_cast<std::uint16_t>(*mask));
    }

    /// "x0", "m8..m15", several of them.
    void read_registers(ccu_line_reader& r, bool only_slices)
    {
        const char* const what = only_slices ? "a slice (m0, or m0..m7)" : "a register or slice (x0, a0, m0, or x0..x7)";
        if (r.at_end())
            r.tell(r.peek(), fmt::format("the end of the line stands where {} must be.", what));
        while (!r.at_end()) {
            const ccu_token at = r.peek();
            const char kind = r.is_reg('m') ? 'm' : r.is_reg('a') && !only_slices ? 'a' : 'x';
            if (only_slices && kind != 'm') {
                r.tell(at, fmt::format("{} stands where {} must be.", r.name_of(at), what));
                return;
            }
            const auto first = r.reg(kind, what, k_most_16);
            if (!first)
                return;
            std::uint64_t last = *first;
            if (r.accept("..")) {
                const auto end = r.reg(kind, what, k_most_16);
                if (!end)
                    return;
                last = *end;
                if (last < *first)
                    r.tell(at, "the range ends before it begins; write the smaller number first.");
            }
            auto& set = only_slices ? program_.kept_slices : kind == 'm' ? program_.peer_slices : kind == 'a' ? program_.peer_address_registers : program_.peer_general_registers;
            for (std::uint64_t n = *first; n <= last; ++n)
                set.insert(static_cast<std::uint16_t>(n));
            r.pass_comma();
        }
    }

    void declare_argument(ccu_line_reader& r, const ccu_token& word)
    {
        const auto number = r.number("the number of an argument", 0, k_arguments - 1);
        if (!number)
            return;
        ccu_argument_range range;
        range.where = r.position_of(word);
        const ccu_token at = r.peek();
        const auto least = r.number("the least value");
        if (!least)
            return;
        range.least = range.most = *least;
        if (r.accept("..")) {
            const auto most = r.number("the largest value");
            if (!most)
                return;
            range.most = *most;
        }
        if (r.accept("step")) {
            const auto step = r.number("the step", 1, ~std::uint64_t{0});
            if (!step)
                return;
            range.step = *step;
        }
        expect_end(r);
        if (range.most < range.least || (range.most - range.least) % range.step != 0)
            r.tell(at, fmt::format("{}..{} step {} never comes to its end; the largest value is the least one and a number of steps.", range.least,
                                   range.most, range.step));
        if (!program_.arguments.emplace(static_cast<std::uint32_t>(*number), range).second)
            r.tell(word, fmt::format("argument {} is declared since line {}; declare it once.", *number,
                                     program_.arguments.at(static_cast<std::uint32_t>(*number)).where.line));
    }

    void declare(const text_line& l)
    {
        ccu_line_reader r = reader(l);
        const ccu_token word = r.take();
        if (word.is(".argument")) {
            declare_argument(r, word);
        } else if (word.is(".ranks")) {
            const auto n = r.number("the number of ranks", 2, 1024);
            if (program_.ranks)
                r.tell(word, fmt::format("the ranks are declared since line {}; declare them once.", program_.ranks_where.line));
            if (n) {
                program_.ranks = static_cast<std::uint32_t>(*n);
                program_.ranks_where = r.position_of(word);
                expect_end(r);
            }
        } else if (word.is(".peer_sets")) {
            do {
                const auto b = bits(r, 1);
                if (!b)
                    return;
                program_.peer_sets[b->first] |= b->second;
                r.pass_comma();
            } while (!r.at_end());
        } else if (word.is(".peer_writes")) {
            read_registers(r, false);
        } else if (word.is(".peer_keeps")) {
            read_registers(r, true);
        } else {
            r.tell(word, fmt::format("{} is no directive; {}", in_quotes(word.text),
                                     suggestion(word.text, {".equ", ".argument", ".ranks", ".peer_sets", ".peer_writes", ".peer_keeps"})));
        }
    }

    static std::string shape_of(const op_row& row)
    {
        std::string text;
        for (const ccu_operand& o : operands_of(row))
            text += (text.empty() ? "" : ", ") + std::string(text_of(o.kind));
        return text.empty() ? "no operands" : text;
    }

    bool operand(ccu_line_reader& r, const op_row& row, const ccu_operand& o, instruction& i)
    {
        const std::string what = fmt::format("{} of {}", text_of(o.kind), row.name);
        const auto into = [&](std::optional<std::uint64_t> v, std::uint16_t& field) {
            field = static_cast<std::uint16_t>(v.value_or(0));
            return v.has_value();
        };
        const auto small = [&](std::optional<std::uint64_t> v) {
            i.count = static_cast<std::uint8_t>(v.value_or(0));
            return v.has_value();
        };
        switch (o.kind) {
        case ccu_operand_kind::address_register: return into(r.reg('a', what, k_most_16), i.r[o.field]);
        case ccu_operand_kind::general_register: return into(r.reg('x', what, k_most_16), i.r[o.field]);
        case ccu_operand_kind::slice: return into(r.reg('m', what, k_most_16), i.r[o.field]);
        case ccu_operand_kind::channel: return into(r.reg('c', what, k_most_16), i.channel);
        case ccu_operand_kind::label: return into(r.number(fmt::format("a label of {}", row.name), 0, k_most_16), i.r[o.field]);
        case ccu_operand_kind::argument: return small(r.number(fmt::format("the argument of {}", row.name), 0, k_arguments - 1));
        case ccu_operand_kind::loops: return small(r.number("the number of loops of a group", 1, 255));
        case ccu_operand_kind::immediate: {
            const auto v = r.number(what);
            i.set_immediate(v.value_or(0));
            return v.has_value();
        }
        case ccu_operand_kind::check_bits: {
            const auto b = bits(r, 0);
            if (b) {
                i.r[o.field] = b->first;
                i.r[o.field + 1] = b->second;
            }
            return b.has_value();
        }
        default: break;
        }
        const ccu_token first = r.peek();
        unsigned n = 0;
        while (n == 0 || r.is_reg('m')) {
            const auto m = r.reg('m', what, k_most_16);
            if (!m)
                return false;
            if (n < k_most_reduced)
                i.r[n] = static_cast<std::uint16_t>(*m);
            ++n;
            if (r.peek(1).what == ccu_token::kind::word)
                r.pass_comma();
        }
        if (n < 2 || n > k_most_reduced)
            r.tell(first, fmt::format("{} has {} slice{}; it takes 2 to {}.", row.name, n, n == 1 ? "" : "s", k_most_reduced));
        i.count = static_cast<std::uint8_t>(std::min(n, k_most_reduced));
        return true;
    }

    /// The words behind the operands, in any order. False: the rest of the line makes no sense.
    bool words(ccu_line_reader& r, const op_row& row, instruction& i)
    {
        std::map<std::string, ccu_token> seen;
        const std::vector<std::string> legal{"len", "type", "op", "wait", "clear", "set"};
        while (!r.at_end()) {
            const ccu_token word = r.take();
            if (std::find(legal.begin(), legal.end(), word.text) == legal.end()) {
                const bool is_operand = ccu_register_of(word.text).has_value() || word.what != ccu_token::kind::word;
                r.tell(word, is_operand ? fmt::format("{} stands behind the operands of {}, which takes {}.", r.name_of(word), row.name, shape_of(row))
                                        : fmt::format("{} is no word of an instruction; {}", r.name_of(word), suggestion(word.text, legal)));
                return false;
            }
            if (!seen.emplace(word.text, word).second)
                r.tell(word, fmt::format("'{}' stands twice in this instruction; remove one.", word.text));
            if ((word.is("len") && !may_have_length(row)) || (word.is("type") && !may_have_type(row)) || (word.is("op") && !may_have_redop(row)))
                r.tell(word, fmt::format("{} has no '{}'; remove it.", row.name, word.text));
            if (word.is("len")) {
                const auto x = r.reg('x', text_of(ccu_operand_kind::general_register), k_most_16 - 1);
                if (!x)
                    return false;
                if (may_have_length(row))
                    i.set_length(static_cast<std::uint16_t>(*x));
            } else if (word.is("type") || word.is("op")) {
                const ccu_token name = r.take();
                const bool is_type = word.is("type");
                std::vector<std::string> names;
                if (is_type)
                    for (const abi::element_row& t : abi::k_element_rows)
                        names.emplace_back(t.name);
                else
                    names.assign(std::begin(k_ccu_redop_names) + 1, std::end(k_ccu_redop_names));
                const auto found = std::find(names.begin(), names.end(), name.text);
                if (found == names.end()) {
                    r.tell(name, fmt::format("{} is no {}; {}", r.name_of(name), is_type ? "type" : "operation", suggestion(name.text, names)));
                    return false;
                }
                const auto number = static_cast<std::uint8_t>(found - names.begin());
                (is_type ? i.type : i.redop) = is_type ? number : static_cast<std::uint8_t>(number + 1);
            } else if (word.is("clear")) {
                i.flags |= k_clears;
            } else {
                const auto b = bits(r, 1);
                if (!b)
                    return false;
                (word.is("wait") ? i.wait_entry : i.set_entry) = b->first;
                (word.is("wait") ? i.wait_mask : i.set_mask) = b->second;
            }
            r.pass_comma();
        }
        const auto has = [&](const char* word) { return seen.count(word) != 0; };
        const ccu_token mnemonic = tokens_front_;
        if (row.operation == operation_kind::memory_memory && !has("len"))
            r.tell(mnemonic, fmt::format("{} needs a length; add 'len' and a general register that holds bytes.", row.name));
        if (row.operation == operation_kind::slices && !has("type"))
            r.tell(mnemonic, fmt::format("{} needs a type; add 'type float16', for example.", row.name));
        if (may_have_redop(row) && has("op") && !has("type"))
            r.tell(seen.at("op"), "a reduction needs a type; add 'type float16', for example.");
        if (may_have_redop(row) && has("type") && !has("op"))
            r.tell(seen.at("type"), "only a reduction has a type; add 'op sum', 'op max' or 'op min', or remove the type.");
        if (has("clear") && !has("wait"))
            r.tell(seen.at("clear"), "nothing is waited for that could be cleared; add 'wait entry:mask' or remove 'clear'.");
        if (may_have_type(row) && has("type"))
            if (const std::string p = type_problem(row, static_cast<abi::element_type>(i.type), static_cast<abi::reduce_op>(i.redop)); !p.empty())
                r.tell(seen.at("type"), p + ".");
        return true;
    }

    void assemble(const text_line& l)
    {
        ccu_line_reader r = reader(l);
        const ccu_token name = r.take();
        tokens_front_ = name;
        const op_row* const row = name.what == ccu_token::kind::word ? ccu_row(name.text) : nullptr;
        instruction i;
        if (row == nullptr) {
            const std::string near = closest(name.text, ccu_mnemonics());
            r.tell(name, fmt::format("{} is no instruction; {}", in_quotes(name.text),
                                     near.empty() ? "docs/22_ccu_instructions.md lists them all." : fmt::format("did you mean '{}'?", near)));
        } else {
            i = blank_instruction(*row);
            bool good = true;
            for (const ccu_operand& o : operands_of(*row)) {
                if (r.at_end()) {
                    r.tell(r.peek(), fmt::format("{} needs {}; the line ends before that.", row->name, shape_of(*row)));
                    good = false;
                    break;
                }
                if (!(good = operand(r, *row, o, i)))
                    break;
                r.pass_comma();
            }
            if (good)
                words(r, *row, i);
        }
        program_.code.push_back(i);
        program_.where.push_back(r.position_of(name));
    }

    std::vector<problem>& problems_;
    ccu_program program_;
    ccu_symbols symbols_;
    std::vector<text_line> directives_, instructions_;
    ccu_token tokens_front_; ///< the mnemonic of the line that is read
};

} // namespace

ccu_program assemble_ccu(const std::string& text, const std::string& file_name, std::vector<problem>& problems)
{
    if (text.size() > k_most_ccu_text_bytes) {
        problems.push_back({severity::error, {file_name, 0, 0}, "", "the text is longer than 4 MiB; a unit holds far fewer instructions."});
        return {file_name};
    }
    std::vector<problem> found;
    ccu_program program = assembler(text, file_name, found).program();
    if (program.code.empty() && found.empty())
        found.push_back({severity::error, {file_name, 0, 0}, "", "the program has no instruction; write one a line."});
    std::stable_sort(found.begin(), found.end(), [](const problem& a, const problem& b) {
        return a.where.line != b.where.line ? a.where.line < b.where.line : a.where.column < b.where.column;
    });
    problems.insert(problems.end(), found.begin(), found.end());
    return program;
}

ccu_program assemble_ccu(const std::string& text, const std::string& file_name)
{
    std::vector<problem> problems;
    ccu_program program = assemble_ccu(text, file_name, problems);
    throw_if_errors(problems);
    return program;
}

} // namespace weft
