#!/bin/sh
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# How weft and ns-3 (Debian: libns3-dev) compare in packet hops per CPU second, on a ring of 64 nodes: three runs of each,
# alternately, so that other work of this host hits both. Usage: beside.sh [PROGRAM of weft]; prints the medians and their ratio.
set -eu
folder=$(dirname "$(readlink -f "$0")")
weft=${1:-$folder/../../../build/release/bin/weft}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT INT TERM
export SC_COPYRIGHT_MESSAGE=DISABLE GLIBC_TUNABLES=glibc.malloc.hugetlb=1

# The package's .pc files name libraries of others, which a program does not link.
# shellcheck disable=SC2046 # pkg-config prints words
g++ -O2 -std=c++17 "$folder/ns3_ring.cpp" $(pkg-config --cflags ns3-core) \
    -lns3-core -lns3-internet -lns3-network -lns3-point-to-point -o "$made/ns3_ring"
cat > "$made/ring.yaml" <<'END'
platform: tpu_v3
name: ring
mesh: {rows: 8, cols: 8}
data: off
burst: 1 packet
workload:
  - {op: all_reduce, algorithms: [ring_1d], sizes: [16 MiB]}
END
hops_of() { "$weft" run "$made/ring.yaml" --out "$made/out" "$@" --json - |
    sed -n 's/.*"packet_hops_per_cpu_s": *\([0-9.e+]*\).*/\1/p'; }
median() { sort -g | sed -n 2p; }
for _ in 1 2 3; do
    "$made/ns3_ring" 64 4000 | awk '{ print $1 / $2 }' >> "$made/ns3"
    hops_of >> "$made/single"
    hops_of --set "workload.0.sizes=[256 MiB]" --set burst=auto >> "$made/trains"
done
awk -v ns3="$(median < "$made/ns3")" -v single="$(median < "$made/single")" -v trains="$(median < "$made/trains")" 'BEGIN {
    printf "ns-3, UDP over IPv4            %8.2f million packet hops per CPU second\n", ns3 / 1e6
    printf "weft, single packets           %8.2f, %.1f times as many\n", single / 1e6, single / ns3
    printf "weft, trains (256 MiB)         %8.2f, %.0f times as many\n", trains / 1e6, trains / ns3 }'
