// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/user_routing.h"

#include "platforms/config/suggest.h"
#include "platforms/machine/named_file.h"
#include "tlm/check.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace weft {

namespace {
constexpr std::uintmax_t k_most_bytes = 1ull << 30; // a line for every router and destination of 4,096
}

user_routing read_user_routing(const std::string& file, const fabric_plan& plan)
{
    check_named_file(file);
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    std::ifstream in(file, std::ios::binary);
    if (size > k_most_bytes)
        throw user_error(fmt::format("is {}, a file of more than 1 GiB; a line with * stands for many destinations.", in_quotes(file)));
    std::string text(size, '\0');
    in.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<std::size_t>(in.gcount()));
    std::vector<route_tables_problem> wrong;
    route_tables tables = read_route_tables(text, plan, wrong);
    constexpr std::size_t k_show = 20;
    std::vector<problem> problems;
    for (std::size_t i = 0; i < wrong.size() && i < k_show; ++i)
        problems.push_back({severity::error,
                            {file, static_cast<int>(wrong[i].line), static_cast<int>(wrong[i].column)},
                            "",
                            wrong[i].message});
    if (wrong.size() > k_show)
        problems.push_back({severity::error,
                            {file, static_cast<int>(wrong[k_show].line), static_cast<int>(wrong[k_show].column)},
                            "",
                            fmt::format("and {} more lines are wrong.", wrong.size() - k_show)});
    if (!problems.empty())
        throw user_error(std::move(problems));
    user_routing routing;
    routing.policy = std::make_shared<const table_routing>(plan, std::move(tables));
    routing.proof = prove_deadlock_free(plan, routes_of(*routing.policy));
    const std::string no_port = fmt::format("the routing chooses port{} VL 0, where no link works", route_tables::k_no_port);
    if (const std::size_t at = routing.proof.text.find(no_port); at != std::string::npos)
        routing.proof.text.replace(at, no_port.size(), "the tables have no line for it");
    return routing;
}

std::string refusal_of(const channel_proof& proof)
{
    if (proof)
        return {};
    return fmt::format("is refused: {} {}", proof.verdict == route_verdict::cycle ? "it" : "by it", proof.text);
}

} // namespace weft
