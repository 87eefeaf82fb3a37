// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One rack without backplanes: NPUs in a 2-D full mesh, no more.
#include "hw/routing/ub/ub_generator.h"

namespace weft {

namespace {

class bare_rack final : public ub_generator {
public:
    bare_rack(const ub_shape& shape, const ub_cables& cables) : ub_generator(shape, cables) {}

private:
    const std::uint32_t x_ports_ = shape_.npus - 1, y_ports_ = shape_.boards - 1;

    void build() override
    {
        add_npus(x_ports_ + y_ports_, x_ports_);
        connect_boards_and_columns(0, x_ports_);
    }
    void make_table(std::uint32_t, const ub_place& at, ub_table_maker& t) const override
    {
        t.step(segment::unit, ub_mesh_entries(0, static_cast<std::uint32_t>(at.unit), shape_.npus));
        t.step(segment::board, ub_mesh_entries(x_ports_, static_cast<std::uint32_t>(at.board), shape_.boards));
    }
};

} // namespace

std::unique_ptr<ub_generator> ub_bare_rack(const ub_shape& shape, const ub_cables& cables)
{
    return std::make_unique<bare_rack>(shape, cables);
}

} // namespace weft
