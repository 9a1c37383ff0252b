"""Opens each page of the built documentation in a headless browser: `python -m tools.pages_in_browser [site]`.

A page must load without an error on the console and without a failed request, ask no other machine for anything,
and be no wider than the window, nor any table, at the width of a phone and of a desktop. The browser is
Playwright's Chromium; GRADPACK_CHROMIUM names the program of another one.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import sys
import threading
import time
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
    """Serves files without a line for each, over connections that stay; a browser asks for each file once."""

    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """Says nothing when a browser drops a connection."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; gives the address."""
    with _Server(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


async def _wrong_with(page: Any, address: str, path: str) -> list[str]:
    """Open a page in both widths, first in that of the page before; returns what can be seen to be wrong."""
    found = []
    await page.goto(address + path, wait_until="load")
    for width in sorted(WIDTHS, reverse=page.viewport_size["width"] == max(WIDTHS)):
        if width != page.viewport_size["width"]:
            await page.set_viewport_size({"width": width, "height": 900})
        over, cut = await page.evaluate(f"[{_TOO_WIDE}, {_CUT}]")
        if over > 0:
            found.append(f"{path}: {over} pixels wider than a window of {width}")
        found += [f"{path}: a table is cut off in a window of {width}: {words!r}" for words in cut]
    return found


async def _tab(context: Any, address: str, paths: Iterator[str]) -> int:
    """Open pages one after the other, until there are no more; prints what is wrong with them, and counts it."""
    page = await context.new_page()
    await page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    await page.add_init_script(_STILL)
    at, count = "", 0
    complaints: list[str] = []

    def say(text: str) -> None:
        complaints.append(f"{at}: {text}")

    page.on("console", lambda m: say(f"console: {m.text}") if m.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: say(f"error: {error}"))
    page.on("requestfailed", lambda r: say(f"{r.url}: {r.failure}") if "ERR_ABORTED" not in str(r.failure) else None)
    page.on("response", lambda r: say(f"{r.url}: {r.status}") if r.status >= 400 else None)
    page.on("request", lambda r: say(f"asks for {r.url}") if not r.url.startswith((address, "data:")) else None)
    for at in paths:
        try:
            complaints += await _wrong_with(page, address, at)
        except Exception as error:  # the other pages are opened all the same
            say(f"cannot be opened: {error}")
        print("\n".join(complaints), end="\n" * bool(complaints), flush=True)
        count += len(complaints)
        complaints.clear()
    return count


async def _problems(folder: Path, paths: list[str], tabs: int) -> int:
    from playwright.async_api import async_playwright

    with served(folder) as address:
        async with async_playwright() as playwright:
            program = os.environ.get("GRADPACK_CHROMIUM")
            browser = await playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
            left = iter(paths)  # each tab takes the next one
            contexts = [await browser.new_context() for _ in range(tabs)]  # a process for each
            found = await asyncio.gather(*(_tab(context, address, left) for context in contexts))
            await browser.close()
    return sum(found)


def main() -> int:
    """Print what is wrong; the exit status says whether something is."""
    parser = argparse.ArgumentParser(prog="tools.pages_in_browser", description=__doc__.partition("\n")[0])
    parser.add_argument("site", nargs="?", type=Path, default=Path("site"), help="the folder of the pages")
    parser.add_argument("--tabs", type=int, default=4, help="how many pages are open at a time")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="open every N-th page only, from the I-th on")
    asked = parser.parse_args()
    paths = sorted(str(p.relative_to(asked.site)) for p in asked.site.rglob("*.html") if p.name != "404.html")
    first, _, step = asked.shard.partition("/")
    paths = paths[int(first) - 1 :: int(step)]
    start = time.perf_counter()
    found = asyncio.run(_problems(asked.site, paths, asked.tabs))
    print(f"{len(paths)} pages opened in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
