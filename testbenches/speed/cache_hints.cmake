# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the program of SOURCE with WEFT_CACHE_HINTS=OFF in BUILD and compares its digests with those of PROGRAM, on one
# machine of each platform and on one that is large enough for events to be announced.
foreach(step "-S;${SOURCE};-B;${BUILD};-G;Ninja;-DCMAKE_BUILD_TYPE=Release;-DWEFT_CACHE_HINTS=OFF" "--build;${BUILD};--target;weft")
    execute_process(COMMAND ${CMAKE_COMMAND} ${step} OUTPUT_QUIET RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "the program without hints was not built (cmake ${step})")
    endif()
endforeach()

foreach(config tpu_v3/mesh_4x4 tpu_v3/mesh_8x8 ub_mesh/board ub_mesh/rack switchml/rack_4x10g)
    set(digests)
    foreach(program ${PROGRAM} ${BUILD}/bin/weft)
        execute_process(COMMAND ${program} run ${SOURCE}/configs/${config}.yaml --set data=off --json - --quiet --out ${BUILD}/out
                        OUTPUT_VARIABLE json ERROR_VARIABLE errors RESULT_VARIABLE failed)
        if(failed)
            message(FATAL_ERROR "${program} run ${config}: ${errors}")
        endif()
        string(JSON digest GET "${json}" digest)
        list(APPEND digests ${digest})
    endforeach()
    list(GET digests 0 with)
    list(GET digests 1 without)
    message(STATUS "${config}: ${with} with hints, ${without} without")
    if(NOT with STREQUAL without)
        message(FATAL_ERROR "${config}: digests differ")
    endif()
endforeach()
