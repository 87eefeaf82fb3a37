// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/trace_writer.h"

#include "platforms/report/run_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft {

namespace {
constexpr std::uint32_t k_links_process = 1'000'000; // ranks are below
constexpr int k_sends = 1;
constexpr int k_receives = 2;
constexpr int k_core = 3;

std::string name_event(const char* what, std::uint32_t process, std::uint32_t thread, const std::string& name)
{
    return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread,
                       nlohmann::json(name).dump());
}
} // namespace

trace_writer::trace_writer(const std::string& path, std::uint64_t at_most) : file_(path), at_most_(at_most)
{
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void trace_writer::line(const std::string& json)
{
    file_.write(first_ ? "\n" : ",\n");
    first_ = false;
    file_.write(json);
}

void trace_writer::name_ranks(const std::vector<std::string>& names)
{
    for (std::uint32_t rank = 0; rank < names.size(); ++rank) {
        line(name_event("process_name", rank, 0, names[rank]));
        line(name_event("thread_name", rank, k_sends, "DMA sends"));
        line(name_event("thread_name", rank, k_receives, "DMA receives"));
    }
}

void trace_writer::name_links(const std::vector<std::string>& names)
{
    line(name_event("process_name", k_links_process, 0, "links"));
    for (std::uint32_t link = 0; link < names.size(); ++link)
        line(name_event("thread_name", k_links_process, link, names[link]));
}

void trace_writer::record(const event_record& r)
{
    if (written_ == at_most_) {
        ++dropped_;
        return;
    }
    ++written_;
    const bool on_link = r.kind == record_kind::link_emitted;
    const bool received = r.kind == record_kind::message_accepted;
    line(fmt::format(
        R"({{"ph":"X","name":"{} {}","ts":{},"dur":{},"pid":{},"tid":{},"args":{{"from":{},"to":{},"message":{},"bytes":{},"last":{}}}}})",
        received ? "from" : "to", received ? r.source : r.destination, exact_us(r.time_ps), exact_us(r.span_ps),
        on_link ? k_links_process : r.where,
        on_link    ? static_cast<int>(r.where)
        : received ? k_receives
                   : k_sends,
        r.source, r.destination, r.message, r.payload_bytes, r.last_of_message));
}

void trace_writer::name_cores(std::uint32_t ranks)
{
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        line(name_event("thread_name", rank, k_core, "core"));
}

bool trace_writer::begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function)
{
    if (written_ == at_most_) {
        ++dropped_;
        return false;
    }
    ++written_;
    line(fmt::format(R"({{"ph":"B","name":{},"ts":{},"pid":{},"tid":{}}})", nlohmann::json(function).dump(),
                     exact_us(time_ps), rank, k_core));
    return true;
}

void trace_writer::end_call(std::uint32_t rank, std::uint64_t time_ps)
{
    line(fmt::format(R"({{"ph":"E","ts":{},"pid":{},"tid":{}}})", exact_us(time_ps), rank, k_core));
}

void trace_writer::close()
{
    file_.write("\n]}\n");
    file_.commit();
}

} // namespace weft
