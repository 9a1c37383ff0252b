// Runs programs beside the page. `show(kind, value)` in a program sends something to the page.
import {load} from "./load.mjs";

async function read(url) {
  const answer = await fetch(url);
  if (!answer.ok)
    throw new Error(`${url.pathname}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

const show = (kind, value) => postMessage([kind, value]);
const loading = load(new URL("files/", import.meta.url), read);
loading.then(() => show("ready", null), error => show("absent", String(error)));

onmessage = async ({data}) => {
  try {
    const python = await loading;
    python.registerJsModule("page", {show});
    await python.runPythonAsync(data, {globals: python.toPy({})});
    show("done", null);
  } catch (error) {
    show("failed", String(error.message ?? error));
  }
};
