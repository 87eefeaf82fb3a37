# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Writes the files that a page shows: a line "<!-- file: PATH -->", then a fenced block with its text. PATH is below `dir`.
/^<!-- file: .* -->$/ { path = dir "/" $3; next }
path != "" && /^```/ { if (inside) { close(path); path = "" } else { printf "" > path }; inside = !inside; next }
inside { print > path }
