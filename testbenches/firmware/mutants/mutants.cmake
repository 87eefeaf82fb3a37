# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Mutants of the firmware: the shipped sources with one bug each (*.mutant), as modules that the test program loads.
# Only the file with the bug is compiled anew for each; the rest is compiled once more, as position-independent code.
function(weft_firmware_mutants tests)
    get_target_property(names weft_firmware SOURCES)
    get_target_property(folder weft_firmware SOURCE_DIR)
    set(sources firmware/mutants/entry.cpp)
    foreach(name IN LISTS names)
        list(APPEND sources "${folder}/${name}")
    endforeach()
    add_library(firmware_mutant_parts OBJECT ${sources})
    set_target_properties(firmware_mutant_parts PROPERTIES POSITION_INDEPENDENT_CODE ON)

    set(script "${CMAKE_CURRENT_SOURCE_DIR}/firmware/mutants/apply.cmake")
    set(targets firmware_mutant_parts)
    file(GLOB mutants CONFIGURE_DEPENDS firmware/mutants/*.mutant)
    foreach(mutant IN LISTS mutants)
        get_filename_component(name "${mutant}" NAME_WE)
        file(STRINGS "${mutant}" file REGEX "^file: " LIMIT_COUNT 1)
        string(REPLACE "file: " "" file "${file}")
        get_filename_component(file_name "${file}" NAME)
        set(changed "${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}/${file_name}")
        add_custom_command(OUTPUT "${changed}"
            COMMAND "${CMAKE_COMMAND}" "-DMUTANT=${mutant}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${changed}" -P "${script}"
            DEPENDS "${mutant}" "${PROJECT_SOURCE_DIR}/${file}" "${script}"
            COMMENT "Mutant ${name}" VERBATIM)
        string(REPLACE "." "\\." pattern "/${file}")
        add_library(firmware_mutant_${name} MODULE "${changed}"
            "$<FILTER:$<TARGET_OBJECTS:firmware_mutant_parts>,EXCLUDE,${pattern}>")
        set_target_properties(firmware_mutant_${name} PROPERTIES
            PREFIX "" OUTPUT_NAME "${name}" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/mutants")
        list(APPEND targets firmware_mutant_${name})
        add_dependencies(${tests} firmware_mutant_${name})
    endforeach()
    foreach(target IN LISTS targets) # optimised little: their time is not measured, and there are many
        target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
        target_compile_options(${target} PRIVATE -g1 -O1 -fvisibility=hidden -fvisibility-inlines-hidden)
    endforeach()
    target_compile_definitions(${tests} PRIVATE
        WEFT_MUTANTS="${CMAKE_CURRENT_BINARY_DIR}/mutants" WEFT_MUTANT_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/firmware/mutants")
endfunction()
