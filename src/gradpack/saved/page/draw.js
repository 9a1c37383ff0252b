"use strict";
// Helpers for drawing. Text is inserted as text nodes only, so that it is never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function make(space, tag, attributes, ...children) {
  const found = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) found.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) found.append(child);
  }
  return found;
}
const h = (tag, attributes, ...children) => make(null, tag, attributes, ...children);
const s = (tag, attributes, ...children) => make(SVG, tag, attributes, ...children);

const byId = (id) => document.getElementById(id);
const fits = (text, width, size = 6.6) => {
  const room = Math.floor(width / size);
  return text.length <= room ? text : room < 3 ? "" : `${text.slice(0, room - 1)}…`;
};

// The tooltip beside the pointer: pairs of a name and a value, or one text.
function tip(event, lines) {
  const box = byId("tip");
  box.replaceChildren(...lines.map((line) =>
    Array.isArray(line) ? h("div", {}, h("span", {}, line[0]), h("b", {}, line[1])) : h("div", {}, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const right = event.clientX + 16 + width > innerWidth;
  box.style.left = `${Math.max(4, right ? event.clientX - width - 12 : event.clientX + 16)}px`;
  box.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 6))}px`;
}
const untip = () => { byId("tip").hidden = true; };

function pressed(buttons, chosen) {
  for (const button of buttons) button.setAttribute("aria-pressed", String(button === chosen));
}

// Draw now and again whenever the width of the element changes.
function redraw(element, draw) {
  let last = -1;
  new ResizeObserver(() => {
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== last) { last = width; draw(); }
  }).observe(element);
}
