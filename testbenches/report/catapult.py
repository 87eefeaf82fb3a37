#!/usr/bin/env python3
# Copyright 2026 The weft authors
# SPDX-License-Identifier: Apache-2.0
"""A trace of each platform, read by the importer of Catapult in headless Chromium and compared with the file.

Catapult is the viewer of chrome://tracing, whose JSON format Perfetto reads. npm has it as `traceviewer`; Debian's
Chromium comes without it. Exit code 77 where npm's registry cannot be reached: ctest shows the test as skipped.

Usage: catapult.py WEFT CACHE
"""
import base64
import collections
import hashlib
import html
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request

PACKAGE = "https://registry.npmjs.org/traceviewer/-/traceviewer-1.0.11.tgz"
SHA512 = "eVRsYb8qKQBtey3ZI0/Jos5k73h4JYZGGEv62q7XwUMnpOsSXRFgj+GAyjAhqpK/L81LunuEYDBHPYgYLNQjkw=="
IMPORTERS = ["/tracing/base/timing.html", "/tracing/importer/import.html", "/tracing/extras/importer/trace_event_importer.html"]
SKIPPED = 77

# One small file a platform, with a part of each: packets, frames, switches, bridges and syncs.
RUNS = {
    "switchml, 5 % lost": "configs/switchml/loss_8x10g.yaml",
    "tpu_v3": "configs/tpu_v3/mesh_4x4.yaml",
    "switchml": "configs/switchml/rack_4x10g.yaml",
    "ub_mesh": "configs/ub_mesh/board.yaml",
    "trainium": "configs/trainium/trn2.yaml",
    "ipu_pod": "configs/ipu_pod/pod16.yaml",
}

# What the importer made of the file, in units of the file: microseconds.
PROBE = """
const found = {errors: window.probeErrors};
try {
  const model = new tr.Model();
  const options = new tr.importer.ImportOptions();
  options.trackDetailedModelStats = true;
  new tr.importer.Import(model, options).importTraces([document.getElementById('trace').textContent]);
  found.warnings = model.importWarnings.map((w) => ({type: w.type, message: w.message}));
  found.tracks = {};
  for (const thread of model.getAllThreads()) {
    const slices = thread.sliceGroup.slices;
    found.tracks[thread.parent.name + ' / ' + thread.name] =
        {slices: slices.length, busy: 1000 * slices.reduce((sum, s) => sum + s.duration, 0),
         unfinished: slices.filter((s) => s.didNotFinish).length};
  }
  found.flows = model.flowEvents.length;
  found.loose = model.flowEvents.filter((f) => !f.startSlice || !f.endSlice).length;
  found.backward = model.flowEvents.filter((f) => f.duration < 0).length;
  found.ends = 1000 * (model.bounds.max - model.bounds.min);
} catch (error) {
  found.errors.push(String(error.stack || error));
}
const pre = document.createElement('pre');
pre.id = 'probe';
pre.textContent = JSON.stringify(found);
document.body.innerHTML = '';
document.body.appendChild(pre);
"""


def catapult(cache):
    """The package as {path: text}; from the cache, or from npm's registry."""
    file = cache / "traceviewer-1.0.11.tgz"
    data = file.read_bytes() if file.exists() else None
    if data is None:
        try:
            with urllib.request.urlopen(PACKAGE, timeout=60) as answer:
                data = answer.read()
        except (urllib.error.URLError, OSError) as error:
            print(f"skipped: {PACKAGE} cannot be read ({error})")
            sys.exit(SKIPPED)
    if base64.b64encode(hashlib.sha512(data).digest()).decode() != SHA512:
        sys.exit(f"{PACKAGE} is not the package that npm lists: its SHA-512 differs")
    cache.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    files = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            if member.isfile() and member.name.endswith((".html", ".js")):
                files[member.name.removeprefix("package/tracing")] = archive.extractfile(member).read().decode()
    return files


def scripts(files, path, done):
    """The scripts of an HTML import and of what it imports, each once, in order: browsers have no HTML imports now."""
    if path in done or path not in files:
        return []
    done.add(path)
    folder = pathlib.PurePosixPath(path).parent
    found = []
    for link, source, text in re.findall(
            r'<link rel="import" href="([^"]*)"|<script(?: src="([^"]*)")?[^>]*>(.*?)</script>', files[path], re.S):
        if link:
            found += scripts(files, link if link.startswith("/") else str(folder / link), done)
        elif source.startswith("/gl-matrix"):
            found.append(files["/third_party/gl-matrix/dist" + source])
        elif text.strip():
            found.append(text)
    return found


def read_by_catapult(modules, trace, folder):
    page = folder / "page.html"
    # Views are made with Polymer, which the importer does not need.
    head = """<script>window.probeErrors = []; addEventListener('error', (e) => probeErrors.push(e.message));
        window.Polymer = () => {}; window.Polymer.dom = (x) => x;</script>"""
    page.write_text("<!DOCTYPE html><html><head><meta charset='utf-8'>" + head + "".join(
        f"<script>{m}</script>" for m in modules) + "</head><body><script type='text/plain' id='trace'>" +
        trace.replace("</", "<\\/") + f"</script><script>{PROBE}</script></body></html>")
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}/chromium",
         "--virtual-time-budget=20000", "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=300, check=True)
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
    if not found:
        sys.exit(f"the page has no answer:\n{done.stdout[:2000]}\n{done.stderr[-2000:]}")
    return json.loads(html.unescape(found.group(1)))


