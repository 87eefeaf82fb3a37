// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "rtl/shell/waves_space.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace weft {

namespace {

/// That the disk of the file, and that of temporary files, must have: the writer hands on blocks of 128 MiB (fstapi.c,
/// FST_BREAK_SIZE), compressed; temporary files hold the values of all signals once.
constexpr std::uint64_t k_least_free_bytes = 256 << 20;
constexpr std::uint64_t k_least_temporary_bytes = 16 << 20;

std::uint64_t free_bytes(const std::string& folder)
{
    struct statvfs disk {};
    return ::statvfs(folder.c_str(), &disk) != 0 ? ~std::uint64_t{0} : std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

} // namespace

std::string space_problem(const std::string& file)
{
    const std::string parent = std::filesystem::path(file).parent_path().string();
    for (const auto& [folder, least] : {std::pair{parent.empty() ? std::string(".") : parent, k_least_free_bytes},
                                        std::pair{std::string(P_tmpdir), k_least_temporary_bytes}})
        if (free_bytes(folder) < least)
            return "the disk of " + folder + " has less than " + std::to_string(least >> 20) +
                   " MiB left, which the writer of waves needs";
    return "";
}

std::string growth_problem(const std::string& file)
{
    struct stat status {};
    const bool too_long =
        ::stat(file.c_str(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) > k_most_wave_bytes;
    return too_long ? "it has reached " + std::to_string(k_most_wave_bytes >> 20) + " MiB" : space_problem(file);
}

std::string cut_text(const std::string& file, std::uint64_t time_ps, const std::string& problem)
{
    return file + " ends at " + std::to_string(time_ps / 1'000'000) + " us of simulated time: " + problem + ".";
}

} // namespace weft
