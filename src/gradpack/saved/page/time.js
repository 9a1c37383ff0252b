"use strict";
// Bytes over time: one step-shaped area for each kind, forward and backward behind them.

const CHART = { left: 68, right: 14, top: 46, bottom: 26, height: 320 };
const ROOM = 40; // pixels above the highest level, for the names of phases and the peak's label

// For each moment the sums up to and including each series, drawn as steps.
function stack(series) {
  const sums = [];
  let under = series.length ? series[0].map(() => 0) : [];
  for (const values of series) {
    const over = values.map((v, i) => v + under[i]);
    sums.push([under, over]);
    under = over;
  }
  return sums;
}

// The bands of all tiers, one for each kind, in the order of the colours.
function inOrder(bands) {
  const found = new Map(COLOURS.map((kind) => [kind, null]));
  for (const band of bands) {
    const sum = found.get(band.kind);
    found.set(band.kind, sum ? { kind: band.kind, bytes: sum.bytes.map((v, i) => v + band.bytes[i]) } : band);
  }
  return [...found.values()].filter((band) => band !== null);
}

function stepPath(times, under, over, x, y, end) {
  if (!times.length) return "";
  let there = "";
  let back = "";
  for (let i = 0; i < times.length; i += 1) {
    const from = x(times[i]).toFixed(1);
    const to = x(i + 1 < times.length ? times[i + 1] : end).toFixed(1);
    there += `${i ? "L" : "M"}${from} ${y(over[i]).toFixed(1)}H${to}`;
    back = `L${to} ${y(under[i]).toFixed(1)}H${from}${back}`;
  }
  return `${there}${back}Z`;
}

