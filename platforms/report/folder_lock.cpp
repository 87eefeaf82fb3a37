// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/folder_lock.h"

#include "tlm/check.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace weft {

folder_lock::folder_lock(std::string dir) : dir_(std::move(dir)) { take(); }

folder_lock::~folder_lock()
{
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

void folder_lock::take()
{
    if (descriptor_ >= 0)
        return;
    descriptor_ = ::open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return;
    ::close(descriptor_);
    descriptor_ = -1;
    throw user_error(fmt::format(
        "{}: another `weft` works in this folder, and both would write the same files. Wait for its end, or take another "
        "folder with --out.",
        dir_));
}

} // namespace weft
