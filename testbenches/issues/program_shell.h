// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The program in a shell, in a folder of its own that disappears.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::testing {

inline std::string text_of(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct shell_result {
    int exit_code = -1; ///< as the shell shows it: 128 + signal for a process that was killed
    std::string out;
    std::string err;
};

class program_shell {
public:
    program_shell()
    {
        std::string name = (std::filesystem::temp_directory_path() / "weft_issues_XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
        write("small.yaml", "platform: tpu_pod\n"
                            "name: small\n"
                            "mesh: {rows: 2, cols: 2}\n"
                            "workload:\n"
                            "  - {op: all_reduce, sizes: [4 kB]}\n");
    }
    ~program_shell() { std::filesystem::remove_all(path_); }
    program_shell(const program_shell&) = delete;
    program_shell& operator=(const program_shell&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string read(const std::string& name) const { return text_of(path_ / name); }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
    bool exists(const std::string& name) const { return std::filesystem::exists(path_ / name); }

    /// A line of sh in this folder, where $weft is the program. What the line redirects does not show in the result.
    shell_result run(const std::string& line) const
    {
        const std::string out = path_.string() + ".out";
        const std::string err = path_.string() + ".err";
        const std::string all = "cd " + path_.string() + " && weft=" + WEFT_PROGRAM + " && { " + line + "\n} > " + out +
                                " 2> " + err + " < /dev/null";
        const int status = std::system(all.c_str());
        shell_result r;
        r.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        r.out = text_of(out);
        r.err = text_of(err);
        std::filesystem::remove(out);
        std::filesystem::remove(err);
        return r;
    }

private:
    std::filesystem::path path_;
};

} // namespace weft::testing
