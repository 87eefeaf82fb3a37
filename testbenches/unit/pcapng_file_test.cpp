// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures as files: what is written is read again, in either byte order; damaged files are refused; packets of fabrics as bytes.
#include "platforms/report/fabric_record.h"
#include "platforms/report/pcapng_file.h"
#include "testbenches/support/temporary_folder.h"
#include "tlm/check.h"

using namespace weft;
using namespace weft::testing;
using Catch::Matchers::Contains;

namespace {

/// Two interfaces, packets with and without comment, at times with and without picoseconds.
std::string sample()
{
    std::string file = pcapng_section("a sample");
    file += pcapng_block({"cable_0 up", "nic(0) > switch", k_link_type_ethernet, 0});
    file += pcapng_block({"cable_0 down", "switch > nic(0)", k_link_type_ethernet, 100});
    pcapng_packet p;
    p.time_ps = 5'000'000'000'001;
    p.original_bytes = 61;
    p.flags = pcapng_packet::k_inbound;
    append_pcapng(file, p, std::string(61, 'x'), "");
    p.interface = 1;
    p.time_ps = 7'000;
    p.original_bytes = 1000;
    p.flags |= pcapng_packet::k_crc_error;
    append_pcapng(file, p, "abcde", "damaged");
    return file + pcapng_statistics(0, 3, 2);
}

struct pcapng_content {
    std::vector<pcapng_interface> interfaces;
    std::vector<pcapng_packet> packets;
};

pcapng_content read_text(const temporary_folder& folder, const std::string& text)
{
    folder.write("f.pcapng", text);
    pcapng_reader reader((folder / "f.pcapng").string());
    pcapng_content content;
    for (pcapng_packet p; reader.next(p);)
        content.packets.push_back(p);
    content.interfaces = reader.interfaces();
    return content;
}

std::string refusal(const temporary_folder& folder, const std::string& text)
{
    try {
        read_text(folder, text);
    } catch (const user_error& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("a capture is read as it was written")
{
    const temporary_folder folder;
    const std::string text = sample();
    CHECK(text.size() % 4 == 0);
    const pcapng_content c = read_text(folder, text + text); // a second section counts its interfaces anew
    REQUIRE(c.interfaces.size() == 4);
    CHECK(c.interfaces[3].name == "cable_0 down");
    CHECK(c.interfaces[3].description == "switch > nic(0)");
    CHECK(c.interfaces[3].longest == 100);
    CHECK(c.interfaces[2].left_out == 2); // as the statistics say
    CHECK(c.interfaces[3].left_out == 0);
    REQUIRE(c.packets.size() == 4);
    CHECK(c.packets[0].time_ps == 5'000'000'000'001);
    CHECK(c.packets[0].bytes == std::string(61, 'x'));
    CHECK(c.packets[0].flags == pcapng_packet::k_inbound);
    CHECK(c.packets[0].comment.empty());
    CHECK(c.packets[3].interface == 3);
    CHECK(c.packets[3].time_ps == 7'000);
    CHECK(c.packets[3].original_bytes == 1000);
    CHECK(c.packets[3].flags == (pcapng_packet::k_inbound | pcapng_packet::k_crc_error));
    CHECK(c.packets[3].comment == "damaged");
}

TEST_CASE("a capture of a big-endian host in microseconds is read")
{
    const temporary_folder folder;
    std::string text;
    const auto words = [&](std::initializer_list<std::uint32_t> all) {
        for (const std::uint32_t w : all)
            for (int shift = 24; shift >= 0; shift -= 8)
                text += static_cast<char>(w >> shift & 0xff);
    };
    words({0x0a0d0d0a, 28, 0x1a2b3c4d, 0x00010000, ~0u, ~0u, 28});
    words({1, 20, 0x00010000, 0, 20});
    words({6, 36, 0, 0, 1'500'000, 4, 4, 0x61626364, 36});
    const pcapng_content c = read_text(folder, text);
    REQUIRE(c.packets.size() == 1);
    CHECK(c.packets[0].time_ps == 1'500'000'000'000);
    CHECK(c.packets[0].bytes == "abcd");
}

TEST_CASE("damaged captures are refused")
{
    const temporary_folder folder;
    const std::string text = sample();
    CHECK_THAT(refusal(folder, ""), Contains("has nothing in it"));
    CHECK_THAT(refusal(folder, "hello, world"), Contains("no pcapng file"));
    CHECK_THAT(refusal(folder, std::string("\xd4\xc3\xb2\xa1\x02\x00\x04\x00", 8) + text), Contains("editcap -F pcapng"));
    std::size_t refused = 0;
    for (std::size_t length = 1; length < text.size(); ++length)
        refused += refusal(folder, text.substr(0, length)).empty() ? 0 : 1;
    const std::size_t blocks = 6; // section, two interfaces, two packets; and the statistics, which is the whole file
    CHECK(refused == text.size() - blocks);
    std::string longer = text;
    longer[4] = '\x7f'; // another length of the section than at its end
    CHECK_THAT(refusal(folder, longer), Contains("damaged"));
    std::string other = text;
    other.replace(other.find("xxxx") - 20, 4, "\x09\0\0\0", 4); // of an interface that is not there
    CHECK_THAT(refusal(folder, other), Contains("interface 9, which the file does not describe"));
}

TEST_CASE("a packet of a fabric as bytes of a capture")
{
    packet_pool pool;
    const packet_ptr p = pool.make();
    p->source = 0x01020304;
    p->destination = 5;
    p->message = 0x11;
    p->packet_number = 0x22;
    p->packet_count = 3;
    p->destination_offset = 0x0102030405060708;
    p->wire_bytes = 700;
    p->route = 0x8877665544332211;
    p->flags = k_last_of_message;
    p->vl = 9;
    pool.add_payload(*p, 4);
    p->payload_bytes = 4;
    for (unsigned i = 0; i < 4; ++i)
        p->payload[i] = static_cast<std::uint8_t>('a' + i);
    const std::string r = fabric_record(*p, "tpu_v3", 0);
    REQUIRE(r.size() == k_fabric_record_bytes + 4);
    CHECK(r.substr(0, 12) == std::string("WF\2\1\x09\0\0\0\1\2\3\4", 12));
    CHECK(r.substr(16, 4) == std::string("\0\0\0\x11", 4));
    CHECK(r.substr(24, 16) == std::string("\0\0\0\x22\0\0\0\3\1\2\3\4\5\6\7\x08", 16));
    CHECK(r.substr(40, 8) == std::string("\0\0\2\xbc\0\0\0\4", 8));
    CHECK(r.substr(48) == std::string("\x11\x22\x33\x44\x55\x66\x77\x88" "tpu_v3\0\0" "abcd", 20));
    CHECK(fabric_record(*p, "a_long_name", 0).substr(56, 8) == "a_long_n");
    CHECK(fabric_record(*p, "", 66).size() == 66);
    CHECK(fabric_record(*p, "", 10).size() == k_fabric_record_bytes); // headers are never cut
}
