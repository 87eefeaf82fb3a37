// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A UB-Mesh machine as the command line sees it: reading, description, proof.
#include "platforms/config/config_reader.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <fmt/format.h>
#include <optional>

namespace weft {

namespace {

std::string size_text(const ub_shape& m)
{
    std::string text = fmt::format("{} NPUs: ", m.ranks());
    if (m.pods > 1)
        text += fmt::format("{} pods of ", m.pods);
    if (m.racks_per_pod() > 1)
        text += fmt::format("{} x {} racks of ", m.rack_rows, m.rack_cols);
    return text + fmt::format("{} board{} of {}", m.boards, m.boards == 1 ? "" : "s", m.npus);
}

class configured_ub_mesh final : public platform {
public:
    explicit configured_ub_mesh(ub_mesh_config config) : config_(std::move(config)) {}
    const run_config& run() const override { return config_.run; }
    config_field resolved() const override { return with_platform_key(describe(config_), k_ub_mesh_info); }
    std::uint32_t ranks() const override { return config_.ranks(); }
    std::unique_ptr<machine> build() const override { return std::make_unique<ub_machine>(config_, routes()); }

    const std::shared_ptr<const ub_routes>& routes() const
    {
        if (!routes_)
            routes_ = std::make_shared<ub_routes>(config_);
        return routes_;
    }

    std::string description() const override
    {
        const ub_shape& m = config_.mesh;
        const ub_config& ub = config_.ub;
        std::string text = fmt::format("UB-Mesh   {}; inside a rack {}", size_text(m), name_of(m.rack));
        if (m.racks_per_pod() > 1)
            text += fmt::format(", between racks {}", name_of(m.pod));
        text += fmt::format("{}\n", m.hrs ? ", HRS" : "");
        if (config_.ranks() != m.ranks())
            text += fmt::format("Job       {} of {} NPUs\n", config_.ranks(), m.ranks());
        text += routes()->topology->ledger().text();
        text += fmt::format("Lanes     {} each; x4 carries {} net of FEC, of which full packets leave {:.1f} % of the raw rate to "
                            "payload\n",
                            to_string(ub.lane_rate), to_string(ub.link_rate(4)), 100 * ub.payload_efficiency());
        text += fmt::format("Packets   up to {} of payload in {} flits of {}; {} VLs: {} classes of {}\n", to_string(ub.max_payload),
                            ub.format().wire_bytes_of_one(ub.max_payload.value()) / ub.flit.value(), to_string(ub.flit), k_ub_vls,
                            k_ub_classes, k_ub_lanes_per_class);
        return text + describe_faults(config_) + routes()->bill;
    }

    std::string routing_report() const override { return routes()->report; }

private:
    ub_mesh_config config_;
    mutable std::shared_ptr<const ub_routes> routes_; ///< made when first asked for
};

} // namespace

const platform_info k_ub_mesh_info = {
    "ub_mesh",
    "Huawei UB-Mesh: boards, racks, pods and SuperPods of NPUs as full meshes of Unified Bus links, all-path source routing, spare NPUs; "
    "and its baselines",
    [](const yaml_document& document, std::vector<problem>& problems) -> std::unique_ptr<platform> {
        ub_mesh_config config = read_config<ub_mesh_config>(document, problems, {"platform"});
        for (const problem& p : problems)
            if (p.level == severity::error)
                return nullptr;
        auto made = std::make_unique<configured_ub_mesh>(std::move(config));
        if (made->routes()->problem.empty())
            return made;
        add_problem(document, problems, made->routes()->problem_key, made->routes()->problem);
        return nullptr;
    },
    [] { return describe(ub_mesh_config{}); }};

} // namespace weft
