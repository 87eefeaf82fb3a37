// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/gdb_socket.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace weft {

namespace {

/// poll() for input that goes on after a signal.
int wait_for_input(int fd, int limit_ms)
{
    pollfd one{fd, POLLIN, 0};
    int n = 0;
    do
        n = ::poll(&one, 1, limit_ms);
    while (n < 0 && errno == EINTR);
    return n;
}

} // namespace

gdb_socket::gdb_socket(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    const int yes = 1;
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // A port that an earlier run has just left is free.
    if (listener_ < 0 || ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(listener_, generic, length) != 0 || ::listen(listener_, 1) != 0 ||
        ::getsockname(listener_, generic, &length) != 0) {
        const int error = errno;
        close();
        throw user_error(fmt::format("--gdb: port {} of 127.0.0.1 cannot be used: {}. Give another one, or 0 for any.",
                                     port, std::strerror(error)));
    }
    port_ = ntohs(address.sin_port);
}

gdb_socket::~gdb_socket() { close(); }

bool gdb_socket::accept(std::chrono::milliseconds limit)
{
    if (wait_for_input(listener_, static_cast<int>(limit.count())) > 0)
        line_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(std::exchange(listener_, -1));
    if (line_ < 0)
        return false;
    const int yes = 1; // every packet waits for its answer
    ::setsockopt(line_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return true;
}

gdb_socket::status gdb_socket::receive(std::string& to, int limit_ms)
{
    if (line_ < 0)
        return status::closed;
    const int ready = wait_for_input(line_, limit_ms);
    if (ready == 0)
        return status::nothing;
    char bytes[4096];
    const ssize_t n = ready < 0 ? -1 : ::recv(line_, bytes, sizeof bytes, 0);
    if (n <= 0)
        return n < 0 && errno == EINTR ? status::nothing : status::closed;
    to.append(bytes, static_cast<std::size_t>(n));
    return status::data;
}

bool gdb_socket::send(const std::string& bytes)
{
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t n = line_ < 0 ? -1 : ::send(line_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (n < 0 && (line_ < 0 || errno != EINTR))
            return false;
        at += n < 0 ? 0 : static_cast<std::size_t>(n);
    }
    return true;
}

void gdb_socket::close()
{
    for (int* fd : {&listener_, &line_})
        if (*fd >= 0)
            ::close(std::exchange(*fd, -1));
}

} // namespace weft
