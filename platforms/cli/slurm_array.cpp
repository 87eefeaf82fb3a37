// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/slurm_array.h"

#include "platforms/cli/point_runs.h"
#include "platforms/report/output_file.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>
#include <thread>

namespace weft::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_tasks =
    1000; ///< of an array: MaxArraySize of Slurm is 1001 unless its administrator says otherwise
constexpr int k_killed = 128 + 9, k_timed_out = 124; ///< of timeout(1)

struct command_end {
    int exit_code = -1;
    std::string text;
};

command_end shell(const std::string& command)
{
    command_end end;
    std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr)
        return end;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        end.text.append(buffer.data(), n);
    const int status = pclose(pipe);
    end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    while (!end.text.empty() && end.text.back() == '\n')
        end.text.pop_back();
    return end;
}

/// The answer of `sbatch --parsable`, a job number and perhaps `;` and a cluster, among what plugins and warnings say.
/// "": there is none.
std::string job_number(const std::string& text)
{
    std::istringstream lines(text);
    std::string job;
    for (std::string line; std::getline(lines, line);)
        if (const std::string number = line.substr(0, line.find(';')); whole_number(number))
            job = number;
    return job;
}

/// Whether `squeue --format=%i` names the job: "12_[3-9]" or "12_2".
bool names_job(const std::string& text, const std::string& job)
{
    std::istringstream lines(text);
    for (std::string word; lines >> word;)
        if (word == job || word.rfind(job + "_", 0) == 0)
            return true;
    return false;
}

std::string text_of_file(const std::string& file)
{
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

class slurm_array {
public:
    slurm_array(const slurm_work& work, const std::vector<std::size_t>& points, const slurm_options& options)
        : work_(work), points_(points), options_(options), scripts_(fs::absolute(work.dir).string() + "/slurm")
    {
    }
    void submit()
    {
        std::error_code error;
        fs::remove_all(scripts_, error);
        prepare_output_dir(scripts_);
        for (std::size_t i = 0; i < points_.size(); ++i)
            write_file_atomically(script_of(i), script(i));
        const std::size_t tasks = std::min(points_.size(), k_most_tasks);
        write_file_atomically(
            scripts_ + "/array.sh",
            fmt::format(
                "#!/bin/sh\n# Made by weft, --engine slurm: task k runs the points k, k + {0}, ...\ni=$SLURM_ARRAY_TASK_ID\n"
                "while [ \"$i\" -lt {1} ]; do\n    sh {2}/\"$i\".sh\n    i=$((i + {0}))\ndone\n",
                tasks, points_.size(), quoted_for_shell(scripts_)));
        const std::string command =
            fmt::format("sbatch --parsable --job-name=weft --array=0-{}{} --output={} --chdir={} {} {}", tasks - 1,
                        options_.at_a_time == 0 ? "" : fmt::format("%{}", options_.at_a_time),
                        quoted_for_shell(scripts_ + "/task_%a.txt"), quoted_for_shell(fs::current_path().string()),
                        options_.sbatch, quoted_for_shell(scripts_ + "/array.sh"));
        const command_end end = shell(command);
        job_ = job_number(end.text);
        if (end.exit_code != 0 || job_.empty())
            throw user_error(fmt::format("--engine slurm: sbatch refuses the array: {}",
                                         end.text.empty() ? "it says nothing" : end.text));
        print_to_stderr("Slurm job {}: {} points in {} tasks; its scripts are in {}/slurm\n", job_, points_.size(),
                   tasks, work_.dir);
    }
    void wait(const std::function<void(std::size_t, const program_result&)>& ended)
    {
        std::vector<bool> told(points_.size());
        int lost = 0;
        for (bool in_queue = true;;) {
            for (std::size_t i = 0; i < points_.size(); ++i)
                if (!told[i] && fs::exists(end_of(i))) {
                    told[i] = true;
                    ended(points_[i], result_of(i));
                }
            if (std::all_of(told.begin(), told.end(), [](bool t) { return t; }))
                return;
            if (stop_requested()) {
                cancel();
                wait_for_end();
                for (std::size_t i = 0; i < points_.size(); ++i)
                    if (!told[i] && fs::exists(end_of(i)))
                        if (const program_result end = result_of(i); end.exit_code >= 0) // by itself
                            ended(points_[i], end);
                return;
            }
            if (!in_queue) { // all that will ever come has been looked for once more
                for (std::size_t i = 0; i < points_.size(); ++i)
                    if (!told[i])
                        ended(points_[i],
                              {"",
                               fmt::format("Slurm job {} ended without it; {}/slurm/task_{}.txt may tell why", job_,
                                           work_.dir, i % k_most_tasks),
                               -1});
                return;
            }
            std::this_thread::sleep_for(std::chrono::seconds(1));
            const command_end queue = shell("squeue --noheader --format=%i --jobs=" + job_);
            constexpr int k_most_lost = 120; // a controller that restarts is away for a minute
            if (queue.exit_code == 0 || queue.text.find("Invalid job id") != std::string::npos) {
                in_queue = queue.exit_code == 0 && names_job(queue.text, job_);
                lost = 0;
            } else if (++lost == k_most_lost) {
                throw user_error(
                    fmt::format("--engine slurm: squeue does not answer for job {}: {}", job_, queue.text));
            }
        }
    }
    void cancel() const { shell("scancel " + job_); }

private:
    /// Tasks that are cancelled save what they have finished; Slurm kills them after its KillWait, by default 30 s.
    void wait_for_end() const
    {
        constexpr auto k_longest = std::chrono::seconds(40);
        const auto end = std::chrono::steady_clock::now() + k_longest;
        while (std::chrono::steady_clock::now() < end) {
            const command_end queue = shell("squeue --noheader --format=%i --jobs=" + job_);
            if (queue.exit_code != 0 || !names_job(queue.text, job_))
                return;
            std::this_thread::sleep_for(std::chrono::seconds(1));
        }
    }

    std::string script_of(std::size_t i) const { return fmt::format("{}/{}.sh", scripts_, i); }
    std::string log_of(std::size_t i) const { return fmt::format("{}/{}.log", scripts_, i); }
    std::string end_of(std::size_t i) const { return fmt::format("{}/{}.exit", scripts_, i); }
    std::string script(std::size_t i) const
    {
        std::vector<std::string> words;
        if (options_.timeout_s != 0)
            words = {"timeout", "--kill-after=20", std::to_string(options_.timeout_s)}; // as run_program()
        words.push_back(quoted_for_shell(fs::read_symlink("/proc/self/exe").string()));
        for (const std::string& word : work_.command_of(points_[i]))
            words.push_back(quoted_for_shell(word));
        return fmt::format("cd {} || exit 1\n{} > {} 2>&1 < /dev/null\necho $? > {}.new && mv {}.new {}\n",
                           quoted_for_shell(fs::current_path().string()), fmt::join(words, " "),
                           quoted_for_shell(log_of(i)), quoted_for_shell(end_of(i)), quoted_for_shell(end_of(i)),
                           quoted_for_shell(end_of(i)));
    }
    program_result result_of(std::size_t i) const
    {
        program_result r;
        r.text = text_of_file(log_of(i));
        std::string code = text_of_file(end_of(i));
        code.erase(std::min(code.find('\n'), code.size()));
        const int ended_with = static_cast<int>(whole_number(code).value_or(1));
        if ((ended_with == k_killed || ended_with == k_timed_out) && options_.timeout_s != 0)
            r.failure = fmt::format("did not end in {} s of host time", options_.timeout_s);
        else if (ended_with > 128)
            r.failure = fmt::format("crashed with signal {}", ended_with - 128);
        else
            r.exit_code = ended_with;
        return r;
    }

    const slurm_work& work_;
    const std::vector<std::size_t>& points_;
    const slurm_options& options_;
    const std::string scripts_;
    std::string job_;
};

} // namespace

