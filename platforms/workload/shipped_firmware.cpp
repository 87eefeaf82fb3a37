// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/shipped_firmware.h"

#include "firmware/main.h"

extern "C" const unsigned char weft_firmware_elf[], weft_firmware_elf_end[]; // cmake/firmware.cmake

namespace weft {

firmware_image shipped_firmware()
{
    return {firmware::collective_main, weft_firmware_elf,
            static_cast<std::size_t>(weft_firmware_elf_end - weft_firmware_elf), "the shipped collective firmware"};
}

} // namespace weft
