#!/bin/sh
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Make a Debian source package of the commit that is checked out:
#
#   cmake/debian/make.sh [DIR]      writes weft_VERSION-1.dsc and its tar files to DIR, default build/debian
#
# Build it in a clean chroot: sbuild, or apt-get build-dep ./weft_*.dsc && dpkg-source -x weft_*.dsc &&
# dpkg-buildpackage -b. It needs git and dpkg-dev. Exit codes: 1 something failed, 2 the tree has changes that are not
# committed.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/build/debian}
version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")

if [ -n "$(git -C "$root" status --porcelain)" ]; then
    echo "make.sh: the tree has changes that are not committed; the package is made of a commit." >&2
    exit 2
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git -C "$root" archive --prefix="weft-$version/" HEAD | gzip -9n > "$out/weft_$version.orig.tar.gz"
tar -C "$work" -xzf "$out/weft_$version.orig.tar.gz"
debian="$work/weft-$version/debian"
mkdir -p "$debian/source"
echo "3.0 (quilt)" > "$debian/source/format"
for file in rules weft.install weft-dev.install copyright; do
    cp "$root/cmake/debian/$file" "$debian/"
done
# ccache and git are for those who work on the tree; rules leaves Unicorn out, and so the compiler of RV64 firmware.
awk 'FNR == NR { if (($2 == "run" || $2 == "whole") && $1 !~ /^(ccache|git|libunicorn-dev|g\+\+-riscv64-linux-gnu)$/) packages = packages " " $1 ",\n"; next }
     $0 == "@BUILD@" { printf "%s", packages; next }
     !/^#/' "$root/cmake/debian-packages.txt" "$root/cmake/debian/control.in" > "$debian/control"
date=$(git -C "$root" log -1 --format=%cD)
cat > "$debian/changelog" <<END
weft ($version-1) unstable; urgency=medium

  * Commit $(git -C "$root" rev-parse --short=10 HEAD). CHANGELOG.md tells what has changed.

 -- The weft authors <weft@example.org>  $date
END

cd "$out"
dpkg-source -b "$work/weft-$version"
