// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/pcapng_file.h"

#include "tlm/check.h"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <system_error>

namespace weft {

namespace {

constexpr std::uint32_t k_section_block = 0x0a0d0d0a, k_interface_block = 1, k_simple_packet_block = 3,
                        k_statistics_block = 5, k_packet_block = 6;
constexpr std::uint32_t k_byte_order_magic = 0x1a2b3c4d;
constexpr std::uint16_t k_end_of_options = 0, k_comment = 1, k_name = 2, k_description = 3, k_packet_flags = 2,
                        k_user_application = 4, k_time_resolution = 9, k_time_offset = 14, k_seen = 4, k_left_out = 5,
                        k_ps_beyond = 0x8001;
constexpr std::uint64_t k_ps_per_ns = 1000;
constexpr std::uint64_t k_ps_per_s = 1'000'000'000'000;

/// Blocks are built in host order, which is little-endian on all hosts of weft.
template <class T> void put(std::string& to, T value)
{
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void pad(std::string& to) { to.append((4 - to.size() % 4) % 4, '\0'); }

/// A block of `type` from here on; `body` appends what stands in it. `to` begins at a multiple of four.
template <class Body> void append_block(std::string& to, std::uint32_t type, Body&& body)
{
    const std::size_t start = to.size();
    put(to, type);
    put(to, std::uint32_t{0});
    body();
    pad(to);
    const auto length = static_cast<std::uint32_t>(to.size() - start + 4);
    put(to, length);
    to.replace(start + 4, 4, reinterpret_cast<const char*>(&length), 4);
}
void option(std::string& to, std::uint16_t code, std::string_view value)
{
    put(to, code);
    put(to, static_cast<std::uint16_t>(value.size()));
    to.append(value);
    pad(to);
}
template <class T> void number_option(std::string& to, std::uint16_t code, T value)
{
    option(to, code, {reinterpret_cast<const char*>(&value), sizeof value});
}
void end_options(std::string& to) { put(to, std::uint32_t{k_end_of_options}); }

} // namespace

std::string pcapng_section(const std::string& comment)
{
    std::string s;
    append_block(s, k_section_block, [&] {
        put(s, k_byte_order_magic);
        put(s, std::uint16_t{1}); // version 1.0
        put(s, std::uint16_t{0});
        put(s, ~std::uint64_t{0}); // length of the section: not told
        option(s, k_comment, comment);
        option(s, k_user_application, "weft");
        end_options(s);
    });
    return s;
}

std::string pcapng_block(const pcapng_interface& i)
{
    std::string s;
    append_block(s, k_interface_block, [&] {
        put(s, i.link_type);
        put(s, std::uint16_t{0});
        put(s, i.longest);
        option(s, k_name, i.name);
        option(s, k_description, i.description);
        number_option(s, k_time_resolution, std::uint8_t{9});
        end_options(s);
    });
    return s;
}

void append_pcapng(std::string& to, const pcapng_packet& p, std::string_view bytes, std::string_view comment)
{
    append_block(to, k_packet_block, [&] {
        const std::uint64_t ns = p.time_ps / k_ps_per_ns;
        put(to, p.interface);
        put(to, static_cast<std::uint32_t>(ns >> 32));
        put(to, static_cast<std::uint32_t>(ns));
        put(to, static_cast<std::uint32_t>(bytes.size()));
        put(to, p.original_bytes);
        to.append(bytes);
        pad(to);
        const auto beyond = static_cast<std::uint32_t>(p.time_ps % k_ps_per_ns);
        if (!comment.empty())
            option(to, k_comment, comment);
        number_option(to, k_packet_flags, p.flags);
        if (beyond != 0)
            number_option(to, k_ps_beyond, beyond);
        end_options(to);
    });
}

std::string pcapng_statistics(std::uint32_t interface, std::uint64_t seen, std::uint64_t left_out)
{
    std::string s;
    append_block(s, k_statistics_block, [&] {
        put(s, interface);
        put(s, std::uint64_t{0});
        number_option(s, k_seen, seen);
        number_option(s, k_left_out, left_out);
        end_options(s);
    });
    return s;
}

namespace {

constexpr std::uint32_t k_longest_block = 1 << 26; ///< assumed: no packet is longer

} // namespace

class pcapng_reader::blocks {
    struct interface_clock {
        std::uint64_t ticks_per_s = 1'000'000; ///< unless the interface tells another
        std::uint64_t offset_s = 0;
    };

public:
    explicit blocks(const std::string& path) : path_(path), file_(path, std::ios::binary)
    {
        if (!file_)
            throw user_error(fmt::format("{} cannot be read: {}. Name a pcapng file, such as weft run --pcap writes.",
                                         path, std::generic_category().message(errno)));
    }
    bool next(pcapng_packet& p)
    {
        while (next_block())
            if (type_ == k_section_block) {
                begin_section();
            } else if (type_ == k_interface_block) {
                read_interface();
            } else if (type_ == k_statistics_block) {
                read_statistics();
            } else if (type_ == k_packet_block) {
                read_packet(p);
                return true;
            } else if (type_ == k_simple_packet_block) {
                refuse(
                    "is a packet without a time (simple packet block), which cannot be replayed; write it again with times");
            }
        if (!begun_)
            refuse("has nothing in it");
        return false;
    }
    const std::vector<pcapng_interface>& interfaces() const { return interfaces_; }

private:
    [[noreturn]] void refuse(const std::string& what) const
    {
        throw user_error(fmt::format("{}: byte {}: {}.", path_, block_at_, what));
    }
    std::uint16_t u16(std::size_t at) const
    {
        const auto* b = reinterpret_cast<const std::uint8_t*>(need(at, 2));
        return static_cast<std::uint16_t>(big_ ? b[0] << 8 | b[1] : b[1] << 8 | b[0]);
    }
    std::uint32_t u32(std::size_t at) const
    {
        return big_ ? std::uint32_t{u16(at)} << 16 | u16(at + 2) : std::uint32_t{u16(at + 2)} << 16 | u16(at);
    }
    const char* need(std::size_t at, std::size_t bytes) const
    {
        if (at + bytes > body_.size())
            refuse(fmt::format("the block ends after {} B, where {} B are needed; the file is damaged", body_.size(),
                               at + bytes));
        return body_.data() + at;
    }
    /// Type and body of the block behind the last one; false at the end of the file.
    bool next_block()
    {
        block_at_ = next_at_;
        char head[12];
        file_.read(head, 8);
        if (file_.gcount() == 0)
            return false;
        if (file_.gcount() < 8)
            refuse("the file ends in the middle of a block; it was cut");
        body_.assign(head, 8);
        if (body_.compare(0, 4, "\x0a\x0d\x0d\x0a") == 0) { // the same in either order
            file_.read(head + 8, 4);
            if (file_.gcount() < 4)
                refuse("the file ends in the middle of a block; it was cut");
            body_.append(head + 8, 4);
            big_ = false;
            if (u32(8) != k_byte_order_magic) {
                big_ = true;
                if (u32(8) != k_byte_order_magic)
                    refuse("the section has no byte-order magic; the file is no pcapng file, or damaged");
            }
        } else if (!begun_) {
            const std::uint32_t magic = u32(0);
            if (magic == 0xa1b2c3d4 || magic == 0xd4c3b2a1 || magic == 0xa1b23c4d || magic == 0x4d3cb2a1)
                refuse("the file is a pcap file; make it one of pcapng with `editcap -F pcapng`");
            refuse("the file is no pcapng file: it does not begin with a section header");
        }
        type_ = u32(0);
        const std::uint32_t length = u32(4);
        if (length < 12 || length % 4 != 0 || length > k_longest_block)
            refuse(fmt::format("a block of {} B; the file is damaged", length));
        std::string rest(length - body_.size(), '\0');
        file_.read(rest.data(), static_cast<std::streamsize>(rest.size()));
        if (static_cast<std::size_t>(file_.gcount()) < rest.size())
            refuse("the file ends in the middle of a block; it was cut");
        body_ += rest;
        if (u32(length - 4) != length)
            refuse("the two lengths of the block differ; the file is damaged");
        next_at_ += length;
        body_.resize(length - 4);
        body_.erase(0, 8);
        begun_ = true;
        return true;
    }
    /// Calls `take(code, value)` for the options from `at` on.
    template <class Take> void options(std::size_t at, Take&& take) const
    {
        while (at < body_.size()) {
            const std::uint16_t code = u16(at), length = u16(at + 2);
            if (code == k_end_of_options)
                return;
            need(at + 4, length);
            take(code, at + 4, length);
            at += 4 + (length + 3u) / 4 * 4;
        }
    }
    void begin_section()
    {
        section_interfaces_ = interfaces_.size();
        if (u16(4) != 1)
            refuse(fmt::format("version {} of pcapng; only version 1 is known", u16(4)));
    }
    void read_interface()
    {
        pcapng_interface i;
        interface_clock clock;
        i.link_type = u16(0);
        i.longest = u32(4);
        options(8, [&](std::uint16_t code, std::size_t at, std::uint16_t length) {
            if (code == k_name)
                i.name.assign(body_, at, length);
            else if (code == k_description)
                i.description.assign(body_, at, length);
            else if (code == k_time_offset && length == 8)
                clock.offset_s = u64(at);
            else if (code == k_time_resolution && length == 1) {
                const auto r = static_cast<std::uint8_t>(body_[at]);
                const unsigned power = r & 0x7f;
                if (power > ((r & 0x80) != 0 ? 40u : 12u))
                    refuse("time is finer than picoseconds");
                clock.ticks_per_s = 1;
                for (unsigned n = 0; n < power; ++n)
                    clock.ticks_per_s *= (r & 0x80) != 0 ? 2 : 10;
            }
        });
        interfaces_.push_back(std::move(i));
        clocks_.push_back(clock);
    }
    /// Place in interfaces_ of what a block is of.
    std::uint32_t interface_of(const char* what) const
    {
        const std::uint32_t number = u32(0);
        if (section_interfaces_ + number >= interfaces_.size())
            refuse(fmt::format("{} of interface {}, which the file does not describe", what, number));
        return static_cast<std::uint32_t>(section_interfaces_ + number);
    }
    std::uint64_t u64(std::size_t at) const
    {
        return big_ ? std::uint64_t{u32(at)} << 32 | u32(at + 4) : std::uint64_t{u32(at + 4)} << 32 | u32(at);
    }
    void read_statistics()
    {
        pcapng_interface& i = interfaces_[interface_of("statistics")];
        options(12, [&](std::uint16_t code, std::size_t at, std::uint16_t length) {
            if (code == k_left_out && length == 8)
                i.left_out = u64(at); // the last ones hold
        });
    }
    void read_packet(pcapng_packet& p)
    {
        p.flags = 0;
        p.comment.clear();
        p.interface = interface_of("a packet");
        const std::uint64_t ticks = std::uint64_t{u32(4)} << 32 | u32(8);
        const interface_clock& clock = clocks_[p.interface];
        __extension__ typedef unsigned __int128 uint128;
        const uint128 ps = static_cast<uint128>(ticks) * k_ps_per_s / clock.ticks_per_s +
                           static_cast<uint128>(clock.offset_s) * k_ps_per_s;
        if (ps >> 63 != 0)
            refuse(
                "the time of a packet is beyond 106 days, the longest that is simulated; write times from the start of the capture "
                "(editcap -t)");
        p.time_ps = static_cast<std::uint64_t>(ps);
        const std::uint32_t held = u32(12);
        p.original_bytes = u32(16);
        p.bytes.assign(need(20, held), held);
        options(20 + (held + std::size_t{3}) / 4 * 4, [&](std::uint16_t code, std::size_t at, std::uint16_t length) {
            if (code == k_comment)
                p.comment.assign(body_, at, length);
            else if (code == k_packet_flags && length == 4)
                p.flags = u32(at);
            else if (code == k_ps_beyond && length == 4 && u32(at) < k_ps_per_ns)
                p.time_ps += u32(at);
        });
    }

    const std::string path_;
    std::ifstream file_;
    std::vector<pcapng_interface> interfaces_;
    std::vector<interface_clock> clocks_; ///< of the interfaces
    std::string body_;                    ///< of the block, behind type and length
    std::uint32_t type_ = 0;
    std::uint64_t block_at_ = 0, next_at_ = 0;
    std::size_t section_interfaces_ = 0; ///< of the sections before
    bool big_ = false;
    bool begun_ = false;
};

pcapng_reader::pcapng_reader(const std::string& path) : blocks_(std::make_unique<blocks>(path)) {}
pcapng_reader::~pcapng_reader() = default;
pcapng_reader::pcapng_reader(pcapng_reader&&) noexcept = default;
bool pcapng_reader::next(pcapng_packet& p) { return blocks_->next(p); }
const std::vector<pcapng_interface>& pcapng_reader::interfaces() const { return blocks_->interfaces(); }

} // namespace weft
