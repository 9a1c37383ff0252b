"""Opens each page of the built documentation in a headless browser: `python -m tools.pages_in_browser [site]`.

A page must load without an error on the console and without a failed request, ask no other machine for anything,
and be no wider than the window, nor any table, at the width of a phone and of a desktop. The browser is
Playwright's Chromium; GRADPACK_CHROMIUM names the program of another one.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WIDTHS = (390, 1400)
_ARGUMENTS = ["--no-sandbox", "--headless=shell", "--disable-gpu", "--no-zygote"]
_TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Nothing is on its way to another place while widths are measured.
_STILL = """addEventListener("DOMContentLoaded", () =>
    document.head.insertAdjacentHTML("beforeend", "<style>* { transition: none !important }</style>"))"""
# The first words of each table of which a part can only be seen by moving it to the side.
_CUT = """[...document.querySelectorAll(".md-typeset__scrollwrap")]
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.trim().slice(0, 40))"""


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; gives the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def open_page(page: Any, address: str, path: str, complaints: list[str]) -> None:
    """Open a page in both widths, and add to `complaints` what is wrong with it."""
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.goto(address + path, wait_until="load")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        over = page.evaluate(_TOO_WIDE)
        if over > 0:
            complaints.append(f"{path}: {over} pixels wider than a window of {width}")
        complaints += [f"{path}: a table is cut off in a window of {width}: {words!r}" for words in page.evaluate(_CUT)]


def problems(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the pages below a folder."""
    from playwright.sync_api import sync_playwright

    paths = sorted(str(p.relative_to(folder)) for p in folder.rglob("*.html") if p.name != "404.html")
    with served(folder) as address, sync_playwright() as playwright:
        program = os.environ.get("GRADPACK_CHROMIUM")
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        page = browser.new_page()
        page.add_init_script(_STILL)
        at, complaints = "", []

        def say(text: str) -> None:
            complaints.append(f"{at}: {text}")

        page.on("console", lambda m: say(f"console: {m.text}") if m.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: say(f"error: {error}"))
        page.on(
            "requestfailed", lambda r: say(f"{r.url}: {r.failure}") if "ERR_ABORTED" not in str(r.failure) else None
        )
        page.on("response", lambda r: say(f"{r.url}: {r.status}") if r.status >= 400 else None)
        page.on("request", lambda r: say(f"asks for {r.url}") if not r.url.startswith((address, "data:")) else None)
        for at in paths:
            open_page(page, address, at, complaints)
            yield from complaints
            complaints.clear()
        browser.close()
        print(f"{len(paths)} pages opened", file=sys.stderr)


def main() -> int:
    """Print what is wrong; the exit status says whether something is."""
    count = 0
    for problem in problems(Path(sys.argv[1] if len(sys.argv) > 1 else "site")):
        print(problem, flush=True)
        count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
