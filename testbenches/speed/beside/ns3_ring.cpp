// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The traffic of a ring all-reduce in ns-3, for beside.sh: every node of a ring sends `messages` of `bytes` to the next one,
// in packets of 1 KiB by UDP over IPv4, at the rate of the links. One line on stdout: packet hops and CPU seconds of the
// simulation alone. ns-3 has no firmware, no memories and no credits here: what is compared is the cost of a packet that
// crosses a link.
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t k_packet_bytes = 1024;
constexpr std::uint16_t k_port = 9;

std::uint64_t received = 0;

void on_packet(ns3::Ptr<ns3::Socket> socket)
{
    while (socket->Recv())
        ++received;
}

void send(ns3::Ptr<ns3::Socket> socket, std::uint64_t left, ns3::Time gap)
{
    socket->Send(ns3::Create<ns3::Packet>(k_packet_bytes));
    if (left > 1)
        ns3::Simulator::Schedule(gap, &send, socket, left - 1, gap);
}

} // namespace

int main(int argc, char** argv)
{
    const std::uint32_t nodes = argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 64;
    const std::uint64_t packets = argc > 2 ? static_cast<std::uint64_t>(std::atoll(argv[2])) : 20'000; // of each node
    ns3::NodeContainer all;
    all.Create(nodes);
    ns3::InternetStackHelper().Install(all);
    ns3::PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", ns3::StringValue("560Gbps")); // 70 GB/s, as a link of TPU-v3
    link.SetChannelAttribute("Delay", ns3::StringValue("20ns"));
    ns3::Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    std::vector<ns3::Ptr<ns3::Socket>> sockets;
    for (std::uint32_t n = 0; n < nodes; ++n) {
        const auto devices = link.Install(all.Get(n), all.Get((n + 1) % nodes));
        const auto ends = addresses.Assign(devices);
        addresses.NewNetwork();
        const auto type = ns3::UdpSocketFactory::GetTypeId();
        const auto sink = ns3::Socket::CreateSocket(all.Get((n + 1) % nodes), type);
        sink->Bind(ns3::InetSocketAddress(ends.GetAddress(1), k_port));
        sink->SetRecvCallback(ns3::MakeCallback(&on_packet));
        const auto source = ns3::Socket::CreateSocket(all.Get(n), type);
        source->Connect(ns3::InetSocketAddress(ends.GetAddress(1), k_port));
        sockets.push_back(sink);
        constexpr double k_headers = 30, k_bytes_per_ns = 70; // PPP, IPv4, UDP
        const ns3::Time gap = ns3::PicoSeconds(static_cast<std::uint64_t>((k_packet_bytes + k_headers) / k_bytes_per_ns * 1000) + 1);
        ns3::Simulator::Schedule(ns3::NanoSeconds(n), &send, source, packets, gap);
    }
    const std::clock_t begin = std::clock();
    ns3::Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::cout << received << " " << seconds << "\n";
    ns3::Simulator::Destroy();
    return received == nodes * packets ? 0 : 1;
}
