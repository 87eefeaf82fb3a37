// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What somebody who looks on sees of frames. Transmitters, cables, NICs and switches have a sink pointer that is null
// unless somebody looks; then a frame costs one call. frame_recorder.h is a tap between two sockets.
#pragma once

#include "hw/ethernet/ethernet_frame.h"

#include <string>
#include <vector>

namespace weft {

struct frame_record {
    std::uint64_t time_ps = 0;   ///< last byte at the place that records
    std::uint32_t direction = 0; ///< number of the place, as it was told
    frame_summary frame;
    std::uint64_t span_ps = 0; ///< how long it was there before; a tap has 0
    bool lost = false;         ///< it ended there
};
/// "12.345 us direction 0: SwitchML job ..."
std::string to_string(const frame_record& record);

/// Takes records; a vector_frame_sink keeps them.
class frame_sink {
public:
    virtual void record(const frame_record& r) = 0;

protected:
    ~frame_sink() = default;
};
class vector_frame_sink final : public frame_sink {
public:
    void record(const frame_record& r) override { records.push_back(r); }
    std::vector<frame_record> records;
};

/// A place that records: nothing until somebody looks.
class frame_watch {
public:
    void set(frame_sink* sink, std::uint32_t number) { sink_ = sink, number_ = number; }
    explicit operator bool() const { return sink_ != nullptr; }
    /// `frame` has been at this place from `from_ps` to `until_ps`. Only when somebody looks.
    void record(const packet& frame, std::uint64_t from_ps, std::uint64_t until_ps, std::uint32_t offset = 0,
                bool lost = false) const
    {
        sink_->record({until_ps, number_ + offset, decode_frame(frame), until_ps - from_ps, lost});
    }

private:
    frame_sink* sink_ = nullptr;
    std::uint32_t number_ = 0;
};

} // namespace weft
