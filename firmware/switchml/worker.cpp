// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/switchml/worker.h"

#include "firmware/costs.h"

namespace weft::firmware {

switchml_worker::switchml_worker(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
                                 std::uint32_t window)
    : hal_(hal), nic_(nic), context_(context), command_(command), job_(context.job),
      share_(share_of(context.job, command.count)), window_(window), float_(command.type == abi::element_type::float32),
      lossless_(command.algo == abi::algorithm::switchml_lossless),
      batch_(context.job.protocol == abi::switchml::transport::rdma ? k_message_batch : context.job.packet_batch),
      hold_ns_(context.job.protocol == abi::switchml::transport::rdma ? 0 : context.job.transmit_hold_ns),
      timeout_(context.job.timeout_ns, context.job.backoff_after)
{
    first_uses_ = share_.blocks < window_ ? share_.blocks : window_;
    uses_ = share_.blocks + (float_ ? first_uses_ : 0);
    last_use_ = share_.blocks + (float_ && share_.blocks != 0 ? window_ : 0);
    now_ns_ = progress_ns_ = hal_.now_ns();
    charge(costs::k_command + (job_.protocol == abi::switchml::transport::rdma ? costs::k_switchml_rdma_start
                                                                               : costs::k_switchml_udp_start));
}

std::uint64_t switchml_worker::sleep_ns(std::uint64_t wake_ns) const
{
    const std::uint64_t waited = now_ns_ - progress_ns_;
    const std::uint64_t left = waited < command_.timeout_ns ? command_.timeout_ns - waited : 0;
    const std::uint64_t until = wake_ns > now_ns_ ? wake_ns - now_ns_ : 1;
    return left < until ? left : until;
}

abi::status switchml_worker::give_up()
{
    // A queue that stopped over an error also looks like a timeout; the error is the better answer.
    if (abi::status s = nic_.take_error(); !s.ok())
        return s;
    return {abi::status_code::timeout, "NIC.RX_HEAD", answered_};
}

void switchml_worker::finish(collective_result& result, const abi::status& status)
{
    pay();
    // Where the next tensor goes on. Uses that were left out count as well.
    context_.next_use += last_use_;
    context_.shift = (context_.shift + (uses_ == last_use_ ? last_use_ : 0)) % (2 * window_);
    result.status = status;
    result.messages = sent_;
    result.steps = (uses_ + window_ - 1) / window_;
    result.failed_peer = context_.table.ranks;
    if (status.ok())
        result.status.detail = timeout_.count();
    else
        result.failed_step = answered_;
}

void run_switchml(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
                  collective_result& result)
{
    if (context.job.protocol == abi::switchml::transport::rdma)
        run_rdma(hal, nic, context, command, result);
    else
        run_udp(hal, nic, context, command, result);
}

} // namespace weft::firmware
