// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/results_schema.h"

#include <string>
#include <utility>
#include <vector>

namespace weft {

namespace {

using json = nlohmann::ordered_json;

/// A member of an object.
struct member {
    const char* name;
    json value;
    bool always = true;
};

json typed(const char* type, const std::string& text) { return json{{"type", type}, {"description", text}}; }
json text(const std::string& what) { return typed("string", what); }
json flag(const std::string& what) { return typed("boolean", what); }
json number(const std::string& what)
{
    json j = typed("number", what);
    j["minimum"] = 0;
    return j;
}
json count(const std::string& what)
{
    json j = typed("integer", what);
    j["minimum"] = 0;
    return j;
}
json or_null(json value)
{
    value["type"] = {value["type"], "null"};
    return value;
}
json list(json items, const std::string& what)
{
    json j = typed("array", what);
    j["items"] = std::move(items);
    return j;
}
json object(const std::vector<member>& members, const std::string& what)
{
    json j = typed("object", what);
    j["additionalProperties"] = false;
    j["required"] = json::array();
    for (const member& m : members) {
        j["properties"][m.name] = m.value;
        if (m.always)
            j["required"].push_back(m.name);
    }
    return j;
}
/// An object whose keys are names.
json named(json value, const std::string& what)
{
    json j = typed("object", what);
    j["additionalProperties"] = std::move(value);
    return j;
}

std::vector<member> case_keys()
{
    return {{"op", text("The collective: all_reduce, broadcast, ...")},
            {"algorithm", text("How; what `auto` has chosen")},
            {"type", text("Element type")},
            {"redop", text("Reduction; none where nothing is reduced")},
            {"size_bytes", count("Size as in nccl-tests, in bytes")},
            {"count", count("Elements in that size")}};
}

json row_schema()
{
    std::vector<member> row = case_keys();
    row.insert(row.begin() + 2, member{"group", text("Ranks that completed it, where not all did together"), false});
    const std::vector<member> more = {
        {"time_us", number("From the start to the last rank's end, in microseconds; of a repeated case the mean")},
        {"token_bytes", count("Bytes of a token; of dispatch and combine"), false},
        {"experts_per_token", count("Ranks that each token goes to; of dispatch and combine"), false},
        {"expert_skew", number("Share of the choices among the first quarter of the ranks alone; of dispatch and combine"), false},
        {"transposed", flag("Rows and columns had each other's roles; only where they had"), false},
        {"algbw_GBps", number("size_bytes over the time, in 10^9 bytes per second")},
        {"busbw_GBps",
         number("algbw_GBps times the factor of nccl-tests for this collective, in 10^9 bytes per second")},
        {"wrong", or_null(count("Wrong elements over all ranks; null: data: off, nothing was compared"))},
        {"answers", or_null(text("16 hexadecimal digits of the bytes of all answers of all repeats, without times: the same bits have the same; null: data: off")), false},
        {"steps", count("Longest chain of steps of a ring or tree")},
        {"train_packets", count("Packets that a transaction stood for, at most; 1: every packet by itself")},
        {"bound_us",
         number("The least time that links and memory allow any algorithm of its kind, in microseconds: ranks that sum, or a switch; where it is known"), false},
        {"bound_share", number("bound_us over time_us; where it is known"), false},
        {"bound_by", text("What sets the bound; where it is known"), false},
        {"limited_by",
         text(
             "The part that was busy for most of the time: link, memory, dma, offload, core, timeout (packets were lost, and nothing was busy for half of the time), credits, arbitration or latency; of repeats: of all together"),
         false},
        {"busy_shares",
         named(number("0 to 1"), "For how much of the time the busiest part of each kind was busy; of repeats: means by time. dma: wires "
                                "between chips and fabric, and DMA engines that start, or move bytes at their rate. offload: "
                                "SRAM or adders of a CCU, or a loop-back port of a switch that sums"),
         false},
        {"chosen_by", text("Why auto has taken this algorithm; with algorithms: [auto]"), false},
        {"predicted_us",
         named(number("microseconds"), "Predicted times by algorithm, the shortest first; with algorithms: [auto]"),
         false},
        {"alone_us", number("The same without hosts beside it, in microseconds; where CPUs and NICs take part"), false},
        {"repeats",
         object({{"count", count("Runs")},
                 {"min_us", number("microseconds")},
                 {"max_us", number("microseconds")},
                 {"standard_deviation_us", number("Of the sample, in microseconds")},
                 {"times_us", list(number("microseconds"), "Of every run, in order")}},
                "Of a case that was repeated"),
         false},
    };
    row.insert(row.end(), more.begin(), more.end());
    return object(row, "One collective of one size");
}

json training_part()
{
    return object({{"name", text("Of the gradient group or exchange")},
                   {"type", text("Element type")},
                   {"size_bytes", count("Of one call, in bytes")},
                   {"count", count("Elements of one call")},
                   {"ranks_per_group", or_null(count("Ranks that sum among themselves; null: all"))},
                   {"calls", count("Calls")},
                   {"ready_us", number("When the first call could begin, in microseconds since the start of the step")},
                   {"start_us", number("When it did, in microseconds since the start of the step")},
                   {"time_us", number("Of all calls together, in microseconds")},
                   {"wrong", or_null(count("Wrong elements; null: data: off"))},
                   {"limited_by", text("As of a result, over all calls"), false}},
                  "A part of a training step");
}

json training_step()
{
    const json step =
        object({{"time_us", number("microseconds")},
                {"compute_us", number("microseconds")},
                {"communication_us", number("microseconds")},
                {"exposed_us", number("Communication that no compute hides, in microseconds")},
                {"share", number("exposed_us over time_us")},
                {"update_us", number("Of the optimiser, in microseconds; left out where there is none"), false},
                {"beside_checkpoint", flag("A checkpoint was under way when it began; else left out"), false},
                {"input_us", number("Waited for samples, in microseconds; where samples are counted, as the next four"),
                 false},
                {"samples", count("Of all replicas"), false},
                {"samples_per_second", number("samples over the time"), false},
                {"law_samples_per_second", number("By the law of replicas: R MBS GA / (GA T_MB + T_AR)"), false},
                {"links_samples_per_second",
                 or_null(number("With the least time that links and memory allow; null: not known")), false},
                {"groups", list(training_part(), "Gradient groups")},
                {"exchanges", list(training_part(), "Other exchanges")}},
               "One step");
    return object({{"algorithm", text("Of its collectives")},
                   {"transposed", flag("Rows and columns swapped")},
                   {"overlap", text("What compute hides")},
                   {"steps", list(step, "In order")}},
                  "Where the file has training_step");
}

json hosts()
{
    const json checkpoint = object({{"number", count("From 0")},
                                    {"load", flag("The way back")},
                                    {"bytes", count("bytes")},
                                    {"start_us", number("Simulated time, in microseconds")},
                                    {"time_us", number("microseconds")},
                                    {"waited_us", number("That the job waited for it, in microseconds")},
                                    {"rate_GBps", number("10^9 bytes per second")},
                                    {"bound_us", number("The least time, in microseconds")},
                                    {"bound_by", text("What sets it")},
                                    {"bound_share", number("bound_us over time_us")},
                                    {"busiest", text("What was in use for the largest part of the time")},
                                    {"busiest_share", number("0 to 1")},
                                    {"resent", count("Messages that went to another NIC")},
                                    {"wrong_bytes", or_null(count("null: data: off"))},
                                    {"checksum", or_null(text("16 hexadecimal digits; null: data: off"))}},
                                   "A checkpoint");
    const json stream = object({{"name", text("Of the stream")},
                                {"direction", text("Between CPUs and NPUs")},
                                {"asked_GBps", number("10^9 bytes per second")},
                                {"rate_GBps", number("10^9 bytes per second")},
                                {"bytes", count("bytes")},
                                {"messages", count("Messages")},
                                {"late", count("Messages")},
                                {"lost", count("Messages")},
                                {"mean_latency_us", number("microseconds")},
                                {"longest_latency_us", number("microseconds")},
                                {"wrong_bytes", or_null(count("null: data: off"))}},
                               "Messages of one kind over the whole run");
    return object(
        {{"checkpoints", list(checkpoint, "In the order of their ends")},
         {"traffic", list(stream, "Between CPUs and NPUs")},
         {"step_alone_us", or_null(number("A training step without hosts, in microseconds; null: none was run"))}},
        "Where CPUs and NICs take part");
}

} // namespace

nlohmann::ordered_json results_schema()
{
    std::vector<member> failed = case_keys();
    failed.push_back({"start_us", number("Simulated time, in microseconds")});
    const json stat = object({{"name", text("Component and statistic: dma.bytes_sent")},
                              {"value", number("In the unit")},
                              {"unit", text("1 where it is a plain number")},
                              {"description", text("One line")}},
                             "Of all components of a kind together");
    const json link = object({{"name", text("Where it leaves: chip(0,1).+X")},
                              {"wire_bytes", count("Sent over it, headers included, in bytes")},
                              {"busy_share", number("Of the simulated time, of a restarted job since its last restart, 0 to 1")}},
                             "One direction of a wire that has carried anything");
    const json rank = object({{"rank", count("From 0")},
                              {"stats", named(count("In the unit that `stats` has for the name"),
                                              "Statistics of its chip that are not 0, by name")}},
                             "One rank; ranks that share a chip share its devices");
    json schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = "results.json of weft run";
    const json all = object(
        {{"schema", count("Version of this schema, " + std::to_string(k_results_schema) +
                          ": further keys may come without a new number")},
         {"version", text("Of weft")},
         {"results", list(row_schema(), "A row for each collective and size")},
         {"training_step", training_step(), false},
         {"host", hosts(), false},
         {"links", list(link, "A row for each direction of a wire, in the order of the machine")},
         {"ranks", list(rank, "A row for each rank")},
         {"digest",
          text("16 hexadecimal digits: of all times and answers; one configuration and seed have one digest")},
         {"simulated_time_ps", count("picoseconds")},
         {"microcode_ps",
          count("Spent on writing microcode before the collectives, in picoseconds; where CCUs are used"), false},
         {"counted_from_ps",
          count("Simulated time, in picoseconds, at which a job was interrupted for the last time: links, ranks, packet_hops and stats count from there"), false},
         {"host_seconds",
          number("Of this host; differs from run to run, as packet_hops_per_cpu_s and run.host_cpu_seconds do")},
         {"packet_hops", count("Packets times devices that they went through")},
         {"packet_hops_per_cpu_s", number("A speed of this host")},
         {"timeline_events", count("Events of the simulation")},
         {"config",
          typed("object",
                "The resolved configuration: docs/04_config.md, and a schema for each platform beside this one")},
         {"failure", text("Why the run stopped early; empty when it completed")},
         {"failed_case", or_null(object(failed, "The collective at which it stopped; null: none"))},
         {"warnings", list(text("A sentence"), "What the run and the reading of the file had to say")},
         {"stats", list(stat, "Sums over the machine, of a restarted job since its last restart")},
         {"checksum", text("16 hexadecimal digits over all other keys but those of the host: tells a file that was changed")}},
        "Written by every run, also by one that fails. Times of the simulated machine are exact; those of the host carry host in their names.");
    for (const auto& [key, value] : all.items())
        schema[key] = value;
    return schema;
}

} // namespace weft
