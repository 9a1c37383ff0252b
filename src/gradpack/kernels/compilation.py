"""The folder of machine code, and the line on standard error for who waits until loops are compiled.

`GRADPACK_CACHE_DIR` in the environment names the folder; the default is in the cache folder of the platform.
`GRADPACK_COMPILED_NOTICE=0` switches the line off.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import RLock, Timer
from time import monotonic

PATIENCE = 0.5  # seconds of a burst before the line is printed
_BURST = 1.0  # seconds without compilation that end a burst


def cache_folder() -> Path:
    """Return the folder that keeps machine code for this user. It need not exist."""
    if given := os.environ.get("GRADPACK_CACHE_DIR"):
        return Path(given).expanduser().absolute()
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "gradpack" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "gradpack"
    given = os.environ.get("XDG_CACHE_HOME", "")  # a relative one is to be ignored
    return (Path(given) if os.path.isabs(given) else home / ".cache") / "gradpack"


class Notice:
    """A line on standard error while compilations have taken half a second: one in a burst of them."""

    def __init__(self) -> None:
        self.on = os.environ.get("GRADPACK_COMPILED_NOTICE") != "0"
        self.lock = RLock()
        self.timer: Timer | None = None
        self.spent, self.ended, self.began, self.count = 0.0, 0.0, 0.0, 0

    def start(self) -> None:
        """Begin to wait. A compilation in another one, or on another thread meanwhile, is part of it."""
        with self.lock:
            self.count += 1
            if self.count > 1 or not self.on:
                return
            self.began = monotonic()
            if self.began - self.ended > _BURST:
                self.spent = 0.0
            if self.spent < PATIENCE:
                self.timer = Timer(PATIENCE - self.spent, _print)
                self.timer.daemon = True
                self.timer.start()

    def stop(self) -> None:
        """End what `start` began. No thread is left."""
        with self.lock:
            self.count -= 1
            if self.count:
                return
            self.ended = monotonic()
            self.spent += self.ended - self.began
            timer, self.timer = self.timer, None
        if timer is not None:
            timer.cancel()
            timer.join()


def _is_writable(folder: Path) -> bool:
    """Make the folder if it does not exist; return whether files can be written there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _print() -> None:
    try:
        folder = cache_folder()
        kept = f"kept in {folder}" if _is_writable(folder) else f"not kept: {folder} cannot be written to"
        text = f"gradpack: compiling loops (once; {kept}; `gradpack warmup` does it ahead)\n"
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # there is no standard error, or it is closed
        pass


NOTICE = Notice()
