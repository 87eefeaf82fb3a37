// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/cli.h"
#include "tlm/check.h"

#include <fmt/format.h>
#include <systemc>

namespace {

constexpr const char* k_description =
    "weft: virtual platforms of the machines that train large models.\n"
    "\n"
    "A platform is described by a YAML file: chips, links, memories, and the collectives to run on them. weft builds it\n"
    "from SystemC/TLM-2.0 models, runs the collectives as firmware on the modelled cores, and checks every answer byte by\n"
    "byte. Start with:\n"
    "\n"
    "    weft run configs/tpu_v3/mesh_8x8.yaml\n"
    "    weft check configs/tpu_v3/mesh_8x8.yaml\n"
    "    weft run configs/tpu_v3/mesh_8x8.yaml --set mesh.rows=4 --set data=off\n";

constexpr const char* k_footer =
    "Exit codes: 0 all answers right, 1 a run failed or an answer was wrong, 2 the input cannot be used (nothing was\n"
    "written), 3 a bug of weft.\n"
    "Files: out/<name>/results.json holds all results, the resolved configuration and the statistics of a run.\n"
    "More: README.md and docs/.\n";

} // namespace

int sc_main(int argc, char* argv[])
{
    // The kernel announces on stdout that a simulation was stopped; results are what belongs there.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    CLI::App app{k_description, "weft"};
    app.footer(k_footer);
    app.set_version_flag("--version", std::string("weft ") + weft::version());
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    int exit_code = 0;
    weft::cli::add_run(app, exit_code);
    weft::cli::add_check(app, exit_code);
    weft::cli::add_list(app, exit_code);
    weft::cli::add_bench(app, exit_code);
    weft::cli::add_docs(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const weft::user_error& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "weft stopped because of a bug of its own:\n{}\nversion {}; please report this with the file that was run.\n",
                   e.what(), weft::version());
        return 3;
    }
    return exit_code;
}
