// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The line to one debugger: a TCP socket that listens on 127.0.0.1 and nowhere else, for one connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace weft {

class gdb_socket {
public:
    /// Port 0: any free one. Throws user_error when the port cannot be had.
    explicit gdb_socket(std::uint16_t port);
    ~gdb_socket();
    gdb_socket(const gdb_socket&) = delete;
    gdb_socket& operator=(const gdb_socket&) = delete;

    std::uint16_t port() const { return port_; }
    /// False when nobody comes within `limit`. Afterwards nobody else can come.
    bool accept(std::chrono::milliseconds limit);

    enum class status : std::uint8_t { data, nothing, closed };
    /// Waits for bytes, at most `limit_ms`, for ever when it is negative, and appends them.
    status receive(std::string& to, int limit_ms);
    /// False when the other end is gone.
    bool send(const std::string& bytes);
    void close();

private:
    int listener_ = -1;
    int line_ = -1;
    std::uint16_t port_ = 0;
};

} // namespace weft
