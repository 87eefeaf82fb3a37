// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/isolated_run.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

namespace weft {

void run_at_once(const std::vector<std::function<void()>>& jobs)
{
    std::mutex guard;
    std::size_t next = 0;
    std::exception_ptr failure;
    const auto work = [&] {
        for (;;) {
            const std::function<void()>* job = nullptr;
            {
                const std::lock_guard<std::mutex> lock(guard);
                if (next == jobs.size() || failure)
                    return;
                job = &jobs[next++];
            }
            try {
                (*job)();
            } catch (...) {
                const std::lock_guard<std::mutex> lock(guard);
                failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
        workers.emplace_back(work);
    for (std::thread& w : workers)
        w.join();
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace weft
