// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Places in the source of the firmware for the cores of a run, native and rv64: what machine_picture prints beside what
// a core does. Files are read when the first place is asked for.
#pragma once

#include "platforms/debug/source_places.h"
#include "platforms/workload/machine_picture.h"

#include <map>
#include <memory>
#include <string>

namespace weft {

class rv64_core;

class firmware_places final : public code_places {
public:
    std::string place_of(core_base& core) override;
    std::string with_places(core_base& core, std::string text) override;

private:
    std::string native_place(std::uint64_t address);
    std::string rv64_place(rv64_core& core);
    const source_places& of_library(const std::string& path);
    const source_places& of_binary(const rv64_core& core);

    std::map<std::string, std::unique_ptr<source_places>> libraries_;
    std::unique_ptr<source_places> binary_; ///< of the rv64 cores, which all execute the same
    std::map<std::uint64_t, std::string> known_; ///< by address of the process: many cores stand in one place
};

/// File of the library that holds `address`, "" when it is this program or unknown; `address` becomes an offset in it.
std::string library_of(std::uint64_t& address);

} // namespace weft
