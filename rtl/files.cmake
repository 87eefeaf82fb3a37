# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# The Verilog sources of every block, and the properties that are bound to them. These know registers inside of the
# blocks by name; blocks of one's own, with other names, are built without them (-DWEFT_RTL_PROPERTIES=OFF).
set(WEFT_RTL_AGGREGATION
    "${CMAKE_CURRENT_LIST_DIR}/aggregation/aggregation_pipe.v"
    "${CMAKE_CURRENT_LIST_DIR}/aggregation/bitmap_unit.v"
    "${CMAKE_CURRENT_LIST_DIR}/aggregation/count_unit.v"
    "${CMAKE_CURRENT_LIST_DIR}/aggregation/exponent_unit.v"
    "${CMAKE_CURRENT_LIST_DIR}/aggregation/next_step_decoder.v"
    "${CMAKE_CURRENT_LIST_DIR}/aggregation/stateful_alu.v")
set(WEFT_RTL_AGGREGATION_PROPERTIES
    "${CMAKE_CURRENT_LIST_DIR}/formal/aggregation_pipe_properties.sv"
    "${CMAKE_CURRENT_LIST_DIR}/formal/bitmap_unit_properties.sv"
    "${CMAKE_CURRENT_LIST_DIR}/formal/count_unit_properties.sv"
    "${CMAKE_CURRENT_LIST_DIR}/formal/exponent_unit_properties.sv"
    "${CMAKE_CURRENT_LIST_DIR}/formal/next_step_decoder_properties.sv"
    "${CMAKE_CURRENT_LIST_DIR}/formal/stateful_alu_properties.sv"
    "${CMAKE_CURRENT_LIST_DIR}/formal/bind.sv")
if(DEFINED WEFT_RTL_PROPERTIES AND NOT WEFT_RTL_PROPERTIES)
    set(WEFT_RTL_AGGREGATION_PROPERTIES)
endif()
