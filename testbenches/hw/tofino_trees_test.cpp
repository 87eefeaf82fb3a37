// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Loss recovery: racks, trees of two and three levels, virtual switches of one chip; several jobs.
#include "testbenches/hw/tofino_tree_bench.h"

using namespace weft;
using namespace weft::testing;
using namespace weft::literals;

namespace {

lossy_worker::settings small(std::uint32_t pieces, std::uint32_t slots, std::uint32_t words)
{
    lossy_worker::settings s;
    s.pieces = pieces;
    s.slots = slots;
    s.words = words;
    return s;
}

/// Loses every single frame of a run in turn, each in a tree of its own.
void sweep(std::uint32_t levels, std::size_t links, std::uint32_t pieces)
{
    const lossy_worker::settings s = small(pieces, 1, 64);
    std::vector<std::unique_ptr<switch_tree>> trees;
    std::vector<std::unique_ptr<lose_one>> hooks;
    for (std::size_t link = 0; link < links; ++link)
        for (const std::uint32_t end : {0u, 1u})
            for (std::uint32_t n = 0; n < pieces; ++n) {
                trees.push_back(std::make_unique<switch_tree>(levels, 2, s, ethernet_link_config{}));
                REQUIRE(trees.back()->links.size() == links);
                hooks.push_back(std::make_unique<lose_one>());
                hooks.back()->end = end;
                hooks.back()->number = n;
                trees.back()->links[link]->set_fault_hook(hooks.back().get());
            }
    sc_core::sc_start();
    for (std::size_t i = 0; i < trees.size(); ++i) {
        trees[i]->check(
            fmt::format("link {} end {} frame {}", i / (2 * pieces), hooks[i]->end, hooks[i]->number).c_str(), pieces);
        CHECK(hooks[i]->happened);
        CHECK(trees[i]->timeouts() > 0);
    }
}

} // namespace

TEST_CASE("tofino: every frame of a run in a rack may be lost") { sweep(1, 2, 5); }

TEST_CASE("tofino: every frame of a run in a tree of two levels may be lost")
{
    // A worker's retransmission finds its slot complete and sends the sum up again, whichever frame was lost above.
    sweep(2, 6, 4);
}

TEST_CASE("tofino: every frame of a run in a tree of three levels may be lost") { sweep(3, 14, 3); }

TEST_CASE("tofino: random loss and duplicates and corruption leave every sum exact")
{
    ethernet_link_config cable;
    cable.impairments.loss = 0.05;
    cable.impairments.duplication = 0.05;
    cable.impairments.corruption = 0.02;
    std::vector<std::unique_ptr<switch_tree>> trees;
    constexpr std::uint32_t k_pieces = 24;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        cable.seed = seed;
        trees.push_back(std::make_unique<switch_tree>(1, 2 + seed % 3 * 3, small(k_pieces, 4, 256), cable)); // 2, 5, 8
        trees.push_back(std::make_unique<switch_tree>(2, 3, small(k_pieces, 4, 64), cable));
        trees.push_back(std::make_unique<switch_tree>(3, 2, small(k_pieces, 4, 256), cable));
    }
    sc_core::sc_start();
    std::uint64_t ignored = 0, again = 0;
    for (const auto& t : trees) {
        t->check("", k_pieces);
        for (const auto& chip : t->chips) {
            ignored += chip->duplicates_ignored.value();
            again += chip->retransmissions.value();
            // Every slot completes once a piece at every node, however often its packets came.
            CHECK(chip->completions.value() == k_pieces);
            CHECK(chip->blocked_on() == "");
        }
    }
    CHECK(ignored > 100);
    CHECK(again > 100);
}

