// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// An initiator of somebody else, bound to an HBM of weft over the TLM-2.0 base protocol. Prints what it wrote, read and how long
// the read took; exit code 1 where that is not what hw/memory/hbm.h promises: latency + bytes / rate.
#include "hw/memory/hbm.h"

#include <cstdint>
#include <cstdio>
#include <systemc>
#include <tlm>

namespace {

class my_dma : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
public:
    tlm::tlm_initiator_socket<32> socket{"socket"};
    bool right = false;

    SC_HAS_PROCESS(my_dma);
    explicit my_dma(const sc_core::sc_module_name& name) : sc_core::sc_module(name)
    {
        socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
        SC_THREAD(run);
    }

private:
    sc_core::sc_time access(tlm::tlm_command command, std::uint64_t* data, unsigned bytes)
    {
        tlm::tlm_generic_payload trans;
        trans.set_command(command);
        trans.set_address(4096);
        trans.set_data_ptr(reinterpret_cast<unsigned char*>(data));
        trans.set_data_length(bytes);
        trans.set_streaming_width(bytes);
        trans.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(trans, delay);
        if (!trans.is_response_ok())
            std::printf("the access failed: %s\n", trans.get_response_string().c_str());
        wait(delay);
        return delay;
    }
    void run()
    {
        std::uint64_t written[512], read[512] = {};
        for (std::uint64_t i = 0; i < 512; ++i)
            written[i] = i * 0x9e3779b97f4a7c15;
        access(tlm::TLM_WRITE_COMMAND, written, sizeof written);
        wait(1, sc_core::SC_US);
        const sc_core::sc_time took = access(tlm::TLM_READ_COMMAND, read, sizeof read);
        std::uint64_t wrong = 0;
        for (unsigned i = 0; i < 512; ++i)
            wrong += read[i] != written[i] ? 1 : 0;
        std::printf("%zu bytes, %llu wrong, read in %s\n", sizeof read, static_cast<unsigned long long>(wrong),
                    took.to_string().c_str());
        right = wrong == 0 && took == sc_core::sc_time(120 + 4096 / 100.0, sc_core::SC_NS);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override
    {
        return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

} // namespace

int sc_main(int, char*[])
{
    weft::hbm_config config;
    config.rate = weft::bandwidth(800'000'000'000); // 100 GB/s
    config.latency = weft::duration(120'000);       // 120 ns
    weft::hbm memory("memory", config);
    my_dma dma("dma");
    dma.socket.bind(memory.socket);
    sc_core::sc_start();
    return dma.right ? 0 : 1;
}
