"use strict";
// The treemap: nested rectangles whose areas are the bytes held.

const BAR = 17; // height of the strip with the name of a box

// The rectangles to draw for a tree within x, y, w, h: open ones with a name and children inside, and plain cells.
function layout(node, x, y, w, h, depth, found = []) {
  const children = sorted(node);
  const rectangles = squarify(children.map((child) => child.size), x, y, w, h);
  children.forEach((child, i) => {
    const [cx, cy, cw, ch] = rectangles[i];
    if (cw < 1.5 || ch < 1.5) return;
    let only = child;
    while (only.children.size === 1) only = [...only.children.values()][0]; // skip levels with a single child
    const open = depth > 1 && only.children.size > 0 && cw > 64 && ch > 48;
    const name = [child.name, ...only.path.slice(child.path.length)].join(" › ");
    found.push({ node: only, name, x: cx, y: cy, w: cw, h: ch, open });
    if (open) layout(only, cx + 3, cy + BAR, cw - 6, ch - BAR - 3, depth - 1, found);
  });
  return found;
}

function drawTree(doc, rows, state, changed) {
  const box = byId("tree");
  const width = Math.max(320, box.clientWidth);
  const height = 420;
  let root = tree(rows, state.by);
  for (const part of state.path) root = root.children.get(part) ?? { ...root, size: 0, children: new Map() };
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group",
    "aria-label": `What is held, by ${state.by}` });
  const go = (path) => { state.path = path; untip(); changed(); };
  const leaf = root.children.size === 0 && root.size > 0;
  const items = leaf ? [{ node: root, name: root.name, x: 0, y: 0, w: width, h: height, open: false }]
    : layout(root, 0, 0, width, height, 7);
  for (const item of items) {
    const kind = largestKind(item.node);
    const lines = [item.node.path.join(" › "), ["held", bytes(item.node.size)],
      ["share", `${((100 * item.node.size) / (root.size || 1)).toFixed(1)} %`],
      ...Object.entries(item.node.kinds).sort((a, b) => b[1] - a[1]).map(([k, n]) => [k, bytes(n)])];
    const rect = s("rect", { x: item.x, y: item.y, width: item.w, height: item.h, rx: 3, tabindex: item.open ? null : 0,
      class: item.open ? "box" : "cell", fill: item.open ? null : colourOf(kind),
      "aria-label": `${item.name}, ${bytes(item.node.size)}`, role: "button",
      onpointermove: (event) => tip(event, lines), onpointerleave: untip,
      onclick: () => go(item.node.path), onkeydown: (e) => { if (e.key === "Enter") go(item.node.path); } });
    svg.append(rect);
    const size = bytes(item.node.size);
    if (item.open || (item.h > 16 && item.w > 34)) {
      const text = fits(item.open && item.w > 150 ? `${item.name}  ${size}` : item.name, item.w - 10);
      svg.append(s("text", { x: item.x + 5, y: item.y + 13, class: item.open ? "name" : "on" }, text));
    }
    if (!item.open && item.h > 34 && item.w > 58) {
      svg.append(s("text", { x: item.x + 5, y: item.y + 28, class: "on" }, size));
    }
  }
  const steps = [h("button", { onclick: () => go([]) }, `all ${bytes(tree(rows, state.by).size)}`)];
  state.path.forEach((part, i) => {
    steps.push(" › ", h("button", { onclick: () => go(state.path.slice(0, i + 1)) }, part));
  });
  box.replaceChildren(h("div", { class: "crumbs" }, steps),
    root.size > 0 ? svg : h("p", { class: "note" }, "Nothing is held at this moment."));
}

if (typeof module !== "undefined") module.exports = { layout };
