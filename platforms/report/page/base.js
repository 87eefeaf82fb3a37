// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What all parts of the page share: the data, numbers with units, colours of both themes, elements, canvases, the tip,
// and what is chosen.
"use strict";

const weft = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const results = data.results;
  const activity = data.activity || { map: { levels: [], dimensions: [], nodes: 0, wires: 0 }, cases: [], kinds: [], ranks: [], memory_bytes: [], configuration: [], left_out: 0, memory: "HBM" };

  // ---- numbers

  const digits = (x, n = 3) => {
    if (x === 0) return "0";
    const places = Math.max(0, n - 1 - Math.floor(Math.log10(Math.abs(x))));
    return x.toFixed(Math.min(places, 9));
  };
  const scaled = (x, units, step, n = 3) => {
    let i = 0;
    while (i + 1 < units.length && Math.abs(x) >= step * 0.9995) { x /= step; i++; }
    return digits(x, n) + " " + units[i];
  };
  const time = (us, n = 3) => {
    const size = Math.abs(us);
    return size === 0 || size >= 1 ? scaled(us, ["us", "ms", "s"], 1000, n) : size >= 0.001 ? digits(us * 1000, n) + " ns" : digits(us * 1e6, n) + " ps";
  };
  const size = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let i = 0;
    while (i + 1 < units.length && bytes >= 1024) { bytes /= 1024; i++; }
    return (Number.isInteger(bytes) ? String(bytes) : digits(bytes)) + " " + units[i];
  };
  const bytes = (n) => scaled(n, ["B", "kB", "MB", "GB", "TB", "PB"], 1000);
  const percent = (share) => (share * 100).toFixed(share >= 0.0995 || share === 0 ? 0 : 1) + " %";
  const group = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  /// Bytes of base64; a share of 1 is 200.
  const decoded = new Map();
  const shares = (text) => {
    if (!decoded.has(text)) {
      const raw = atob(text), out = new Uint8Array(raw.length);
      for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
      if (decoded.size > 60) decoded.clear();
      decoded.set(text, out);
    }
    return decoded.get(text);
  };

  // ---- colours

  const palettes = {
    light: {
      ramp: [[222, 228, 236], [132, 176, 232], [98, 98, 210], [190, 46, 140], [214, 24, 40]], text: "#17202e", muted: "#556275", line: "#d5dce6", idle: "#b3bfce",
      panel: "#ffffff", ghost: "#b3202b", series: ["#1f5fbf", "#c2570c", "#11713f", "#8a3ffc", "#b3202b", "#00757f", "#7a5c00", "#a02b7a"],
      kinds: { core: "#1f5fbf", wait: "#e3e8ef", send: "#d97706", memory: "#7a8aa0", reduce: "#11713f", sync: "#a02b7a", start: "#0f7f8c", link: "#c22f3b" },
    },
    dark: {
      ramp: [[44, 55, 71], [52, 96, 176], [134, 96, 224], [232, 84, 158], [255, 118, 84]], text: "#e6ecf4", muted: "#9fb0c3", line: "#2c3747", idle: "#4d5d72",
      panel: "#171e28", ghost: "#ff8d92", series: ["#7db4ff", "#ffab66", "#63d391", "#c3a0ff", "#ff8d92", "#5fd4de", "#e3c45a", "#f19ad3"],
      kinds: { core: "#6aa7ff", wait: "#2a3442", send: "#f5a742", memory: "#8c9db3", reduce: "#4cc27f", sync: "#e486c4", start: "#4fc9d6", link: "#ff7a80" },
    },
  };
  const theme = () => document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  const palette = () => palettes[theme()];
  /// [r, g, b] of a share.
  const heat = (share) => {
    const ramp = palette().ramp, x = Math.max(0, Math.min(1, share)) * (ramp.length - 1), i = Math.min(ramp.length - 2, Math.floor(x)), f = x - i;
    return [0, 1, 2].map((c) => Math.round(ramp[i][c] + (ramp[i + 1][c] - ramp[i][c]) * f));
  };
  const heatText = (share) => "rgb(" + heat(share).join(",") + ")";

  // ---- elements

  const byId = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") e.className = value;
      else if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) e.setAttribute(key, value);
    }
    e.append(...children);
    return e;
  };
  const tip = byId("tip");
  const showTip = (text, x, y) => {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 6)) + "px";
    tip.style.top = Math.max(4, y + 16 + h > innerHeight ? y - h - 8 : y + 16) + "px";
  };
  /// A canvas of `height` css pixels, as sharp as the screen; returns its context and width. Its transform is that of
  /// css pixels.
  const surface = (canvas, height) => {
    const width = Math.max(120, canvas.parentElement.clientWidth), scale = devicePixelRatio || 1;
    canvas.style.height = height + "px";
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    return { g, width, height };
  };

  // ---- what is chosen

  const cases = activity.cases;
  /// The nearest view that a person can take in; and of the first operation the largest collective, the fastest of
  /// those.
  const level = Math.max(0, activity.map.levels.findIndex((l, i) => l.places.filter((p) => p[1] > 0).length <= 300 || i + 1 === activity.map.levels.length));
  const interesting = () => {
    const done = cases.map((c, i) => [c, i]).filter(([c]) => c.op === cases[0].op && c.complete);
    done.sort(([a], [b]) => b.size_bytes - a.size_bytes || a.time_us - b.time_us);
    // What a restart has lost was done again.
    const failed = results.failure || !done.length ? cases.findIndex((c) => !c.complete) : -1;
    return failed >= 0 ? failed : done[0][1];
  };
  const state = { at: cases.length ? interesting() : 0, bin: -1, level, order: "busiest" };
  const listeners = [];
  const changed = (what) => listeners.forEach((f) => f(what));
  const onChange = (f) => listeners.push(f);
  const present = () => cases[state.at];
  /// "12.31 us to 12.34 us": as many digits as tell the ends apart.
  const spanText = (from, to) => {
    let n = 3, text;
    do text = [time(from, n), time(to, n)]; while (text[0] === text[1] && to > from && ++n < 10);
    return text.join(" to ");
  };
  /// " max"; what most collectives do is not said.
  const redopOf = (c) => !c.redop || c.redop === "sum" || c.redop === "none" ? "" : " " + c.redop;
  /// "links of a rank allow", "memory allows".
  const allows = (bound) => bound + (/^(memory|HBM|SRAM)/.test(bound) ? " allows" : " allow");
  const nameOf = (c) => [`${c.op} ${c.algorithm}${c.type === "int32" ? "" : " " + c.type}${redopOf(c)}`, c.group, size(c.size_bytes), c.run].filter(Boolean).join(", ") + (c.complete !== false ? "" : results.failure ? " (not completed)" : " (lost, and done again)");
  /// From and to of a bin in us; of the whole case for -1.
  const spanOf = (c, bin) => bin < 0 ? [0, c.time_us] : [bin * c.bin_us, bin * c.bin_us + (bin + 1 === c.bins ? c.last_bin_us : c.bin_us)];
  /// Share of row `row` of `rows`, a decoded array, in bin `bin`; -1: mean over the case by the length of its bins.
  const shareOf = (c, rows, row, bin) => {
    const first = row * c.bins;
    if (bin >= 0) return rows[first + bin] / 200;
    let sum = 0;
    for (let b = 0; b < c.bins; b++) sum += rows[first + b] * (b + 1 === c.bins ? c.last_bin_us : c.bin_us);
    return c.time_us > 0 ? sum / 200 / c.time_us : 0;
  };

  const limitWords = {
    link: "the links", memory: "memory", dma: "the DMA engines (they start, move bytes at their rate, or their ports are busy)", core: "the cores, which run firmware", credits: "credits (the next buffer is full or too small)",
    offload: "units that work on what passes (SRAM or adders of CCUs, loop-back ports of a switch that sums)",
    timeout: "timeouts (packets were lost, and nothing was busy for half of the time)",
    arbitration: "arbitration (heads wait for their turn)", latency: "latency (steps wait for each other, no part is short)",
  };

  return { data, results, activity, cases, state, changed, onChange, present, nameOf, redopOf, allows, spanOf, spanText, shareOf, shares, digits, time, size, bytes, percent, group,
    palette, theme, heat, heatText, byId, make, showTip, surface, limitWords };
})();
