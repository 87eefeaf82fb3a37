// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Words of a line of microcode, and numbers made of them.
#pragma once

#include "tlm/check.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct ccu_token {
    enum class kind { word, number, sign, end } what = kind::end;
    std::string text; ///< "" of the end of a line
    int column = 0;   ///< counts from 1
    bool is(std::string_view t) const { return what != kind::end && text == t; }
};

/// Words of letters, digits and '_' (a directive begins with '.'), numbers, and signs of one character or "..".
/// Comments begin with ';' or '#'.
std::vector<ccu_token> ccu_tokens(std::string_view line, const std::string& file, int number, std::vector<problem>& problems);

/// "x12" as kind 'x' and number 12; kinds are a, x, m and c.
struct ccu_register_name {
    char kind = 'x';
    std::uint64_t number = 0;
};
std::optional<ccu_register_name> ccu_register_of(std::string_view word);

/// What a name stands for.
struct ccu_symbol {
    enum class kind { number, reg, label } what = kind::number;
    std::uint64_t number = 0;
    ccu_register_name reg = {};
    int line = 0;
};
using ccu_symbols = std::map<std::string, ccu_symbol>;

/// Why nothing may have this name, or "".
std::string reserved_name(const std::string& name);

/// Reads one line from left to right. A reader gives nullopt when it has told a problem; then the rest of the line
/// makes no sense.
class ccu_line_reader {
public:
    ccu_line_reader(const std::vector<ccu_token>& tokens, std::string file, int line, const ccu_symbols& symbols, std::vector<problem>& problems)
        : tokens_(tokens), file_(std::move(file)), line_(line), symbols_(symbols), problems_(problems)
    {
    }

    const ccu_token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
    bool at_end() const { return peek().what == ccu_token::kind::end; }
    ccu_token take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
    bool accept(std::string_view sign);
    /// Moves behind a comma between operands, where there is one.
    void pass_comma() { accept(","); }
    void tell(const ccu_token& where, std::string message);
    source_position position_of(const ccu_token& t) const { return {file_, line_, t.column}; }
    /// What a message calls the token: in quotes, or "the end of the line".
    static std::string name_of(const ccu_token& t);

    /// A sum of products, as 64 bits; negative numbers wrap. `what` it is for: "the mask".
    std::optional<std::uint64_t> number(const std::string& what);
    /// The same from `least` to `most`; outside of it a problem is told and the reader goes on.
    std::optional<std::uint64_t> number(const std::string& what, std::uint64_t least, std::uint64_t most);
    /// A register of this kind, or a name that stands for one.
    std::optional<std::uint64_t> reg(char kind, const std::string& what, std::uint64_t most);
    /// Whether a register of this kind stands here.
    bool is_reg(char kind) const;

private:
    __extension__ using wide = __int128; // sums and products of 64-bit numbers before they are judged
    std::optional<wide> sum();
    std::optional<wide> product();
    std::optional<wide> factor();
    std::optional<wide> helper(const ccu_token& name);
    std::optional<wide> literal(const ccu_token& t);
    std::optional<ccu_register_name> register_here(const ccu_token& t) const;
    std::optional<wide> bounded(const ccu_token& where, wide value);

    const std::vector<ccu_token>& tokens_;
    std::string file_;
    int line_;
    const ccu_symbols& symbols_;
    std::vector<problem>& problems_;
    std::size_t at_ = 0;
    std::string wanted_ = "a number";
    unsigned depth_ = 0;
};

} // namespace weft
