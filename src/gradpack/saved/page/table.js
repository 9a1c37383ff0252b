"use strict";
// Every saved tensor: a table that sorts and filters.

const POLICIES = ["bf16", "int8", "recompute", "disk"];
const strides = (row) => (row.strides === null ? "" : `(${row.strides.join(", ")})`);

// [heading, what to sort by, what to show, is it a number?, what it means]
const COLUMNS = [
  ["bytes", (r) => r.bytes, (r) => bytes(r.bytes), true, "of its elements"],
  ["held", (r) => r.held, (r) => (r.held ? bytes(r.held) : ""), true,
    "held in memory at that moment on account of this row; empty where another row holds the same memory"],
  ["op", (r) => r.op, (r) => r.op, false, "the operation that saved it"],
  ["slot", (r) => r.slot, (r) => r.slot, false, "under which name"],
  ["kind", (r) => r.kind, null, false, ""],
  ["shape", (r) => r.shape.reduce((a, b) => a * b, 1), (r) => r.shape.join(" × ") || "scalar", true, ""],
  ["dtype", (r) => r.dtype, (r) => r.dtype, false, ""],
  ["strides", strides, strides, false, "in elements"],
  ["module", (r) => r.module, (r) => r.module, false, ""],
  ["line", (r) => `${r.file}:${String(r.line).padStart(6, "0")}`, null, false, "of your code"],
  ["shared", (r) => r.shared, (r) => (r.shared ? `${r.shared} ×` : ""), true, "other rows on the same memory"],
  ["phase", (r) => r.phase, (r) => r.phase, false, "when it was saved"],
  ["policy", (r) => r.policy, (r) => r.policy, false, "what packed it"],
  ["packed", (r) => r.packed_bytes, (r) => (r.packed_bytes === null ? "" : bytes(r.packed_bytes)), true, ""],
  ["tier", (r) => r.tier, (r) => r.tier, false, "where it lies"],
  ["pack", (r) => r.pack_ms, (r) => duration(r.pack_ms), true, "time in the pack hook"],
  ["unpack", (r) => r.unpack_ms, (r) => duration(r.unpack_ms), true, "time in the unpack hook"],
  ["lived", (r) => (r.released_at === null ? null : r.released_at - r.saved_at),
    (r) => (r.released_at === null ? "held" : duration((r.released_at - r.saved_at) * 1000)), true,
    "from saving to letting go"],
  ...POLICIES.map((name) => [`${name}?`, (r) => r.what_if[name]?.[0] ?? null,
    (r) => (r.what_if[name] ? `−${bytes(r.what_if[name][0])}, ${duration(r.what_if[name][1]) || "0"}` : ""), true,
    `bytes that ${name} would save, and the time that it would take`]),
];

function cell(row, column, most) {
  const [name, , show, number] = column;
  if (name === "kind") {
    return h("td", {}, h("i", { style: `background:${colourOf(row.kind)}` }), row.kind);
  }
  if (name === "line") {
    return h("td", { class: "where", title: `${row.file}:${row.line} in ${row.function}` },
      h("bdi", {}, row.file ? place(row) : ""));
  }
  if (name === "held" && row.held && most) {
    const share = ((100 * row.held) / most).toFixed(1);
    return h("td", { class: "n", style: `background:linear-gradient(to left, var(--shade) ${share}%, transparent 0)` },
      show(row));
  }
  const title = name === "shared" && row.shares.length ? `rows ${row.shares.join(", ")}` : null;
  return h("td", { class: number ? "n" : null, title }, show(row));
}

function drawTable(doc, rows, state, changed) {
  const column = COLUMNS.find((c) => c[0] === state.sort) ?? COLUMNS[0];
  const found = sortRows(rows, column[1], state.down);
  const most = doc.rows.reduce((top, row) => Math.max(top, row.held), 0);
  const shown = found.slice(0, state.shown);
  const head = COLUMNS.map((c) => h("th", { class: c[3] ? "n" : null, scope: "col",
    "aria-sort": c === column ? (state.down ? "descending" : "ascending") : null },
  h("button", { title: c[4] || null, onclick: () => {
    state.down = c === column ? !state.down : c[3];
    state.sort = c[0];
    changed();
  } }, c[0], c === column ? (state.down ? " ↓" : " ↑") : "")));
  const held = found.reduce((sum, row) => sum + row.held, 0);
  byId("count").textContent = `${found.length} of ${doc.rows.length} saved tensors, ${bytes(held)} held by them` +
    (doc.forgotten ? `; ${doc.forgotten} more are counted above and not listed` : "");
  byId("rows").replaceChildren(
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "saved tensors" }, h("table", {},
      h("thead", {}, h("tr", {}, head)),
      h("tbody", {}, shown.map((row) => h("tr", {}, COLUMNS.map((c) => cell(row, c, most))))))),
    found.length > shown.length
      ? h("p", {}, h("button", { onclick: () => { state.shown *= 4; changed(); } }, "show more")) : "");
}
