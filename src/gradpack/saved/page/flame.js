"use strict";
// The flame graph: one bar for each call, the calls that it made below it.

// The calls of each thread separately, in the order of the threads' first calls.
function byThread(calls) {
  const found = new Map();
  for (const call of [...calls].sort((a, b) => a.start - b.start)) {
    const thread = call.thread ?? "";
    if (!found.has(thread)) found.set(thread, []);
    found.get(thread).push(call);
  }
  return [...found.values()];
}

// Bars of nested calls: {name, x, w, depth, call}, with x and w as parts of `from` to `to`.
function bars(calls, from, to, depth = 0, found = []) {
  for (const call of calls) {
    const [begin, end] = [Math.max(call.start, from), Math.min(call.start + call.duration, to)];
    if (end - begin <= 0) continue;
    found.push({ name: call.name, x: (begin - from) / (to - from), w: (end - begin) / (to - from), depth, call });
    bars(call.children ?? [], from, to, depth + 1, found);
  }
  return found;
}

function drawFlame(calls, state, changed) {
  const box = byId("flame");
  const width = Math.max(320, box.clientWidth);
  const all = [Math.min(...calls.map((c) => c.start)), Math.max(...calls.map((c) => c.start + c.duration))];
  const [from, to] = state.zoom || all;
  const found = [];
  let below = 0;
  for (const group of byThread(calls)) {
    const own = bars(group, from, to, below).filter((bar) => bar.w * width >= 0.7);
    found.push(...own);
    below = own.reduce((most, bar) => Math.max(most, bar.depth + 1), below);
  }
  const deepest = found.reduce((most, bar) => Math.max(most, bar.depth), 0);
  const height = (deepest + 1) * 19 + 2;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label": "Calls over time" });
  const colours = ["--input", "--mask", "--constant", "--output", "--parameter"];
  for (const bar of found) {
    let hash = 0;
    for (const letter of bar.name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
    svg.append(s("rect", { class: "cell", x: bar.x * width, y: bar.depth * 19, width: Math.max(1, bar.w * width),
      height: 19, fill: `var(${colours[hash % colours.length]})`, "stroke-width": 1, tabindex: 0, role: "button",
      "aria-label": bar.name, onpointermove: (event) => tip(event, [bar.name, ["took", duration(bar.call.duration / 1000)],
        ["share", `${(100 * bar.call.duration / (all[1] - all[0])).toFixed(1)} %`]]), onpointerleave: untip,
      onclick: () => {
        state.zoom = state.zoom && calls.includes(bar.call) ? null : [bar.call.start, bar.call.start + bar.call.duration];
        changed();
      } }));
    if (bar.w * width > 24) {
      svg.append(s("text", { class: "on", x: bar.x * width + 5, y: bar.depth * 19 + 14 },
        fits(bar.name, bar.w * width - 10)));
    }
  }
  box.replaceChildren(svg);
}

if (typeof module !== "undefined") module.exports = { bars, byThread };
