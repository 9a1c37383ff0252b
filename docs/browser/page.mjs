// The page docs/browser.md: a program to edit, a button that runs it, and what it shows.
const at = name => document.getElementById(name);
const program = at("program"), button = at("run"), status = at("status");
const worker = new Worker(new URL("worker.mjs", import.meta.url), {type: "module"});
let losses = [];

function curve(values) {
  const top = Math.max(...values), wide = Math.max(values.length - 1, 1);
  const points = values.map((v, i) => `${600 * i / wide},${118 - 116 * v / top}`).join(" ");
  return `<svg viewBox="0 0 600 120" role="img" aria-label="loss at each step">
    <polyline fill="none" stroke="currentColor" stroke-width="1.5" points="${points}"/></svg>`;
}

const shown = {
  ready: () => { button.disabled = false; status.textContent = "Python is ready."; },
  absent: why => { status.textContent = `This site was built without the files of Pyodide (${why}).`; },
  loss: value => {
    losses.push(value);
    at("loss").innerHTML = curve(losses);
    status.textContent = `step ${losses.length}: loss ${value.toFixed(4)}`;
  },
  graph: svg => { at("graph").innerHTML = svg; },
  kept: html => { at("kept").srcdoc = html; at("kept").hidden = false; },
  text: text => { at("text").textContent += text + "\n"; },
  failed: why => { at("text").textContent += why; button.disabled = false; status.textContent = "The program failed."; },
  done: () => { button.disabled = false; },
};

worker.onmessage = ({data: [kind, value]}) => shown[kind]?.(value);
worker.onerror = event => shown.absent(event.message ?? "the worker did not start");
button.onclick = () => {
  losses = [];
  for (const name of ["loss", "graph", "text"])
    at(name).textContent = "";
  button.disabled = true;
  worker.postMessage(program.value);
};
fetch(new URL("program.py", import.meta.url)).then(async answer => { program.value = await answer.text(); });
