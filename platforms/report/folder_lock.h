// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One program at a time works in a folder of results. The lock is the system's own (flock) on the folder: it ends with
// the process, however that ends, and leaves no file.
#pragma once

#include <string>

namespace weft {

class folder_lock {
public:
    /// Takes a folder that is there. Throws user_error when another program has it; where the file system has no locks,
    /// none is taken.
    explicit folder_lock(std::string dir);
    ~folder_lock();
    folder_lock(const folder_lock&) = delete;
    folder_lock& operator=(const folder_lock&) = delete;

    /// Once the folder has been made, if it was not there.
    void take();

private:
    std::string dir_;
    int descriptor_ = -1;
};

} // namespace weft
