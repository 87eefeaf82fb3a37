# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests of the Verilog that are no Catch2 test cases: lint, proofs, seeded bugs, the synthesis table. Label rtl.
include("${PROJECT_SOURCE_DIR}/rtl/files.cmake")

add_test(NAME rtl_tests/lockstep_of_10000000_passes
    COMMAND rtl_tests "lockstep: 10000000 random passes without a difference")
set_tests_properties(rtl_tests/lockstep_of_10000000_passes PROPERTIES
    LABELS "slow" TIMEOUT 1800 ENVIRONMENT "SC_COPYRIGHT_MESSAGE=DISABLE")

add_test(NAME rtl_lint/aggregation_pipe
    COMMAND ${WEFT_VERILATOR} --lint-only -Wall --assert -I${PROJECT_SOURCE_DIR} --top-module aggregation_pipe
            ${WEFT_RTL_AGGREGATION} ${WEFT_RTL_AGGREGATION_PROPERTIES})
set_tests_properties(rtl_lint/aggregation_pipe PROPERTIES LABELS rtl)

find_program(WEFT_IVERILOG iverilog)
find_program(WEFT_YOSYS yosys)
mark_as_advanced(WEFT_IVERILOG WEFT_YOSYS)
if(WEFT_IVERILOG)
    target_compile_definitions(rtl_tests PRIVATE WEFT_IVERILOG="${WEFT_IVERILOG}")
else()
    message(STATUS "Icarus was not found: one test less. On Debian 12: apt-get install iverilog")
endif()
if(NOT WEFT_YOSYS)
    message(STATUS "Yosys was not found: no proofs of the Verilog. On Debian 12: apt-get install yosys")
    return()
endif()

set(prove "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/proofs")
set(script -P "${PROJECT_SOURCE_DIR}/rtl/formal/prove.cmake")
foreach(proof stateful_alu bitmap_unit count_unit exponent_unit next_step_decoder aggregation_pipe pipe_protocol)
    add_test(NAME rtl_proofs/${proof} COMMAND ${prove} "-DPROOF=${proof}" ${script})
    set_tests_properties(rtl_proofs/${proof} PROPERTIES LABELS rtl TIMEOUT 120)
endforeach()
file(GLOB mutants CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/rtl/formal/mutants/*.mutant")
foreach(mutant IN LISTS mutants)
    get_filename_component(name "${mutant}" NAME_WE)
    add_test(NAME rtl_mutants/${name} COMMAND ${prove} "-DMUTANT=${mutant}" ${script})
    set_tests_properties(rtl_mutants/${name} PROPERTIES LABELS rtl TIMEOUT 120)
endforeach()
add_test(NAME rtl_mutants/every_assertion_has_one
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" -P "${PROJECT_SOURCE_DIR}/rtl/formal/every_assertion.cmake")
add_test(NAME rtl_synth/table_is_current
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/synth" -DCHECK=ON
            -P "${PROJECT_SOURCE_DIR}/rtl/synth/table.cmake")
add_test(NAME rtl_synth/what_cannot_be_synthesized_is_refused
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/unsynthesizable"
            -P "${PROJECT_SOURCE_DIR}/testbenches/rtl/unsynthesizable.cmake")
set_tests_properties(rtl_synth/what_cannot_be_synthesized_is_refused rtl_mutants/every_assertion_has_one rtl_synth/table_is_current PROPERTIES LABELS rtl TIMEOUT 300)
