// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SwitchML over UDP. The core converts: tensor -> send buffer of the slot -> frame, and frame -> tensor. The send
// buffer stays as it is until the answer, so what is sent again is what was sent.
//
// The published client copies nothing besides: its loops load from the tensor and store into the packet, or the other
// way round (p4app-switchML, PreprocessSingle and PostprocessSingle, quoted). Hence stream_in() and stream_out().
#include "firmware/costs.h"
#include "firmware/switchml/conversion.h"
#include "firmware/switchml/worker.h"

namespace weft::firmware {

namespace {

namespace sml = abi::switchml;

// Room of a frame such that its payload is aligned to 8 bytes.
constexpr std::uint32_t k_frame_at = sizeof(abi::nic_completion);
constexpr std::uint32_t k_payload_at = k_frame_at + sml::k_udp_headers;
constexpr std::uint32_t k_skew = (8 - k_payload_at % 8) % 8;

struct slot_state {
    std::uint32_t use = 0;
    bool waits = false; ///< for an answer
    bool version = false;
    std::int8_t sent_exponent = 0;
    std::int8_t agreed_exponent = 0; ///< of the integers under way
};

class udp_worker : switchml_worker {
    friend switchml_worker; // serve()

public:
    udp_worker(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command)
        : switchml_worker(hal, nic, context, command, window_slots(context.job)), payload_(payload_bytes(context.job)),
          frame_bytes_(sml::k_udp_headers + payload_),
          port_(static_cast<std::uint16_t>(sml::k_udp_port_base + context.job.core))
    {
        entry_.what = abi::nic_send::frame;
        entry_.header_bytes = sml::k_udp_headers;
        entry_.payload_bytes = payload_;
        sml::addresses a;
        a.destination_mac = job_.switch_mac;
        a.source_mac = job_.own_mac;
        a.destination_ip = job_.switch_ip;
        a.source_ip = job_.own_ip;
        a.destination_port = a.source_port = port_;
        sml::encode(a, frame_bytes_ - sml::k_header, entry_.header);
    }

    void run(collective_result& result)
    {
        abi::status s = clear_zeros();
        while (s.ok() && !finished())
            s = turn();
        finish(result, s);
    }

private:
    std::uint64_t buffer_of(std::uint32_t slot) const { return core_area() + std::uint64_t{slot} * payload_; }
    std::uint64_t zeros() const { return buffer_of(window_); }
    std::uint64_t offset(std::uint64_t address) const { return address - context_.table.hbm_base; }

    // Uses that carry exponents only have a payload too.
    abi::status clear_zeros()
    {
        if (!float_ || share_.blocks == 0)
            return {};
        for (std::uint32_t i = 0; i < payload_ / 4; ++i)
            words()[i] = 0;
        charge(payload_ / 4 * costs::k_switchml_fill);
        hal_.copy_out(zeros(), words(), payload_);
        return nic_.bus_status("NIC.TX_BUFFER");
    }

    abi::status turn()
    {
        const bool first = begun_ < first_uses_; // the client sends the first packets without its buffer
        for (std::uint32_t i = 0; i < batch_ && begun_ < first_uses_; ++i, ++begun_) {
            const std::uint32_t position = (context_.shift + begun_) % (2 * window_);
            const bool second = position >= window_;
            if (abi::status s = start(position - (second ? window_ : 0), begun_, second && !lossless_); !s.ok())
                return s;
        }
        return serve(*this, timers_, first);
    }

    // Begins a use of a slot: fills its buffer and sends it.
    abi::status start(std::uint32_t slot, std::uint32_t use, bool version)
    {
        slot_state& s = slots_[slot];
        s.use = use;
        s.version = version;
        s.waits = true;
        s.sent_exponent = 0;
        if (!exponent_only(use)) {
            load(block_of(use));
            if (float_)
                quantise_block(words(), payload_ / 4, s.agreed_exponent, job_.workers);
            else
                swap_block(words(), payload_ / 4);
            charge_conversion(column().quantise);
            hal_.stream_out(buffer_of(slot), words(), payload_);
        }
        if (float_) {
            s.sent_exponent = abi::k_min_exponent;
            if (use < share_.blocks) {
                load(use);
                charge_conversion(column().exponent);
                s.sent_exponent = exponent_of_block(words(), payload_ / 4);
            }
        }
        return send(slot);
    }

    // A block: of int32 its bytes are swapped, of float32 it takes `float_cost` for eight elements.
    void charge_conversion(std::uint32_t float_cost)
    {
        const std::uint32_t eights = payload_ / 4 / costs::k_switchml_elements;
        charge(float_ ? column().float_block + eights * float_cost
                      : column().swap_block + eights * column().swap);
    }

    // A block into `words`; the last packet is a whole one too.
    void load(std::uint32_t block)
    {
        const std::uint32_t elements = elements_of(block, job_.elements_per_packet);
        hal_.stream_in(words(), address_of(share_.first + std::uint64_t{block} * job_.elements_per_packet),
                       elements * 4);
        for (std::uint32_t i = elements; i < payload_ / 4; ++i)
            words()[i] = 0;
        charge((payload_ / 4 - elements) * costs::k_switchml_fill);
    }

