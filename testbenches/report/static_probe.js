// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Looks at a page without scripts, of a sweep or a comparison, and writes what it found into #probe as JSON. sweep_page_test.cpp adds it to a copy.
"use strict";

(() => {
  const found = { errors: window.probeErrors };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const luminance = (text) => {
    const [r, g, b] = text.match(/[\d.]+/g).map(Number).slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const style = (e) => getComputedStyle(e);
  try {
    const ground = style(document.body).backgroundColor;
    found.ground = ground;
    found.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    found.scripts = all("script:not([data-probe])").filter((s) => !/probe/.test(s.textContent)).length;
    found.resources = performance.getEntriesByType("resource").map((r) => r.name);
    found.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    found.tables = all("table").length;
    found.rows = all("tr").length;
    found.headings = all("h1, h2, th").map((e) => e.textContent);
    // Texts against the page, texts and curves against their paper.
    found.contrasts = {};
    for (const [name, selector] of [["text", "h1"], ["soft", ".soft-text"], ["cell", "td"], ["head", "th"], ["bad", ".bad"], ["link", "td a"]]) {
      const e = document.querySelector(selector);
      if (e) found.contrasts[name] = contrast(style(e).color, ground);
    }
    const chosen = document.querySelector("input.pick:checked");
    const label = chosen && document.querySelector(`label[for="${chosen.id}"]`);
    if (label) found.contrasts.chosen = contrast(style(label).color, style(label).backgroundColor);
    found.curve_contrasts = {};
    const shown = () => all("svg.panel").filter((s) => s.getBoundingClientRect().width > 0);
    for (const panel of shown()) {
      const paper = style(panel.querySelector(".paper")).fill;
      for (const [name, selector] of [["ink", ".ink"], ["soft", ".soft"]]) {
        const e = panel.querySelector(selector);
        if (e) found.contrasts[name + " on paper"] = contrast(style(e).fill, paper);
      }
      for (const g of panel.querySelectorAll("g[class^=c]")) found.curve_contrasts[g.getAttribute("class")] = contrast(style(g).color, paper);
    }
    // Charts: curves with markers in each, and no text that sticks out or lies over another.
    found.panels = shown().length;
    found.curves = shown().map((s) => s.querySelectorAll("path.curve").length);
    found.levels = shown().map((s) => s.querySelectorAll("line.grid").length);
    found.markers = shown().reduce((n, s) => n + s.querySelectorAll("title").length - 1, 0);
    found.texts_outside = 0;
    found.texts_over_texts = 0;
    for (const panel of shown()) {
      const frame = panel.getBoundingClientRect();
      const boxes = [...panel.querySelectorAll("text")].map((t) => t.getBoundingClientRect()).filter((b) => b.width > 0);
      for (const b of boxes) if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1) found.texts_outside++;
      boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => { if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) found.texts_over_texts++; }));
    }
    // The keyboard: what can be chosen and what can be scrolled takes the focus and has a name.
    const picks = all("input.pick");
    found.picks = picks.length;
    found.picks_focus = picks.every((p) => { p.focus(); return document.activeElement === p && p.labels.length === 1; });
    found.choice_shows = picks.length < 2 || (() => {
      const visible = () => all("section.figure").filter((s) => s.getBoundingClientRect().height > 0).map((s) => s.className).join();
      const before = visible();
      const other = picks.find((p) => !p.checked);
      other.click();
      const changed = visible() !== before && visible().split(",").length === 1;
      chosen.click();
      return changed && visible() === before;
    })();
    found.scrolls_without_focus = all(".scroll").filter((s) => { s.focus(); return document.activeElement !== s || !s.getAttribute("aria-label"); }).length;
  } catch (error) {
    found.errors.push("probe: " + error.stack);
  }
  const box = document.createElement("pre");
  box.id = "probe";
  box.textContent = JSON.stringify(found);
  document.body.append(box);
})();
