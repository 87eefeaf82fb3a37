// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>

#include <type_traits>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_start = 1'000'000; // after the first credits
packet_format plain_format()
{
    packet_format f;
    f.charge_header_on_wire = false;
    return f; // 256 B payload in 9 cells of 32 B
}

/// A row of routers: port 0 goes right, port 1 left, ports 2.. are local. Endpoint id = router * locals + local.
struct row {
    row(fabric_bench& b, std::uint32_t routers, std::uint32_t locals, const fabric_link_params& link,
        const fabric_link_params& local, fabric_config config = {1, 4_ns, true})
        : locals_(locals), engine(b.add_engine(config, [locals](std::uint32_t router, std::uint32_t, const packet& p) {
              const std::uint32_t there = p.destination / locals;
              const std::uint32_t port = there > router ? 0 : there < router ? 1 : 2 + p.destination % locals;
              return route_decision{static_cast<std::uint16_t>(port), p.vl};
          }))
    {
        engine.set_port_names({"right", "left", "a", "b", "c", "d", "e"});
        first = b.endpoints.size();
        for (std::uint32_t r = 0; r < routers; ++r)
            engine.add_router(2 + locals, fmt::format("r{}", r));
        for (std::uint32_t r = 0; r < routers; ++r)
            for (std::uint32_t l = 0; l < locals; ++l)
                points.push_back(&b.add_endpoint(engine, r, 2 + l, local, r * locals + l));
        for (std::uint32_t r = 0; r + 1 < routers; ++r) {
            right.push_back(engine.add_link(r, 0, r + 1, 1, link));
            engine.add_link(r + 1, 1, r, 0, link);
        }
        engine.finish_build();
    }
    endpoint& at(std::uint32_t router, std::uint32_t local = 0) { return *points[router * locals_ + local]; }

    std::uint32_t locals_;
    fabric_engine& engine;
    std::size_t first = 0;
    std::vector<endpoint*> points;
    std::vector<std::uint32_t> right; ///< links r -> r + 1
};

double rate_of(const std::vector<arrived>& log, std::uint64_t bytes_each, std::size_t from)
{
    const auto span = static_cast<double>(log.back().tail_ps - log[from].tail_ps);
    return static_cast<double>((log.size() - 1 - from) * bytes_each) * 8e12 / span;
}

void all_well(const fabric_bench& b)
{
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    CHECK(b.overtaken() == 0);
    CHECK(b.received() == b.ordered());
}

} // namespace

TEST_CASE("a link with enough credits carries its rate and no more")
{
    fabric_bench b;
    b.format = plain_format();
    std::vector<std::unique_ptr<row>> rows;
    const bandwidth rates[] = {100_Gbps, 656_Gbps, 3000_Gbps};
    for (const bandwidth rate : rates)
        for (const bool cut : {true, false})
            rows.push_back(std::make_unique<row>(b, 3, 1, fabric_link_params{rate, 25_ns, 2048},
                                                 fabric_link_params{4000_Gbps, 0_ns, 2048},
                                                 fabric_config{1, 4_ns, cut}));
    for (auto& r : rows)
        for (int i = 0; i < 3000; ++i)
            r->at(0).orders.push_back({k_start, 2, 256});
    b.run();
    all_well(b);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double share = rate_of(rows[i]->at(2).log, 256, 100) / static_cast<double>(rates[i / 2].value());
        INFO(i);
        CHECK(share <= 1.0 + 1e-3 * (i / 2 == 2)); // a packet of 3 Tb/s takes 683 ps, rounded from 682.67
        CHECK(share >= 0.99);
        CHECK(rows[i]->engine.link_wire_bytes(rows[i]->right[0]) == 3000u * 256u);
        CHECK(rows[i]->engine.link_packets(rows[i]->right[0]) == 3000u);
    }
}

