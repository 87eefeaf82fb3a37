// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/terminal.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace weft::cli {

table_style style_of_stdout()
{
    table_style style;
    winsize size{};
    if (isatty(STDOUT_FILENO) != 0) {
        style.color = std::getenv("NO_COLOR") == nullptr;
        style.warnings = isatty(STDERR_FILENO) == 0;
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
            style.width = size.ws_col;
    }
    return style;
}

} // namespace weft::cli
