// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the sync unit (hw/abi/sync_regs.def, version 1): ranks of a zone meet without a packet.
//
// Every wait is bounded; a status names the register that was waited on or refused:
//   wrong_device / wrong_version   where "SYNC.TYPE" / "SYNC.VERSION", detail = found
//   timeout                        where "SYNC.RELEASES", detail = members of the zone
//   device_error                   where "SYNC.ERROR", detail = ERROR; or "SYNC.IRQ_PENDING": interrupts without a
//                                  cause that do not stop
//   bus_error                      where the register being used, detail = address
#pragma once

#include "hw/abi/hal.h"

namespace weft::firmware {

struct zone {
    std::uint32_t first = 0; ///< rank of the machine
    std::uint32_t stride = 1;
    std::uint32_t members = 0;
};

class sync_driver {
public:
    sync_driver(abi::hal& hal, std::uint64_t base) : hal_(hal), base_(base) {}

    abi::status probe() const;
    /// The next meetings are of `z`.
    abi::status join(const zone& z);
    /// Arrives, and sleeps until all of the zone have.
    abi::status meet(std::uint64_t timeout_ns);

private:
    abi::status bus_status(const char* where) const;

    abi::hal& hal_;
    std::uint64_t base_;
    zone zone_;
};

} // namespace weft::firmware
