// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/trace_fan.h"

namespace weft::cli {

trace_fan::trace_fan(machine& m, std::vector<trace_sink*> sinks) : sinks_(std::move(sinks)), tracks_(sinks_.size())
{
    if (sinks_.empty())
        return;
    trace_sink& all = sinks_.size() == 1 ? *sinks_.front() : *this; // no copy of each record for one
    for (timeline* time : m.all_timelines())
        for (component* c : time->components())
            c->record_into(all);
}

std::uint32_t trace_fan::add_track(const component& owner, const std::string& name)
{
    for (std::size_t i = 0; i < sinks_.size(); ++i)
        tracks_[i].push_back(sinks_[i]->add_track(owner, name));
    return static_cast<std::uint32_t>(tracks_.front().size() - 1);
}

void trace_fan::slice(const trace_slice& s)
{
    trace_slice own = s;
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
        own.track = tracks_[i][s.track];
        sinks_[i]->slice(own);
    }
}

void trace_fan::mark(const trace_slice& s)
{
    trace_slice own = s;
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
        own.track = tracks_[i][s.track];
        sinks_[i]->mark(own);
    }
}

} // namespace weft::cli
