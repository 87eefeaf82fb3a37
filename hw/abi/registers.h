// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Register constants for firmware and models, made from the *_regs.def tables:
//   dma::TYPE            offset of a register          dma::TYPE_reset   its reset value
//   dma::TAIL(q)         offset of element q of an array
#pragma once

#include "hw/abi/types.h"

namespace weft::abi {

/// Access rights of a register, see dma_regs.def.
enum class reg_access : std::uint8_t { ro, rw, w1c, rc, db };

/// One row of a register table; a plain register is an array of one.
struct reg_row {
    const char* name;
    std::uint32_t offset;
    std::uint32_t stride;
    std::uint32_t count;
    std::uint32_t width_bits;
    reg_access access;
    std::uint64_t reset;
    const char* doc;
};

#define WEFT_REG(block, name, off, width, access, rst, doc)                                                            \
    inline constexpr std::uint64_t name = off;                                                                         \
    inline constexpr std::uint64_t name##_reset = rst;
#define WEFT_REG_ARRAY(block, name, off, stride, cnt, width, access, rst, doc)                                         \
    constexpr std::uint64_t name(std::uint32_t index) { return (off) + std::uint64_t{stride} * index; }                \
    inline constexpr std::uint32_t name##_count = cnt;
namespace dma {
#include "hw/abi/dma_regs.def"
} // namespace dma
namespace mailbox {
#include "hw/abi/mailbox_regs.def"
} // namespace mailbox
namespace core {
#include "hw/abi/core_regs.def"
} // namespace core
namespace nic {
#include "hw/abi/nic_regs.def"
} // namespace nic
namespace sync {
#include "hw/abi/sync_regs.def"
} // namespace sync
namespace ccu {
#include "hw/abi/ccu_regs.def"
} // namespace ccu
#undef WEFT_REG
#undef WEFT_REG_ARRAY

#define WEFT_REG(block, name, off, width, access, rst, doc) {#name, off, 0, 1, width, reg_access::access, rst, doc},
#define WEFT_REG_ARRAY(block, name, off, stride, cnt, width, access, rst, doc)                                         \
    {#name, off, stride, cnt, width, reg_access::access, rst, doc},
inline constexpr reg_row k_dma_rows[] = {
#include "hw/abi/dma_regs.def"
};
inline constexpr reg_row k_mailbox_rows[] = {
#include "hw/abi/mailbox_regs.def"
};
inline constexpr reg_row k_core_rows[] = {
#include "hw/abi/core_regs.def"
};
inline constexpr reg_row k_nic_rows[] = {
#include "hw/abi/nic_regs.def"
};
inline constexpr reg_row k_sync_rows[] = {
#include "hw/abi/sync_regs.def"
};
inline constexpr reg_row k_ccu_rows[] = {
#include "hw/abi/ccu_regs.def"
};
#undef WEFT_REG
#undef WEFT_REG_ARRAY

} // namespace weft::abi
