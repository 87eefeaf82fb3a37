# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# How a driver becomes firmware, for both kinds of cores from the same sources. Floating point rounds as on native
# cores (cmake/compiler.cmake): no fused multiply-add.

set(WEFT_RV64_FLAGS -std=c++17 -O2 -g -ffreestanding -nostdlib -fno-exceptions -fno-rtti -fno-threadsafe-statics
    -ffp-contract=off -fno-stack-protector -fno-pie -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections
    -fno-devirtualize-speculatively -mcmodel=medany -march=rv64gc -mabi=lp64d -Wall -Wextra -Werror=narrowing)
if(WEFT_WERROR)
    list(APPEND WEFT_RV64_FLAGS -Werror)
endif()

# weft_rv64_program(name SOURCES a.cpp b.S ... [NO_BOOT])
#
# Cross-compiles an ELF for the RV64 core, <build folder>/rv64/<name>.elf, which the target <name>_rv64 stands for;
# its path goes to <name>_ELF. Sources are relative to the calling folder. The boot code of firmware/boot is linked
# in, unless NO_BOOT: then a source defines _start.
function(weft_rv64_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "NO_BOOT" "" "SOURCES")
    set(objects)
    set(folder "${PROJECT_BINARY_DIR}/rv64/${name}")
    set(all)
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(source "${source}" ABSOLUTE)
        list(APPEND all "${source}")
    endforeach()
    if(NOT arg_NO_BOOT)
        get_property(boot GLOBAL PROPERTY weft_rv64_boot) # firmware/CMakeLists.txt
        list(APPEND all ${boot})
    endif()
    file(MAKE_DIRECTORY "${folder}")
    foreach(source IN LISTS all)
        get_filename_component(base "${source}" NAME)
        set(object "${folder}/${base}.o")
        set(flags ${WEFT_RV64_FLAGS})
        if(base STREQUAL "runtime.cpp")
            list(APPEND flags -fno-tree-loop-distribute-patterns)
        endif()
        add_custom_command(OUTPUT "${object}"
            COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${WEFT_RV64_CXX}" ${flags} -I "${PROJECT_SOURCE_DIR}"
                -MD -MF "${object}.d" -c "${source}" -o "${object}"
            DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM COMMENT "RV64 ${name}/${base}")
        list(APPEND objects "${object}")
    endforeach()
    set(script "${PROJECT_SOURCE_DIR}/firmware/boot/link.ld")
    set(elf "${PROJECT_BINARY_DIR}/rv64/${name}.elf")
    add_custom_command(OUTPUT "${elf}"
        COMMAND "${WEFT_RV64_CXX}" ${WEFT_RV64_FLAGS} -static -no-pie -Wl,--build-id=none,--gc-sections,-T,${script}
            ${objects} -o "${elf}"
        DEPENDS ${objects} "${script}" VERBATIM COMMENT "RV64 ${name}.elf")
    add_custom_target(${name}_rv64 DEPENDS "${elf}")
    set(${name}_ELF "${elf}" PARENT_SCOPE)
endfunction()

# weft_firmware(name SOURCES a.cpp ... HEADER firmware/x.h ENTRY ns::function)
#
# Firmware in both forms: the library weft::<name> for native cores, and weft::<name>_image, which holds the RV64
# binary as extern "C" const unsigned char weft_<name>_elf[], weft_<name>_elf_end[] (both the same where there is no
# engine for it). ENTRY is void(abi::hal&, std::uint64_t), declared in HEADER.
function(weft_firmware name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;ENTRY" "SOURCES")
    weft_library(${name} SOURCES ${arg_SOURCES} LINKS weft::abi)
    set_target_properties(weft_${name} PROPERTIES UNITY_BUILD OFF) # the image is built of the same single sources

    set(image "${CMAKE_CURRENT_BINARY_DIR}/${name}_image.cpp")
    set(elf_file)
    if(WEFT_UNICORN)
        set(entry "${CMAKE_CURRENT_BINARY_DIR}/${name}_entry.cpp")
        file(CONFIGURE OUTPUT "${entry}" CONTENT [[
// Made by cmake/firmware.cmake.
#include "@arg_HEADER@"
extern "C" void weft_firmware_main(weft::abi::hal& hal, std::uint64_t argument) { @arg_ENTRY@(hal, argument); }
]] @ONLY)
        weft_rv64_program(${name} SOURCES ${arg_SOURCES} "${entry}")
        set(elf_file "${${name}_ELF}")
        set(incbin ".incbin \\\"${elf_file}\\\"\\n")
    endif()
    file(CONFIGURE OUTPUT "${image}" CONTENT [[
// Made by cmake/firmware.cmake.
__asm__(".section .rodata\n.balign 16\n.globl weft_@name@_elf\nweft_@name@_elf:\n@incbin@"
        ".globl weft_@name@_elf_end\nweft_@name@_elf_end:\n.byte 0\n.previous\n");
]] @ONLY)
    if(elf_file)
        set_source_files_properties("${image}" PROPERTIES OBJECT_DEPENDS "${elf_file}")
    endif()
    add_library(weft_${name}_image STATIC "${image}")
    add_library(weft::${name}_image ALIAS weft_${name}_image)
    # In its depend mode, which ./weft asks for, ccache does not see .incbin: it would bring back an older binary.
    set_target_properties(weft_${name}_image PROPERTIES CXX_COMPILER_LAUNCHER "")
    if(TARGET ${name}_rv64)
        add_dependencies(weft_${name}_image ${name}_rv64)
    endif()
endfunction()
