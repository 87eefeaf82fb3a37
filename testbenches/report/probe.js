// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses a report as a reader does, inside the page, and writes what it found into #probe as JSON. browser_test.cpp adds it to a copy of the page.
"use strict";

(async () => {
  const found = { errors: window.probeErrors };
  const byId = (id) => document.getElementById(id);
  const pause = (ms) => new Promise((go) => setTimeout(go, ms));
  /// Whether it comes true, within three seconds: frames are drawn when the host has time.
  const comes = async (test) => {
    for (let i = 0; i < 60; i++) {
      if (test()) return true;
      await pause(50);
    }
    return false;
  };
  /// Kinds of pixels on a canvas, and a sum that changes with the picture.
  const look = (id) => {
    const canvas = byId(id);
    if (!canvas || !canvas.width || !canvas.height) return { colours: 0, sum: 0 };
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    let sum = 0;
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 7) { colours.add(pixels[i]); sum = (sum * 31 + pixels[i]) % 4294967291; }
    return { colours: colours.size, sum };
  };
  /// The sum of a picture that has not changed for half a second.
  const settled = async (id) => {
    let sum = look(id).sum;
    for (let same = 0, i = 0; same < 10 && i < 100; i++) {
      await pause(50);
      const now = look(id).sum;
      same = now === sum ? same + 1 : 0;
      sum = now;
    }
    return sum;
  };
  const key = (element, name) => element.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  const luminance = (text) => {
    const [r, g, b] = text.match(/[\d.]+/g).map(Number).slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const contrasts = () => {
    const panel = getComputedStyle(document.querySelector("section")).backgroundColor;
    const of = (selector) => contrast(getComputedStyle(document.querySelector(selector)).color, panel);
    return { text: of("h2"), muted: of(".hint"), link: of("nav a"), verdict: contrast(getComputedStyle(byId("verdict")).color, getComputedStyle(byId("verdict")).backgroundColor) };
  };
  try {
    await pause(400);
    found.ready = document.documentElement.dataset.ready === "yes";
    found.ready_ms = window.probeReadyMs;
    found.verdict = byId("verdict").textContent;
    found.headline = byId("headline").textContent;
    found.canvases = {};
    for (const id of ["chart-time", "chart-busbw", "topology", "heatmap", "ranks", "chart-machine", "chart-memory", "steps"]) {
      if (byId(id).closest("section").hidden) continue;
      await comes(() => look(id).colours > 3);
      found.canvases[id] = look(id).colours;
    }
    found.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    found.unnamed_rows = weft.topology.hasUnnamedRows();
    found.lane_pixels = weft.ranks.laneHeight();
    found.ranks_drawn = weft.ranks.drawn();
    found.ranks_pixels = byId("ranks").clientHeight;
    found.cut_tables = ["wires", "lanes"].filter((id) => byId(id).scrollWidth > byId(id).clientWidth).length;
    found.legend = weft.curves.charts["chart-time"] ? weft.curves.charts["chart-time"].data.datasets.map((d) => d.label) : [];
    found.resources = performance.getEntriesByType("resource").map((r) => r.name).filter((name) => !name.startsWith("data:"));
    found.rows = document.querySelectorAll("#results-table tbody tr").length;
    found.settings = document.querySelectorAll("#config-table tbody tr").length;
    // Links that are drawn straight through a place which is none of their ends, along rows and columns.
    const { places, links } = weft.topology.layoutOf(weft.state.level);
    const nearest = (a, b, p) => {
      const dx = b.x - a.x, dy = b.y - a.y, t = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy);
      return t <= 0 || t >= 1 ? Infinity : Math.hypot(a.x + t * dx - p.x, a.y + t * dy - p.y);
    };
    found.links_over_places = places.length > 100 ? 0 : links.filter((l) => {
      const a = places[l.from], b = places[l.to];
      return a !== b && l.bend === 0 && Math.min(Math.abs(a.x - b.x), Math.abs(a.y - b.y)) < 0.9 && places.some((p) => p !== a && p !== b && nearest(a, b, p) < 0.1);
    }).length;
    // Links between places whose boxes touch cannot be seen.
    found.covered_links = links.filter((l) => l.from !== l.to && !places[l.from].small && !places[l.to].small && Math.hypot(places[l.from].x - places[l.to].x, places[l.from].y - places[l.to].y) < 0.75).length;
    // A link that is busy all the time does not wait for somebody to send.
    found.busy_and_idle = [...document.querySelectorAll("#wires tbody tr")].filter((row) => parseFloat(row.children[1].textContent) >= 90 && row.children[2].textContent.startsWith("nothing:")).length;
    found.bounds = weft.curves.charts["chart-time"] ? weft.curves.charts["chart-time"].data.datasets.filter((d) => d.borderDash).length : 0;
    found.published = document.querySelectorAll("#published-table tbody tr").length;
    const rowsOf = (id) => document.querySelectorAll(`#${id} tbody tr`).length;
    found.host_rows = { all_steps: rowsOf("all-steps"), checkpoints: rowsOf("checkpoints-table"), streams: rowsOf("streams-table") };
    found.hosts_hidden = byId("hosts").hidden;
    found.shown = byId("case-text").textContent;
    found.names = [...byId("case").options].map((o) => o.textContent);
    // What does not work, in the first collective and in the last one.
    found.failed_marks = [];
    const cases = byId("case"), at = cases.value;
    for (const i of [0, cases.options.length - 1, Number(at)]) {
      cases.value = String(i);
      cases.dispatchEvent(new Event("change"));
      found.failed_marks.push(byId("ramp").textContent);
    }
    found.theme_first = document.documentElement.dataset.theme;
    found.contrast_first = contrasts();

    const slider = byId("time"), text = byId("time-text");
    const before = text.textContent, whole = await settled("topology");
    slider.focus();
    found.slider_focused = document.activeElement === slider;
    slider.value = "0"; // before the first packet, a picture like that of no other time
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    found.slider_moves_text = await comes(() => text.textContent !== before);
    found.slider_moves_picture = await comes(() => look("topology").sum !== whole);

    // Both ends of a piece of time must be told apart.
    found.empty_spans = 0;
    for (let bin = 1; bin <= Number(slider.max); bin++) {
      slider.value = String(bin);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      const [from, to] = text.textContent.split(" to ");
      if (from === to) found.empty_spans++;
    }
    slider.value = "0";
    slider.dispatchEvent(new Event("input", { bubbles: true }));

    const heatmap = byId("heatmap");
    heatmap.focus();
    found.heatmap_focused = document.activeElement === heatmap;
    const shown = text.textContent;
    key(heatmap, "ArrowRight");
    found.arrow_moves_time = await comes(() => text.textContent !== shown);
    found.arrow_tells = byId("tip").textContent.includes("busy");

    const topology = byId("topology");
    topology.focus();
    const near = await settled("topology");
    key(topology, "+");
    found.plus_zooms = await comes(() => look("topology").sum !== near);
    key(topology, "0");
    found.zero_shows_all = await comes(() => look("topology").sum === near);

    const row = document.querySelector("#results-table tbody tr[tabindex]");
    const chosen = byId("case").value;
    if (row) {
      row.focus();
      key(row, "Enter");
      await pause(200);
    }
    found.row_chooses = !row || (byId("case").value === row.dataset.case && (byId("case").value !== chosen || document.querySelectorAll("#case option").length === 1));

    const filter = byId("config-filter");
    filter.value = "no such key anywhere";
    filter.dispatchEvent(new Event("input"));
    found.filtered = document.querySelectorAll("#config-table tbody tr").length;

    const light = await settled("topology");
    byId("theme").click();
    await pause(100);
    found.theme_second = document.documentElement.dataset.theme;
    found.contrast_second = contrasts();
    found.theme_redraws = await comes(() => look("topology").sum !== light);
    const unnamed = [...document.querySelectorAll("button, select, input")].filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length)));
    found.unnamed_controls = unnamed.length;
  } catch (error) {
    found.errors.push("probe: " + error.stack);
  }
  const box = document.createElement("pre");
  box.id = "probe";
  box.textContent = JSON.stringify(found);
  document.body.append(box);
})();
