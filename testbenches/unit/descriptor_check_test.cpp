// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/descriptor_check.h"
#include "hw/dma/dma_interrupt.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>

using namespace weft;

namespace {
constexpr std::uint64_t k_memory = 1 << 20;

descriptor_limits limits()
{
    descriptor_limits l;
    l.ranks = 4;
    l.ports = 2;
    l.semaphores = 64;
    l.memory_bytes = k_memory;
    return l;
}

/// A descriptor with its check word, after `change`.
template <class Change> abi::dma_descriptor changed(Change&& change)
{
    abi::dma_descriptor d;
    d.bytes = 64;
    change(d);
    std::uint32_t words[abi::k_descriptor_bytes / 4];
    std::memcpy(words, &d, sizeof words);
    d.check = abi::check_word(words, offsetof(abi::dma_descriptor, check) / 4);
    return d;
}

template <class Change> std::string reason(Change&& change)
{
    const dma_fault fault = fault_of(changed(change), limits());
    CHECK(static_cast<bool>(fault) == (fault.reason != nullptr));
    return fault.reason == nullptr ? "" : fault.reason;
}
using descriptor = abi::dma_descriptor;
} // namespace

TEST_CASE("a descriptor that fits has no fault")
{
    CHECK(reason([](descriptor&) {}) == "");
    CHECK(reason([](descriptor& d) { d.bytes = k_memory; }) == "");
    CHECK(reason([](descriptor& d) {
              d.source_offset = k_memory;
              d.bytes = 0;
          }) == "");
    CHECK(reason([](descriptor& d) {
              d.redop = abi::reduce_op::sum;
              d.type = abi::element_type::bfloat16;
              d.bytes = 6;
          }) == "");
    CHECK(reason([](descriptor& d) {
              d.more_pieces = 3;
              d.rank_stride = 1; // all four ranks
          }) == "");
    CHECK(reason([](descriptor& d) {
              d.more_pieces = 3;
              d.stride = (k_memory - 64) / 3 / 8 * 8;
          }) == "");
}

TEST_CASE("each fault of a descriptor has its reason and the first one is named")
{
    CHECK(reason([](descriptor& d) { d.destination_rank = 4; }) == "its rank does not exist");
    CHECK(reason([](descriptor& d) {
              d.destination_rank = 1;
              d.more_pieces = 3;
              d.rank_stride = 1;
          }) == "its last rank does not exist");
    CHECK(reason([](descriptor& d) { d.destination_port = 2; }) == "its port does not exist");
    CHECK(reason([](descriptor& d) { d.by_fabric = 1; }) == "by_fabric is set where no packet comes back");
    CHECK(reason([](descriptor& d) { d.source_offset = abi::k_no_source; }) == "it has no source and no elements");
    CHECK(reason([](descriptor& d) { d.shortest_paths = 2; }) == "shortest_paths is neither 0 nor 1");
    CHECK(reason([](descriptor& d) { d.remote_semaphore = 64; }) == "its semaphore does not exist");
    CHECK(reason([](descriptor& d) {
              d.type = static_cast<abi::element_type>(abi::k_element_types);
              d.redop = abi::reduce_op::sum;
          }) == "its element type does not exist");
    CHECK(reason([](descriptor& d) {
              d.type = abi::element_type::float8_e4m3;
              d.redop = abi::reduce_op::sum;
          }) == "memories reduce no 8-bit floats");
    CHECK(reason([](descriptor& d) { d.type = abi::element_type::float8_e4m3; }).empty()); // it may be moved
    CHECK(reason([](descriptor& d) {
              d.more_pieces = 1;
              d.stride = 63;
          }) == "its pieces overlap");
    CHECK(reason([](descriptor& d) {
              d.destination_rank = 4;
              d.destination_port = 2;
          }) == "its rank does not exist");
    descriptor spoiled = changed([](descriptor&) {});
    spoiled.tag = 1;
    CHECK(fault_of(spoiled, limits()).reason == std::string("its check word is wrong"));
    CHECK(fault_of(spoiled, limits()).error_bits == k_dma_error_descriptor);
    descriptor_limits returning = limits();
    returning.returns_to_sender = true;
    CHECK_FALSE(fault_of(changed([](descriptor& d) { d.by_fabric = 1; }), returning));
}

TEST_CASE("no sum of offsets and pieces wraps around the end of memory")
{
    const std::string beyond = "it reads beyond the memory";
    CHECK(reason([](descriptor& d) { d.source_offset = k_memory - 63; }) == beyond);
    CHECK(reason([](descriptor& d) { d.source_offset = ~std::uint64_t{0} - 63; }) == beyond);
    CHECK(reason([](descriptor& d) { d.bytes = ~std::uint64_t{0}; }) == beyond);
    const auto to_ranks = [](std::uint64_t bytes, std::uint64_t stride) {
        return [=](descriptor& d) {
            d.more_pieces = 1;
            d.rank_stride = 1;
            d.bytes = bytes;
            d.stride = stride;
        };
    };
    CHECK(reason(to_ranks(~std::uint64_t{0} - 7, 16)) == beyond);
    CHECK(reason(to_ranks(64, k_memory - 63)) == beyond);
    CHECK(reason(to_ranks(64, k_memory - 64)) == "");
    CHECK(fault_of(changed(to_ranks(~std::uint64_t{0} - 7, 16)), limits()).error_bits == k_dma_error_memory);
}
