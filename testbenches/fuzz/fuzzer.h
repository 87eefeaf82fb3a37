// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the program on damaged files, every case in a child of its own, and holds it to its exit codes: 0, 1 or 2; never a bug (3),
// a signal or a hang. Case n of seed s is always the same; a file that fails is kept and named.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "testbenches/support/mutator.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <systemc>
#include <unistd.h>
#include <vector>

namespace weft::testing {

/// What `weft` gives back for these arguments; see main.cpp.
inline int exit_code_of(const std::vector<std::string>& arguments)
{
    CLI::App app{"", "weft"};
    int code = 0;
    cli::add_run(app, code);
    cli::add_check(app, code);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const user_error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bug: {}\n", e.what());
        return std::string(e.what()).find("bad_alloc") == std::string::npos ? 3 : 1;
    }
    return code;
}

class fuzzer {
public:
    /// `bound_s`: CPU seconds of one case. It may take ten times as long where the machine is busy with something else.
    fuzzer(std::string name, unsigned bound_s) : name_(std::move(name)), bound_s_(bound_s)
    {
        const char* seed = std::getenv("WEFT_FUZZ_SEED");
        seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 0) : 20261122;
        char folder[] = "/tmp/weft_fuzz_XXXXXX";
        if (mkdtemp(folder) != nullptr)
            dir_ = folder;
    }
    ~fuzzer()
    {
        std::error_code ignored;
        std::filesystem::remove_all(dir_, ignored);
    }
    fuzzer(const fuzzer&) = delete;
    fuzzer& operator=(const fuzzer&) = delete;

    /// Case `n`: damages `text`, then runs `weft` with `arguments`, in which FILE and DIR are replaced. Returns the complaint, or "".
    std::string run(std::uint64_t n, const std::string& text, std::vector<std::string> arguments)
    {
        const std::string file = dir_ + "/case.yaml";
        std::ofstream(file, std::ios::binary) << text;
        for (std::string& a : arguments)
            a = a == "FILE" ? file : a == "DIR" ? dir_ + "/out" : a;
        const std::string said = dir_ + "/said";
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            const int out = open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
            dup2(out, 1);
            dup2(out, 2);
            const rlimit cpu{bound_s_, bound_s_ + 1}; // each ends the child
            setrlimit(RLIMIT_CPU, &cpu);
            alarm(10 * bound_s_);
            sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
            const int code = exit_code_of(arguments);
            std::fflush(nullptr);
            _exit(code);
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::string complaint;
        if (WIFSIGNALED(status))
            complaint = WTERMSIG(status) == SIGXCPU   ? fmt::format("took {} s of CPU", bound_s_)
                        : WTERMSIG(status) == SIGALRM ? fmt::format("did not end within {} s", 10 * bound_s_)
                                                      : fmt::format("ended by signal {}", WTERMSIG(status));
        else if (const int code = WEXITSTATUS(status); code > 2)
            complaint = fmt::format("ended with exit code {}", code);
        else
            ++codes_[code];
        if (complaint.empty())
            return {};
        const std::string kept = fmt::format("/tmp/weft_fuzz_{}_{}_{}.yaml", name_, seed_, n);
        std::error_code ignored;
        std::filesystem::copy_file(file, kept, std::filesystem::copy_options::overwrite_existing, ignored);
        std::ostringstream last;
        last << std::ifstream(said).rdbuf();
        const std::string told = last.str();
        return fmt::format("{} case {} of seed {}: `weft {}` {}; the file is kept as {}\n{}\n", name_, n, seed_,
                           fmt::join(arguments, " "), complaint, kept,
                           told.substr(told.size() - std::min<std::size_t>(told.size(), 600)));
    }

    std::string damaged(std::uint64_t n, const std::string& text) const { return mutator(seed_ * 1'000'003 + n)(text); }
    std::mt19937_64 random(std::uint64_t n) const { return std::mt19937_64(seed_ * 1'000'003 + n); }
    std::uint64_t cases_with(int code) const { return codes_[code]; }

private:
    std::string name_;
    unsigned bound_s_;
    std::uint64_t seed_ = 0;
    std::string dir_;
    std::uint64_t codes_[3] = {};
};

/// Shipped platform files.
inline std::vector<std::string> shipped_files()
{
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("configs"))
        if (entry.path().extension() == ".yaml" &&
            entry.path().parent_path().filename() != "sweeps") // these name platform files
            all.push_back(entry.path().string());
    std::sort(all.begin(), all.end());
    return all;
}

inline std::string text_of(const std::string& file)
{
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

} // namespace weft::testing
