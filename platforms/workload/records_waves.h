// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A platform of whose hardware signals can be drawn: Verilog, or C++ models with the same signals.
#pragma once

#include <string>

namespace weft {

class records_waves {
public:
    /// The machine that is built next writes its waves (FST) to this file. "": none.
    virtual void record_waves(const std::string& file) = 0;
    /// Why this configuration has nothing to draw; "": it has.
    virtual std::string no_waves() const = 0;

protected:
    ~records_waves() = default;
};

} // namespace weft
