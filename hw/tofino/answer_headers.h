// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Headers of the frames that the deparser of a switch makes: results to workers over UDP and RDMA, sums to a parent.
// Bytes, no time.
#pragma once

#include "hw/tofino/tofino_config.h"
#include "hw/tofino/tofino_job_table.h"
#include "hw/tofino/tofino_packet.h"

#include <cstdint>

namespace weft {

/// Answers carry the opcode of the packet that completed the slot; a last one always has an immediate.
abi::switchml::opcode answer_opcode(abi::switchml::opcode o);

/// Result `p` to a worker of `job`; `to` has room for k_udp_headers bytes.
void write_udp_answer(const tofino_config& own, const tofino_packet& p, const tofino_job& job, std::uint32_t worker,
                      std::uint8_t* to);
/// The same over RDMA, as packet `psn`; room for roce_headers(op) bytes.
void write_rdma_answer(const tofino_config& own, const tofino_packet& p, const tofino_job& job, std::uint32_t worker,
                       abi::switchml::opcode op, std::uint32_t psn, std::uint8_t* to);
/// Sum `p` to the parent of `job` behind a port; room for k_udp_headers bytes.
void write_parent_packet(const tofino_packet& p, const tofino_job& job, std::uint8_t* to);

} // namespace weft
