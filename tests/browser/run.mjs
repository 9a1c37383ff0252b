// Runs gradpack's wheel in Pyodide: the program beside this file, and the page docs/browser.md with its own program.
//
//     node tests/browser/run.mjs        after `python -m tools.browser`
import {cp, mkdtemp, readFile, rm, symlink} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const site = await mkdtemp(join(tmpdir(), "gradpack-browser-"));

function check(claim, said) {
  if (!claim)
    throw new Error(said);
}

// What a page has and node has not: elements, a worker (here in this thread) and `fetch` of files.
const elements = {};
globalThis.document = {getElementById: name => elements[name] ??= {textContent: ""}};
globalThis.fetch = async url => {
  const data = await readFile(fileURLToPath(url));
  return {ok: true, text: async () => data.toString(), arrayBuffer: async () => new Uint8Array(data).buffer};
};
globalThis.onmessage = null;
let page;
const waiting = {};
globalThis.postMessage = data => {
  page.onmessage({data});
  waiting[data[0]]?.(data[1]);
};
globalThis.Worker = class {
  constructor(url) {
    page = this;
    import(url);
  }
  postMessage(data) {
    globalThis.onmessage({data});
  }
};
const next = (...kinds) => new Promise(resolve => kinds.forEach(kind => { waiting[kind] = () => resolve(kind); }));

try {
  await cp(join(root, "docs/browser"), site, {recursive: true});
  await symlink(join(root, "build/browser"), join(site, "files"));
  const ready = next("ready", "absent");
  await import(pathToFileURL(join(site, "page.mjs")));
  check(await ready === "ready" && elements.run.disabled === false, elements.status.textContent);
  for (const program of [join(root, "tests/browser/program.py"), join(site, "program.py")]) {
    const begun = performance.now(), ended = next("done", "failed");
    elements.program.value = await readFile(program, "utf8");
    elements.run.onclick();
    check(await ended === "done", elements.text.textContent);
    console.log(elements.text.textContent + `${((performance.now() - begun) / 1000).toFixed(1)} s in all`);
  }
  check(elements.status.textContent.startsWith("step 200: loss 0.0"), elements.status.textContent);
  check(elements.loss.innerHTML.match(/points="([^"]*)"/)[1].split(" ").length === 200, "the curve has not 200 points");
  check(elements.graph.innerHTML.startsWith("<svg"), "there is no drawing of the graph");
  check(elements.kept.srcdoc.includes("</html>") && elements.kept.hidden === false, "there is no page of what is kept");
} catch (error) {
  console.error(String(error.message ?? error).slice(-4000));
  process.exitCode = 1;
} finally {
  await rm(site, {recursive: true});
}
