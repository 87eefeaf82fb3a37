// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The profiles of configs/switchml/dnn against Table 1 of Sapio et al., NSDI 2021, from which they are made.
#include "platforms/config/config_reader.h"
#include "platforms/switchml/switchml.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

using namespace weft;

namespace {

struct profile {
    const char* model;
    double size_mib; ///< SSD and ResNet-50 exchanged, see their files
    double batch_10g_ms, share_10g, overlap_10g;
    double batch_100g_ms, share_100g, overlap_100g;
};
constexpr profile k_table_1[] = {
    {"deeplight", 2319, 2101, 0.97, 0.02, 258, 0.79, 0.20}, {"lstm", 1627, 1534, 0.94, 0.10, 312, 0.46, 0.56},
    {"bert", 1274, 1677, 0.67, 0.03, 668, 0.17, 0.35},      {"vgg19", 548, 661, 0.73, 0.67, 499, 0.10, 0.99},
    {"ugatit", 511, 1612, 0.28, 0.84, 1212, 0.04, 0.99},    {"ncf", 121, 149, 0.72, 0.04, 46, 0.23, 0.27},
    {"ssd", 87, 293, 0.26, 0.99, 293, 0.03, 0.99},          {"resnet50", 98, 299, 0.29, 0.67, 270, 0.03, 0.94},
};

void check(const profile& p, const char* rate, double batch_ms, double share, double overlap)
{
    const std::string file = fmt::format(WEFT_SOURCE_DIR "/configs/switchml/dnn/{}_{}.yaml", p.model, rate);
    INFO(file);
    const switchml_config config =
        read_config_or_throw<switchml_config>(yaml_document::load_layered(file), {"platform"});
    CHECK(no_errors(config.validate()));
    const training_step_config& step = *config.run.training_step;
    std::uint64_t bytes = 0, last_ps = 0;
    for (const gradient_group& g : step.groups) {
        bytes += g.size_bytes();
        CHECK(step.ready_ps(g) >= last_ps); // in the order of the backward pass
        last_ps = step.ready_ps(g);
    }
    CHECK(static_cast<double>(bytes) / (1 << 20) == Approx(p.size_mib).epsilon(0.006));
    CHECK(static_cast<double>(step.compute.value()) * 1e-9 ==
          Approx(batch_ms * (1 - (1 - overlap) * share)).epsilon(1e-4));
    CHECK(config.workers == 8);
    CHECK(config.network.rate.value() == (std::string(rate) == "10g" ? 10'000'000'000u : 100'000'000'000u));
}

} // namespace

TEST_CASE("switchml: the profiles of training steps agree with Table 1", "[fast]")
{
    for (const profile& p : k_table_1) {
        check(p, "10g", p.batch_10g_ms, p.share_10g, p.overlap_10g);
        check(p, "100g", p.batch_100g_ms, p.share_100g, p.overlap_100g);
    }
}

TEST_CASE("switchml: the example files are sound", "[fast]")
{
    for (const char* name : {"rack_4x10g", "rack_8x10g", "rack_8x10g_rdma", "rack_8x100g_rdma", "rack_16x100g",
                             "loss_8x10g", "two_racks", "two_jobs"}) {
        INFO(name);
        const switchml_config config = read_config_or_throw<switchml_config>(
            yaml_document::load_layered(fmt::format(WEFT_SOURCE_DIR "/configs/switchml/{}.yaml", name)), {"platform"});
        for (const config_problem& problem : config.validate())
            CHECK(problem.key + " " + problem.message == ""); // no warning either
    }
}
