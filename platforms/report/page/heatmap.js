// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Time charts on a canvas with a cursor: links as a heat map, and the frame that the rank timeline shares with it.
"use strict";

/// What both have: margins, the time axis, the chosen bin, and a cursor that pointer and arrow keys move.
weft.timeFrame = (canvas, chart) => {
  const { state, present, palette, time, spanOf } = weft;
  const left = 150, right = 12, bottom = 34, top = 4;
  let cursor = null, waiting = false;

  const plot = (width) => ({ x: left, width: Math.max(60, width - left - right) });
  const xOf = (c, us, p) => p.x + (c.time_us > 0 ? us / c.time_us : 0) * p.width;

  function axis(g, c, p, height) {
    const colours = palette();
    g.fillStyle = colours.muted;
    g.strokeStyle = colours.line;
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    g.textAlign = "center";
    g.textBaseline = "top";
    const rough = c.time_us / Math.max(2, Math.floor(p.width / 95));
    const power = 10 ** Math.floor(Math.log10(rough || 1)), step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough) || power;
    const unit = c.time_us >= 10000 ? ["ms", 1000] : c.time_us < 1 ? ["ns", 0.001] : ["us", 1];
    for (let at = 0; at <= c.time_us * 1.0001; at += step) {
      const x = xOf(c, at, p);
      g.beginPath();
      g.moveTo(x, height - bottom); g.lineTo(x, height - bottom + 4);
      g.stroke();
      g.fillText(String(+(at / unit[1]).toPrecision(6)), x, height - bottom + 6);
    }
    g.fillText(`time since the start of the collective (${unit[0]})`, p.x + p.width / 2, height - 14);
  }
  function marks(g, c, p, height) {
    if (state.bin >= 0) {
      const [from, to] = spanOf(c, state.bin);
      g.strokeStyle = palette().text;
      g.lineWidth = 1.5;
      g.strokeRect(xOf(c, from, p), top, Math.max(2, xOf(c, to, p) - xOf(c, from, p)), height - bottom - top);
    }
    if (cursor && document.activeElement === canvas) {
      const rows = chart.rows(), h = (height - bottom - top) / rows;
      const [from, to] = spanOf(c, cursor.bin);
      g.strokeStyle = palette().accent || palette().series[0];
      g.lineWidth = 2;
      g.strokeRect(xOf(c, from, p), top + cursor.row * h, Math.max(3, xOf(c, to, p) - xOf(c, from, p)), Math.max(3, h));
    }
  }
  function request() { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; chart.draw(); }); } }
  function hit(e) {
    const c = present(), box = canvas.getBoundingClientRect(), p = plot(box.width);
    const x = e.clientX - box.left - p.x, y = e.clientY - box.top - top, h = box.height - bottom - top;
    if (!c || c.bins === 0 || x < 0 || x >= p.width || y < 0 || y >= h) return null;
    return { bin: Math.min(c.bins - 1, Math.floor(x / p.width * c.time_us / c.bin_us)), row: Math.min(chart.rows() - 1, Math.floor(y / h * chart.rows())) };
  }
  const textAt = (at) => { const [from, to] = spanOf(present(), at.bin); return `${chart.text(at.row, at.bin)}\n${weft.spanText(from, to)}`; };
  canvas.addEventListener("pointermove", (e) => { const at = hit(e); weft.showTip(at ? textAt(at) : "", e.clientX, e.clientY); });
  canvas.addEventListener("pointerleave", () => weft.showTip(""));
  canvas.addEventListener("click", (e) => { const at = hit(e); if (at) { cursor = at; state.bin = at.bin; weft.changed("bin"); } });
  canvas.addEventListener("blur", () => { weft.showTip(""); request(); });
  canvas.addEventListener("keydown", (e) => {
    const c = present(), move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (!move || !c || c.bins === 0 || chart.rows() === 0) return;
    e.preventDefault();
    // From the chosen time; the first key in the whole collective goes to its beginning.
    cursor = { bin: state.bin >= 0 ? state.bin : -move[0], row: cursor ? cursor.row : 0 };
    cursor = { bin: Math.max(0, Math.min(c.bins - 1, cursor.bin + move[0])), row: Math.max(0, Math.min(chart.rows() - 1, cursor.row + move[1])) };
    state.bin = cursor.bin;
    weft.changed("bin");
    const box = canvas.getBoundingClientRect(), p = plot(box.width);
    weft.showTip(textAt(cursor), box.left + xOf(c, spanOf(c, cursor.bin)[0], p), box.top + top + (cursor.row + 1) * (box.height - bottom - top) / chart.rows());
  });
  weft.onChange((what) => { if (what !== "bin") cursor = null; request(); });
  return { left, right, bottom, top, plot, xOf, axis, marks, request };
};

