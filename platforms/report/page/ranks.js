// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What ranks do over time: a line per rank with a lane for each kind of work, as dark as the work fills its time.
"use strict";

weft.ranks = (() => {
  const { byId, make, state, present, shares, palette, percent } = weft;
  const canvas = byId("ranks");
  const { kinds, ranks } = weft.activity;
  const names = { core: "compute (core works)", wait: "wait (core sleeps)", send: "send", memory: "memory moves bytes", reduce: "reduce", sync: "sync (waits for others)", start: "start (DMA engines start, wake)" };
  // Memory has a line of its own only where nothing reduces in it: reducing is memory traffic, too.
  let shown = [], lines = [], laneHeight = 0; // lanes of a rank; ranks that are drawn; pixels

  const thinnest = 3, between = 4, tallest = 1100; // pixels of a lane, between ranks, of all ranks

  function choose() {
    const c = present();
    const rows = c ? shares(c.work) : [];
    shown = kinds.map((kind, k) => [kind, k]).filter(([, k]) => {
      for (let r = 0; r < ranks.length; r++) for (let b = 0; b < (c ? c.bins : 0); b++) if (rows[(r * kinds.length + k) * c.bins + b]) return true;
      return false;
    });
    const legend = [];
    for (const [kind] of shown) {
      legend.push(make("span", {}, make("i", { style: `background: ${palette().kinds[kind]}` }), names[kind] || kind));
      if (kind === "core") legend.push(make("span", {}, make("i", { style: `background: ${palette().kinds.wait}` }), names.wait));
    }
    byId("rank-legend").replaceChildren(...legend);
  }

  function draw() {
    choose();
    const c = present(), colours = palette();
    const lanes = Math.max(1, shown.length), rowHeight = Math.max(lanes * thinnest + between, Math.min(26, 560 / Math.max(1, ranks.length)));
    const drawn = Math.min(ranks.length, Math.floor(tallest / rowHeight));
    lines = Array.from({ length: drawn }, (_, i) => Math.floor(i * ranks.length / drawn));
    const { g, width, height } = weft.surface(canvas, (c && ranks.length ? lines.length * rowHeight : 60) + frame.bottom + frame.top);
    if (!c || c.bins === 0 || ranks.length === 0) {
      g.fillStyle = colours.muted;
      g.textAlign = "center";
      g.fillText("this collective was not kept over time", width / 2, 40);
      return;
    }
    const p = frame.plot(width), rows = shares(c.work), lane = laneHeight = (rowHeight - between) / lanes;
    const edges = Array.from({ length: c.bins + 1 }, (_, b) => frame.xOf(c, b === c.bins ? c.time_us : b * c.bin_us, p));
    lines.forEach((r, line) => {
      shown.forEach(([kind, k], n) => {
        const y = frame.top + line * rowHeight + n * lane;
        if (kind === "core") {
          g.globalAlpha = 1;
          g.fillStyle = colours.kinds.wait;
          g.fillRect(p.x, y, p.width, lane - 0.4);
        }
        g.fillStyle = colours.kinds[kind];
        for (let b = 0; b < c.bins; b++) {
          const share = rows[(r * kinds.length + k) * c.bins + b] / 200;
          if (share === 0) continue;
          g.globalAlpha = 0.35 + 0.65 * share; // little must still be seen
          g.fillRect(edges[b], y, Math.max(0.7, edges[b + 1] - edges[b] + 0.3), lane - 0.4);
        }
      });
    });
    g.globalAlpha = 1;
    g.fillStyle = colours.muted;
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const every = Math.ceil(12 / rowHeight);
    for (let line = 0; line < lines.length; line += every) {
      const [rank, name] = ranks[lines[line]];
      let text = `${rank}  ${name}`;
      while (g.measureText(text).width > frame.left - 10 && text.length > 4) text = text.slice(0, -2) + "\u2026";
      g.fillText(text, p.x - 6, frame.top + (line + 0.5) * rowHeight - between / 2);
    }
    frame.axis(g, c, p, height);
    frame.marks(g, c, p, height);
    const all = weft.activity.memory_bytes.length;
    byId("ranks-note").textContent = (all > lines.length ? `${lines.length} of ${weft.group(all)} ranks, evenly spread. ` : "") +
      "A lane is as strong in colour as its work fills the time; work of different parts goes on at the same time.";
  }
  const frame = weft.timeFrame(canvas, { rows: () => lines.length, draw, text: (line, b) => {
    const c = present(), rows = shares(c.work), r = lines[line];
    return `rank ${ranks[r][0]}, ${ranks[r][1]}\n` + shown.map(([kind, k]) => `${names[kind] || kind}: ${percent(rows[(r * kinds.length + k) * c.bins + b] / 200)}`).join("\n");
  } });
  return { draw, laneHeight: () => laneHeight, drawn: () => lines.length };
})();
