// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The drawing of the machine: links in the colour of their utilisation at the chosen time, one lane per direction.
"use strict";

weft.topology = (() => {
  const { byId, make, state, present, shares, shareOf, heatText, palette, percent } = weft;
  const canvas = byId("topology");
  const levels = weft.activity.map.levels;
  const layouts = [];
  let view = { zoom: 1, x: 0, y: 0 }, frame = null, hot = null, values = [], waiting = false;

  const layoutOf = (i) => layouts[i] || (layouts[i] = weft.layout.ofLevel(levels[i], weft.activity.map.dimensions));

  /// The level with what did not work at the end of the chosen collective; without one at the end of the run.
  function marked(i) {
    const l = layoutOf(i), c = present(), rows = c && c.broken && c.broken[i];
    const now = rows && new Map(rows);
    l.links.forEach((link, k) => { link.broken = now ? now.get(k) || 0 : levels[i].bundles[k][3]; });
    if (!l.mayFail) l.mayFail = l.places.map((p, k) => [p, k]).filter(([p]) => p.failed);
    const wired = new Set(), works = new Set();
    if (l.mayFail.length)
      for (const link of l.links) for (const end of [link.from, link.to]) { wired.add(end); if (link.broken < link.wires) works.add(end); }
    for (const [p, k] of l.mayFail) p.failed = !wired.has(k) || !works.has(k);
    return l;
  }

  /// `margin`: pixels at the left, for names of rows.
  function fit(width, height, l, margin) {
    const room = width - margin;
    const scale = Math.min(room / (l.x1 - l.x0), height / (l.y1 - l.y0), 150) * view.zoom;
    const cx = (l.x0 + l.x1) / 2 + view.x, cy = (l.y0 + l.y1) / 2 + view.y;
    return { scale, x: (x) => margin + room / 2 + (x - cx) * scale, y: (y) => height / 2 + (y - cy) * scale };
  }

  /// Ends and the middle of a lane, in pixels; lanes of the two directions lie beside each other.
  function lane(l, f, link) {
    const a = l.places[link.from], b = l.places[link.to];
    const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy) || 1;
    const nx = -dy / length, ny = dx / length, off = Math.min(0.07, 3.2 / f.scale + 0.02);
    const x0 = f.x(a.x + nx * off), y0 = f.y(a.y + ny * off), x1 = f.x(b.x + nx * off), y1 = f.y(b.y + ny * off);
    const bend = link.bend;
    return { x0, y0, x1, y1, mx: (x0 + x1) / 2 + nx * bend * f.scale, my: (y0 + y1) / 2 + ny * bend * f.scale, bent: bend !== 0 };
  }
  const trace = (g, p) => {
    g.moveTo(p.x0, p.y0);
    if (p.bent) g.quadraticCurveTo(p.mx, p.my, p.x1, p.y1);
    else g.lineTo(p.x1, p.y1);
  };

  function draw() {
    waiting = false;
    if (levels.length === 0) return;
    const l = marked(state.level), colours = palette();
    const aspect = (l.y1 - l.y0) / (l.x1 - l.x0);
    const wide = canvas.parentElement.clientWidth;
    const { g, width, height } = weft.surface(canvas, Math.max(260, Math.min(620, wide * aspect + 20)));
    const f = frame = fit(width, height, l, margins.get(state.level) || 0);
    const c = present();
    const rows = c ? shares(c.bundles[state.level] || "") : new Uint8Array();
    values = l.links.map((_, i) => c && rows.length ? shareOf(c, rows, i, state.bin) : 0);

    // Quiet links first. One path per colour: thousands of links are a few dozen strokes.
    const steps = 24, buckets = Array.from({ length: steps + 1 }, () => []);
    const broken = [];
    l.links.forEach((link, i) => {
      if (link.inside) return;
      if (link.broken === link.wires) broken.push(link);
      else buckets[values[i] === 0 ? 0 : Math.max(1, Math.min(steps, Math.ceil(values[i] * steps)))].push(link);
    });
    // Lines that cross each other hide what is below, those between neighbours do not.
    const crosses = lengthOfAll(l) > 8 * l.places.length;
    const dense = crosses && l.links.length > 1500, thin = crosses ? Math.max(0.3, Math.min(1, 14 / Math.sqrt(l.links.length))) : 1;
    g.lineCap = "round";
    buckets.forEach((links, step) => {
      if (links.length === 0) return;
      g.strokeStyle = step === 0 ? colours.idle : heatText(step / steps); // what is idle must still be seen
      g.globalAlpha = step === 0 ? (dense ? 0.3 : 0.9) : dense ? 0.3 + 0.7 * step / steps : 1;
      g.lineWidth = Math.max(0.5, Math.min(step === 0 ? 1.3 : 1.6 + 2.8 * step / steps, f.scale * 0.09) * Math.min(1, thin * Math.max(1, view.zoom)));
      g.beginPath();
      for (const link of links) trace(g, lane(l, f, link));
      g.stroke();
    });
    g.globalAlpha = 1;
    g.strokeStyle = colours.ghost;
    g.lineWidth = 1.4;
    g.setLineDash([4, 4]);
    g.beginPath();
    for (const link of broken) trace(g, lane(l, f, link));
    g.stroke();
    g.setLineDash([]);
    g.beginPath();
    for (const link of broken) {
      const p = lane(l, f, link), x = p.bent ? (p.mx + (p.x0 + p.x1) / 2) / 2 : (p.x0 + p.x1) / 2, y = p.bent ? (p.my + (p.y0 + p.y1) / 2) / 2 : (p.y0 + p.y1) / 2;
      g.moveTo(x - 4, y - 4); g.lineTo(x + 4, y + 4); g.moveTo(x + 4, y - 4); g.lineTo(x - 4, y + 4);
    }
    g.stroke();
    drawPlaces(g, l, f, colours);
    if (hot) outline(g, l, f, colours);
  }

  /// In steps between neighbours.
  function lengthOfAll(l) {
    if (l.length === undefined)
      l.length = l.links.reduce((sum, k) => sum + Math.hypot(l.places[k.to].x - l.places[k.from].x, l.places[k.to].y - l.places[k.from].y), 0);
    return l.length;
  }
  const margins = new Map(); // of the levels whose rows have names beside them
  let unnamedRows = false;   // some found no room

  /// Mean of what a place sends, or of what moves inside it.
  function loads(l) {
    const sums = l.places.map(() => [0, 0]);
    l.links.forEach((link, i) => { sums[link.from][0] += values[i] * link.wires; sums[link.from][1] += link.wires; });
    return sums.map(([sum, wires]) => wires ? sum / wires : 0);
  }

  const readable = 9; // pixels of the smallest text
  const many = 300;   // places from which on a box shows what its links do

  function drawPlaces(g, l, f, colours) {
    const load = loads(l), filled = l.places.length > many, unnamed = [], boxes = [];
    l.places.forEach((p, i) => {
      const x = f.x(p.x), y = f.y(p.y);
      const half = Math.max(1.6, f.scale * (p.small ? 0.17 : p.ranks > 0 ? 0.27 : 0.3));
      if (x < -half || y < -half || x > canvas.clientWidth + half || y > canvas.clientHeight + half) return;
      boxes.push({ x, y, half });
      g.beginPath();
      if (p.ranks === 0 && !p.failed && !p.chip) g.ellipse(x, y, half * 1.25, half * 0.8, 0, 0, 2 * Math.PI);
      else if (half > 5) g.roundRect(x - half, y - half, 2 * half, 2 * half, Math.min(5, half / 3));
      else g.rect(x - half, y - half, 2 * half, 2 * half);
      g.fillStyle = p.failed ? colours.panel : filled || l.links.some((k) => k.inside) ? heatText(load[i]) : colours.panel;
      g.fill();
      g.lineWidth = half > 5 ? 1.6 : 0.6;
      g.strokeStyle = p.failed ? colours.ghost : p.ranks === 0 && !p.chip ? colours.series[3] : colours.muted;
      if (p.failed) g.setLineDash([3, 3]);
      if (half > 2.4 || p.failed) g.stroke();
      g.setLineDash([]);
      if (p.failed && half > 3) {
        g.beginPath();
        g.moveTo(x - half * 0.6, y - half * 0.6); g.lineTo(x + half * 0.6, y + half * 0.6);
        g.moveTo(x + half * 0.6, y - half * 0.6); g.lineTo(x - half * 0.6, y + half * 0.6);
        g.stroke();
      } else {
        const room = half * 2.1 * (p.ranks === 0 ? 1.1 : 1);
        const pixelsOf = (name) => Math.min(13, half * 1.6, room / Math.max(1, name.length) * 1.6);
        // A number alone would pass for a rank; where the whole name finds no room it stands all the same.
        const named = p.ranks === 0 ? wholeLabelOf(p) : labelOf(p);
        const text = pixelsOf(named) >= readable ? named : labelOf(p);
        const px = pixelsOf(text);
        if (px < readable) unnamed.push({ p, x: x - half, y, half });
        else {
          const inside = filled || l.links.some((k) => k.inside);
          const [r, gr, b] = weft.heat(load[i]);
          g.fillStyle = inside ? ((0.3 * r + 0.59 * gr + 0.11 * b) > 140 ? "#10161f" : "#ffffff") : colours.text;
          g.font = px.toFixed(1) + "px system-ui, 'DejaVu Sans', sans-serif";
          g.textAlign = "center";
          g.textBaseline = "middle";
          g.fillText(text, x, y + 0.5);
        }
      }
    });
    nameRows(g, unnamed, boxes, colours, l.places.length);
  }
  /// Beside a row of places that are too small for their names: "3,0 ... 3,7", or "leaf x 36" of switches.
  function nameRows(g, unnamed, boxes, colours, places) {
    const rows = new Map();
    for (const u of unnamed) {
      const key = Math.round(u.y);
      if (!rows.has(key)) rows.set(key, []);
      rows.get(key).push(u);
    }
    let last = -Infinity, missing = 0;
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    g.fillStyle = colours.muted;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const [y, row] of [...rows].sort((a, b) => a[0] - b[0])) {
      if (y - last < 12) continue;
      row.sort((a, b) => a.x - b.x);
      const kinds = new Map();
      for (const { p } of row) kinds.set(weft.layout.kindOf(p.name), (kinds.get(weft.layout.kindOf(p.name)) || 0) + 1);
      const text = row[0].p.ranks === 0 ? [...kinds].map(([kind, n]) => n > 1 ? `${kind} \u00d7 ${n}` : kind).join(", ")
        : row.length === 1 ? labelOf(row[0].p) : `${labelOf(row[0].p)} \u2026 ${labelOf(row[row.length - 1].p)}`;
      const left = row[0].x - 6 - g.measureText(text).width;
      if (row.length === 1 && boxes.some((b) => Math.abs(b.y - y) < b.half + 5 && b.x < row[0].x && b.x + b.half > left)) {
        g.textAlign = "center"; // another place stands there: below
        g.fillText(text, row[0].x + row[0].half, y + row[0].half + 7);
        g.textAlign = "right";
        continue;
      }
      const short = g.measureText(text).width - (row[0].x - 8);
      if (short > 0) { missing = Math.max(missing, short); continue; } // no room
      g.fillText(text, row[0].x - 6, y);
      last = y;
    }
    unnamedRows = missing > 0;
    if (missing > 0 && !margins.has(state.level) && view.zoom === 1 && unnamed.length > places / 2) {
      margins.set(state.level, 2 * Math.ceil(missing) + 8); // the drawing stands in the middle of what is left
      request();
    }
  }
  /// A group that all chips are in tells nobody anything.
  const common = new Map();
  function sameForAll(part) {
    const key = state.level + part;
    if (!common.has(key)) {
      const chips = layoutOf(state.level).places.filter((p) => p.ranks > 0);
      common.set(key, chips.every((p) => weft.layout.groupsOf(p.name).includes(part)) || chips.length > 64 && /^[pr]/.test(part));
    }
    return common.get(key);
  }
  /// What tells a place from its neighbours: "2,3" of chip(2,3).
  function labelOf(p) {
    const inside = /\(([^)]*)\)(.*)/.exec(p.name);
    if (inside) {
      const own = inside[1].split(",").filter((part) => !/^[a-z]+\d+$/i.test(part) || !sameForAll(part));
      return (own.length ? own.join(",") : weft.layout.kindOf(p.name)) + inside[2];
    }
    const own = p.name.replace(/^.*\./, "");
    return p.ranks > 0 ? own.replace(/^[a-z]+(?=\d+$)/, "").replace(/^.*,/, "") : own;
  }

  /// "switch 1" of switch(1).
  function wholeLabelOf(p) {
    const label = labelOf(p);
    return /^\d/.test(label) ? weft.layout.kindOf(p.name) + " " + label : label;
  }

  function outline(g, l, f, colours) {
    g.strokeStyle = colours.text;
    g.lineWidth = 1.5;
    if (hot.place !== undefined) {
      const p = l.places[hot.place], half = Math.max(4, f.scale * 0.33);
      g.strokeRect(f.x(p.x) - half, f.y(p.y) - half, 2 * half, 2 * half);
    } else {
      g.beginPath();
      trace(g, lane(l, f, l.links[hot.link]));
      g.stroke();
    }
  }

  // ---- pointing

  function distance(p, x, y) {
    let best = Infinity;
    const n = p.bent ? 14 : 8;
    for (let i = 1; i < n; i++) {
      const t = i / n, u = 1 - t;
      const px = p.bent ? u * u * p.x0 + 2 * u * t * p.mx + t * t * p.x1 : u * p.x0 + t * p.x1;
      const py = p.bent ? u * u * p.y0 + 2 * u * t * p.my + t * t * p.y1 : u * p.y0 + t * p.y1;
      best = Math.min(best, Math.hypot(px - x, py - y));
    }
    return best;
  }
  function find(x, y) {
    const l = layoutOf(state.level), f = frame;
    const half = Math.max(4, f.scale * 0.3);
    const place = l.places.findIndex((p) => Math.abs(f.x(p.x) - x) < half && Math.abs(f.y(p.y) - y) < half);
    if (place >= 0) return { place };
    let best = 7, link = -1;
    l.links.forEach((k, i) => {
      if (k.inside) return;
      const p = lane(l, f, k);
      if (!p.bent) { // quickly away from what is far
        if (x < Math.min(p.x0, p.x1) - 8 || x > Math.max(p.x0, p.x1) + 8 || y < Math.min(p.y0, p.y1) - 8 || y > Math.max(p.y0, p.y1) + 8) return;
        const t = Math.max(0, Math.min(1, ((x - p.x0) * (p.x1 - p.x0) + (y - p.y0) * (p.y1 - p.y0)) / ((p.x1 - p.x0) ** 2 + (p.y1 - p.y0) ** 2 || 1)));
        const d = Math.hypot(p.x0 + t * (p.x1 - p.x0) - x, p.y0 + t * (p.y1 - p.y0) - y);
        if (d < best) { best = d; link = i; }
        return;
      }
      const d = distance(p, x, y);
      if (d < best) { best = d; link = i; }
    });
    return link < 0 ? null : { link };
  }
  function textOf(hit) {
    const l = layoutOf(state.level);
    if (hit.link !== undefined) {
      const k = l.links[hit.link];
      return `${l.places[k.from].name} \u2192 ${l.places[k.to].name}\n` + (k.broken === k.wires ? "does not work" :
        `${percent(values[hit.link])} busy` + (k.wires > 1 ? `, mean of ${k.wires} wires` : "") + (k.broken ? `, ${k.broken} do not work` : ""));
    }
    const p = l.places[hit.place], inner = l.links.findIndex((k) => k.from === hit.place && k.to === hit.place);
    const ranks = p.ranks === 0 ? (p.failed ? "failed" : p.chip ? "failed later" : "no rank: a switch or a spare") : p.ranks === 1 ? `rank ${p.rank}` : `${p.ranks} ranks from ${p.rank}`;
    return `${p.name}\n${ranks}\nits links: ${percent(loads(l)[hit.place])} busy` + (inner >= 0 ? `\nbetween its own parts: ${percent(values[inner])}` : "");
  }

  canvas.addEventListener("pointermove", (e) => {
    if (!frame) return;
    const box = canvas.getBoundingClientRect();
    if (drag) {
      view.x -= (e.clientX - drag.x) / frame.scale;
      view.y -= (e.clientY - drag.y) / frame.scale;
      drag = { x: e.clientX, y: e.clientY };
      weft.showTip("");
      return request();
    }
    const hit = find(e.clientX - box.left, e.clientY - box.top);
    if (JSON.stringify(hit) !== JSON.stringify(hot)) { hot = hit; request(); }
    weft.showTip(hit ? textOf(hit) : "", e.clientX, e.clientY);
  });
  let drag = null;
  canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, y: e.clientY }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { hot = null; weft.showTip(""); request(); });
  canvas.addEventListener("wheel", (e) => { // only with a key or when zoomed: the page must scroll past
    if (!e.ctrlKey && !e.shiftKey && document.activeElement !== canvas) return;
    e.preventDefault();
    zoomBy(e.deltaY < 0 ? 1.2 : 1 / 1.2);
  }, { passive: false });
  canvas.addEventListener("dblclick", () => zoomBy(1.8));
  canvas.addEventListener("keydown", (e) => {
    const step = 60 / (frame ? frame.scale : 60);
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[e.key]) { view.x += moves[e.key][0]; view.y += moves[e.key][1]; }
    else if (e.key === "+" || e.key === "=") view.zoom = Math.min(40, view.zoom * 1.3);
    else if (e.key === "-") view.zoom = Math.max(0.5, view.zoom / 1.3);
    else if (e.key === "0") view = { zoom: 1, x: 0, y: 0 };
    else return;
    e.preventDefault();
    request();
  });
  function zoomBy(factor) { view.zoom = Math.max(0.5, Math.min(40, view.zoom * factor)); request(); }
  function request() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }

  // ---- choice of the distance

  const choice = byId("levels");
  const wordFor = { p: "pods", r: "racks", b: "boards", d: "domains", g: "groups" };
  const nameOfLevel = (what) => { const group = /^groups (.)$/.exec(what); return group ? wordFor[group[1]] || "groups " + group[1] : what; };
  function buttons() {
    choice.replaceChildren();
    const zoom = (text, label, action) => choice.append(make("button", { type: "button", "aria-label": label, onclick: action }, text));
    if (levels.length > 1)
      levels.forEach((level, i) => choice.append(make("button", { type: "button", "aria-pressed": String(i === state.level),
        onclick: () => { state.level = i; view = { zoom: 1, x: 0, y: 0 }; weft.changed("level"); } }, nameOfLevel(level.what))));
    zoom("+", "Zoom in", () => zoomBy(1.3));
    zoom("\u2212", "Zoom out", () => zoomBy(1 / 1.3));
    zoom("All", "Show all", () => { view = { zoom: 1, x: 0, y: 0 }; request(); });
  }
  function words() {
    const ramp = byId("ramp");
    const stops = Array.from({ length: 9 }, (_, i) => heatText(i / 8));
    ramp.replaceChildren(make("span", {}, "idle"), make("span", { class: "ramp", style: `background: linear-gradient(90deg, ${stops.join(",")})` }), make("span", {}, "100 % busy"));
    const map = weft.activity.map, level = levels[state.level];
    if (!level) return;
    const l = marked(state.level);
    const failed = l.places.filter((p) => p.failed).length, dead = l.links.reduce((n, k) => n + k.broken, 0);
    if (failed || dead) ramp.append(make("span", {}, make("i", { style: `background: ${palette().ghost}` }), [failed ? `${failed} ${failed > 1 ? "chips" : "chip"} failed` : "", dead ? `${dead} directed ${dead > 1 ? "links do" : "link does"} not work` : ""].filter(Boolean).join(", ") + (present() ? " at the end of this collective" : "")));
    if (l.places.some((p) => p.ranks === 0 && !p.failed && !p.chip)) ramp.append(make("span", {}, "ellipses: switches and spares"));
    byId("topology-note").textContent = `${weft.group(map.nodes)} devices, ${weft.group(map.wires)} directed links` +
      (levels.length > 1 || level.what !== "devices" ? `; shown as ${weft.group(level.places.length)} ${nameOfLevel(level.what)}: a line is the mean of all links between two of them, a box that of the links that leave or stay in it. ` : ". ") +
      (levels.length === 1 && level.places.length > many ? "A box has the mean of the links on which it sends. " : "") +
      "Drag or arrow keys move, buttons or + and \u2212 zoom.";
  }

  weft.onChange((what) => {
    if (what === "level" || what === "theme" || what === "start") buttons();
    if (what === "level" || what === "theme" || what === "start" || what === "case") words();
    request();
  });
  /// Name of a place where there is little room; the same for all that are drawn alike.
  const shortName = (place) => {
    const p = layoutOf(state.level).places[place];
    return /\(/.test(p.name) ? weft.layout.kindOf(p.name) + " " + labelOf(p) : p.name;
  };
  return { layoutOf, nameOfLevel, shortName, draw, hasUnnamedRows: () => unnamedRows };
})();
