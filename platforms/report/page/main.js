// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user touches: theme, sections, choice of the collective, time slider.
"use strict";

(() => {
  const { byId, make, state, cases, present, time, spanOf } = weft;

  // ---- theme: that of the system until the button is used

  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  function setTheme() {
    const theme = chosen || (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = theme === "dark" ? "\u2600 Light" : "\u263e Dark";
  }
  byId("theme").addEventListener("click", () => { chosen = weft.theme() === "dark" ? "light" : "dark"; setTheme(); weft.changed("theme"); });
  system.addEventListener("change", () => { setTheme(); weft.changed("theme"); });
  setTheme();

  // ---- collective and time

  const choice = byId("case"), slider = byId("time"), play = byId("play"), whole = byId("whole");
  cases.forEach((c, i) => choice.append(make("option", { value: String(i) }, `${i + 1}. ${weft.nameOf(c)}`)));
  let timer = null;
  function stop() { clearInterval(timer); timer = null; play.textContent = "Play"; play.setAttribute("aria-pressed", "false"); }
  function show(what) {
    const c = present();
    if (!c) return;
    choice.value = String(state.at);
    byId("case-back").disabled = state.at === 0;
    byId("case-next").disabled = state.at + 1 === cases.length;
    slider.max = String(Math.max(0, c.bins - 1));
    slider.disabled = play.disabled = c.bins === 0;
    slider.value = String(Math.max(0, state.bin));
    const [from, to] = spanOf(c, state.bin);
    const text = state.bin < 0 ? `0 to ${time(c.time_us)}` : weft.spanText(from, to);
    byId("time-text").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    whole.setAttribute("aria-pressed", String(state.bin < 0));
    if (what !== "bin")
      byId("case-text").textContent = `${weft.nameOf(c)}: ${time(c.time_us)} from ${time(c.start_us)} of simulated time` + (c.limited_by ? `, limited by ${weft.limitWords[c.limited_by]}.` : c.complete ? "." : "; it did not complete, so nothing is said of what limited it.");
  }
  function choose(i) { stop(); state.at = Math.max(0, Math.min(cases.length - 1, i)); state.bin = -1; weft.changed("case"); }
  choice.addEventListener("change", () => choose(Number(choice.value)));
  byId("case-back").addEventListener("click", () => choose(state.at - 1));
  byId("case-next").addEventListener("click", () => choose(state.at + 1));
  slider.addEventListener("input", () => { state.bin = Number(slider.value); weft.changed("bin"); });
  whole.addEventListener("click", () => { stop(); state.bin = -1; weft.changed("bin"); });
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => { state.bin = state.bin + 1 >= present().bins ? 0 : state.bin + 1; weft.changed("bin"); }, 90);
  });
  weft.onChange((what) => { if (what === "start" || what === "case" || what === "bin") show(what); });

  // ---- sections

  if (cases.length === 0) byId("inside").hidden = true;
  let resizing = null;
  addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => weft.changed("size"), 120); });
  addEventListener("scroll", () => weft.showTip(""), { passive: true });
  weft.changed("start");
  const nav = byId("nav");
  for (const section of document.querySelectorAll("main > section"))
    if (!section.hidden && section.querySelector("h2"))
      nav.append(make("a", { href: "#" + section.id }, section.querySelector("h2").textContent.replace(" by size", "").replace("Inside one collective", "Inside").replace("Time and bandwidth", "Curves").replace("Checkpoints and host traffic", "Hosts").replace(" traffic", "")));
  document.documentElement.dataset.ready = "yes";
})();
