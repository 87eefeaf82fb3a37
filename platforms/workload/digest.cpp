// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/digest.h"

#include <fmt/format.h>
#include <fstream>

namespace weft {

std::string digest_of_text(std::string_view text)
{
    digest64 digest;
    digest.update(text.data(), text.size());
    return fmt::format("{:016x}", digest.value());
}

std::string digest_of_file(const std::string& file)
{
    std::ifstream in(file, std::ios::binary);
    digest64 digest;
    char buffer[1 << 16];
    while (in.read(buffer, sizeof buffer) || in.gcount() > 0)
        digest.update(buffer, static_cast<std::size_t>(in.gcount()));
    return fmt::format("{:016x}", digest.value());
}

} // namespace weft
