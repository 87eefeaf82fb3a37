// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/link_layer.h"

#include "tlm/check.h"

#include <cmath>

namespace weft {

link_layer::link_layer(const link_layer_params& params, std::uint32_t link, duration propagation)
    : params_(params), link_(link), propagation_ps_(propagation.value()),
      log_good_bit_(std::log1p(-params.bit_error_rate)),
      seed_key_(mixed(mixed(params.seed + k_draw_step) + link)), key_(seed_key_)
{
    if (!(params.bit_error_rate >= 0 && params.bit_error_rate < 1) || params.flit_bytes == 0 || params.block_flits == 0)
        throw bug("link_layer", 0, "bit_error_rate must be in [0, 1), flit_bytes and block_flits above 0");
    if (bounded())
        window_.give(under_way_, 0, 0, params.retry_buffer_cells);
}

std::uint64_t link_layer::damaged_bit(std::uint64_t number, std::uint64_t bits) const
{
    if (params_.bit_error_rate == 0)
        return k_no_error;
    // The place of the first error is geometric; u is uniform in (0, 1). Most transmissions are whole and need no
    // logarithm:
    // P(error) <= bits * rate.
    const std::uint64_t random = mixed(key_ + (number + 1) * k_draw_step);
    const double u = (static_cast<double>(random >> 11) + 0.5) * 0x1p-53;
    if (u >= static_cast<double>(bits) * params_.bit_error_rate)
        return k_no_error;
    const double place = std::floor(std::log1p(-u) / log_good_bit_);
    return place < static_cast<double>(bits) ? static_cast<std::uint64_t>(place) : k_no_error;
}

std::uint64_t link_layer::damaged_flit(std::uint64_t flits)
{
    const std::uint64_t number = transmissions_++ - first_of_draw_;
    if (script_ != nullptr)
        return script_->damaged_flit(link_, number, flits);
    const std::uint64_t bits_of_flit = params_.flit_bytes * 8u;
    const std::uint64_t bit = damaged_bit(number, flits * bits_of_flit);
    return bit == k_no_error ? k_no_error : bit / bits_of_flit;
}

} // namespace weft
