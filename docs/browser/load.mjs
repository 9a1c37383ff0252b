// Starts Pyodide from a folder, and unpacks the wheels there: in a worker of a page, and in node.

export async function load(folder, read) {
  const {loadPyodide} = await import(new URL("pyodide.mjs", folder));
  const names = JSON.parse(new TextDecoder().decode(await read(new URL("packages.json", folder))));
  const python = await loadPyodide({indexURL: folder.protocol === "file:" ? folder.pathname : folder.href});
  for (const name of names)
    python.unpackArchive(await read(new URL(name, folder)), "whl");
  return python;
}
