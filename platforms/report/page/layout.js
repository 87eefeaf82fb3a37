// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where places stand on the drawing. It knows dimensions and names, and no machine: lines and rings make a mesh, a full
// mesh of one dimension a circle, further dimensions blocks of blocks; switches stand above what they join, or below
// the block whose groups their names share.
"use strict";

weft.layout = (() => {
  const apart = 0.85; // of places of one position, so that the link between them is seen
  const gap = 0.9;

  const coordinatesOf = (name) => {
    const inside = /\(([^)]*)\)/.exec(name);
    return inside ? (inside[1].match(/\d+/g) || []).map(Number) : [];
  };
  const kindOf = (name) => name.replace(/\(.*$/, "").replace(/^.*\./, "").replace(/\d+$/, "");
  const groupsOf = (name) => {
    const inside = /\(([^)]*)\)/.exec(name);
    const text = inside ? inside[1] : name.split(" ")[0];
    if (!inside && text.includes(".")) return text.split(".").slice(0, -1); // "d0.ipu3"
    const groups = [];
    for (const part of text.split(",")) {
      if (!/^[a-z]+\d+$/i.test(part)) break;
      groups.push(part);
    }
    return groups;
  };

  /// Grid of n places, about `aspect` times as wide as high.
  /// With no row that is cut short, where n allows it.
  const columnsFor = (n, width, height, aspect = 1.6) => {
    const wanted = Math.max(1, Math.min(n, Math.sqrt(n * aspect * height / width)));
    let best = Math.round(wanted);
    for (let c = 1; c <= n; c++)
      if (n % c === 0 && c < 2.1 * wanted && wanted < 2.1 * c && (n % best !== 0 || Math.abs(Math.log(c / wanted)) < Math.abs(Math.log(best / wanted)))) best = c;
    return best;
  };

  function ofLevel(level, dimensions) {
    const places = level.places.map(([name, ranks, rank, at]) => ({ name, ranks, rank, at: at || [], x: 0, y: 0, placed: false, failed: false }));
    const links = level.bundles.map(([from, to, wires, broken]) => ({ from, to, wires, broken }));
    const ranked = places.filter((p) => p.ranks > 0 && p.at.length > 0);
    const chips = new Set(ranked.map((p) => kindOf(p.name)));

    // A chip without a rank and without a link that works has failed; it stands where its name says.
    const works = places.map(() => false), wired = places.map(() => false);
    for (const l of links) {
      wired[l.from] = wired[l.to] = true;
      if (l.broken < l.wires) works[l.from] = works[l.to] = true;
    }
    places.forEach((p, i) => {
      const at = coordinatesOf(p.name).slice(-dimensions.length); // groups of all chips come first
      if (p.ranks === 0 && chips.has(kindOf(p.name)) && at.length === dimensions.length && !works[i]) {
        p.at = at;
        p.failed = p.chip = true;
      }
    });
    // A mesh has a hole where chips have failed whose routers do not even exist.
    const shape2 = dimensions.map((d) => d[0]);
    if (dimensions.length > 0 && dimensions.every((d) => d[1] === "line" || d[1] === "ring") && places.some((p) => p.ranks === 1)) {
      const seen = new Set(places.map((p) => p.at.join()));
      const all = shape2.reduce((n, s) => n * s, 1);
      for (let i = 0, k; i < all && all <= 4096; i++) {
        const at = shape2.map(() => 0);
        k = i;
        for (let d = shape2.length - 1; d >= 0; d--) { at[d] = k % shape2[d]; k = Math.floor(k / shape2[d]); }
        if (!seen.has(at.join())) places.push({ name: `(${at.join(",")})`, ranks: 0, rank: 0, at, x: 0, y: 0, placed: false, failed: true });
      }
    }
    const based = places.filter((p) => p.at.length > 0);
    const values = dimensions.map((_, d) => [...new Set(based.map((p) => p.at[d]))].sort((a, b) => a - b));
    const kinds = dimensions.map((d) => d[1]);
    const active = dimensions.map((_, d) => d).filter((d) => values[d].length > 1);
    const indexOf = values.map((v) => new Map(v.map((value, i) => [value, i])));
    const isLine = (d) => kinds[d] === "line" || kinds[d] === "ring";
    let shape = "blocks", wraps = [];

    if (based.length === 0) {
      places.forEach((p, i) => { p.x = i % 16; p.y = Math.floor(i / 16); p.placed = true; });
      return finish(places, links, "grid", wraps);
    }
    const local = places.some((p) => p.ranks === 0 && !p.failed && groupsOf(p.name).length > 0);
    if (active.length === 1 && !isLine(active[0]) && !(local && level.what !== "devices")) {
      // Everyone is joined to everyone, or all to a switch.
      const d = active[0], n = values[d].length;
      shape = kinds[d] === "full" ? "circle" : n > 20 ? "star" : "row";
      const radius = Math.max(1.3, n * 1.35 / (2 * Math.PI));
      for (const p of based) {
        const i = indexOf[d].get(p.at[d]);
        p.x = shape === "row" ? i * 1.15 : radius * Math.sin(2 * Math.PI * i / n);
        p.y = shape === "row" ? 0 : -radius * Math.cos(2 * Math.PI * i / n);
        p.placed = true;
      }
    } else {
      placeBlocks(based, values, indexOf, kinds, active, isLine, local);
      if (active.every(isLine)) wraps = active;
    }

    // Several places with one position, such as halves of a chip, stand side by side.
    const there = new Map();
    for (const p of based) {
      const key = p.x + ":" + p.y;
      const n = there.get(key) || 0;
      there.set(key, n + 1);
      p.x += n * apart;
    }
    placeSwitches(places, links, shape);
    return finish(places, links, shape, wraps, kinds);
  }

  /// From the inside out: small full dimensions inside a mesh, then pairs of dimensions, then blocks of them.
  function placeBlocks(based, values, indexOf, kinds, active, isLine, local) {
    let width = 1, height = 1;
    for (const p of based) { p.x = 0; p.y = 0; p.placed = true; }
    const last = values.length - 1;
    let d = last;
    const spread = (dimension, columns, stepX, stepY) => {
      for (const p of based) {
        const i = indexOf[dimension].get(p.at[dimension]);
        p.x += (i % columns) * stepX;
        p.y += Math.floor(i / columns) * stepY;
      }
      width = (columns - 1) * stepX + width;
      height = (Math.ceil(values[dimension].length / columns) - 1) * stepY + height;
    };
    while (d > 0 && !isLine(d) && active.includes(d) && values[d].length <= 4 && active.filter((a) => a < d && isLine(a)).length >= 2) {
      spread(d, values[d].length, apart, 1);
      d--;
    }
    let depth = 0;
    while (d >= 0) {
      const x = d, y = d - 1;
      const wide = y >= 0 ? values[x].length : 1, high = y >= 0 ? values[y].length : values[x].length;
      const between = depth === 0 ? (width > 1 ? 0.75 : 0) : gap * depth;
      const stepX = width + between * Math.max(1, width / 16), stepY = height + (between + (local && (depth > 0 || width === 1) ? 1.6 : 0)) * Math.max(1, height / 16);
      if (y >= 0 && wide > 1 && high > 1) {
        const flip = isLine(y) && high > 1.6 * wide; // a ladder lies
        const along = flip ? y : x, across = flip ? x : y, n = values[along].length, other = values[across].length;
        if (isLine(along) && n > 20 && n >= 6 * other) {
          // A ladder that is much longer than wide goes to and fro, so that its rungs can be told apart.
          const inner = along > across, room = height + between * Math.max(1, height / 16);
          const between2 = stepY - room, piece = inner ? room : other * room + 0.8;
          const columns = columnsFor(n, stepX, inner ? other * room : piece, 2.2), lines = Math.ceil(n / columns);
          winding(along, columns, stepX, piece);
          spreadDown(across, inner ? lines * room + between2 + 1 : room, other);
        } else if (flip) { spread(y, high, stepX, stepY); spreadDown(x, stepY, wide); }
        else { spread(x, wide, stepX, stepY); spreadDown(y, stepY, high); }
        d -= 2;
      } else {
        const alone = wide > 1 ? x : y >= 0 && high > 1 ? y : x;
        const n = values[alone].length;
        const columns = isLine(alone) && n <= 24 ? n : columnsFor(n, stepX, stepY);
        if (n > 1) spread(alone, columns, stepX, stepY);
        d -= y >= 0 ? 2 : 1;
      }
      depth += width > 1 || height > 1 ? 1 : 0;
    }
    function winding(dimension, columns, stepX, stepY) {
      for (const p of based) {
        const i = indexOf[dimension].get(p.at[dimension]), line = Math.floor(i / columns);
        p.x += (line % 2 === 0 ? i % columns : columns - 1 - i % columns) * stepX;
        p.y += line * stepY;
      }
      width = (columns - 1) * stepX + width;
      height = (Math.ceil(values[dimension].length / columns) - 1) * stepY + height;
    }
    function spreadDown(dimension, step, n) {
      for (const p of based) p.y += indexOf[dimension].get(p.at[dimension]) * step;
      height = (n - 1) * step + height;
    }
  }

  function placeSwitches(places, links, shape) {
    const near = places.map(() => new Set());
    for (const l of links) if (l.from !== l.to) { near[l.from].add(l.to); near[l.to].add(l.from); }
    const placed = places.filter((p) => p.placed);
    const top = Math.min(...placed.map((p) => p.y)), left = Math.min(...placed.map((p) => p.x)), right = Math.max(...placed.map((p) => p.x));
    const middle = (left + right) / 2;

    // Below the block with the same groups.
    const blocks = new Map();
    places.forEach((p, i) => {
      if (p.placed) return;
      const groups = groupsOf(p.name);
      const own = groups.length ? placed.filter((q) => { const g = groupsOf(q.name); return groups.every((x, k) => g[k] === x); }) : [];
      if (own.length === 0 || own.length === placed.length) return;
      const key = groups.join();
      if (!blocks.has(key)) blocks.set(key, { own, members: [] });
      blocks.get(key).members.push(i);
    });
    for (const { own, members } of blocks.values()) {
      const x0 = Math.min(...own.map((p) => p.x)), x1 = Math.max(...own.map((p) => p.x)), y1 = Math.max(...own.map((p) => p.y));
      members.forEach((i, k) => {
        const width = Math.max(x1 - x0, 0.56), perRow = Math.min(members.length, Math.floor(width / 0.45) + 1);
        places[i].x = (x0 + x1) / 2 + (perRow === 1 ? 0 : width * ((k % perRow) / (perRow - 1) - 0.5));
        places[i].y = y1 + 0.8 + Math.floor(k / perRow) * 0.5;
        places[i].placed = true;
        places[i].small = members.length > 1;
      });
    }
    // The others in layers above, by their distance from chips.
    let layer = 0;
    for (let known = places.map((p) => p.placed); known.some((k) => !k); layer++) {
      let next = places.map((_, i) => i).filter((i) => !known[i] && [...near[i]].some((n) => known[n]));
      if (next.length === 0) next = places.map((_, i) => i).filter((i) => !known[i]);
      const mean = (i) => { const all = [...near[i]].filter((n) => known[n]); return all.length ? all.reduce((s, n) => s + places[n].x, 0) / all.length : middle; };
      const order = next.map((i) => [mean(i), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      if (shape === "star" && layer === 0 && order.length === 1) {
        places[order[0][1]].x = 0;
        places[order[0][1]].y = 0;
      } else {
        const step = Math.max(0.6, Math.min(1.6, (right - left) / Math.max(1, order.length - 1)));
        order.forEach(([x, i], k) => {
          places[i].x = order.length === 1 ? x : middle + (k - (order.length - 1) / 2) * step;
          places[i].y = top - 1.7 * (layer + 1);
          places[i].small = step < 0.8; // or they would cover each other
        });
      }
      for (const i of next) { places[i].placed = true; known[i] = true; }
    }
  }

  /// Links between two places as lanes of one line, bent where the straight way leads over others.
  function finish(places, links, shape, wraps, kinds = []) {
    // Places by squares of one, to find those near a point.
    const squares = new Map(), square = (x, y) => Math.round(x) + ":" + Math.round(y);
    for (const p of places) {
      const key = square(p.x, p.y);
      if (!squares.has(key)) squares.set(key, []);
      squares.get(key).push(p);
    }
    const covers = (x, y, a, b) => {
      for (let i = -1; i <= 1; i++)
        for (let k = -1; k <= 1; k++)
          for (const p of squares.get(square(x + i, y + k)) || [])
            if (p !== a && p !== b && Math.abs(p.x - x) < 0.26 && Math.abs(p.y - y) < 0.26) return true;
      return false;
    };
    const beside = apart + 0.05; // places of one position, or parts of a chip, stand no farther apart
    links.forEach((l) => {
      const a = places[l.from], b = places[l.to];
      l.inside = l.from === l.to;
      l.bend = 0;
      if (l.inside || shape === "circle" || shape === "star" || links.length > 20000) return;
      const dx = b.x - a.x, dy = b.y - a.y, length = Math.hypot(dx, dy);
      if (Math.min(Math.abs(dx), Math.abs(dy)) > beside || length < 1.25) return;
      let over = false;
      for (let t = 0.3; t < length - 0.29 && !over; t += 0.1) over = covers(a.x + dx * t / length, a.y + dy * t / length, a, b);
      if (!over) return;
      // Both directions of a pair on the same side.
      const forward = l.from < l.to ? 1 : -1;
      l.bend = forward * (0.4 + 0.13 * length) * (Math.abs(dy) < Math.abs(dx) ? -1 : 1);
    });
    const extent = places.reduce((e, p) => ({ x0: Math.min(e.x0, p.x), x1: Math.max(e.x1, p.x), y0: Math.min(e.y0, p.y), y1: Math.max(e.y1, p.y) }),
      { x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity });
    const bend = links.reduce((m, l) => Math.max(m, Math.abs(l.bend)), 0) / 2;
    const margin = 0.7 + bend;
    return { places, links, shape, x0: extent.x0 - margin, x1: extent.x1 + margin, y0: extent.y0 - margin, y1: extent.y1 + margin };
  }

  return { ofLevel, groupsOf, kindOf };
})();