TEST_CASE("tofino: packets that overtake each other are told apart by the stale filter")
{
    // Retransmissions that arrive behind their sender's next packet: without the filter sums are wrong, with it none
    // is.
    ethernet_link_config cable;
    cable.impairments.loss = 0.03;
    cable.impairments.reordering = 0.2;
    cable.impairments.reorder_delay = 20_us;
    std::vector<std::unique_ptr<switch_tree>> filtered, published;
    constexpr std::uint32_t k_pieces = 40;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        cable.seed = seed;
        filtered.push_back(std::make_unique<switch_tree>(1, 4, small(k_pieces, 4, 256), cable, true));
        filtered.push_back(std::make_unique<switch_tree>(2, 3, small(k_pieces, 4, 64), cable, true));
        published.push_back(std::make_unique<switch_tree>(1, 4, small(k_pieces, 4, 256), cable, false));
    }
    sc_core::sc_start();
    std::uint64_t stale = 0, wrong = 0;
    for (const auto& t : filtered) {
        t->check("", k_pieces);
        for (const auto& chip : t->chips)
            stale += chip->dropped(drop_reason::stale);
    }
    for (const auto& t : published)
        for (const auto& w : t->workers)
            wrong += w->wrong + (k_pieces - w->finished);
    CHECK(stale > 0);
    CHECK(wrong > 0);
}