def differences(trace, found):
    """What Catapult read otherwise than the file says; a list of sentences."""
    events = json.loads(trace)["traceEvents"]
    names = {}
    for e in events:
        if e["ph"] == "M":
            names[(e["name"], e["pid"], e["tid"] if e["name"] == "thread_name" else 0)] = e["args"]["name"]
    slices, busy = collections.Counter(), collections.Counter()
    shortest = {}  # ns, of a slice that begins at this place and time
    for e in events:
        if e["ph"] == "X" or (e["ph"] == "i" and e["s"] == "t"):  # a mark is read as a slice without length
            track = names[("process_name", e["pid"], 0)] + " / " + names[("thread_name", e["pid"], e["tid"])]
            slices[track] += 1
            busy[track] += e.get("dur", 0)
            if e["ph"] == "X":
                place = e["pid"], e["tid"], e["ts"]
                shortest[place] = min(shortest.get(place, 1e9), 1000 * e["dur"])
    # An arrow is one flow from step to step. Readers cut times to nanoseconds: on tracks with shorter slices side by
    # side they may miss the one where an arrow begins.
    below_ns = {place[:2] for place, ns in shortest.items() if ns < 1}
    arrows, uncertain = collections.Counter(), set()
    for e in events:
        if e["ph"] in "stf":
            arrows[e["ph"]] += 1
            if (e["pid"], e["tid"], e["ts"]) not in shortest:
                return [f"arrow {e['id']} goes by {e['ts']} us of a track where no slice begins then"]
            if (e["pid"], e["tid"]) in below_ns:
                uncertain.add(e["id"])
    problems = list(found["errors"])
    lost = set()
    for warning in found.get("warnings", []):
        arrow = re.match(r"(?:event id |Found flow phase [tf] for id: )(\d+)", warning["message"])
        if arrow and int(arrow.group(1)) in uncertain:
            lost.add(int(arrow.group(1)))
        # A guess of Catapult: nine of ten slices begin within the same hundredth of a millisecond.
        elif warning["type"] != "low_resolution_timer":
            problems.append(f"{warning['type']}: {warning['message']}")
    tracks = found.get("tracks", {})
    for track, n in slices.items():
        read = tracks.get(track, {"slices": 0, "busy": 0, "unfinished": 0})
        if read["slices"] != n or read["unfinished"] or abs(read["busy"] - busy[track]) > 1e-3 * n:
            problems.append(f"track '{track}': {n} slices of {busy[track]:.3f} us in the file, read as {read}")
    steps = sum(e["ph"] in "tf" for e in events if e.get("id") not in lost)
    if not steps or arrows["s"] != arrows["f"] or not steps <= found.get("flows", 0) <= arrows["t"] + arrows["f"]:
        problems.append(f"{arrows} of arrows in the file, {steps} to {arrows['t'] + arrows['f']} flows expected, {found.get('flows')} read")
    if found.get("loose") or found.get("backward"):
        problems.append(f"{found['loose']} flows begin or end at no slice, {found['backward']} run backwards")
    if len(slices) < 20 or sum(slices.values()) < 300:
        problems.append(f"only {sum(slices.values())} slices on {len(slices)} tracks")
    return problems


def main():
    weft, cache = sys.argv[1], pathlib.Path(sys.argv[2])
    files = catapult(cache)
    done = set()
    modules = [text for path in IMPORTERS for text in scripts(files, path, done)]
    failed = False
    for name, config in RUNS.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            lossy = "lost" in name
            workload = f"[{{op: all_reduce, algorithms: [{'switchml' if lossy else 'auto'}], sizes: [8 KiB]}}]"
            losses = ["--set", "network.cable.impairments.loss=0.05"] if lossy else []
            subprocess.run([weft, "run", config, *losses, "--set", f"workload={workload}", "--quiet", "--trace", str(folder / "t.json"),
                            "--out", str(folder / "out")], check=True)
            trace = (folder / "t.json").read_text()
            found = read_by_catapult(modules, trace, folder)
            problems = differences(trace, found)
            print(f"{name}: {sum(t['slices'] for t in found.get('tracks', {}).values())} slices, {found.get('flows')} flows:",
                  "as in the file" if not problems else "\n  ".join(["", *problems[:20]]))
            failed |= bool(problems)
            # A file that is cut in two places must not pass.
            if name == "tpu_v3":
                broken = read_by_catapult(modules, trace.replace('"ph":"f"', '"ph":"t"', 1).replace('"dur":', '"dur":1', 1), folder)
                if not differences(trace, broken):
                    print("a flow without end and a longer slice were not noticed")
                    failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
