"use strict";
// Puts the parts together. All of them draw from one state, which holds the user's choices.

const doc = JSON.parse(byId("data").textContent);
const state = { moment: doc.peak.at, range: null, by: "module", path: [], kind: "", text: "", held: true,
  sort: "held", down: true, shown: 200, zoom: null };

function figures() {
  const totals = doc.totals;
  const items = [
    [bytes(doc.peak.bytes), `held at the peak, ${doc.peak.phase}`],
    [bytes(totals.saved_bytes), `saved in ${totals.saves} saves, counted each time`],
    [bytes(totals.distinct_bytes), "of distinct memory, parameters not counted"],
    [bytes(totals.parameter_bytes), "of parameters, alive anyway"],
  ];
  if (totals.packed_bytes) items.push([bytes(totals.packed_bytes), "in packed form"]);
  for (const one of doc.times) items.push([duration(one.seconds * 1000), one.name]);
  if (totals.pack_ms || totals.unpack_ms) items.push([duration(totals.pack_ms + totals.unpack_ms), "packing and unpacking"]);
  byId("figures").replaceChildren(...items.map(([value, label]) =>
    h("div", { class: "figure" }, h("b", {}, value), h("span", {}, label))));
}

function whatIf() {
  const most = Math.max(doc.peak.bytes, 1);
  const line = (name, size, note) => [h("span", {}, name),
    h("div", { class: "track" }, h("div", { style: `width:${((100 * size) / most).toFixed(2)}%` })),
    h("span", { class: "soft" }, note)];
  byId("whatif").replaceChildren(...line("as it is", doc.peak.bytes, bytes(doc.peak.bytes)),
    ...doc.what_if.flatMap((w) => line(w.policy, w.bytes,
      w.rows ? `${bytes(w.bytes)}, ${((100 * w.bytes) / most).toFixed(0)} %, for ${duration(w.ms)}`
        : "nothing that it can do")));
  byId("advice").replaceChildren(...doc.advice.map((one) => h("li", {}, `${one.text}: `, h("code", {}, one.code))));
}

function drawTreeAndTable() {
  for (const row of doc.rows) row.held = heldAt(row, state.moment);
  const held = doc.rows.filter((row) => row.held > 0);
  byId("moment").textContent = state.moment === doc.peak.at ? "at the peak" : `at ${duration(state.moment * 1000)}`;
  drawTree(doc, held, state, draw);
  drawRows();
}

function drawRows() {
  const found = filter(doc.rows, state.text, state.kind, state.held ? state.moment : null, state.by, state.path);
  drawTable(doc, found, state, drawRows);
}

function draw() {
  drawTime(doc, state, draw);
  byId("unzoom").hidden = state.range === null && state.moment === doc.peak.at;
  drawTreeAndTable();
}

function start() {
  figures();
  whatIf();
  const ways = ["module", "op", "line"].map((by) => h("button", {}, `by ${by}`));
  ways.forEach((button, i) => button.addEventListener("click", () => {
    state.by = ["module", "op", "line"][i];
    state.path = [];
    pressed(ways, button);
    draw();
  }));
  pressed(ways, ways[0]);
  byId("ways").replaceChildren(...ways);
  byId("unzoom").addEventListener("click", () => { state.range = null; state.moment = doc.peak.at; draw(); });
  const kinds = [...new Set(doc.rows.map((row) => row.kind))].sort();
  byId("kind").append(...kinds.map((kind) => h("option", { value: kind }, kind)));
  byId("kind").addEventListener("change", (event) => { state.kind = event.target.value; drawRows(); });
  byId("search").addEventListener("input", (event) => { state.text = event.target.value; drawRows(); });
  byId("heldonly").addEventListener("change", (event) => { state.held = event.target.checked; drawRows(); });
  redraw(byId("time"), () => drawTime(doc, state, draw));
  redraw(byId("tree"), drawTreeAndTable);
  if (doc.flame && doc.flame.length) {
    byId("flames").hidden = false;
    const flame = () => drawFlame(doc.flame, state, flame);
    redraw(byId("flame"), flame);
  }
  draw();
}
start();
