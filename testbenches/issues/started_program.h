// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The program started in a folder of its own, which signals and limits can be sent to.
#pragma once

#include "testbenches/support/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::testing {

/// A folder that disappears, and at most one program in it.
class started_program : public temporary_folder {
public:
    ~started_program()
    {
        if (child_ > 0) {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
        }
    }

    std::string out() const { return read("weft.out"); }
    std::string err() const { return read("weft.err"); }
    nlohmann::json results(const std::string& name = "out/results.json") const
    {
        return nlohmann::json::parse(read(name));
    }
    std::vector<std::string> names_with(const std::string& part) const
    {
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path()))
            if (has(entry.path().filename().string(), part))
                all.push_back(entry.path().filename().string());
        return all;
    }

    void start(std::vector<std::string> arguments, std::uint64_t address_space_bytes = 0)
    {
        arguments.insert(arguments.begin(), "weft");
        std::vector<char*> argv;
        for (std::string& a : arguments)
            argv.push_back(a.data());
        argv.push_back(nullptr);
        const std::string files[] = {(path() / "weft.out").string(), (path() / "weft.err").string()};
        child_ = ::fork();
        REQUIRE(child_ >= 0);
        if (child_ != 0)
            return;
        ::dup2(::open(files[0].c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        ::dup2(::open(files[1].c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        if (address_space_bytes != 0) {
            const rlimit limit{address_space_bytes, address_space_bytes};
            ::setrlimit(RLIMIT_AS, &limit);
        }
        if (::chdir(path().c_str()) == 0)
            ::execv(WEFT_PROGRAM, argv.data());
        ::_exit(127);
    }
    /// Waits until `there()`.
    template <class Condition> void until(Condition&& there) const
    {
        for (int waits = 0; waits < 6000; ++waits) {
            if (there())
                return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        FAIL("it does not come: " << out() << err());
    }
    void signal(int number) const { ::kill(child_, number); }
    /// CPU time that it has used so far.
    double cpu_seconds() const
    {
        const std::string stat = text_of("/proc/" + std::to_string(child_) + "/stat");
        std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 2)));
        std::string skipped;
        for (int i = 0; i < 11; ++i)
            fields >> skipped;
        double user = 0;
        fields >> user;
        return user / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    /// It has ended, and finish() will not wait.
    bool ended() const
    {
        const std::string stat = text_of("/proc/" + std::to_string(child_) + "/stat");
        return stat.rfind(") Z") != std::string::npos;
    }
    /// Waits until it has worked for so long from now on, however busy the host is, or has ended.
    void let_work(double seconds) const
    {
        const double end = cpu_seconds() + seconds;
        until([&] { return cpu_seconds() >= end || ended(); });
    }
    /// Exit code, 1000 + signal when one has ended it.
    int finish()
    {
        int status = 0;
        for (int waits = 0; ::waitpid(child_, &status, WNOHANG) == 0; ++waits) {
            if (waits == 6000)
                ::kill(child_, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    }
    int run(std::vector<std::string> arguments, std::uint64_t address_space_bytes = 0)
    {
        start(std::move(arguments), address_space_bytes);
        return finish();
    }

private:
    pid_t child_ = -1;
};

} // namespace weft::testing
