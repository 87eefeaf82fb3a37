// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/source_places.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

namespace weft {

struct source_places::contents {
    std::string path;
    bool native = true;
    bool temporary = false;
    ~contents()
    {
        if (temporary)
            std::remove(path.c_str());
    }
    void look_at_machine()
    {
        Elf64_Ehdr head{};
        std::FILE* const file = std::fopen(path.c_str(), "rb");
        if (file == nullptr)
            return;
        native = std::fread(&head, sizeof head, 1, file) != 1 || head.e_machine != EM_RISCV;
        std::fclose(file);
    }
};

source_places::source_places(const std::string& path) : contents_(std::make_unique<contents>())
{
    contents_->path = path.empty() ? own_program() : path;
    contents_->look_at_machine();
}

source_places::source_places(std::vector<std::uint8_t> elf_file) : contents_(std::make_unique<contents>())
{
    char name[] = "/tmp/weft_elf_XXXXXX";
    const int file = mkstemp(name);
    if (file < 0)
        return;
    contents_->path = name;
    contents_->temporary = true;
    const bool whole = write(file, elf_file.data(), elf_file.size()) == static_cast<ssize_t>(elf_file.size());
    close(file);
    if (whole)
        contents_->look_at_machine();
}

source_places::~source_places() = default;

std::string source_places::at(std::uint64_t address) const
{
    if (contents_->path.empty())
        return "";
    const std::string command = fmt::format("{}addr2line -C -f -e '{}' {:#x} 2>/dev/null",
                                            contents_->native ? "" : "riscv64-linux-gnu-", contents_->path, address);
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr)
        return "";
    std::string text;
    char buffer[1024];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr)
        text += buffer;
    pclose(pipe);
    const std::size_t end = text.find('\n');
    if (end == std::string::npos || text.rfind("??", 0) == 0)
        return "";
    std::string function = text.substr(0, end);
    constexpr const char* k_anonymous = "(anonymous namespace)::";
    if (const std::size_t at = function.find(k_anonymous); at != std::string::npos)
        function.erase(at, std::strlen(k_anonymous));
    function.resize(std::min(function.size(), function.find('(')));
    std::string line = text.substr(end + 1);
    line.resize(std::min(line.size(), line.find_first_of("\n ")));
    return line.rfind("??", 0) == 0 ? function : fmt::format("{}, {}", short_source_path(line), function);
}

source_places::frame source_places::caller_of(const frame& f,
                                              const std::function<std::uint64_t(std::uint64_t)>& read) const
{
    static_cast<void>(read);
    return {f.ra == 0 ? 0 : f.ra - 1, f.sp, 0};
}

} // namespace weft