weft.heatmap = (() => {
  const { byId, make, state, present, shares, shareOf, heat, palette, percent } = weft;
  const canvas = byId("heatmap"), most = 400;
  const levels = weft.activity.map.levels;
  let lines = [], frame = null, key = "";

  /// Bundles in each line of the map: one, or several where there are more than a screen has room for.
  function arrange() {
    const c = present();
    const now = [state.at, state.level, state.order].join();
    if (now === key || !c || !levels[state.level]) return;
    key = now;
    const level = levels[state.level], rows = shares(c.bundles[state.level] || "");
    if (rows.length === 0) { lines = []; return; }
    let order = level.bundles.map((_, i) => [shareOf(c, rows, i, -1), i]);
    const used = order.filter(([mean]) => mean > 0);
    const idle = order.length - used.length;
    order = used;
    if (state.order === "busiest") order.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const per = Math.max(1, Math.ceil(order.length / most));
    lines = [];
    for (let i = 0; i < order.length; i += per) lines.push(order.slice(i, i + per).map(([, index]) => index));
    lines.idle = idle;
    lines.per = per;
  }
  const nameOf = (line) => {
    const level = levels[state.level], [from, to] = level.bundles[line[0]];
    const name = from === to ? `inside ${level.places[from][0]}` : `${level.places[from][0]} \u2192 ${level.places[to][0]}`;
    return line.length > 1 ? `${name} and ${line.length - 1} more` : name;
  };
  const shortNameOf = (line) => {
    const [from, to] = levels[state.level].bundles[line[0]], short = weft.topology.shortName;
    const kind = /^[a-z]+ /.exec(short(from)), alike = kind && short(to).startsWith(kind[0]);
    const name = from === to ? `in ${short(from)}` : `${short(from)} \u2192 ${alike ? short(to).slice(kind[0].length) : short(to)}`;
    return line.length > 1 ? `${name}, +${line.length - 1}` : name;
  };
  const valueOf = (line, bin) => {
    const c = present(), rows = shares(c.bundles[state.level]);
    return line.reduce((sum, i) => sum + shareOf(c, rows, i, bin), 0) / line.length;
  };

  function draw() {
    arrange();
    const c = present(), colours = palette();
    const h = Math.max(1.5, Math.min(17, 460 / Math.max(1, lines.length)));
    const { g, width, height } = weft.surface(canvas, Math.max(80, lines.length * h) + frame.bottom + frame.top);
    if (!c || lines.length === 0) {
      g.fillStyle = colours.muted;
      g.textAlign = "center";
      g.fillText(c && c.bins ? "no link carried anything" : "this collective was not kept over time", width / 2, 40);
      return;
    }
    const p = frame.plot(width), image = new ImageData(c.bins, lines.length), rows = shares(c.bundles[state.level]);
    lines.forEach((line, y) => {
      for (let b = 0; b < c.bins; b++) {
        let sum = 0;
        for (const i of line) sum += rows[i * c.bins + b];
        const colour = heat(sum / line.length / 200), at = (y * c.bins + b) * 4;
        image.data[at] = colour[0]; image.data[at + 1] = colour[1]; image.data[at + 2] = colour[2]; image.data[at + 3] = 255;
      }
    });
    const small = make("canvas", { width: c.bins, height: lines.length });
    small.getContext("2d").putImageData(image, 0, 0);
    g.imageSmoothingEnabled = false;
    const area = height - frame.bottom - frame.top;
    // The last bin may be shorter than the others.
    const whole = c.bins - 1, end = frame.xOf(c, whole * c.bin_us, p);
    if (whole > 0) g.drawImage(small, 0, 0, whole, lines.length, p.x, frame.top, end - p.x, area);
    g.drawImage(small, whole, 0, 1, lines.length, end, frame.top, p.x + p.width - end, area);
    g.fillStyle = colours.muted;
    g.textAlign = "right";
    g.textBaseline = "middle";
    const every = Math.ceil(14 / h);
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    for (let y = 0; y < lines.length; y += every) {
      let text = shortNameOf(lines[y]);
      while (g.measureText(text).width > frame.left - 10 && text.length > 4) text = text.slice(0, -2) + "\u2026";
      g.fillText(text, p.x - 6, frame.top + (y + 0.5) * area / lines.length);
    }
    frame.axis(g, c, p, height);
    frame.marks(g, c, p, height);
    byId("heat-note").textContent = `${lines.length} lines` + (lines.per > 1 ? `, each the mean of up to ${lines.per} neighbours in this order` : "") +
      (lines.idle ? `; ${weft.group(lines.idle)} that carried nothing are left out` : "") +
      `. A cell is ${weft.time(c.bin_us)}. Names lead from the sender to the receiver. A click chooses the time for the whole section.`;
  }

  frame = weft.timeFrame(canvas, { rows: () => lines.length, draw, text: (row, bin) => `${nameOf(lines[row])}: ${percent(valueOf(lines[row], bin))} busy` });
  const choice = byId("heat-order");
  const buttons = () => choice.replaceChildren(...[["busiest", "busiest first"], ["map", "by place"]].map(([order, text]) =>
    make("button", { type: "button", "aria-pressed": String(order === state.order), onclick: () => { state.order = order; buttons(); weft.changed("order"); } }, text)));
  buttons();
  return { draw };
})();
