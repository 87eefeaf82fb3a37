// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys that may change nothing without a word, and why. `sometimes`: nothing says in advance whether a run uses it, but at least
// one mode of its platform does. `never`: it is not about what is simulated.
#pragma once

#include <string>
#include <vector>

namespace weft::testing {

enum class exception_kind { sometimes, never };

struct key_exception {
    const char* key; ///< of the documentation; with "*" in front: on all platforms, wherever its path ends so
    exception_kind kind;
    const char* reason;

    bool covers(const std::string& doc_path) const
    {
        const std::string k = key;
        if (k[0] != '*')
            return k == doc_path;
        return doc_path.size() >= k.size() - 1 && doc_path.compare(doc_path.size() - (k.size() - 1), k.size() - 1, k, 1) == 0;
    }
};

inline const std::vector<key_exception>& key_exceptions()
{
    using kind = exception_kind;
    static const std::vector<key_exception> all{
        {"name", kind::never, "names the run and its folder"},
        {"seed", kind::sometimes, "nothing is random where no data is carried and no chance has a part"},
    };
    return all;
}

} // namespace weft::testing
