// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages in Debian's Chromium without a network, used by a script of this folder as a reader would.
#pragma once

#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <utility>

namespace weft::testing {

inline const std::string k_source_root = WEFT_SOURCE_DIR;

inline int shell(const std::string& command)
{
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/// A copy of the page with a probe of this folder, opened in a window of this width; what the probe found. `dark`: the
/// reader's choice of colours.
inline nlohmann::json opened(const temporary_folder& folder, const std::string& page_file, const std::string& probe_file, int width,
                             bool dark = false)
{
    std::string page = text_of(folder.path() / page_file);
    const auto put_before = [&page](const std::string& mark, const std::string& text) {
        const std::size_t at = page.rfind(mark);
        REQUIRE(at != std::string::npos);
        page.insert(at, text);
    };
    const std::string probe = text_of(k_source_root + "/testbenches/report/" + probe_file);
    put_before("</body>", "<script>window.probeReadyMs = performance.now();</script><script>" + probe + "</script>");
    const std::size_t head = page.find("<head>") + 6;
    page.insert(
        head,
        "<script>window.probeErrors = []; addEventListener('error', (e) => probeErrors.push(String(e.message)));"
        "addEventListener('securitypolicyviolation', (e) => probeErrors.push('blocked: ' + e.blockedURI));"
        "const probeError = console.error; console.error = (...a) => { probeErrors.push(a.join(' ')); probeError(...a); };"
        "const probeWarn = console.warn; console.warn = (...a) => { probeErrors.push(a.join(' ')); probeWarn(...a); };</script>");
    std::ofstream(folder.path() / "probed.html") << page;
    const std::string command =
        "cd " + folder.path().string() +
        " && timeout 200 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
        " --disable-component-update --disable-sync --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir=chromium --window-size=" +
        std::to_string(width) + ",1000 --blink-settings=preferredColorScheme=" + (dark ? "0" : "1") + " --virtual-time-budget=20000 --dump-dom file://" + folder.path().string() +
        "/probed.html > dom.html 2> chromium.txt";
    const int code = shell(command);
    INFO(text_of(folder.path() / "chromium.txt"));
    REQUIRE(code == 0);
    const std::string dom = text_of(folder.path() / "dom.html");
    const std::string begin = "<pre id=\"probe\">";
    const std::size_t at = dom.find(begin);
    REQUIRE(at != std::string::npos);
    std::string found = dom.substr(at + begin.size(), dom.find("</pre>", at) - at - begin.size());
    for (const auto& [name, letter] : {std::pair{"&gt;", ">"}, {"&lt;", "<"}, {"&nbsp;", " "}, {"&amp;", "&"}})
        for (std::size_t i = 0; (i = found.find(name, i)) != std::string::npos; ++i)
            found.replace(i, std::string(name).size(), letter);
    return nlohmann::json::parse(found);
}

} // namespace weft::testing
