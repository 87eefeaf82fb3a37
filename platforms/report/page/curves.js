// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts with axes: time and bus bandwidth over size with their bounds, the mean of the machine over time, memory by
// rank. Drawn by Chart.js.
"use strict";

weft.curves = (() => {
  const { byId, make, results, activity, state, present, palette, time, size, bytes, percent, group } = weft;
  const charts = {};
  const ops = [...new Set(results.results.map((r) => r.op))];
  let op = ops[0];

  /// Factor from algorithm to bus bandwidth, of the rows themselves.
  const busFactor = (row) => row.algbw_GBps > 0 ? row.busbw_GBps / row.algbw_GBps : 1;
  const sizesOf = (rows) => [...new Set(rows.map((r) => r.size_bytes))].sort((a, b) => a - b);

  function put(id, config) {
    if (charts[id]) charts[id].destroy();
    const colours = palette();
    Chart.defaults.color = colours.muted;
    Chart.defaults.borderColor = colours.line;
    Chart.defaults.font.family = "system-ui, 'DejaVu Sans', sans-serif";
    charts[id] = new Chart(byId(id), config);
  }
  const ticks = (values, text) => ({ autoSkip: false, maxRotation: 0, minRotation: 0, callback: (v) => values.includes(v) ? text(v) : undefined });
  /// Powers of ten, and with less than two decades 2 and 5 times these, so that a logarithmic axis can be read.
  const tens = (text) => ({ callback(v) {
    const first = v / 10 ** Math.floor(Math.log10(v) + 1e-9), digits = this.max / this.min < 100 ? [1, 2, 5] : [1];
    return digits.some((d) => Math.abs(first - d) < 1e-6) ? text(v) : undefined;
  } }); // the axis is `this`

  function sets(rows, value, bound) {
    const colours = palette(), series = new Map();
    for (const row of rows) {
      const kind = row.algorithm + (new Set(rows.map((r) => r.type)).size > 1 ? " " + row.type : "") + weft.redopOf(row) + (row.group ? ", " + row.group : "") + (row.transposed ? ", transposed" : "");
      // Entries of a workload may differ in what a row does not say: each has a curve.
      let name = kind;
      for (let n = 2; (series.get(name) || []).some((r) => r.size_bytes === row.size_bytes); ++n) name = `${kind}, number ${n} in the workload`;
      if (!series.has(name)) series.set(name, []);
      series.get(name).push(row);
    }
    const shapes = ["circle", "rect", "triangle", "rectRot", "star", "crossRot"];
    const all = [...series].map(([label, points], i) => ({
      label, data: points.sort((a, b) => a.size_bytes - b.size_bytes).map((r) => ({ x: r.size_bytes, y: value(r), row: r })), borderColor: colours.series[i % colours.series.length],
      backgroundColor: colours.series[i % colours.series.length], pointStyle: shapes[i % shapes.length], pointRadius: 4, pointHoverRadius: 6, borderWidth: 2, tension: 0, clip: 8,
    }));
    // Sums in a switch take fewer bytes than those of the ranks, so they have a bound of their own.
    // So have CCUs, which touch memory less often, and collectives of groups.
    const kinds = new Map(), grouped = new Set(rows.map((r) => r.group || "")).size > 1;
    const dashes = [[[6, 5], "dashed"], [[12, 4], "long dashes"], [[3, 3], "short dashes"]];
    let drawn = 0;
    for (const r of rows) if (r.bound_us > 0) {
      const kind = (grouped ? (r.group || "all ranks") + ": " : "") + (inSwitch(r) ? "least that links to a switch that sums allow" : "least that links and memory allow" + (byUnits(r) ? " CCUs" : rows.some(inSwitch) ? " sums of the ranks" : rows.some(byUnits) ? " cores" : ""));
      if (!kinds.has(kind)) kinds.set(kind, new Map());
      kinds.get(kind).set(r.size_bytes, r);
    }
    for (const [kind, bounds] of kinds) {
      const [dash, word] = kind.includes("switch") ? [[2, 4], "dotted"] : dashes[drawn++ % dashes.length];
      all.push({ label: `${kind} (${bounds.size === 1 ? "long line" : word})`, data: [...bounds.values()].sort((a, b) => a.size_bytes - b.size_bytes).map((r) => ({ x: r.size_bytes, y: bound(r), row: r, bound: true })),
        borderColor: colours.text, backgroundColor: colours.text, borderDash: dash, borderWidth: 1.6, pointStyle: "line", pointRadius: bounds.size === 1 ? 14 : 0 });
    }
    const busiest = rows.filter((r) => r.busy_shares).map((r) => ({ x: r.size_bytes, y: bound({ ...r, bound_us: r.time_us * largest(r) }), row: r, own: true }));
    if (busiest.length)
      all.push({ label: "busiest part of the run alone (short lines)", data: busiest, borderColor: "transparent", backgroundColor: colours.muted, pointStyle: "line", pointRadius: 7, borderWidth: 0, showLine: false, clip: 8,
        pointBorderColor: colours.muted, pointBorderWidth: 2 });
    return all;
  }
  const inSwitch = (r) => r.bound_us > 0 && r.bound_by.includes("a switch that sums");
  const byUnits = (r) => r.algorithm.startsWith("ccu");
  const largest = (r) => Math.max(r.busy_shares.core, r.busy_shares.dma, r.busy_shares.memory, r.busy_shares.offload || 0, r.busy_shares.link);
  const largestPart = (r) => ["core", "dma", "memory", "offload", "link"].sort((a, b) => (r.busy_shares[b] || 0) - (r.busy_shares[a] || 0))[0];

  function bySize(id, rows, value, bound, yTitle, yText, logarithmic) {
    const sizes = sizesOf(rows), every = Math.ceil(sizes.length / 9);
    const shown = sizes.filter((_, i) => i % every === 0);
    const one = sizes.length === 1;
    put(id, {
      type: "line", data: { datasets: sets(rows, value, bound) },
      options: {
        maintainAspectRatio: false, animation: false, parsing: true, interaction: { mode: "nearest", intersect: false },
        onClick: (_, found) => { const p = found[0] && charts[id].data.datasets[found[0].datasetIndex].data[found[0].index]; if (p) weft.tables.choose(p.row); },
        scales: {
          x: { type: "logarithmic", min: one ? sizes[0] / 2 : sizes[0], max: one ? sizes[0] * 2 : sizes[sizes.length - 1], title: { display: true, text: "size (B)" }, ticks: ticks(shown, size),
            afterBuildTicks: (axis) => { axis.ticks = shown.map((v) => ({ value: v })); } },
          y: { min: logarithmic ? 10 ** Math.floor(Math.log10(Math.min(...rows.map((r) => r.time_us)) / 8)) : undefined, type: logarithmic ? "logarithmic" : "linear", beginAtZero: !logarithmic, title: { display: true, text: yTitle }, ticks: logarithmic ? tens(yText) : {} },
        },
        plugins: {
          legend: { position: "bottom", labels: { usePointStyle: true, boxHeight: 7 } },
          tooltip: { callbacks: {
            title: (items) => items.length ? size(items[0].parsed.x) : "",
            label: (item) => {
              const p = item.raw, r = p.row;
              if (p.bound) return `bound: ${yText(p.y)}, by ${r.bound_by}`;
              if (p.own) return `${r.algorithm}: its ${largestPart(r)} was busy for ${percent(largest(r))} of its time`;
              return `${item.dataset.label}: ${yText(p.y)}` + (r.bound_share ? `, ${percent(r.bound_share)} of the bound` : "") + (r.limited_by ? `; limited by ${r.limited_by}` : "");
            },
          } },
        },
      },
    });
  }

  function drawSizes() {
    const rows = results.results.filter((r) => r.op === op);
    byId("curves").hidden = results.results.length === 0;
    if (rows.length === 0) return;
    bySize("chart-time", rows, (r) => r.time_us, (r) => r.bound_us, "time", time, true);
    bySize("chart-busbw", rows, (r) => r.busbw_GBps, (r) => r.size_bytes / r.bound_us / 1000 * busFactor(r), "bus bandwidth (GB/s)", (v) => weft.digits(v) + " GB/s", false);
    const bound = rows.filter((r) => r.bound_share).sort((a, b) => b.bound_share - a.bound_share)[0];
    byId("curve-note").textContent = (bound ? `${new Set(rows.map((r) => r.size_bytes)).size === 1 ? "Long line" : inSwitch(bound) ? "Dotted" : "Dashed"}: the least time that ${weft.allows(bound.bound_by)} any algorithm${rows.some(inSwitch) ? inSwitch(bound) ? " that sums in the switch" : " of the ranks" : rows.some(byUnits) ? byUnits(bound) ? " by CCUs" : " by cores" : ""}, without latency and software; the best share reached is ${percent(bound.bound_share)} (${bound.algorithm}, ${size(bound.size_bytes)}). ` : "No bound of the machine is known for this collective. ") +
      "Short lines: what the busiest core, port, memory, unit of a CCU or switch, or link of a run took alone; a point on its line was limited by it. A click shows the inside of a collective.";
    byId("curve-choice").replaceChildren(...(ops.length > 1 ? ops.map((name) =>
      make("button", { type: "button", "aria-pressed": String(name === op), onclick: () => { op = name; drawSizes(); } }, name)) : []));
  }

  function drawMachine() {
    const c = present();
    if (!c || c.bins === 0) { if (charts["chart-machine"]) { charts["chart-machine"].destroy(); delete charts["chart-machine"]; } return; }
    const rows = weft.shares(c.machine), colours = palette(), kinds = [...activity.kinds, "link"];
    const middle = (b) => { const [from, to] = weft.spanOf(c, b); return (from + to) / 2; };
    const unit = c.time_us >= 10000 ? ["ms", 1000] : c.time_us < 1 ? ["ns", 0.001] : ["us", 1];
    const datasets = kinds.map((kind, k) => ({
      label: kind === "link" ? "links" : kind === "core" ? "cores" : kind, kind, borderColor: colours.kinds[kind], backgroundColor: colours.kinds[kind], borderWidth: 1.8, pointRadius: 0, stepped: "middle",
      data: Array.from({ length: c.bins }, (_, b) => ({ x: middle(b) / unit[1], y: rows[k * c.bins + b] / 2 })),
    })).filter((d) => d.data.some((p) => p.y > 0));
    const mark = { id: "mark", afterDraw: (chart) => {
      if (state.bin < 0) return;
      const x = chart.scales.x.getPixelForValue(middle(state.bin) / unit[1]), g = chart.ctx;
      g.save(); g.strokeStyle = palette().text; g.lineWidth = 1.5; g.beginPath(); g.moveTo(x, chart.chartArea.top); g.lineTo(x, chart.chartArea.bottom); g.stroke(); g.restore();
    } };
    put("chart-machine", {
      type: "line", data: { datasets }, plugins: [mark],
      options: { maintainAspectRatio: false, animation: false, interaction: { mode: "index", intersect: false },
        scales: { x: { type: "linear", min: 0, max: c.time_us / unit[1], title: { display: true, text: `time (${unit[0]})` }, ticks: { maxTicksLimit: 7, callback: (v) => v >= 1000 ? group(Math.round(v)) : String(Number(v.toPrecision(4))) } },
          y: { min: 0, suggestedMax: 20, max: Math.max(...datasets.map((d) => Math.max(...d.data.map((p) => p.y)))) > 60 ? 100 : undefined, title: { display: true, text: "busy (%)" } } },
        plugins: { legend: { position: "bottom", labels: { boxWidth: 12, boxHeight: 3 } }, tooltip: { callbacks: { title: (i) => i.length ? time(i[0].parsed.x * unit[1]) : "", label: (i) => `${i.dataset.label}: ${percent(i.parsed.y / 100)}` } } } },
    });
  }

  function drawMemory() {
    const all = activity.memory_bytes;
    byId("memory").hidden = all.length === 0;
    if (all.length === 0) return;
    const per = Math.ceil(all.length / 64), bars = [];
    for (let i = 0; i < all.length; i += per) {
      const part = all.slice(i, i + per);
      bars.push([per === 1 ? String(i) : `${i}\u2013${Math.min(all.length, i + per) - 1}`, part.reduce((s, m) => s + m[0], 0) / part.length, part.reduce((s, m) => s + m[1], 0) / part.length]);
    }
    const most = Math.max(...bars.map((b) => b[1] + b[2])), power = Math.min(4, Math.max(0, Math.floor(Math.log10(most || 1) / 3))), unit = ["B", "kB", "MB", "GB", "TB"][power];
    byId("memory-caption").textContent = `${activity.memory}: bytes of each rank, whole run` + (per > 1 ? `, mean of ${per} neighbours` : "");
    put("chart-memory", {
      type: "bar", data: { labels: bars.map((b) => b[0]), datasets: [["read", 1, "core"], ["written", 2, "send"]].map(([label, k, kind]) => ({ label, data: bars.map((b) => b[k] / 1000 ** power), backgroundColor: palette().kinds[kind] })) },
      options: { maintainAspectRatio: false, animation: false, scales: { x: { stacked: true, title: { display: true, text: "rank" }, grid: { display: false } }, y: { stacked: true, title: { display: true, text: unit } } },
        plugins: { legend: { position: "bottom", labels: { boxWidth: 12, boxHeight: 12 } }, tooltip: { callbacks: { label: (i) => `${i.dataset.label}: ${bytes(i.parsed.y * 1000 ** power)}` } } } },
    });
  }

  weft.onChange((what) => {
    if (what === "start" || what === "theme") { drawSizes(); drawMemory(); }
    if (what === "bin") { if (charts["chart-machine"]) charts["chart-machine"].draw(); }
    else if (what !== "level" && what !== "order") drawMachine();
  });
  return { charts, setOp: (name) => { op = name; drawSizes(); } };
})();