TEST_CASE("tofino: a tree takes the time of its switches and cables")
{
    // Two levels, 64 words. Worker to leaf, two passes there, up, two passes at the root, down, one pass, to the
    // worker.
    switch_tree t(2, 2, small(1, 1, 64), {});
    sc_core::sc_start();
    const std::uint64_t cable = ethernet_link_config{}.propagation.value(), wire = 26'560;
    const std::uint64_t complete = 600'000 + 520'000 + wire;
    CHECK(t.workers[0]->last_ps == k_us + cable + complete + cable + complete + cable + 600'000 + wire + cable);
    CHECK(t.chips[0]->broadcasts.value() == 1);
    CHECK(t.chips[1]->sent_up.value() == 1);
    CHECK(t.chips[1]->results_from_above.value() == 1);
}

namespace {

/// One chip whose pipes are virtual switches, joined inside: `nodes` of `each` workers.
struct virtual_world : tofino_world {
    virtual_world(std::uint32_t nodes, std::uint32_t each, std::uint32_t words, std::uint32_t pieces)
        : tofino_world(chip_of(nodes, each))
    {
        tofino_job top;
        top.number = 1;
        top.words = words;
        top.slots = 4;
        top.register_slot = 100;
        top.multicast_group = 50;
        for (std::uint32_t n = 0; n < nodes; ++n) {
            tofino_worker inside;
            inside.inside = true;
            top.workers.push_back(inside);
        }
        const std::uint32_t parent = chip.add_job(top);
        for (std::uint32_t n = 0; n < nodes; ++n) {
            tofino_job node = top;
            node.workers.clear();
            node.home_pipe = n;
            node.register_slot = 4 * n;
            node.multicast_group = static_cast<std::uint16_t>(n + 1);
            for (std::uint32_t w = 0; w < each; ++w)
                node.workers.push_back({station_mac(n * each + w), station_ip(n * each + w), n * each + w});
            node.parent.kind = parent_kind::inside;
            node.parent.job = parent;
            node.parent.worker = n;
            chip.add_job(node);
        }
        lossy_worker::settings s = small(pieces, 4, words);
        s.workers = nodes * each;
        for (std::uint32_t w = 0; w < nodes * each; ++w)
            workers.push_back(std::make_unique<lossy_worker>(*stations[w], events, time, config, w, s));
    }
    static tofino_config chip_of(std::uint32_t nodes, std::uint32_t each)
    {
        tofino_config c;
        c.ports = nodes * each;
        c.ports_per_pipe = each;
        c.register_depth = 256;
        c.egress_drop = 0.02;
        c.ingress_drop = 0.02;
        return c;
    }
    std::vector<std::unique_ptr<lossy_worker>> workers;
};

} // namespace

TEST_CASE("tofino: pipes as virtual switches joined inside the chip serve 64 workers")
{
    virtual_world narrow(4, 16, 64, 12), wide(4, 16, 256, 12), odd(3, 2, 256, 40);
    sc_core::sc_start();
    for (virtual_world* w : {&narrow, &wide, &odd}) {
        w->check_clean();
        for (const auto& worker : w->workers) {
            CHECK(worker->finished == (w == &odd ? 40 : 12));
            CHECK(worker->wrong == 0);
        }
        CHECK(w->chip.dropped(drop_reason::egress_simulated) > 0);
        CHECK(w->chip.blocked_on() == "");
    }
}

TEST_CASE("tofino: virtual switches joined inside a chip go on to a parent switch")
{
    // Four workers in two nodes of chip a, joined there; chip b joins them with a fifth.
    timeline time("timeline");
    packet_pool pool;
    frame_script events(time);
    tofino_config ca, cb;
    ca.ports = 5;
    ca.ports_per_pipe = 2;
    ca.register_depth = 64;
    ca.ingress_drop = 0.05;
    ca.egress_drop = 0.05;
    cb = ca;
    cb.ports = 2;
    cb.mac = ca.mac + 1;
    cb.ip = ca.ip + 1;
    tofino_switch a("a", time, pool, ca, models(ca)), b("b", time, pool, cb, models(cb));
    a.to_network(4).bind(b.from_network(0));
    b.to_network(0).bind(a.from_network(4));
    tofino_job root;
    root.number = 1;
    root.slots = 4;
    root.workers = {{ca.mac, ca.ip, 0}, {station_mac(4), station_ip(4), 1}};
    b.add_job(root);
    tofino_job join = root;
    tofino_worker inside;
    inside.inside = true;
    join.workers = {inside, inside};
    join.register_slot = 8;
    join.parent.kind = parent_kind::port;
    join.parent.port = 4;
    join.parent.mac = cb.mac;
    join.parent.ip = cb.ip;
    join.parent.own_mac = ca.mac;
    join.parent.own_ip = ca.ip;
    const std::uint32_t above = a.add_job(join);
    for (std::uint32_t n = 0; n < 2; ++n) {
        tofino_job node = root;
        node.home_pipe = n;
        node.register_slot = 12 + 4 * n;
        node.multicast_group = static_cast<std::uint16_t>(2 + n);
        node.workers.clear();
        for (std::uint32_t w = 2 * n; w < 2 * n + 2; ++w)
            node.workers.push_back({station_mac(w), station_ip(w), w});
        node.parent.kind = parent_kind::inside;
        node.parent.job = above;
        node.parent.worker = n;
        a.add_job(node);
    }
    CHECK_THROWS_AS(a.remove_job(above), user_error); // nodes below it first
    std::vector<std::unique_ptr<station>> stations;
    std::vector<std::unique_ptr<lossy_worker>> workers;
    lossy_worker::settings s = small(60, 4, 256);
    s.workers = 5;
    for (std::uint32_t w = 0; w < 5; ++w) {
        stations.push_back(std::make_unique<station>(sc_core::sc_gen_unique_name("station"), time, pool, w));
        tofino_switch& chip = w < 4 ? a : b;
        stations[w]->out.bind(chip.from_network(w < 4 ? w : 1));
        chip.to_network(w < 4 ? w : 1).bind(stations[w]->in);
        workers.push_back(std::make_unique<lossy_worker>(*stations[w], events, time, w < 4 ? ca : cb, w, s));
    }
    sc_core::sc_start();
    CHECK(pool.leak_report() == "");
    for (const auto& w : workers) {
        CHECK(w->finished == 60);
        CHECK(w->wrong == 0);
    }
    CHECK(b.completions.value() == 60);
    CHECK(a.completions.value() == 3 * 60);
    CHECK(a.results_from_above.value() >= 57);
    CHECK(!a.port_stats(4).rows().empty());
}

TEST_CASE("tofino: jobs that share a switch do not see each other")
{
    tofino_config c;
    c.ports = 6;
    c.register_depth = 256;
    c.ingress_drop = 0.05;
    tofino_world w(c);
    std::vector<std::unique_ptr<lossy_worker>> workers;
    for (std::uint8_t k = 0; k < 3; ++k) {
        tofino_job j;
        j.number = static_cast<std::uint8_t>(10 + k);
        j.words = k == 1 ? 64 : 256;
        j.first_slot = 8u * k;
        j.slots = 8;
        j.multicast_group = k;
        lossy_worker::settings s = small(40, 8, j.words);
        s.first_slot = j.first_slot;
        s.job = j.number;
        for (std::uint32_t i = 0; i < 2; ++i) {
            j.workers.push_back({station_mac(2u * k + i), station_ip(2u * k + i), 2u * k + i});
            workers.push_back(std::make_unique<lossy_worker>(*w.stations[2u * k + i], w.events, w.time, c, i, s));
        }
        w.chip.add_job(j);
    }
    // A worker of job 10 with the number of job 11, and with a slot of job 11.
    udp_message m;
    m.words = ramp(64, 1);
    m.job = 11;
    m.slot = 8;
    w.send(3, 0, m);
    m.job = 10;
    w.send(4, 0, m);
    w.run();
    for (const auto& worker : workers) {
        CHECK(worker->finished == 40);
        CHECK(worker->wrong == 0);
    }
    CHECK(w.chip.dropped(drop_reason::not_worker) + w.chip.dropped(drop_reason::pool_index) +
              w.chip.dropped(drop_reason::ingress_simulated) >=
          2);
}

TEST_CASE("tofino: a job without loss recovery is removed while a packet of it is in the switch")
{
    tofino_config c;
    c.ports = 2;
    c.register_depth = 64;
    tofino_world w(c);
    tofino_job j = w.job(2, 256, 4);
    j.loss_recovery = false;
    udp_message m;
    m.words = ramp(256, 1);
    // Wherever the packet is when its job ends.
    constexpr std::uint32_t k_times = 80;
    for (std::uint32_t i = 0; i < k_times; ++i) {
        const std::uint64_t begin_us = 10 + 10 * i;
        w.events.at(begin_us * k_us - k_us / 2, [&] { w.chip.add_job(j); });
        w.send(static_cast<double>(begin_us), 1, m);
        w.events.at(begin_us * k_us + i * k_us / 40, [&] { w.chip.remove_job(0); });
    }
    w.run();
    CHECK(w.chip.dropped(drop_reason::job_removed) > 0);
    CHECK(w.log(0).empty());
}

TEST_CASE("tofino: a removed job drops its packets and leaves clean slots behind")
{
    tofino_config c;
    c.ports = 2;
    c.register_depth = 64;
    tofino_world w(c);
    const tofino_job j = w.job(2, 256, 4);
    const std::uint32_t id = w.chip.add_job(j);
    udp_message m;
    m.words = ramp(256, 1);
    w.send(1, 0, m);
    w.send(10, 0, m); // ignored: in the switch when its job ends
    w.send(10, 1, m); // completes: in the switch when its job ends
    w.events.at(11 * k_us, [&] {
        w.chip.remove_job(id);
        CHECK(w.chip.refusal(j) == "");
        CHECK(w.chip.add_job(j) == id);
        CHECK_THROWS_AS(w.chip.remove_job(id + 1), user_error);
    });
    m.words = ramp(256, 3);
    w.send(20, 1, m); // the bits of the first job are gone
    w.send(21, 0, m);
    w.run();
    CHECK(w.chip.dropped(drop_reason::job_removed) == 1);
    REQUIRE(w.log(0).size() == 1);
    CHECK(w.log(0)[0].words == ramp(256, 6));

    tofino_job other = j;
    other.number = 2;
    other.first_slot = 4;
    other.multicast_group = 2;
    const std::uint32_t second = w.chip.add_job(other);
    w.chip.remove_job(id);
    CHECK(w.chip.refusal(j).find("they can be cleared when no job runs") != std::string::npos);
    w.chip.remove_job(second);
    CHECK(w.chip.refusal(j) == "");
}
