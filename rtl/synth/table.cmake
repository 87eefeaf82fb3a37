# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Synthesises every block of the aggregation pipe with Yosys and writes the table of docs/15_aggregation_rtl.md:
#
#   cmake -DROOT=<root of the tree> -DWORK=<scratch folder> -P rtl/synth/table.cmake
#
# Latches, loops without a register, and nets with two drivers or none are errors: synthesis would make something of
# them. With -DCHECK=ON the page is not written, and a page with other figures is an error. Gates are AND, OR, XOR, NOT
# and two-way multiplexers as ABC leaves them, the depth is the longest topological path through them between
# registers, RAMs and ports.
cmake_minimum_required(VERSION 3.25)
include("${ROOT}/rtl/files.cmake")
find_program(YOSYS yosys REQUIRED)
file(MAKE_DIRECTORY "${WORK}")
list(JOIN WEFT_RTL_AGGREGATION " " sources)

set(rows "")
foreach(top stateful_alu bitmap_unit count_unit exponent_unit next_step_decoder aggregation_pipe)
    file(WRITE "${WORK}/${top}.ys" "read_verilog ${sources}
hierarchy -top ${top}
proc
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr
flatten
check -assert
opt_clean
tee -o ${WORK}/${top}.memory stat
memory -nomap
opt -full
delete t:$mem* t:$scopeinfo
techmap
opt
abc -g AND,OR,XOR,MUX
opt_clean
tee -o ${WORK}/${top}.cells stat
tee -o ${WORK}/${top}.depth ltp -noff
")
    execute_process(COMMAND "${YOSYS}" -q "${WORK}/${top}.ys" RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failed)
        message(FATAL_ERROR "Yosys failed on ${top}: a latch, a loop without a register, a net with two drivers or with none, or what it cannot read:\n${output}")
    endif()
    file(READ "${WORK}/${top}.memory" text)
    string(REGEX MATCH "Number of memory bits: +([0-9]+)" unused "${text}")
    set(memory_bits "${CMAKE_MATCH_1}")
    file(STRINGS "${WORK}/${top}.cells" lines REGEX "^ +[$][_A-Za-z0-9]+_ +[0-9]+$")
    set(gates 0)
    set(flip_flops 0)
    foreach(line IN LISTS lines)
        string(REGEX MATCH "[$]_([A-Z]+).* ([0-9]+)$" unused "${line}")
        set(number "${CMAKE_MATCH_2}")
        if(line MATCHES "DFF")
            math(EXPR flip_flops "${flip_flops} + ${number}")
        else()
            math(EXPR gates "${gates} + ${number}")
        endif()
    endforeach()
    file(READ "${WORK}/${top}.depth" text)
    if(NOT text MATCHES "[(]length=([0-9]+)[)]")
        message(FATAL_ERROR "Yosys found no longest path in ${top}:\n${text}")
    endif()
    string(APPEND rows "| `${top}` | ${gates} | ${flip_flops} | ${memory_bits} | ${CMAKE_MATCH_1} |\n")
endforeach()
execute_process(COMMAND "${YOSYS}" -V OUTPUT_VARIABLE version)
string(REGEX MATCH "Yosys [0-9.]+" version "${version}")

set(table "| module, default parameters | gates | flip-flops | memory bits | logic depth |\n|---|---|---|---|---|\n${rows}\nMade by ${version}.\n")
set(page "${ROOT}/docs/15_aggregation_rtl.md")
set(begin "<!-- synthesis table: begin -->\n")
set(end "<!-- synthesis table: end -->")
file(READ "${page}" text)
string(FIND "${text}" "${begin}" from)
string(FIND "${text}" "${end}" to)
string(LENGTH "${begin}" skip)
math(EXPR from "${from} + ${skip}")
math(EXPR length "${to} - ${from}")
string(SUBSTRING "${text}" ${from} ${length} old)
if(old STREQUAL table)
    message(STATUS "the table is up to date")
elseif(CHECK AND NOT old MATCHES "Made by ${version}[.]")
    message(STATUS "the table was made by another Yosys than this ${version}; not compared")
elseif(CHECK)
    message(FATAL_ERROR "docs/15_aggregation_rtl.md shows other figures; now:\n${table}")
else()
    string(SUBSTRING "${text}" 0 ${from} head)
    string(SUBSTRING "${text}" ${to} -1 tail)
    file(WRITE "${page}" "${head}${table}${tail}")
    message(STATUS "docs/15_aggregation_rtl.md was written")
endif()
