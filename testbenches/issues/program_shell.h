// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The program in a shell, in a folder of its own that disappears.
#pragma once

#include "testbenches/support/temporary_folder.h"

#include <sys/wait.h>

namespace weft::testing {

struct shell_result {
    int exit_code = -1; ///< as the shell shows it: 128 + signal for a process that was killed
    std::string out;
    std::string err;
};

class program_shell : public temporary_folder {
public:
    program_shell()
    {
        write("small.yaml", "platform: tpu_v3\n"
                            "name: small\n"
                            "mesh: {rows: 2, cols: 2}\n"
                            "workload:\n"
                            "  - {op: all_reduce, sizes: [4 kB]}\n");
    }

    /// A line of sh in this folder, where $weft is the program. What the line redirects does not show in the result.
    shell_result run(const std::string& line) const
    {
        const std::string out = path().string() + ".out";
        const std::string err = path().string() + ".err";
        const std::string all = "cd " + path().string() + " && weft=" + WEFT_PROGRAM + " && { " + line + "\n} > " +
                                out + " 2> " + err + " < /dev/null";
        const int status = std::system(all.c_str());
        shell_result r;
        r.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        r.out = text_of(out);
        r.err = text_of(err);
        std::filesystem::remove(out);
        std::filesystem::remove(err);
        return r;
    }
};

} // namespace weft::testing
