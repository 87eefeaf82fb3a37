// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Workers that do not start together: a host that gives every worker its commands at times of its own, so that one is in the
// next tensor while another has not begun the last one.
#include "platforms/workload/collective_data.h"
#include "testbenches/support/small_machines.h"

#include <array>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::element_type;
using abi::switchml::transport;

namespace {

/// Posts tensor k to worker w `delay(w, k)` after the worker has finished tensor k - 1.
class uneven_host final : public sc_core::sc_module, private mailbox_listener {
public:
    using delay_ps = std::function<std::uint64_t(std::uint32_t worker, std::uint32_t tensor)>;
    static constexpr std::uint64_t k_step = 1 << 20; ///< bytes between tensors in memory

    SC_HAS_PROCESS(uneven_host);
    uneven_host(const sc_core::sc_module_name& name, switchml_machine& m, std::vector<collective_case> tensors,
                delay_ps delay)
        : sc_core::sc_module(name), machine_(m), tensors_(std::move(tensors)), delay_(std::move(delay)),
          next_(m.chips().size()), due_ps_(m.chips().size()), last_ps_(m.chips().size())
    {
        for (chip* c : m.chips())
            c->connect_host(*this);
        SC_THREAD(run);
    }

    std::uint64_t wrong() const
    {
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < tensors_.size(); ++k)
            sum += check_result(machine_.as_run(tensors_[k]), k, groups(),
                                [&](std::uint32_t rank, std::uint64_t offset, std::uint64_t at_most) {
                                    std::uint64_t got = 0;
                                    const std::uint8_t* data =
                                        machine_.chips()[rank]->memory.span_for_read(k * k_step + offset, at_most, got);
                                    return memory_span{data, got};
                                })
                       .wrong;
        return sum;
    }
    std::uint64_t answers() const { return answers_; }
    const std::string& failures() const { return failures_; }
    std::uint64_t last_ps(std::uint32_t worker) const { return last_ps_[worker]; }

private:
    rank_groups groups() const { return rank_groups(std::vector<std::uint32_t>(machine_.chips().size(), 0)); }

    void fill()
    {
        for (chip* c : machine_.chips())
            for (std::size_t k = 0; k < tensors_.size(); ++k)
                for (std::uint64_t done = 0; done < tensors_[k].size_bytes;) {
                    std::uint64_t got = 0;
                    std::uint8_t* to = c->memory.span_for_write(k * k_step + done, tensors_[k].size_bytes - done, got);
                    generate(machine_.as_run(tensors_[k]), k, c->rank(), groups(), done / 4, to, got / 4);
                    done += got;
                }
    }
    void run()
    {
        fill();
        sc_core::wait(10, sc_core::SC_US); // boot
        for (std::uint32_t w = 0; w < next_.size(); ++w)
            due_ps_[w] = kernel_now_ps() + delay_(w, 0);
        const std::uint64_t all = next_.size() * tensors_.size();
        while (answers_ < all) {
            std::uint64_t soonest = ~std::uint64_t{0};
            for (std::uint32_t w = 0; w < next_.size(); ++w) {
                if (due_ps_[w] <= kernel_now_ps()) {
                    post(w);
                    due_ps_[w] = ~std::uint64_t{0};
                }
                soonest = std::min(soonest, due_ps_[w]);
            }
            if (soonest == ~std::uint64_t{0})
                sc_core::wait(done_);
            else
                sc_core::wait(sc_time_from_ps(soonest - kernel_now_ps()), done_);
        }
        sc_core::wait(1, sc_core::SC_MS); // what is still under way
        sc_core::sc_stop();
    }
    void post(std::uint32_t w)
    {
        const collective_case& c = tensors_[next_[w]];
        abi::command command;
        command.sequence = ++next_[w];
        command.op = c.op;
        command.algo = c.algo;
        command.type = c.type;
        command.redop = c.redop;
        command.count = c.count;
        command.buffer_offset = (next_[w] - 1) * k_step;
        command.chunk_bytes = 128 << 10;
        command.timeout_ns = 100'000'000;
        machine_.chips()[w]->post(command);
    }
    void on_done(std::uint32_t rank, std::uint32_t) override
    {
        ++answers_;
        last_ps_[rank] = kernel_now_ps();
        if (machine_.chips()[rank]->response().code != abi::status_code::ok)
            failures_ += machine_.chip_name(rank) + ": " + machine_.chips()[rank]->response().where + "; ";
        if (next_[rank] < tensors_.size())
            due_ps_[rank] = kernel_now_ps() + delay_(rank, next_[rank]);
        done_.notify(sc_core::SC_ZERO_TIME);
    }

