// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the sync unit, access by access.
#include <catch2/catch.hpp>

#include "firmware/drivers/sync_driver.h"
#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"
#include "testbenches/firmware/fake_hal.h"

#include <string>

using namespace weft;
using namespace weft::firmware;
using namespace weft::testing;
using abi::status_code;
namespace regs = abi::sync;

namespace {

constexpr std::uint64_t k_unit = abi::k_sync_base;

void check_status(const abi::status& s, status_code code, const std::string& where, std::uint64_t detail)
{
    CHECK(s.code == code);
    CHECK(std::string(s.where) == where);
    CHECK(s.detail == detail);
}

struct rig {
    fake_hal hal;
    sync_driver driver{hal, k_unit};
    rig()
    {
        hal.expect_write32(k_unit + regs::ZONE_FIRST, 4);
        hal.expect_write32(k_unit + regs::ZONE_STRIDE, 2);
        hal.expect_write32(k_unit + regs::ZONE_MEMBERS, 8);
        CHECK(driver.join({4, 2, 8}).ok());
    }
};

} // namespace

TEST_CASE("sync driver: another device or version is refused")
{
    fake_hal hal;
    const sync_driver driver(hal, k_unit);
    hal.expect_read32(k_unit + regs::TYPE, 7);
    check_status(driver.probe(), status_code::wrong_device, "SYNC.TYPE", 7);
    hal.expect_read32(k_unit + regs::TYPE, regs::TYPE_reset);
    hal.expect_read32(k_unit + regs::VERSION, 2);
    check_status(driver.probe(), status_code::wrong_version, "SYNC.VERSION", 2);
    hal.expect_read32(k_unit + regs::TYPE, regs::TYPE_reset);
    hal.expect_read32(k_unit + regs::VERSION, regs::VERSION_reset);
    CHECK(driver.probe().ok());
    CHECK(hal.problems() == "");
}

TEST_CASE("sync driver: it arrives and sleeps until the release and clears it")
{
    rig r;
    r.hal.expect_write32(k_unit + regs::ARRIVE, 1);
    r.hal.expect_wait_irq(abi::k_irq_sync, abi::k_irq_sync);
    r.hal.expect_read32(k_unit + regs::IRQ_PENDING, 1);
    r.hal.expect_write32(k_unit + regs::IRQ_PENDING, 1);
    CHECK(r.driver.meet(1000).ok());
    CHECK(r.hal.problems() == "");
}

TEST_CASE("sync driver: a release that never comes ends in a timeout with the members of the zone")
{
    rig r;
    r.hal.expect_write32(k_unit + regs::ARRIVE, 1);
    r.hal.expect_wait_irq(abi::k_irq_sync, 0);
    check_status(r.driver.meet(1000), status_code::timeout, "SYNC.RELEASES", 8);
    CHECK(r.hal.problems() == "");
}

TEST_CASE("sync driver: an error of the unit is taken and reported")
{
    rig r;
    r.hal.expect_write32(k_unit + regs::ARRIVE, 1);
    r.hal.expect_wait_irq(abi::k_irq_sync, abi::k_irq_sync);
    r.hal.expect_read32(k_unit + regs::IRQ_PENDING, 2);
    r.hal.expect_read32(k_unit + regs::ERROR, 1);
    r.hal.expect_write32(k_unit + regs::ERROR, 1);
    check_status(r.driver.meet(1000), status_code::device_error, "SYNC.ERROR", 1);
    CHECK(r.hal.problems() == "");
}

TEST_CASE("sync driver: a line that nobody lowers is given up")
{
    rig r;
    r.hal.expect_write32(k_unit + regs::ARRIVE, 1);
    for (int i = 0; i < 64; ++i) {
        r.hal.expect_wait_irq(abi::k_irq_sync, abi::k_irq_sync);
        r.hal.expect_read32(k_unit + regs::IRQ_PENDING, 0);
    }
    check_status(r.driver.meet(1000), status_code::device_error, "SYNC.IRQ_PENDING", 0);
    CHECK(r.hal.problems() == "");
}
