#!/bin/sh
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the pictures of reports in this folder again: one per platform. Needs chromium (cmake/debian-packages.txt).
set -eu
images=$(dirname "$(readlink -f "$0")")
root=$images/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture <platform> <configuration> <height> [settings of weft]
picture() {
    name=$1 config=$2 height=$3
    shift 3
    "$root/weft" run "$root/configs/$config" --quiet --report --out "$work/$name" "$@"
    chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/chromium" \
        --window-size="1280,$height" --virtual-time-budget=5000 \
        --screenshot="$images/report_$name.png" "file://$work/$name/report.html" 2> "$work/chromium.txt" || {
        cat "$work/chromium.txt" >&2
        exit 1
    }
    echo "$images/report_$name.png"
}

picture tpu_v3 tpu_v3/mesh_4x4.yaml 2700
picture switchml switchml/rack_4x10g.yaml 1900
picture ub_mesh ub_mesh/board.yaml 1900 --set data=off
picture trainium trainium/trn2.yaml 1900
picture ipu_pod ipu_pod/pod16.yaml 1900