    switchml_machine& machine_;
    std::vector<collective_case> tensors_;
    delay_ps delay_;
    std::vector<std::uint32_t> next_; ///< by worker: tensors begun
    std::vector<std::uint64_t> due_ps_;
    std::vector<std::uint64_t> last_ps_;
    std::uint64_t answers_ = 0;
    std::string failures_;
    sc_core::sc_event done_;
};

json run_uneven(const switchml_config& c, const std::vector<collective_case>& tensors,
                const uneven_host::delay_ps& delay)
{
    switchml_config checked = c;
    checked.run.workload = {switched({4})};
    const std::string errors = errors_of(checked);
    INFO(errors);
    REQUIRE(errors.empty());
    const json j = in_child([&](json& answer) {
        switchml_machine machine(c);
        uneven_host host("host", machine, tensors, delay);
        sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
        answer["answers"] = host.answers();
        answer["failures"] = host.failures();
        answer["wrong"] = host.wrong();
        for (std::uint32_t w = 0; w < c.workers; ++w)
            answer["last"].push_back(host.last_ps(w));
        answer["leaks"] = machine.pool().leak_report();
    });
    INFO(j.value("thrown", ""));
    REQUIRE_FALSE(j.contains("thrown"));
    CHECK(j.at("answers") == c.workers * tensors.size());
    CHECK(j.at("failures") == "");
    CHECK(j.at("wrong") == 0);
    CHECK(j.at("leaks") == "");
    return j;
}

collective_case tensor(element_type type, std::uint64_t bytes)
{
    return make_case(abi::collective_op::all_reduce, algorithm::switchml, type, abi::reduce_op::sum, bytes);
}

} // namespace

TEST_CASE("switchml: a worker that starts late holds the others up and every sum is exact")
{
    for (const transport t : {transport::udp, transport::rdma})
        for (const element_type type : {element_type::int32, element_type::float32}) {
            switchml_config c = rack(4, 2);
            c.job.transport = t;
            c.job.packets_per_message = 2;
            c.job.timeout = duration(200'000'000);
            const std::uint64_t late = 3'100'000'000; // 15 timeouts
            const json j = run_uneven(c, {tensor(type, 40'000)},
                                      [&](std::uint32_t w, std::uint32_t) { return w == 2 ? late : 0; });
            for (const json& last : j.at("last")) {
                CHECK(last > late);
                CHECK(last < late + 2'000'000'000);
            }
        }
}

TEST_CASE("switchml: workers that drift apart over many tensors")
{
    for (const transport t : {transport::udp, transport::rdma})
        for (const double loss : {0.0, 0.02}) {
            switchml_config c = rack(3, 2);
            c.job.transport = t;
            c.job.packets_per_message = 2;
            c.job.timeout = duration(100'000'000);
            c.network.cable.impairments.loss = loss;
            c.network.cable.impairments.duplication = loss;
            std::vector<collective_case> tensors;
            for (std::uint32_t k = 0; k < 24; ++k)
                tensors.push_back(
                    tensor(k % 3 == 0 ? element_type::float32 : element_type::int32, 4 + k * k * 71 % 29 * 1000));
            run_uneven(c, tensors, [](std::uint32_t w, std::uint32_t k) {
                return (w * 7 + k * 13) % 11 * 37'000'000ull; // up to 370 us
            });
        }
}
