"use strict";
// Functions of the document that do not need the DOM, so that tests can call them under node.

const COLOURS = ["input", "output", "stat", "mask", "index", "constant", "parameter", "buffer"];
const colourOf = (kind) => `var(--${COLOURS.includes(kind) ? kind : "other"})`;

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(n) >= 1024 && unit < 4) { n /= 1024; unit += 1; }
  return `${unit === 0 || Math.abs(n) >= 100 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 10 ? `${ms.toFixed(1)} ms` : ms >= 0.1 ? `${ms.toFixed(2)} ms` : `${(ms * 1000).toFixed(1)} µs`;
}

// About `count` round numbers from 0 to at least `top`; of bytes, in powers of two.
function ticks(top, count, binary) {
  if (!(top > 0)) return [0];
  const rough = top / count;
  let step;
  if (binary) {
    step = 2 ** Math.ceil(Math.log2(rough));
  } else {
    const power = 10 ** Math.floor(Math.log10(rough));
    step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
  }
  const found = [];
  for (let i = 0; i * step < top + step; i += 1) found.push(i * step);
  return found;
}

// Rectangles of the areas `sizes` (sorted, largest first) that fill x, y, w, h, each as square as may be.
function squarify(sizes, x, y, w, h) {
  const total = sizes.reduce((a, b) => a + b, 0);
  const found = [];
  if (!(total > 0) || w <= 0 || h <= 0) return sizes.map(() => [x, y, 0, 0]);
  const scale = (w * h) / total;
  const worst = (sum, large, small, side) =>
    Math.max((side * side * large) / (sum * sum), (sum * sum) / (side * side * small));
  let i = 0;
  while (i < sizes.length) {
    const side = Math.min(w, h);
    let sum = sizes[i] * scale;
    let last = i + 1;
    const large = sum;
    while (last < sizes.length) {
      const next = sizes[last] * scale;
      if (next <= 0 || worst(sum + next, large, next, side) > worst(sum, large, sizes[last - 1] * scale, side)) break;
      sum += next;
      last += 1;
    }
    const depth = side > 0 ? sum / side : 0;
    let at = 0;
    for (; i < last; i += 1) {
      const length = depth > 0 ? (sizes[i] * scale) / depth : 0;
      found.push(w >= h ? [x, y + at, depth, length] : [x + at, y, length, depth]);
      at += length;
    }
    if (w >= h) { x += depth; w -= depth; } else { y += depth; h -= depth; }
  }
  return found;
}

const place = (row) => (row.file ? `${row.file.split(/[\\/]/).pop()}:${row.line}` : "");
const aside = (tier) => tier === "disk" || tier === "cpu"; // tiers of offloaded bytes, not in memory
// The bytes in memory that were charged to a row at a moment.
function heldAt(row, t) {
  let held = 0;
  for (const [at, now] of row.changes) {
    if (at > t) break;
    held = now;
  }
  return held;
}

const PATHS = {
  module: (r) => [...(r.module ? r.module.split(".") : ["(no module)"]), `${r.op} · ${r.slot}`, place(r)],
  op: (r) => [r.op, r.slot, r.module || "(no module)", place(r)],
  line: (r) => [place(r) || "(no line)", `${r.op} · ${r.slot}`, r.module || "(no module)"],
};

// A tree of the bytes held for the rows: nodes are {name, size, kinds, children, path}.
function tree(rows, by) {
  const root = { name: "all", size: 0, kinds: {}, children: new Map(), path: [] };
  for (const row of rows) {
    let node = root;
    const path = PATHS[by](row).filter((part) => part !== "");
    for (let depth = 0; ; depth += 1) {
      node.size += row.held;
      node.kinds[row.kind] = (node.kinds[row.kind] || 0) + row.held;
      if (depth === path.length) break;
      let next = node.children.get(path[depth]);
      if (!next) {
        next = { name: path[depth], size: 0, kinds: {}, children: new Map(), path: path.slice(0, depth + 1) };
        node.children.set(path[depth], next);
      }
      node = next;
    }
  }
  return root;
}

const largestKind = (node) => Object.entries(node.kinds).sort((a, b) => b[1] - a[1])[0]?.[0] ?? "other";
const sorted = (node) => [...node.children.values()].filter((n) => n.size > 0).sort((a, b) => b.size - a.size);

// The rows that contain every word of the text, are of the kind, and are held at the moment.
function filter(rows, text, kind, moment, by, path) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    if (kind && row.kind !== kind) return false;
    if (moment !== null && heldAt(row, moment) === 0) return false;
    if (path.length) {
      const own = PATHS[by](row).filter((part) => part !== "");
      if (path.some((part, i) => own[i] !== part)) return false;
    }
    if (!words.length) return true;
    const all = `${row.op} ${row.slot} ${row.kind} ${row.module} ${row.file}:${row.line} ${row.function} ${row.dtype} ` +
      `${row.shape.join("×")} ${row.policy} ${row.tier} ${row.phase}`.toLowerCase();
    return words.every((word) => all.toLowerCase().includes(word));
  });
}

// The rows sorted by `key(row)`, empty values last in both directions.
function sortRows(rows, key, down) {
  const nothing = (v) => v === null || v === undefined || v === "";
  return rows.map((row) => [key(row), row]).sort(([a], [b]) => {
    if (nothing(a) || nothing(b)) return nothing(a) - nothing(b);
    const order = typeof a === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
    return down ? -order : order;
  }).map(([, row]) => row);
}

if (typeof module !== "undefined") {
  module.exports = { bytes, duration, ticks, squarify, tree, sorted, largestKind, filter, sortRows, heldAt, place };
}
