// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The program, as a user starts it, in a folder of its own.
#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::testing {

class program_folder {
public:
    program_folder()
    {
        char name[] = "/tmp/weft_issue_XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        dir_ = name;
    }
    ~program_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(dir_, ignored);
    }
    program_folder(const program_folder&) = delete;
    program_folder& operator=(const program_folder&) = delete;

    void write(const std::string& name, const std::string& text) const { std::ofstream(dir_ + "/" + name) << text; }
    std::string read(const std::string& name) const
    {
        std::ostringstream text;
        text << std::ifstream(dir_ + "/" + name, std::ios::binary).rdbuf();
        return text.str();
    }
    /// Exit code; what it says is in "stdout" and "stderr".
    int weft(const std::string& arguments) const
    {
        const int status = std::system(
            fmt::format("cd {} && timeout 300 {} {} > stdout 2> stderr", dir_, WEFT_PROGRAM, arguments).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    std::string dir_;
};

} // namespace weft::testing
