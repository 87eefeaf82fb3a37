// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The static checker accepts the microcode that planners write, with the arguments that its tasks have. What peers send
// is declared: ranks run programs that differ in the places of their groups.
#include "firmware/collectives/ccu_plan.h"
#include "firmware/collectives/supports.h"
#include "platforms/ccu/ccu_checker.h"
#include "platforms/ccu/ccu_disassembler.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "testbenches/support/instruction_store.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace weft;
using abi::algorithm;
using abi::collective_op;
using firmware::ccu_job;
using firmware::ccu_kind;

namespace {

void add_bits(ccu_program& p, std::uint32_t first, std::uint32_t bits)
{
    for (std::uint32_t bit = 0; bit < bits; ++bit) {
        const firmware::ccu_bit b(first, bit);
        p.peer_sets[static_cast<std::uint16_t>(b.entry)] |= static_cast<std::uint16_t>(b.mask);
    }
}

/// The program of a task, and what its peers and the task before it send.
ccu_program program_of(const ccu_job& job, const firmware::ccu_capacities& capacities)
{
    weft::testing::instruction_store store;
    const firmware::ccu_driver unit(store, 0);
    firmware::ccu_code code(unit, 0);
    write_program(code, job, shape_of(job.kind, job.group.size, capacities));
    ccu_program p{"planned"};
    p.code = store.code;
    const firmware::ccu_group& g = job.group;
    if (job.kind != ccu_kind::blocks && job.kind != ccu_kind::copy) {
        for (const std::uint32_t first : {g.address_entries, g.token_entries, g.end_entries})
            add_bits(p, first, g.size); // the own one goes to all others, who run other programs
        for (std::uint32_t place = 0; place < g.size; ++place) {
            const auto number = static_cast<std::uint16_t>(firmware::k_ccu_first_bank_register + g.registers + place);
            p.peer_address_registers.insert(number);
            p.peer_general_registers.insert(number);
        }
    }
    if (job.follows)
        p.peer_sets[static_cast<std::uint16_t>(firmware::k_ccu_turn_entry)] = static_cast<std::uint16_t>(1u << job.mission);
    for (std::uint32_t i = 0; i < job.arguments; ++i)
        p.arguments[i] = {job.argument[i], job.argument[i], 1, {}};
    return p;
}

} // namespace

TEST_CASE("ccu: the checker accepts the microcode of planners", "[ccu]")
{
    unsigned programs = 0, spoiled = 0;
    const std::pair<std::uint32_t, std::uint32_t> machines[] = {{1, 2}, {1, 7}, {1, 8}, {2, 4}, {3, 3}, {4, 5}, {8, 8}};
    for (const auto& [boards, npus] : machines)
        for (const std::uint64_t count : {1u, 7u, 1000u, 65'537u, 1u << 21})
            for (const auto op : {collective_op::all_reduce, collective_op::reduce_scatter, collective_op::all_gather, collective_op::broadcast, collective_op::reduce,
                                  collective_op::all_to_all})
                for (const auto algo : {algorithm::ccu, algorithm::ccu_one_shot, algorithm::ccu_axes}) {
                    ub_mesh_config config;
                    config.mesh.boards = boards;
                    config.mesh.npus = npus;
                    config.npu.ccu.presence = ccu_presence::always;
                    const std::uint32_t rank = (boards * npus) / 2;
                    const abi::platform_table table = config.rank_table(rank);
                    const char* reason = "";
                    if (!firmware::supports(op, algo, table, false, &reason))
                        continue;
                    abi::command command;
                    command.op = op;
                    command.algo = algo;
                    command.type = count % 2 != 0 ? abi::element_type::int8 : abi::element_type::float32;
                    command.redop = abi::reduces(op) ? abi::reduce_op::sum : abi::reduce_op::none;
                    command.count = count;
                    command.root = 1;
                    const firmware::ccu_capacities capacities = config.npu.ccu.capacities();
                    if (!firmware::ccu_refusal(table, command, capacities).ok())
                        continue;
                    const firmware::ccu_plan plan(table, command, capacities);
                    for (std::uint32_t die = 0; die < abi::ccu::k_dies; ++die)
                        plan.each_program(die, [&](const ccu_job& job) {
                            const ccu_program p = program_of(job, capacities);
                            const ccu_verdict v = check_ccu(p);
                            ++programs;
                            std::string said;
                            for (const problem& one : v.problems)
                                said += to_string(one) + "\n";
                            INFO(boards << " x " << npus << ", " << name_of(op) << " by " << name_of(algo) << " of " << count << ", die " << die << ", kind "
                                        << static_cast<int>(job.kind) << "\n" << said << disassemble_ccu(p));
                            CHECK(v.accepted()); // warned of bits of peers, whose programs it does not see, and of groups without slices
                            if (const auto r = std::find_if(p.code.begin(), p.code.end(), [](const auto& i) { return i.code == abi::ccu::op::reduce_add; }); r != p.code.end()) {
                                ccu_program early = p; // it reduces what has not come
                                early.code[static_cast<std::size_t>(r - p.code.begin())].wait_mask = 0;
                                CHECK_FALSE(check_ccu(early).accepted());
                                ++spoiled;
                            }
                            return abi::status{};
                        });
                }
    CHECK(programs > 300);
    CHECK(spoiled > 100);
}
