# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# The synthesis table refuses what simulators accept and synthesis makes something else of:
#
#   cmake -DROOT=<root of the tree> -DWORK=<scratch folder> -P testbenches/rtl/unsynthesizable.cmake
cmake_minimum_required(VERSION 3.25)

# `text` of `file` is replaced.
function(expect_refused what file text instead)
    file(REMOVE_RECURSE "${WORK}")
    file(COPY "${ROOT}/rtl" DESTINATION "${WORK}")
    file(COPY "${ROOT}/docs/15_aggregation_rtl.md" DESTINATION "${WORK}/docs")
    file(READ "${WORK}/rtl/aggregation/${file}" source)
    string(REPLACE "${text}" "${instead}" changed "${source}")
    if(changed STREQUAL source)
        message(FATAL_ERROR "${file} has no '${text}' any more")
    endif()
    file(WRITE "${WORK}/rtl/aggregation/${file}" "${changed}")
    execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${WORK}" "-DWORK=${WORK}/synth" -DCHECK=ON -P "${WORK}/rtl/synth/table.cmake"
        RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT failed OR NOT output MATCHES "a latch, a loop without a register")
        message(FATAL_ERROR "${what} in ${file} is not refused:\n${output}")
    endif()
    message(STATUS "${what}: refused")
endfunction()

expect_refused("a latch" next_step_decoder.v "    broadcast_o = 1'b0;\n" "")
expect_refused("a net with two drivers" stateful_alu.v "\nendmodule" "\n  always @(posedge clk_i) if (clear_i) word_o <= 0;\n\nendmodule")
expect_refused("a loop without a register" count_unit.v "wire write = consume_i & ~repeated_i;" "wire write = consume_i & (~repeated_i | (write & old_count[0]));")
