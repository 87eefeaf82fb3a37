// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/trace_writer.h"

#include "platforms/report/run_report.h"
#include "tlm/check.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft {

namespace {
constexpr std::uint32_t k_links_process = 1'000'000; // ranks are below
constexpr int k_sends = 1;
constexpr int k_receives = 2;
constexpr int k_core = 3;

[[noreturn]] void refuse(const std::string& path)
{
    throw user_error(
        fmt::format("the trace {} cannot be written: {}. Give --trace a file in a folder that exists and has room.",
                    path, std::strerror(errno)));
}

std::string name_event(const char* what, std::uint32_t process, std::uint32_t thread, const std::string& name)
{
    return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread,
                       nlohmann::json(name).dump());
}
} // namespace

trace_writer::trace_writer(std::string path, std::uint64_t at_most) : path_(std::move(path)), at_most_(at_most)
{
    file_ = std::fopen((path_ + ".part").c_str(), "w");
    if (file_ == nullptr)
        refuse(path_);
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file_);
}

trace_writer::~trace_writer()
{
    if (file_ != nullptr) { // never completed: a run that threw
        std::fclose(file_);
        std::remove((path_ + ".part").c_str());
    }
}

void trace_writer::line(const std::string& json)
{
    std::fputs(first_ ? "\n" : ",\n", file_);
    first_ = false;
    std::fwrite(json.data(), 1, json.size(), file_);
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
    std::fputs("\n]}\n", file_);
    const bool fine = std::fflush(file_) == 0 && std::ferror(file_) == 0;
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!fine || !closed || std::rename((path_ + ".part").c_str(), path_.c_str()) != 0) {
        std::remove((path_ + ".part").c_str());
        refuse(path_);
    }
}

} // namespace weft
