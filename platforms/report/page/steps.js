// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Training steps, and what hosts do beside them: checkpoints, streams of samples.
"use strict";

(() => {
  const { byId, make, results, time, size, bytes, percent, group, digits } = weft;
  const { table, cell } = weft.tables;
  const most = 400; // rows of a table, 40 of the picture
  const count = (n) => n === null || n === undefined ? "n/a" : group(n);
  const wrongOf = (n) => "number " + (n === null || n === undefined ? "" : n ? "bad" : "good");
  const wrongOfStep = (s) => [...s.groups, ...s.exchanges].reduce((sum, p) => p.wrong === null ? sum : (sum || 0) + p.wrong, null);
  /// The first rows of a table; what is left out is said.
  function put(id, columns, rows) {
    byId(id).replaceChildren(table(columns, rows.slice(0, most)));
    if (rows.length > most) byId(id).append(make("p", { class: "hint note" }, `${group(rows.length - most)} more are in results.json.`));
  }

  function draw(step, parts) {
    const colours = weft.palette(), rows = parts.slice(0, 40), h = 18;
    const ends = [["updates weights", step.update_us || 0, "reduce"], ["waits for samples", step.input_us || 0, "sync"]].filter(([, us]) => us > 0);
    const { g, width, height } = weft.surface(byId("steps"), (rows.length + 1 + ends.length) * h + 38), left = 170, wide = width - left - 14;
    const x = (us) => left + us / step.time_us * wide;
    const bar = (row, from, to, colour) => { g.fillStyle = colour; g.fillRect(x(from), row * h + 2, Math.max(1, x(to) - x(from)), h - 5); };
    const label = (row, text) => { g.fillStyle = colours.muted; g.textAlign = "right"; g.textBaseline = "middle"; g.fillText(text.length > 24 ? text.slice(0, 23) + "\u2026" : text, left - 8, row * h + h / 2); };
    label(0, "compute");
    bar(0, 0, step.compute_us, colours.kinds.core);
    rows.forEach((p, i) => { label(i + 1, p.name); bar(i + 1, p.ready_us, p.start_us, colours.kinds.wait); bar(i + 1, p.start_us, Math.min(step.time_us, p.start_us + p.time_us), p.kind === "group" ? colours.kinds.send : colours.kinds.reduce); });
    // A step ends with the wait for the samples of the next one; before it weights are updated, and may be exchanged.
    ends.forEach(([name, us, kind], i) => {
      const gathered = parts.filter((p) => p.ready_us >= step.time_us - (step.input_us || 0) - us).map((p) => p.ready_us);
      const end = kind === "sync" ? step.time_us : Math.min(step.time_us - (step.input_us || 0), ...gathered);
      label(rows.length + 1 + i, name);
      bar(rows.length + 1 + i, end - us, end, colours.kinds[kind]);
    });
    g.textAlign = "center";
    g.fillStyle = colours.muted;
    for (let k = 0; k <= 5; k++) g.fillText(time(step.time_us * k / 5), Math.min(width - 24, x(step.time_us * k / 5)), height - 26);
    g.fillText("time since the start of step 0", left + wide / 2, height - 9);
    byId("steps-legend").replaceChildren(...[["core", "compute, all of it together"], ["wait", "ready, and waits"], ["send", "gradient group"], ["reduce", ends.some(([, , kind]) => kind === "reduce") ? "exchange, update" : "exchange"],
      ...(step.input_us > 0 ? [["sync", "waits for samples"]] : [])].map(([k, text]) => make("span", {}, make("i", { style: `background: ${colours.kinds[k]}` }), text)),
      ...(parts.length > rows.length ? [make("span", {}, `${rows.length} of ${parts.length} parts are drawn.`)] : []));
  }

  function training() {
    const t = results.training_step;
    if (!t || t.steps.length === 0) return;
    byId("training").hidden = false;
    const step = t.steps[0], parts = [...step.groups.map((p) => ({ ...p, kind: "group" })), ...step.exchanges.map((p) => ({ ...p, kind: "exchange" }))];
    weft.onChange((what) => { if (what === "theme" || what === "size") draw(step, parts); });
    draw(step, parts); // "start" is being told now, and not to who comes while it is
    put("steps-table", [
      ["part of step 0", (p) => p.name], ["over", (p) => p.ranks_per_group ? `${p.ranks_per_group} ranks each` : "all ranks"], ["size", (p) => size(p.size_bytes), "number"], ["calls", (p) => String(p.calls), "number"],
      ["ready", (p) => time(p.ready_us), "number"], ["start", (p) => time(p.start_us), "number"], ["time", (p) => time(p.time_us), "number"], ["limited by", (p) => p.limited_by || ""],
      ["wrong", (p) => count(p.wrong), (p) => wrongOf(p.wrong), "number"]], parts);
    const any = (key) => t.steps.some((s) => s[key]);
    put("all-steps", [
      ["step", (s) => String(s.number), "number"], ["time", (s) => time(s.time_us, 6), "number"], ["compute", (s) => time(s.compute_us), "number"], ["communication", (s) => time(s.communication_us), "number"],
      ["waits for it", (s) => cell(s.share)], ...(any("update_us") ? [["updates weights", (s) => time(s.update_us || 0), "number"]] : []), ...(any("input_us") ? [["waits for samples", (s) => cell((s.input_us || 0) / s.time_us)]] : []),
      ...(any("samples") ? [["samples/s", (s) => digits(s.samples_per_second, 6), "number"], ["by the law", (s) => digits(s.law_samples_per_second, 6), "number"]] : []),
      ...(any("beside_checkpoint") ? [["beside", (s) => s.beside_checkpoint ? "a checkpoint" : ""]] : []),
      ["wrong", (s) => count(wrongOfStep(s)), (s) => wrongOf(wrongOfStep(s)), "number"]], t.steps.map((s, number) => ({ ...s, number })));
  }

  function hosts() {
    const { checkpoints, traffic } = results.host || { checkpoints: [], traffic: [] };
    byId("hosts").hidden = checkpoints.length + traffic.length === 0;
    byId("checkpoints").hidden = checkpoints.length === 0;
    byId("streams").hidden = traffic.length === 0;
    put("checkpoints-table", [
      ["number", (c) => String(c.number), "number"], ["what", (c) => c.load ? "load" : "save"], ["size", (c) => size(c.bytes), "number"], ["start", (c) => time(c.start_us, 4), "number"], ["time", (c) => time(c.time_us, 4), "number"],
      ["job waited", (c) => time(c.waited_us, 4), "number"], ["rate (GB/s)", (c) => digits(c.rate_GBps), "number"], ["of bound", (c) => c.bound_share === null ? "\u2013" : cell(c.bound_share)], ["bound by", (c) => c.bound_by],
      ["busiest", (c) => c.busiest], ["busy", (c) => percent(c.busiest_share), "number"], ["sent again", (c) => group(c.resent), "number"], ["wrong bytes", (c) => count(c.wrong_bytes), (c) => wrongOf(c.wrong_bytes), "number"]], checkpoints);
    put("streams-table", [
      ["stream", (s) => s.name], ["direction", (s) => s.direction.replace("_", " ")], ["asked (GB/s)", (s) => digits(s.asked_GBps), "number"], ["rate (GB/s)", (s) => digits(s.rate_GBps), "number"], ["sent", (s) => bytes(s.bytes), "number"],
      ["messages", (s) => group(s.messages), "number"], ["late", (s) => group(s.late), "number"], ["lost", (s) => group(s.lost), (s) => "number " + (s.lost ? "bad" : ""), "number"],
      ["mean latency", (s) => time(s.mean_latency_us), "number"], ["longest", (s) => time(s.longest_latency_us), "number"], ["wrong bytes", (s) => count(s.wrong_bytes), (s) => wrongOf(s.wrong_bytes), "number"]], traffic);
  }

  weft.onChange((what) => { if (what === "start") { training(); hosts(); } });
})();