function indexAt(times, t) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function drawTime(doc, state, changed) {
  const box = byId("time");
  const width = Math.max(320, box.clientWidth);
  const { left, right, top, bottom, height } = CHART;
  const times = doc.curve.times;
  const bands = inOrder(doc.curve.bands.filter((b) => !aside(b.tier)));
  const others = doc.curve.bands.filter((b) => aside(b.tier));
  const there = others.some((b) => b.tier === "cpu") ? "on the host" : "on disk";
  const [begin, end] = state.range || [0, Math.max(doc.seconds, times.at(-1) ?? 0, 1e-9)];
  const sums = stack(bands.map((b) => b.bytes));
  const bytesAside = times.map((_, i) => others.reduce((sum, b) => sum + b.bytes[i], 0));
  const most = Math.max(doc.peak.bytes, ...(bytesAside.length ? [bytesAside.reduce((a, b) => Math.max(a, b), 0)] : []), 1);
  const levels = ticks(most, 4, true);
  const scale = levels.at(-1);
  const x = (t) => left + ((t - begin) / (end - begin)) * (width - left - right);
  const y = (v) => height - bottom - (v / scale) * (height - top - bottom);
  const t = (px) => begin + ((px - left) / (width - left - right)) * (end - begin);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img",
    "aria-label": `Bytes held for backward over time, at most ${bytes(doc.peak.bytes)}` });
  svg.append(s("clipPath", { id: "plot" }, s("rect", { x: left, y: 0, width: width - left - right, height })));
  const plot = s("g", { "clip-path": "url(#plot)" });
  for (const span of doc.spans) {
    const [from, to] = [x(span.start), x(span.end ?? end)];
    if (to < left || from > width - right || to - from < 1) continue;
    plot.append(s("rect", { x: from, y: top - ROOM, width: to - from, height: height - bottom - top + ROOM,
      fill: "var(--shade)" }));
    const room = Math.min(to, width - right) - Math.max(from, left) - 8;
    if (fits(span.name, room) === span.name) {
      plot.append(s("text", { x: Math.max(from, left) + 5, y: top - ROOM + 14 }, span.name));
    }
  }
  for (const level of levels) {
    svg.append(s("line", { class: "grid", x1: left, x2: width - right, y1: y(level), y2: y(level) }));
    svg.append(s("text", { x: left - 8, y: y(level) + 4, "text-anchor": "end" }, bytes(level)));
  }
  const step = ticks(end - begin, Math.max(2, Math.floor(width / 140)), false);
  for (const at of step.filter((v) => v <= end - begin)) {
    svg.append(s("text", { x: x(begin + at), y: height - 8, "text-anchor": at ? "middle" : "start" },
      begin + at === 0 ? "0" : duration((begin + at) * 1000)));
  }
  bands.forEach((band, i) => plot.append(s("path", { d: stepPath(times, ...sums[i], x, y, end),
    fill: colourOf(band.kind), "fill-opacity": 0.85 })));
  if (others.length) {
    plot.append(s("path", { d: stepPath(times, bytesAside, bytesAside, x, y, end), fill: "none", stroke: "var(--ink)",
      "stroke-dasharray": "5 4" }));
  }
  const peakX = x(doc.peak.at);
  if (doc.peak.bytes && peakX >= left && peakX <= width - right) {
    const toLeft = peakX > width * 0.7;
    plot.append(s("circle", { cx: peakX, cy: y(doc.peak.bytes), r: 5, fill: "var(--ink)",
      stroke: "var(--surface)", "stroke-width": 2 }));
    plot.append(s("text", { class: "halo", x: peakX + (toLeft ? -9 : 9), y: y(doc.peak.bytes) - 7,
      "text-anchor": toLeft ? "end" : "start" }, `peak ${bytes(doc.peak.bytes)} at ${duration(doc.peak.at * 1000)}`));
  }
  const pin = state.moment === null ? null : x(state.moment);
  if (pin !== null) {
    plot.append(s("line", { x1: pin, x2: pin, y1: top - ROOM, y2: height - bottom, stroke: "var(--ink)",
      "stroke-width": 1.5 }));
  }
  const cross = s("line", { y1: top - ROOM, y2: height - bottom, stroke: "var(--soft)", "stroke-dasharray": "3 3",
    visibility: "hidden" });
  const mark = s("rect", { y: top - ROOM, height: height - bottom - top + ROOM, fill: "var(--accent)", "fill-opacity": 0.2,
    visibility: "hidden" });
  plot.append(cross, mark);
  const cover = s("rect", { x: left, y: 0, width: width - left - right, height, fill: "transparent",
    style: "cursor: crosshair" });
  let from = null;
  const where = (event) => {
    const area = svg.getBoundingClientRect();
    return Math.min(width - right, Math.max(left, ((event.clientX - area.left) / area.width) * width));
  };
  cover.addEventListener("pointerdown", (event) => { from = where(event); cover.setPointerCapture(event.pointerId); });
  cover.addEventListener("pointermove", (event) => {
    const px = where(event);
    const i = indexAt(times, t(px));
    for (const name of ["x1", "x2"]) cross.setAttribute(name, px);
    cross.setAttribute("visibility", "visible");
    if (from !== null) {
      mark.setAttribute("x", Math.min(from, px));
      mark.setAttribute("width", Math.abs(px - from));
      mark.setAttribute("visibility", "visible");
    }
    const lines = bands.map((b) => [b.kind, i < 0 ? 0 : b.bytes[i]]).filter((pair) => pair[1] > 0)
      .sort((a, b) => b[1] - a[1]).map(([kind, n]) => [kind, bytes(n)]);
    const all = bands.reduce((sum, b) => sum + (i < 0 ? 0 : b.bytes[i]), 0);
    if (i >= 0 && bytesAside[i]) lines.push([there, bytes(bytesAside[i])]);
    tip(event, [[`at ${duration(t(px) * 1000)}`, bytes(all)], ...lines]);
  });
  cover.addEventListener("pointerleave", () => { untip(); cross.setAttribute("visibility", "hidden"); });
  cover.addEventListener("pointerup", (event) => {
    const px = where(event);
    if (from !== null && Math.abs(px - from) > 8) state.range = [t(Math.min(from, px)), t(Math.max(from, px))];
    else state.moment = t(px);
    from = null;
    untip();
    changed();
  });
  cover.addEventListener("dblclick", () => { state.range = null; state.moment = doc.peak.at; changed(); });
  svg.append(plot, cover);
  const shown = bands.filter((b) => b.bytes.some((v) => v > 0));
  box.replaceChildren(svg, h("div", { class: "legend" },
    shown.map((b) => h("span", {}, h("i", { style: `background:${colourOf(b.kind)}` }), b.kind)),
    others.length ? h("span", {}, `- - ${there}`) : null));
}

if (typeof module !== "undefined") module.exports = { stack, stepPath, indexAt, inOrder };