TEST_CASE("a short buffer carries floor of depth over packet per round trip")
{
    // Round trip of a credit: the head flies and passes the pipeline, the packet is read out at the next output (not before
    // it can finish without running dry), and the credit flies back.
    fabric_bench b;
    b.format = plain_format();
    const std::uint64_t cells = b.format.cells(256);
    CHECK(cells == 9);
    struct variant {
        bandwidth next;
        std::uint64_t depth;
        std::unique_ptr<row> r;
    };
    std::vector<variant> variants;
    for (const bandwidth next : {656_Gbps, 1312_Gbps, 400_Gbps})
        for (const std::uint64_t depth : {9u, 17u, 18u, 19u, 27u, 36u, 45u, 54u, 63u, 72u, 90u, 180u})
            variants.push_back(
                {next, depth,
                 std::make_unique<row>(b, 2, 1, fabric_link_params{656_Gbps, 25_ns, static_cast<std::uint32_t>(depth)},
                                       fabric_link_params{next, 0_ns, 2048})});
    for (auto& v : variants)
        for (int i = 0; i < 2000; ++i)
            v.r->at(0).orders.push_back({k_start, 1, 256});
    b.run();
    all_well(b);
    for (auto& v : variants) {
        const auto link = static_cast<double>(wire_rate(656_Gbps).time_ps(256));
        const auto next = static_cast<double>(wire_rate(v.next).time_ps(256));
        const double round_trip = 2 * 25'000 + 4'000 + std::max(link, next);
        const auto n = static_cast<double>(v.depth / cells);
        const double expected = std::min({n / round_trip, 1 / link, 1 / next}) * 256 * 8e12;
        const double got = rate_of(v.r->at(1).log, 256, 200);
        INFO("next " << v.next.value() << " depth " << v.depth << " expected " << expected << " got " << got);
        CHECK(got == Approx(expected).epsilon(0.01));
    }
}