void add_engine_options(CLI::App& command, std::string& engine, std::string& sbatch, std::string& memory)
{
    command
        .add_option(
            "--memory", memory,
            "Host memory that points may take together, for example \"8 GiB\": others wait.\nDefault: what is free when they begin")
        ->type_name("SIZE");
    command
        .add_option("--engine", engine,
                    "Who runs the points: local, or slurm as a job array (its nodes share the folders)")
        ->type_name("NAME")
        ->check(CLI::IsMember({"local", "slurm"}))
        ->capture_default_str();
    command
        .add_option("--sbatch", sbatch,
                    "With Slurm: further options of sbatch, for example \"--partition=long --mem=8G\"")
        ->type_name("OPTIONS");
}

void check_engine(const std::string& engine, const std::string& sbatch, const std::string& memory)
{
    if (engine == "slurm" && !memory.empty())
        throw user_error("--memory: is for points of this host; write --sbatch --mem=SIZE for Slurm.");
    if (engine != "slurm" && !sbatch.empty())
        throw user_error("--sbatch: is for --engine slurm, which is not asked for.");
}

void require_slurm()
{
    if (shell("command -v sbatch squeue scancel").exit_code != 0)
        throw user_error(
            "--engine slurm: this host has no sbatch, squeue or scancel; install Slurm (Debian: slurm-wlm), or take --engine local.");
}

void run_slurm_array(const slurm_work& work, const std::vector<std::size_t>& points, const slurm_options& options,
                     const std::function<void(std::size_t, const program_result&)>& ended)
{
    slurm_array array(work, points, options);
    for (const std::size_t p : points)
        if (work.prepare)
            work.prepare(p);
    array.submit();
    try {
        array.wait(ended);
    } catch (...) { // the disk is full: what still comes could not be kept
        array.cancel();
        throw;
    }
}

} // namespace weft::cli
