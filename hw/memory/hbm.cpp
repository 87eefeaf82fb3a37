// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/memory/hbm.h"

#include "tlm/check.h"
#include "tlm/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace weft {

namespace {
__extension__ typedef unsigned __int128 uint128;
} // namespace

std::vector<config_problem> hbm_config::validate() const { return limit_problems(*this); }

hbm::hbm(const sc_core::sc_module_name& name, const hbm_config& config)
    : chip_memory(name), latency_ps_(config.latency.value()), socket("socket"), port("port"),
      stats(this->name()), config_(config), store_(config.capacity.value())
{
    require_picoseconds(this->name());
    // ps per byte = 8e12 / (bits per second), rounded up.
    const std::uint64_t bits_per_second = config.rate.value();
    if (bits_per_second == 0)
        throw bug(this->name(), 0, "the rate is zero; hbm_config::validate() refuses that");
    ps_per_byte_ = static_cast<std::uint64_t>(((static_cast<uint128>(8'000'000'000'000) << 32) + bits_per_second - 1) /
                                              bits_per_second);
    for (const char letter : std::string(this->name()))
        load_seed_ = (load_seed_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3; // FNV-1
    if (config.load > 0)
        load_interval_ps_ = static_cast<std::uint64_t>(static_cast<double>(config.load_block.value()) * 8e12 / static_cast<double>(bits_per_second) / config.load);
    socket.bind(static_cast<::tlm::tlm_fw_transport_if<>&>(*this));
    port.bind(*this);
    stats.add("bytes_read", "B", "Bytes read, by the DMA and the core", bytes_read);
    stats.add("bytes_written", "B", "Bytes written, by the DMA and the core", bytes_written);
    stats.add("busy_time", "ps", "Time in which bytes moved", busy_time);
    stats.add_row({"peak_resident", "B", "Most bytes of host memory that the contents needed, in whole pages", &store_,
                   [](const void* store) { return static_cast<const sparse_store*>(store)->peak_resident_bytes(); }});
}

work_load hbm::spent_on(work_kind kind, std::uint64_t now_ps) const
{
    if (kind == work_kind::reduce)
        return {reduce_time.value(), 1};
    if (kind != work_kind::memory)
        return {};
    return {busy_time.value() - (busy_until_ps_ > now_ps ? std::min(busy_until_ps_ - now_ps, busy_time.value()) : 0), 1, load_time_ps_};
}

std::string hbm::stat_prefix() const
{
    std::string prefix = config_.name;
    std::transform(prefix.begin(), prefix.end(), prefix.begin(), [](unsigned char c) { return std::tolower(c); });
    return prefix;
}

std::uint64_t hbm::charge(std::uint64_t at_ps, std::uint64_t, std::uint64_t bytes, access kind)
{
    if (kind != access::write)
        bytes_read.add(bytes);
    if (kind != access::read)
        bytes_written.add(bytes);
    if (load_interval_ps_ != 0)
        catch_up_with_load(at_ps);
    const std::uint64_t busy_before_ps = busy_time.value();
    take(at_ps, kind == access::read_modify_write ? 2 * bytes : bytes);
    if (kind == access::read_modify_write)
        reduce_time.add_ps(busy_time.value() - busy_before_ps);
    return busy_until_ps_ + (busy_fraction_ != 0 ? 1 : 0) + latency_ps_;
}

inline void hbm::take(std::uint64_t at_ps, std::uint64_t bytes)
{
    if (at_ps > busy_until_ps_) {
        busy_until_ps_ = at_ps;
        busy_fraction_ = 0;
    }
    const uint128 span = static_cast<uint128>(bytes) * ps_per_byte_ + busy_fraction_;
    const auto span_ps = static_cast<std::uint64_t>(span >> 32);
    busy_fraction_ = static_cast<std::uint32_t>(span & 0xffff'ffffu);
    busy_time.add_ps(span_ps);
    busy_until_ps_ += span_ps;
}

std::uint64_t hbm::serve(std::uint64_t at_ps, std::uint64_t bytes)
{
    if (load_interval_ps_ != 0)
        catch_up_with_load(at_ps);
    take(at_ps, bytes);
    return busy_until_ps_ + (busy_fraction_ != 0 ? 1 : 0);
}

/// Drawn anew for each block, from 16 equal parts of the exponential distribution: integers, so that all machines draw
/// the same.
std::uint64_t hbm::interval_to_next_load()
{
    static constexpr std::uint16_t k_in_1024th[16] = {33, 103, 178, 258, 346, 441, 546, 662, 793, 943, 1117, 1327, 1590, 1943, 2477, 3627};
    const std::uint64_t random = mixed(key_of_draw(load_seed_, draw_) + ++load_blocks_ * k_draw_step);
    return std::max<std::uint64_t>(1, load_interval_ps_ * k_in_1024th[random >> 60] / 1024);
}

/// What compute units have asked for up to `at_ps`.
void hbm::catch_up_with_load(std::uint64_t at_ps)
{
    next_load_ps_ = next_load_ps_ == k_not_begun ? at_ps : next_load_ps_;
    const std::uint64_t busy_before_ps = busy_time.value();
    while (next_load_ps_ <= at_ps) {
        take(next_load_ps_, config_.load_block.value());
        next_load_ps_ += interval_to_next_load();
    }
    load_time_ps_ += busy_time.value() - busy_before_ps;
}

void hbm::read_bytes(std::uint64_t offset, void* to, std::uint64_t bytes) const
{
    if (!store_.read(offset, to, bytes))
        throw bug(name(), kernel_now_ps(),
                  fmt::format("host reads {} bytes at {:#x} of {} bytes", bytes, offset, store_.capacity_bytes()));
}

void hbm::write_bytes(std::uint64_t offset, const void* from, std::uint64_t bytes)
{
    if (!store_.write(offset, from, bytes))
        throw bug(name(), kernel_now_ps(),
                  fmt::format("host writes {} bytes at {:#x} of {} bytes", bytes, offset, store_.capacity_bytes()));
}

void hbm::release_contents()
{
    if (dmi_given_)
        for (int i = 0; i < socket.get_base_port().size(); ++i)
            socket[i]->invalidate_direct_mem_ptr(0, store_.capacity_bytes() - 1);
    dmi_given_ = false;
    store_.clear();
}

bool hbm::move_bytes(::tlm::tlm_generic_payload& trans)
{
    return trans.is_read() ? store_.read(trans.get_address(), trans.get_data_ptr(), trans.get_data_length())
                           : store_.write(trans.get_address(), trans.get_data_ptr(), trans.get_data_length());
}

void hbm::b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay)
{
    if (!plain_access(trans))
        return;
    if (!move_bytes(trans)) {
        trans.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    const std::uint64_t now_ps = kernel_now_ps();
    const std::uint64_t at_ps = now_ps + ps_from_sc_time(delay);
    const std::uint64_t done_ps =
        charge(at_ps, trans.get_address(), trans.get_data_length(), trans.is_read() ? access::read : access::write);
    delay = sc_time_from_ps(done_ps - now_ps);
    trans.set_dmi_allowed(true);
    trans.set_response_status(::tlm::TLM_OK_RESPONSE);
}

unsigned int hbm::transport_dbg(::tlm::tlm_generic_payload& trans)
{
    return move_bytes(trans) ? trans.get_data_length() : 0;
}

bool hbm::get_direct_mem_ptr(::tlm::tlm_generic_payload& trans, ::tlm::tlm_dmi& dmi)
{
    dmi.init();
    // One page, which is made now: a pointer to the shared zero page would be stale after the first write.
    const std::uint64_t page = trans.get_address() / sparse_store::k_page_bytes * sparse_store::k_page_bytes;
    std::uint64_t got_bytes = 0;
    auto* bytes = store_.span_for_write(page, sparse_store::k_page_bytes, got_bytes);
    if (!bytes)
        return false;
    dmi.set_dmi_ptr(bytes);
    dmi.set_start_address(page);
    dmi.set_end_address(page + got_bytes - 1);
    dmi.set_read_latency(sc_time_from_ps(latency_ps_)); // bandwidth is charged at charge()
    dmi.set_write_latency(sc_time_from_ps(latency_ps_));
    dmi.allow_read_write();
    dmi_given_ = true;
    return true;
}

} // namespace weft