TEST_CASE("inputs share a saturated output equally")
{
    fabric_bench b;
    b.format = plain_format();
    for (const std::uint32_t inputs : {2u, 3u, 5u}) {
        row r(b, 2, inputs, {656_Gbps, 25_ns, 512}, {656_Gbps, 0_ns, 512});
        for (std::uint32_t l = 0; l < inputs; ++l)
            for (int i = 0; i < 400; ++i)
                r.at(0, l).orders.push_back({k_start, inputs, 256}); // all to the first endpoint of router 1
        b.events.at(k_start + 600'000, [] {});
    }
    b.run();
    all_well(b);
    for (const auto& e : b.endpoints) {
        // While all inputs have packets (each has 400), any window of arrivals holds equal shares.
        std::vector<int> got(16, 0);
        for (std::size_t i = 0; i < e->log.size() && i < 600; ++i) {
            ++got[e->log[i].source];
            int least = 1'000'000, most = 0;
            for (const int g : got)
                if (g > 0) {
                    least = std::min(least, g);
                    most = std::max(most, g);
                }
            if (i >= 16)
                CHECK(most - least <= 2);
        }
    }
}

TEST_CASE("a link that is down makes its packets wait and says so")
{
    fabric_bench b;
    b.format = plain_format();
    row r(b, 3, 1, {656_Gbps, 25_ns, 64}, {1312_Gbps, 0_ns, 64});
    for (int i = 0; i < 50; ++i)
        r.at(0).orders.push_back({k_start, 2, 256});
    std::string text;
    std::size_t arrived_before = 0, arrived_while_down = 0;
    b.events.at(k_start + 60'000, [&] { r.engine.set_link_up(r.right[1], false); });
    b.events.at(k_start + 200'000, [&] { arrived_before = r.at(2).log.size(); });
    b.events.at(k_start + 5'000'000, [&] {
        arrived_while_down = r.at(2).log.size();
        text = r.engine.describe_blocked();
        b.audit();
        r.engine.set_link_up(r.right[1], true);
    });
    b.run();
    CHECK(arrived_before > 0);
    CHECK(arrived_before < 50);
    CHECK(arrived_while_down == arrived_before);
    CHECK(text.find("waits for r1.right: the link is down") != std::string::npos);
    CHECK(text.find("cycle") == std::string::npos);
    INFO(text);
    all_well(b);
    CHECK(r.engine.describe_blocked() == "");
    CHECK(b.pool.leak_report() == "");
}

namespace {
enum class fault { drop, corrupt, delay };
struct nth_packet final : link_fault_if {
    nth_packet(fault k, std::uint32_t at) : kind(k), n(at) {}
    link_verdict on_packet(std::uint64_t, const packet&) override
    {
        link_verdict v;
        if (seen++ == n) {
            v.drop = kind == fault::drop;
            v.corrupt = kind == fault::corrupt;
            v.extra_delay_ps = kind == fault::delay ? 300'000 : 0;
        }
        return v;
    }
    fault kind;
    std::uint32_t n, seen = 0;
};
} // namespace

TEST_CASE("drop or corrupt or delay of every packet of a small run keeps all laws")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 13;
    constexpr std::uint32_t k_packets = 24;
    // Mixed sizes and a fast last output: a short packet behind a delayed long one must not overtake it.
    const std::uint64_t sizes[] = {256, 4, 130, 0, 256, 32};
    struct run_t {
        fault kind;
        std::uint32_t n;
        nth_packet hook;
        std::unique_ptr<row> r;
    };
    std::vector<std::unique_ptr<run_t>> runs;
    for (const fault kind : {fault::drop, fault::corrupt, fault::delay})
        for (std::uint32_t n = 0; n < k_packets; ++n)
            for (const std::uint32_t where : {0u, 1u}) {
                runs.push_back(std::make_unique<run_t>(run_t{kind, n, nth_packet(kind, n), nullptr}));
                runs.back()->r = std::make_unique<row>(b, 3, 1, fabric_link_params{656_Gbps, 25_ns, 18},
                                                       fabric_link_params{1312_Gbps, 0_ns, 18});
                row& r = *runs.back()->r;
                r.engine.set_fault_hook(r.right[where], &runs.back()->hook);
                for (std::uint32_t i = 0; i < k_packets; ++i)
                    r.at(0).orders.push_back({k_start, 2, sizes[i % 6]});
            }
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    CHECK(b.overtaken() == 0);
    CHECK(b.pool.leak_report() == "");
    for (const auto& run : runs) {
        const auto& log = run->r->at(2).log;
        CHECK(log.size() == k_packets - (run->kind == fault::drop ? 1 : 0));
        CHECK(run->r->engine.dropped() == (run->kind == fault::drop ? 1 : 0));
        CHECK(run->r->engine.packets_inside() == 0);
        std::uint32_t marked = 0;
        for (const arrived& a : log) {
            CHECK((run->kind != fault::drop || a.message != run->n));
            if ((a.flags & k_corrupted) != 0) {
                ++marked;
                CHECK(a.message == run->n);
            }
        }
        CHECK(marked == (run->kind == fault::corrupt ? 1u : 0u));
        if (run->kind == fault::delay)
            CHECK(log[run->n].tail_ps - log[run->n].born_ps >= 300'000);
    }
}

TEST_CASE("bursts take the time of their packets")
{
    fabric_bench b;
    b.format = plain_format();
    b.format.charge_header_on_wire = true;
    struct pair_t {
        std::uint64_t total, burst;
        bool equal_rates;
        std::unique_ptr<row> single, bursts;
    };
    std::vector<pair_t> pairs;
    for (const std::uint64_t total : {std::uint64_t{256}, std::uint64_t{4096}, std::uint64_t{100'000}})
        for (const std::uint64_t burst : {std::uint64_t{4}, std::uint64_t{16}})
            for (const bandwidth local : {656_Gbps, 1312_Gbps}) {
                const auto make = [&] {
                    return std::make_unique<row>(b, 4, 1, fabric_link_params{656_Gbps, 25_ns, 2048},
                                                 fabric_link_params{local, 0_ns, 2048});
                };
                pairs.push_back({total, burst, local == 656_Gbps, make(), make()});
                pair_t& p = pairs.back();
                const auto cut = [&](row& r, std::uint64_t piece) {
                    for (std::uint64_t at = 0; at < total; at += piece)
                        r.at(0).orders.push_back({k_start, 3, std::min(piece, total - at)});
                };
                cut(*p.single, 256);
                cut(*p.bursts, 256 * burst);
            }
    b.run();
    all_well(b);
    for (const pair_t& p : pairs) {
        const auto one = static_cast<std::int64_t>(p.single->at(3).log.back().tail_ps);
        const auto many = static_cast<std::int64_t>(p.bursts->at(3).log.back().tail_ps);
        const auto packets = static_cast<std::int64_t>((p.total + 255) / 256);
        INFO("total " << p.total << " burst " << p.burst << " single " << one << " bursts " << many);
        // Cut-through: the sums of serialisation are the same but for the rounding of each to a picosecond.
        CHECK(std::abs(one - many) <= packets);
        CHECK(p.single->engine.packet_hops() == p.bursts->engine.packet_hops());
        CHECK(p.single->engine.link_wire_bytes(p.single->right[0]) ==
              p.bursts->engine.link_wire_bytes(p.bursts->right[0]));
    }
}

TEST_CASE("two streams of bursts finish within two bursts of two streams of packets")
{
    fabric_bench b;
    b.format = plain_format();
    const auto make = [&] {
        return std::make_unique<row>(b, 3, 2, fabric_link_params{656_Gbps, 25_ns, 1024},
                                     fabric_link_params{1312_Gbps, 0_ns, 1024});
    };
    std::vector<std::unique_ptr<row>> rows;
    const std::uint64_t bursts[] = {1, 4, 16};
    for (const std::uint64_t burst : bursts) {
        rows.push_back(make());
        for (std::uint32_t local = 0; local < 2; ++local)
            for (std::uint64_t i = 0; i < 512 / burst; ++i)
                rows.back()->at(0, local).orders.push_back({k_start, 4 + local, 256 * burst});
    }
    b.run();
    all_well(b);
    const auto last = [](row& r) {
        return static_cast<double>(std::max(r.at(2, 0).log.back().tail_ps, r.at(2, 1).log.back().tail_ps));
    };
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const double bound = 2.0 * static_cast<double>(wire_rate(656_Gbps).time_ps(256 * bursts[i]));
        CHECK(std::abs(last(*rows[i]) - last(*rows[0])) <= bound);
    }
}

// --- Joints -------------------------------------------------------------------------------------------------------------

namespace {

/// Four routers in a row, two endpoints each; the middle link is either internal or two sockets and a tlm/link.
struct joined {
    joined(fabric_bench& b, bool split, bool cut_through, std::uint32_t depth, std::uint32_t vls)
    {
        const fabric_config config{vls, 4_ns, cut_through};
        const auto rule = [](std::uint32_t offset) {
            return [offset](std::uint32_t router, std::uint32_t, const packet& p) {
                const std::uint32_t here = router + offset;
                const std::uint32_t target = p.destination / 2;
                const auto port = static_cast<std::uint16_t>(target > here   ? 0
                                                             : target < here ? 1
                                                                             : 2 + p.destination % 2);
                return route_decision{port, p.vl};
            };
        };
        const fabric_link_params link{656_Gbps, 25_ns, depth};
        const fabric_link_params local{1312_Gbps, 0_ns, 36};
        const auto routers = [&](fabric_engine& e, std::uint32_t first, std::uint32_t n) {
            for (std::uint32_t r = 0; r < n; ++r)
                e.add_router(4, fmt::format("r{}", first + r));
            for (std::uint32_t r = 0; r < n; ++r)
                for (std::uint32_t l = 0; l < 2; ++l)
                    points.push_back(&b.add_endpoint(e, r, 2 + l, local, (first + r) * 2 + l));
        };
        const auto both = [&](fabric_engine& e, std::uint32_t left) {
            forward.push_back(e.add_link(left, 0, left + 1, 1, link));
            e.add_link(left + 1, 1, left, 0, link);
        };
        if (!split) {
            fabric_engine& e = b.add_engine(config, rule(0));
            routers(e, 0, 4);
            both(e, 0);
            both(e, 1);
            both(e, 2);
            e.finish_build();
            engines = {&e};
            return;
        }
        fabric_engine& left = b.add_engine(config, rule(0));
        fabric_engine& right = b.add_engine(config, rule(2));
        routers(left, 0, 2);
        routers(right, 2, 2);
        both(left, 0);
        // The wire flies in tlm/link, so the sockets add nothing.
        const fabric_link_params at_socket{656_Gbps, 0_ns, depth};
        fabric_socket& l = b.add_socket(left, 1, 0, at_socket, at_socket);
        fabric_socket& r = b.add_socket(right, 0, 1, at_socket, at_socket);
        both(right, 0);
        left.finish_build();
        right.finish_build();
        there = std::make_unique<weft::link>(sc_core::sc_gen_unique_name("there"), vls, 25_ns);
        back = std::make_unique<weft::link>(sc_core::sc_gen_unique_name("back"), vls, 25_ns);
        l.out.bind(there->in);
        there->out.bind(r.in);
        r.out.bind(back->in);
        back->out.bind(l.in);
        engines = {&left, &right};
    }
    std::vector<endpoint*> points;
    std::vector<std::uint32_t> forward;
    std::vector<fabric_engine*> engines;
    std::unique_ptr<weft::link> there, back;
};

void random_orders(joined& j, std::uint64_t seed, std::uint32_t vls, bool stalls)
{
    for (std::uint32_t i = 0; i < 8; ++i) {
        traffic_random r(seed * 31 + i);
        j.points[i]->seed(seed);
        j.points[i]->stall_below_ps = stalls ? 50'000 : 0;
        j.points[i]->receive_cells = 27;
        std::uint64_t at = k_start;
        for (int k = 0; k < 150; ++k) {
            std::uint32_t to = r.below(7);
            to += to >= i ? 1 : 0;
            at += r.below(4000);
            j.points[i]->orders.push_back({at, to, r.below(257), 0, static_cast<std::uint8_t>(r.below(vls))});
        }
    }
}

} // namespace

TEST_CASE("two engines joined by sockets and a link behave as one engine")
{
    fabric_bench b;
    b.format = plain_format();
    struct case_t {
        std::unique_ptr<joined> one, two;
    };
    std::vector<case_t> cases;
    for (const bool cut : {true, false})
        for (const std::uint32_t depth : {9u, 30u, 512u})
            for (const std::uint32_t vls : {1u, 3u})
                for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                    cases.push_back({std::make_unique<joined>(b, false, cut, depth, vls),
                                     std::make_unique<joined>(b, true, cut, depth, vls)});
                    for (joined* j : {cases.back().one.get(), cases.back().two.get()})
                        random_orders(*j, seed, vls, seed != 1);
                }
    b.audit_every = 509;
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.received() == b.ordered());
    CHECK(b.wrong() == 0);
    CHECK(b.pool.leak_report() == "");
    for (std::size_t c = 0; c < cases.size(); ++c)
        for (std::uint32_t i = 0; i < 8; ++i) {
            INFO("case " << c << " endpoint " << i);
            CHECK(cases[c].one->points[i]->log == cases[c].two->points[i]->log);
        }
}

TEST_CASE("faults on a joint do what faults on an internal link do")
{
    fabric_bench b;
    b.format = plain_format();
    struct case_t {
        std::unique_ptr<joined> one, two;
        nth_packet hook_one, hook_two;
    };
    std::vector<std::unique_ptr<case_t>> cases;
    for (const fault kind : {fault::drop, fault::corrupt, fault::delay})
        for (std::uint32_t n = 0; n < 40; n += 3) {
            cases.push_back(std::unique_ptr<case_t>(new case_t{std::make_unique<joined>(b, false, true, 27, 2),
                                                               std::make_unique<joined>(b, true, true, 27, 2),
                                                               nth_packet(kind, n), nth_packet(kind, n)}));
            case_t& c = *cases.back();
            c.one->engines[0]->set_fault_hook(c.one->forward[1], &c.hook_one);
            c.two->there->set_fault_hook(&c.hook_two);
            random_orders(*c.one, n + 1, 2, false);
            random_orders(*c.two, n + 1, 2, false);
        }
    b.audit_every = 1009;
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.pool.leak_report() == "");
    for (std::size_t c = 0; c < cases.size(); ++c) {
        CHECK(cases[c]->hook_one.seen == cases[c]->hook_two.seen);
        for (std::uint32_t i = 0; i < 8; ++i) {
            INFO("case " << c << " endpoint " << i);
            CHECK(cases[c]->one->points[i]->log == cases[c]->two->points[i]->log);
        }
    }
}

// --- Sockets ------------------------------------------------------------------------------------------------------------

namespace {
template <class From, class To, class = void> struct can_bind : std::false_type {
};
template <class From, class To>
struct can_bind<From, To, std::void_t<decltype(std::declval<From&>().bind(std::declval<To&>()))>> : std::true_type {
};

static_assert(can_bind<link_initiator_socket, link_target_socket>::value, "the check below would prove nothing");
static_assert(!can_bind<link_initiator_socket, ::tlm::tlm_target_socket<>>::value,
              "a base-protocol socket must be refused");
static_assert(!can_bind<::tlm::tlm_initiator_socket<>, link_target_socket>::value,
              "a base-protocol socket must be refused");

struct ends final : sc_core::sc_module, link_fw_if, link_bw_if {
    ends(const sc_core::sc_module_name& name, std::uint32_t vls)
        : sc_core::sc_module(name), in("in", vls), out("out", vls)
    {
        in.bind(static_cast<link_fw_if&>(*this));
        out.bind(static_cast<link_bw_if&>(*this));
    }
    void send(packet_ptr, std::uint64_t) override {}
    void credit(std::uint32_t, std::uint32_t, std::uint64_t) override {}
    link_target_socket in;
    link_initiator_socket out;
};
} // namespace

TEST_CASE("sockets with different numbers of VLs cannot be bound")
{
    ends two("two", 2), three("three", 3);
    try {
        two.out.bind(three.in);
        FAIL("bound");
    } catch (const bug& e) {
        CHECK(std::string(e.what()).find("two.out") != std::string::npos);
        CHECK(std::string(e.what()).find("has 2 VLs but three.in has 3") != std::string::npos);
    }
    CHECK_THROWS_AS(three.in.bind(two.out), bug);
    CHECK_THROWS_AS(three.out(two.in), bug);
    CHECK_THROWS_AS(three.in(two.out), bug);
    CHECK_THROWS_AS(three.in.bind(two.in), bug); // hierarchical
    CHECK_THROWS_AS(three.out.bind(two.out), bug);
    CHECK_NOTHROW(two.out.bind(two.in));
}