    abi::status send(std::uint32_t slot)
    {
        const slot_state& s = slots_[slot];
        charge(costs::k_switchml_send);
        sml::header h;
        h.size_code =
            static_cast<std::uint8_t>(job_.elements_per_packet == 64 ? sml::k_size_64_words : sml::k_size_256_words);
        h.job = static_cast<std::uint8_t>(job_.job);
        h.id = tag_of(s.use);
        h.slot = static_cast<std::uint16_t>(first_slot(job_) + slot);
        h.version = s.version;
        h.exponent0 = s.sent_exponent;
        h.exponent1 = s.sent_exponent;
        sml::encode(h, entry_.header + sml::k_header);
        entry_.payload_offset = offset(exponent_only(s.use) ? zeros() : buffer_of(slot));
        ++sent_;
        if (!lossless_)
            timers_.start(slot, now_ns_);
        return nic_.post(entry_, command_.timeout_ns);
    }

    // One receive entry. What is not the answer to a use under way is dropped: foreign, late, or come twice.
    abi::status receive()
    {
        charge(costs::k_switchml_receive);
        nic_.take_frame(room_ + k_skew, k_payload_at + payload_);
        if (abi::status s = nic_.bus_status("NIC.RX_RING"); !s.ok())
            return s;
        std::uint32_t slot = 0;
        sml::header h;
        if (!is_answer(slot, h))
            return {};
        slot_state& s = slots_[slot];
        s.waits = false;
        if (!lossless_)
            timers_.stop(slot);
        on_answer();
        if (!exponent_only(s.use)) {
            if (float_)
                dequantise_block(words(), payload_ / 4, s.agreed_exponent, job_.workers);
            else
                swap_block(words(), payload_ / 4);
            charge_conversion(column().dequantise);
            const std::uint32_t block = block_of(s.use);
            hal_.stream_out(address_of(share_.first + std::uint64_t{block} * job_.elements_per_packet), words(),
                            elements_of(block, job_.elements_per_packet) * 4);
        }
        s.agreed_exponent = h.exponent0;
        if (s.use + window_ >= last_use_)
            return nic_.bus_status("NIC.RX_RING");
        return start(slot, s.use + window_, !s.version && !lossless_);
    }

    bool is_answer(std::uint32_t& slot, sml::header& h) const
    {
        abi::nic_completion c;
        __builtin_memcpy(&c, room_ + k_skew, sizeof c);
        const std::uint8_t* frame = room_ + k_skew + k_frame_at;
        if (c.what != abi::nic_event::frame || c.bytes != frame_bytes_ ||
            sml::get16(frame + 12) != sml::k_ether_type_ipv4 || frame[sml::k_ip] != 0x45 ||
            frame[sml::k_ip + 9] != sml::k_protocol_udp || sml::get16(frame + sml::k_udp + 2) != port_)
            return false;
        h = sml::decode(frame + sml::k_header);
        slot = h.slot - first_slot(job_);
        if (h.message_type != sml::k_message_request || h.job != (job_.job & 0xff) || slot >= window_ ||
            h.size_code != (entry_.header[sml::k_header] & 7))
            return false;
        // The first uses are begun in order of their positions, so a slot that has no use yet waits for nothing.
        const slot_state& s = slots_[slot];
        return s.waits && h.version == s.version && h.id == tag_of(s.use);
    }

    abi::status send_late_ones_again(bool& resent)
    {
        std::uint32_t batch = 0;
        while (!timers_.none()) {
            const std::uint32_t slot = timers_.oldest();
            if (timers_.started_ns(slot) + timeout_.ns() > now_ns_)
                break;
            if (!resent)
                if (abi::status s = nic_.take_error(); !s.ok())
                    return s;
            if (now_ns_ - progress_ns_ >= command_.timeout_ns)
                return give_up();
            resent = true;
            timers_.stop(slot);
            timeout_.on_timeout();
            if (abi::status s = send(slot); !s.ok())
                return s;
            if (++batch % batch_ != 0)
                continue;
            pay();
            if (abi::status s = nic_.doorbell(); !s.ok())
                return s;
        }
        if (batch == 0)
            return {};
        pay();
        return nic_.doorbell();
    }

    std::uint32_t* words() { return reinterpret_cast<std::uint32_t*>(room_ + k_skew + k_payload_at); }

    const std::uint32_t payload_;
    const std::uint32_t frame_bytes_;
    const std::uint16_t port_;
    abi::nic_send_entry entry_; ///< what is the same in all stays
    send_timers<k_max_window> timers_;
    slot_state slots_[k_max_window];
    alignas(8) std::uint8_t room_[k_skew + k_payload_at + k_max_payload_bytes];
};

} // namespace

void run_udp(abi::hal& hal, nic_driver& nic, firmware_context& context, const abi::command& command,
             collective_result& result)
{
    udp_worker(hal, nic, context, command).run(result);
}

} // namespace weft::firmware
