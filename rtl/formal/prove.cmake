# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# One proof with Yosys' own SAT engine, by temporal induction:
#
#   cmake -DPROOF=stateful_alu -DROOT=<root of the tree> -DWORK=<scratch folder> -P rtl/formal/prove.cmake
#
# With -DMUTANT=x.mutant the source has the bug of the mutant, and the assertion that the mutant names must be seen to
# fail, from the cleared state on. The top modules and their sizes are below; docs/15 lists what is proved.
cmake_minimum_required(VERSION 3.25)
include("${ROOT}/rtl/files.cmake")
find_program(YOSYS yosys REQUIRED)

set(formal "${ROOT}/rtl/formal")
if(MUTANT)
    file(STRINGS "${MUTANT}" lines REGEX "^(file|proof|detected by): ")
    foreach(line IN LISTS lines)
        string(REGEX MATCH "^([a-z]+)[a-z ]*: (.*)$" unused "${line}")
        set(mutant_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endforeach()
    set(PROOF "${mutant_proof}")
    get_filename_component(name "${MUTANT}" NAME_WE)
    set(WORK "${WORK}/${name}")
else()
    set(WORK "${WORK}/${PROOF}")
endif()
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

# Sizes of the instance: small, but every bit of the logic is there.
set(steps 6)
set(connect "")
if(PROOF STREQUAL "stateful_alu")
    set(top stateful_alu)
    set(parameters -chparam Depth 8 -chparam WordBits 3)
elseif(PROOF STREQUAL "bitmap_unit")
    set(top bitmap_unit)
    set(parameters -chparam Depth 16 -chparam Workers 3)
elseif(PROOF STREQUAL "count_unit")
    set(top count_unit)
    set(parameters -chparam Depth 8 -chparam CountBits 3)
elseif(PROOF STREQUAL "exponent_unit")
    set(top exponent_unit)
    set(parameters -chparam Depth 8 -chparam ExponentBits 4)
elseif(PROOF STREQUAL "next_step_decoder")
    set(top next_step_decoder_proof)
    set(parameters "")
elseif(PROOF STREQUAL "aggregation_pipe")
    set(top aggregation_pipe)
    set(parameters -chparam Alus 2 -chparam Depth 8 -chparam Workers 3 -chparam WordBits 2 -chparam ExponentBits 2
        -chparam CountBits 2)
elseif(PROOF STREQUAL "pipe_protocol")
    set(top pipe_protocol)
    set(parameters "")
    file(READ "${formal}/pipe_protocol.connect" connect)
else()
    message(FATAL_ERROR "there is no proof '${PROOF}': stateful_alu, bitmap_unit, count_unit, exponent_unit, next_step_decoder, "
        "aggregation_pipe or pipe_protocol")
endif()

# Yosys has no bind: put the bound instances of the top module into its text.
file(READ "${formal}/bind.sv" binds)
set(sources "")
foreach(path IN LISTS WEFT_RTL_AGGREGATION)
    get_filename_component(module "${path}" NAME_WE)
    if(MUTANT AND path STREQUAL "${ROOT}/${mutant_file}")
        execute_process(COMMAND_ERROR_IS_FATAL ANY
            COMMAND "${CMAKE_COMMAND}" "-DMUTANT=${MUTANT}" "-DROOT=${ROOT}" "-DOUTPUT=${WORK}/mutant.v"
                    -P "${ROOT}/testbenches/firmware/mutants/apply.cmake")
        file(READ "${WORK}/mutant.v" text)
    else()
        file(READ "${path}" text)
    endif()
    if(module STREQUAL top)
        set(rest "${binds}")
        string(FIND "${rest}" "\nbind ${module} " begin)
        while(NOT begin EQUAL -1)
            string(LENGTH "\nbind ${module} " skip)
            math(EXPR begin "${begin} + ${skip}")
            string(SUBSTRING "${rest}" ${begin} -1 rest)
            string(FIND "${rest}" "\n);\n" end)
            math(EXPR end "${end} + 4")
            string(SUBSTRING "${rest}" 0 ${end} instance)
            string(FIND "${text}" "endmodule" at REVERSE)
            string(SUBSTRING "${text}" 0 ${at} head)
            string(SUBSTRING "${text}" ${at} -1 tail)
            set(text "${head}${instance}${tail}")
            string(FIND "${rest}" "\nbind ${module} " begin)
        endwhile()
    endif()
    file(WRITE "${WORK}/${module}.v" "${text}")
    list(APPEND sources "${WORK}/${module}.v")
endforeach()
file(GLOB properties "${formal}/*_properties.sv" "${formal}/*_proof.sv" "${formal}/pipe_protocol.sv")
if(MUTANT AND mutant_file MATCHES "\\.sv$") # of what the proof itself assumes about its ghost
    execute_process(COMMAND_ERROR_IS_FATAL ANY
        COMMAND "${CMAKE_COMMAND}" "-DMUTANT=${MUTANT}" "-DROOT=${ROOT}" "-DOUTPUT=${WORK}/mutant.sv"
                -P "${ROOT}/testbenches/firmware/mutants/apply.cmake")
    list(REMOVE_ITEM properties "${ROOT}/${mutant_file}")
    list(APPEND properties "${WORK}/mutant.sv")
endif()

if(MUTANT)
    # Only the assertion that is named, and only from the cleared state on.
    set(prove "select -assert-min 1 t:$assert c:*${mutant_detected}* %i
delete t:$assert c:*${mutant_detected}* %d
sat -tempinduct -tempinduct-baseonly -maxsteps 12 -set-init-zero -set-assumes -prove-asserts -falsify")
else()
    set(prove "select -assert-min 1 t:$assert
sat -tempinduct -maxsteps ${steps} -set-init-zero -set-assumes -prove-asserts -verify")
endif()
list(JOIN sources " " sources)
list(JOIN properties " " properties)
list(JOIN parameters " " parameters)
file(WRITE "${WORK}/proof.ys" "read_verilog -formal -sv -I${ROOT} ${sources} ${properties}
hierarchy -check -top ${top} ${parameters}
proc
flatten
memory_dff
memory_collect
opt_clean
memory_map
${connect}
opt -full
chformal -early
tee -q -o ${WORK}/assertions.txt select -list t:$assert
write_rtlil ${WORK}/prepared.il
${prove}
")
execute_process(COMMAND "${YOSYS}" -q -l "${WORK}/proof.log" -s "${WORK}/proof.ys"
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
file(STRINGS "${WORK}/proof.log" said REGEX "Induction step proven|induction proof finished|ERROR")
list(JOIN said "\n" said)
if(MUTANT)
    # With -falsify Yosys fails when nothing was found.
    if(failed OR NOT said MATCHES "model found for base case")
        message(FATAL_ERROR "${MUTANT}: no run breaks '${mutant_detected}'\n${said}\n${output}")
    endif()
elseif(failed)
    # Which assertion, and a run that breaks it.
    set(broken "")
    if(EXISTS "${WORK}/assertions.txt")
        file(STRINGS "${WORK}/assertions.txt" assertions)
        foreach(assertion IN LISTS assertions)
            string(REGEX REPLACE "^[^/]*/" "" cell "${assertion}")
            string(REGEX REPLACE "^.*[.\\\\]" "" short "${cell}")
            file(WRITE "${WORK}/one.ys" "read_rtlil ${WORK}/prepared.il
select -assert-count 1 t:$assert c:${cell} %i
delete t:$assert c:${cell} %d
sat -tempinduct -tempinduct-baseonly -maxsteps 12 -set-init-zero -set-assumes -prove-asserts -falsify -dump_vcd ${WORK}/${short}.vcd
")
            execute_process(COMMAND "${YOSYS}" -q -l "${WORK}/one.log" -s "${WORK}/one.ys" RESULT_VARIABLE holds OUTPUT_QUIET ERROR_QUIET)
            if(NOT holds)
                string(APPEND broken "\n  ${short} is broken; a run that breaks it, from the cleared state on: ${WORK}/${short}.vcd")
            endif()
        endforeach()
    endif()
    if(NOT broken AND EXISTS "${WORK}/prepared.il")
        set(broken "\n  No run of 12 cycles from the cleared state breaks an assertion: the induction does not carry the changed logic.")
    endif()
    message(FATAL_ERROR "proof ${PROOF} failed:${broken}\nThe log is ${WORK}/proof.log.\n${said}\n${output}")
endif()
message(STATUS "${PROOF}: ${said}")
