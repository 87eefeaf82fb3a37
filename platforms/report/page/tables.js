// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that is words and numbers: verdict, cards, tables.
"use strict";

weft.tables = (() => {
  const { byId, make, results, activity, cases, state, present, time, size, bytes, percent, group, digits } = weft;

  /// A table. Columns: [head, cell of a row (text or node), class].
  function table(columns, rows, options = {}) {
    const body = make("tbody");
    for (const row of rows) {
      const line = make("tr", options.row ? options.row(row) : {});
      for (const [, cell, kind] of columns) {
        const value = cell(row);
        line.append(make("td", { class: typeof kind === "function" ? kind(row) : kind || "" }, value === undefined || value === null ? "" : value));
      }
      body.append(line);
    }
    return make("table", {}, make("thead", {}, make("tr", {}, ...columns.map(([head, , kind, headKind]) => make("th", { scope: "col", class: (headKind || kind) === "number" ? "number" : "" }, head)))), body);
  }
  const cell = (share, text) => make("span", {}, make("span", { class: "cell", "aria-hidden": "true" }, make("i", { style: `width: ${Math.round(100 * share)}%` })), text === undefined ? percent(share) : text);

  // ---- which collective of the activity a result is

  const keyOf = (r) => [r.op, r.algorithm, r.type, r.redop, r.size_bytes].join();
  const caseOf = new Map();
  {
    const places = new Map();
    cases.forEach((c, i) => { const k = keyOf(c); if (!places.has(k)) places.set(k, []); places.get(k).push(i); });
    for (const r of results.results) {
      const own = places.get(keyOf(r)) || [];
      const runs = r.repeats ? r.repeats.count : 1;
      caseOf.set(r, own.length ? own[0] : -1);
      own.slice(0, runs).forEach((i, k) => { cases[i].group = r.group; if (runs > 1) cases[i].run = `run ${k + 1} of ${runs}`; });
      own.splice(0, Math.min(runs, Math.max(0, own.length - 1)));
    }
  }
  function choose(row) {
    const i = caseOf.get(row);
    if (i === undefined || i < 0) return;
    state.at = i;
    state.bin = -1;
    weft.changed("case");
    byId("inside").scrollIntoView();
  }

  // ---- summary

  const wrongOf = () => {
    let wrong = 0, checked = 0, all = 0;
    const add = (w) => { all++; if (w !== null && w !== undefined) { checked++; wrong += w; } };
    results.results.forEach((r) => add(r.wrong));
    for (const s of (results.training_step || { steps: [] }).steps) for (const p of [...s.groups, ...s.exchanges]) add(p.wrong);
    const host = results.host || { checkpoints: [], traffic: [] };
    const wrongBytes = [...host.checkpoints, ...host.traffic].reduce((sum, part) => sum + (part.wrong_bytes || 0), 0);
    return { wrong, wrongBytes, checked, all };
  };
  function summary() {
    const { wrong, wrongBytes, checked, all } = wrongOf(), failed = results.failure !== "", good = !failed && wrong === 0 && wrongBytes === 0;
    document.title = `${activity.title || "weft"}: report`;
    byId("title").textContent = activity.title || "weft report";
    byId("subtitle").textContent = [activity.summary || activity.platform, `${group(activity.memory_bytes.length || 0)} ranks`, `weft ${results.version}`].filter(Boolean).join(" \u00b7 ");
    const verdict = byId("verdict");
    verdict.className = good ? "good" : "bad";
    verdict.textContent = (good ? "\u2713 " : "\u2717 ") + (failed ? "The run did not complete" : wrong ? `${group(wrong)} wrong elements` : wrongBytes ? `${group(wrongBytes)} wrong bytes of checkpoints and host traffic` : checked ? "Every answer is right" : "Completed; the run carried no data, so nothing was checked");

    // The largest completed collective of each operation and algorithm says what limits the machine.
    const last = new Map();
    for (const r of results.results) {
      const key = [r.op, r.algorithm, r.group, r.type, r.redop].join();
      if (r.limited_by && (!last.has(key) || last.get(key).size_bytes < r.size_bytes)) last.set(key, r);
    }
    const main = [...last.values()].filter((r) => r.op === results.results[0].op).sort((a, b) => b.size_bytes - a.size_bytes || a.time_us - b.time_us)[0];
    const headline = byId("headline");
    headline.replaceChildren();
    if (main) {
      const c = cases[caseOf.get(main)], worst = c && [...c.wires].filter((w) => !w[1]).sort((a, b) => b[3] - a[3])[0];
      const share = main.busy_shares[main.limited_by];
      headline.append(`${main.op} of ${size(main.size_bytes)} by ${main.algorithm}${weft.redopOf(main)}${main.group ? `, ${main.group},` : ""} was limited by `, make("b", {}, weft.limitWords[main.limited_by] || main.limited_by),
        share !== undefined ? `: for ${percent(share)} of its ${time(main.time_us)}` : `: its busiest part was busy for ${percent(Math.max(...["core", "dma", "memory", "offload", "link"].map((k) => main.busy_shares[k] || 0)))} of its ${time(main.time_us)}`,
        worst && main.limited_by === "link" ? `, most of all ${worst[0]}.` : ".");
      const others = [...last.values()].filter((r) => r !== main);
      const words = new Map();
      for (const r of results.results) if (r.limited_by) words.set(r.limited_by, (words.get(r.limited_by) || 0) + 1);
      if (others.length || words.size > 1)
        headline.append(make("small", {}, `Of ${results.results.length} results: ${[...words].sort((a, b) => b[1] - a[1]).map(([w, n]) => `${n} by ${w}`).join(", ")}.` +
          (main.bound_share ? ` It reached ${percent(main.bound_share)} of what ${weft.allows(main.bound_by)}.` : "")));
    } else if (results.training_step && results.training_step.steps.length) {
      const s = results.training_step.steps[0];
      // What takes most beside compute comes first.
      const waits = [[s.share, "waits for communication"], [(s.input_us || 0) / s.time_us, "waits for samples"], [(s.update_us || 0) / s.time_us, "updates the weights"]]
        .filter(([share], i) => i === 0 || share > 0).sort((a, b) => b[0] - a[0]).map(([share, what]) => `${percent(share)} ${what}`);
      headline.append(`A training step takes ${time(s.time_us)}: `, make("b", {}, waits[0]), waits.slice(1).map((w) => ", " + w).join("") + `, ${time(s.compute_us)} are compute.`);
    }
    const cards = [
      ["results", String(all)], ["wrong elements", checked ? `${group(wrong)} in ${checked} checked` : "not checked"], ["exit reason", failed ? (/interrupted/.test(results.failure.split("\n")[0]) ? "interrupted" : "failed") : "completed"],
      ["simulated time", time(results.simulated_time_ps / 1e6)], ["host time", `${digits(results.host_seconds)} s`], ["packet hops", group(results.packet_hops)], ["devices, directed links", `${group(activity.map.nodes)}, ${group(activity.map.wires)}`], ["digest", results.digest], ...(results.counted_from_ps ? [["links, memory and hops count from", `${time(results.counted_from_ps / 1e6)}, when the job was interrupted`]] : [])];
    byId("cards").replaceChildren(...cards.map(([name, value]) => make("div", { class: "card" }, make("b", {}, value), make("span", {}, name))));
    const problems = byId("problems");
    problems.replaceChildren();
    if (failed) problems.append(make("pre", { tabindex: "0" }, results.failure));
    const warnings = [...(results.warnings || [])];
    if (activity.left_out) warnings.push(`${activity.left_out} collectives were not kept over time: ${cases.length} were, at most 100 alike.`);
    if (warnings.length) problems.append(make("ul", {}, ...warnings.map((w) => make("li", {}, w))));
  }

  // ---- results

  function resultsTable() {
    const rows = results.results;
    const columns = [
      ["collective", (r) => r.op], ["algorithm", (r) => r.algorithm + (r.group ? ` (${r.group})` : "")], ["type", (r) => r.type + weft.redopOf(r)], ["size", (r) => size(r.size_bytes), "number"],
      ["time", (r) => time(r.time_us), "number"], ...(rows.some((r) => r.repeats) ? [["runs: least to most", (r) => r.repeats ? `${r.repeats.count}: ${time(r.repeats.min_us, 4)} to ${time(r.repeats.max_us, 4)}` : "", "number"]] : []), ["algbw (GB/s)", (r) => digits(r.algbw_GBps), "number"], ["busbw (GB/s)", (r) => digits(r.busbw_GBps), "number"],
      ["of bound", (r) => r.bound_share ? cell(r.bound_share) : "\u2013"],
      ["limited by", (r) => r.limited_by ? make("span", { class: r.limited_by === "latency" ? "pill" : "pill strong" }, r.limited_by) : "\u2013"],
      ["core", (r) => r.busy_shares ? percent(r.busy_shares.core) : "", "number"], ["DMA", (r) => r.busy_shares ? percent(r.busy_shares.dma) : "", "number"],
      [activity.memory, (r) => r.busy_shares ? percent(r.busy_shares.memory) : "", "number"],
      ...(rows.some((r) => r.busy_shares && r.busy_shares.offload > 0) ? [["offload", (r) => r.busy_shares ? percent(r.busy_shares.offload || 0) : "", "number"]] : []),
      ["link", (r) => r.busy_shares ? percent(r.busy_shares.link) : "", "number"],
      ["credits", (r) => r.busy_shares ? percent(r.busy_shares.credits) : "", "number"], ["arbitration", (r) => r.busy_shares ? percent(r.busy_shares.arbitration) : "", "number"],
      ["wrong", (r) => r.wrong === null ? "n/a" : group(r.wrong), (r) => "number " + (r.wrong === null ? "" : r.wrong ? "bad" : "good"), "number"]];
    byId("results-table").replaceChildren(table(columns, rows, { row: (r) => caseOf.get(r) >= 0 ? { tabindex: "0", "data-case": String(caseOf.get(r)), onclick: () => choose(r), onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(r); } else if (e.key === "ArrowDown" || e.key === "ArrowUp") { const to = e.key === "ArrowDown" ? e.currentTarget.nextSibling : e.currentTarget.previousSibling; if (to) { e.preventDefault(); to.focus(); } } } } : {} }));
  }
  function markChosen() {
    for (const line of byId("results-table").querySelectorAll("tr[data-case]")) line.classList.toggle("chosen", Number(line.dataset.case) === state.at);
  }

  // ---- one collective

  function shares() {
    const c = present(), box = byId("shares");
    if (!c) { box.replaceChildren(); return; }
    const words = [["link", "link"], ["credits", "credits"], ["arbitration", "arbitration"], ["memory", activity.memory], ["dma", "DMA"],
      ...(c.shares.offload > 0 ? [["offload", "offload"]] : []), ["core", "core"]];
    box.replaceChildren(...words.map(([key, name]) => make("div", { class: "share" + (c.limited_by === key ? " limit" : "") }, make("span", {}, name),
      make("div", { class: "track" }, make("div", { class: "fill", style: `width: ${(100 * c.shares[key]).toFixed(1)}%` })), make("span", { class: "number" }, percent(c.shares[key])))),
      make("p", { class: "hint" }, (c.limited_by ? `Limited by ${weft.limitWords[c.limited_by]}. ` : c.complete ? "" : "It did not complete: these are shares of the time until the run ended. ") + `A bar is the share of the time for which the part of its kind with most was busy; ` +
        "credits: a link was idle while a head waited for them; arbitration: a link was busy while a head from another rank waited."));
  }
  const causeOf = ([, local, , busy, credits, arbitration, failed]) => {
    if (failed) return make("b", { class: "bad" }, "failure: " + failed);
    if (Math.max(credits, arbitration) < 0.005 || busy > 0.9 && credits < 0.05 && arbitration < 0.05)
      return busy >= 0.5 ? "serialisation: it is busy" : "nothing: it waits for firmware and DMA to send";
    if (credits >= arbitration) return local ? "memory: its receive buffer is full" : "credits of the next buffer";
    return "arbitration: heads wait for their turn";
  };
  function troubles() {
    const c = present();
    if (!c) return;
    byId("wires").replaceChildren(table([
      ["link", (w) => w[0]], ["busy", (w) => cell(w[3])], ["blocked by", (w) => causeOf(w)], ["others waited", (w) => percent(w[5]), "number"], ["no credits", (w) => percent(w[4]), "number"],
      ["nothing to send", (w) => percent(Math.max(0, 1 - w[3] - w[4])), "number"], ["sent", (w) => bytes(w[2]), "number"]], c.wires));
    byId("lanes").replaceChildren(c.lanes.length ? table([
      ["link", (l) => l[0]], ["VL", (l) => String(l[1]), "number"], ["no credits", (l) => cell(l[2])], ["fullest", (l) => l[3] ? percent(l[3]) : "\u2013", "number"], ["buffer (cells)", (l) => group(l[4]), "number"],
      ["blocked by", (l) => l[2] >= 0.005 ? "credits: the buffer behind is full, or too small for the round trip" : l[3] >= 0.9 ? "nothing yet: the buffer fills" : "nothing"]], c.lanes)
      : make("p", { class: "hint", style: "padding: .6rem" }, "No virtual lane had anything in its buffer, or the links of this machine have none."));
  }

  // ---- memory, published, configuration, statistics

  function memory() {
    byId("memory-table").replaceChildren(table([
      ["collective", (c) => weft.nameOf(c)], ["read", (c) => bytes(c.bytes_read), "number"], ["written", (c) => bytes(c.bytes_written), "number"],
      ["rate (GB/s)", (c) => c.time_us > 0 ? digits((c.bytes_read + c.bytes_written) / c.time_us / 1000) : "", "number"], ["busiest", (c) => cell(c.shares.memory)]], cases.slice(0, 400)));
  }
  function published() {
    const page = weft.data.published;
    if (!page || !Array.isArray(page.targets)) return;
    byId("published").hidden = false;
    const met = page.targets.filter((r) => r.verdict === "met").length;
    byId("published-note").textContent = `${met} of ${page.targets.filter((r) => r.verdict === "met" || r.verdict === "MISS").length} judged values are met. Runs of \`weft validate\`, not of this run.`;
    const value = (v) => v === null || v === undefined ? "\u2013" : typeof v === "number" ? digits(v, 4) : Array.isArray(v) ? v.join(" > ") : String(v);
    // An order of several names takes lines.
    const figure = (name, of) => [name, (r) => value(of(r)), (r) => Array.isArray(of(r)) ? "wrap few" : "number", "number"];
    byId("published-table").replaceChildren(table([
      ["target", (r) => r.target], ["verdict", (r) => r.verdict, (r) => r.verdict === "met" ? "good" : r.verdict === "MISS" ? "bad" : ""],
      ["what", (r) => r.what, "wrap"], figure("published", (r) => r.published), figure("simulated", (r) => r.simulated), ["unit", (r) => r.unit || ""], ["kind", (r) => r.kind || ""],
      ["source", (r) => r.source || "", "wrap"]], page.targets));
  }
  function filtered(input, box, columns, rows, textOf) {
    const draw = () => { const words = byId(input).value.toLowerCase().split(/\s+/).filter(Boolean); byId(box).replaceChildren(table(columns, rows.filter((r) => words.every((w) => textOf(r).toLowerCase().includes(w))).slice(0, 1500))); };
    byId(input).addEventListener("input", draw);
    draw();
  }

  function start() {
    summary();
    resultsTable();
    memory();
    published();
    filtered("config-filter", "config-table", [["key", (r) => r[0]], ["value", (r) => r[1]], ["from", (r) => r[2] ? "set by " + r[2] : r[3] ? "default: " + r[3] : "default", "wrap"], ["meaning", (r) => r[4], "wrap"]],
      activity.configuration || [], (r) => r.join(" "));
    filtered("stats-filter", "stats-table", [["name", (r) => r.name], ["value", (r) => Number.isInteger(r.value) ? group(r.value) : digits(r.value, 5), "number"], ["unit", (r) => r.unit], ["meaning", (r) => r.description, "wrap"]],
      results.stats, (r) => r.name + " " + r.unit);
  }
  weft.onChange((what) => {
    if (what === "start") start();
    if (what === "start" || what === "case") { shares(); troubles(); markChosen(); }
  });
  return { choose, caseOf, table, cell };
})();
