// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The one name that a mutant shows to the program that loads it.
#include "firmware/main.h"

extern "C" __attribute__((visibility("default"))) void weft_firmware_entry(weft::abi::hal& hal, std::uint64_t argument)
{
    weft::firmware::collective_main(hal, argument);
}
