"""`Problem`, the error message of a command, and checks of arguments before the work starts."""

from __future__ import annotations

import os
import stat
from argparse import ArgumentTypeError
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any


class Problem(Exception):  # noqa: N818 - the user made no error in our program
    """Ends the command with a message and no traceback."""

    def __init__(self, sentence: str, code: int = 2) -> None:
        super().__init__(sentence)
        self.code = code


def _number(kind: Callable[[str], Any], fits: Callable[[Any], bool], what: str) -> Callable[[str], Any]:
    """A parser of arguments that are numbers of a kind and in a range."""

    def parse(text: str) -> Any:
        with suppress(ValueError):
            number = kind(text)
            if fits(number):
                return number
        raise ArgumentTypeError(f"this must be {what}, not {text!r}")

    return parse


positive = _number(int, lambda n: 1 <= n < 2**63, "a whole number above zero")
seed = _number(int, lambda n: 0 <= n < 2**63, "a whole number from 0 to 2**63 - 1")
rate = _number(float, lambda x: 0 < x <= 1, "a number above 0 and at most 1")
fraction = _number(float, lambda x: 0 <= x < 1, "a number from 0 to below 1")


def need(package: str, extra: str) -> None:
    """Import an optional package, or raise a `Problem` that names the extra to install."""
    try:
        import_module(package)
    except ImportError as error:
        raise Problem(f"this command needs {package}: pip install 'gradpack[{extra}]' ({error})") from None


def check_writable(file: str, option: str) -> None:
    """Raise now if `write` would fail at the end. Leaves no file behind."""
    path = Path(file)
    try:
        folder = path.resolve().parent
        if path.is_dir():
            raise Problem(f"{option}: {file} is a folder; name a file in it")
        if not folder.is_dir():
            raise Problem(f"{option}: there is no folder {folder} to write {path.name} into")
        existed = path.exists()
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise Problem(f"{option}: cannot write {file}: {error.strerror}") from None


def write(file: str, contents: bytes, option: str) -> None:
    """Writes a file whole or not at all; devices and pipes are written to directly."""
    path = Path(file).resolve()
    direct = path.exists() and not stat.S_ISREG(path.stat().st_mode)
    target = path if direct else path.with_name(f".gradpack-{os.getpid()}.part")
    try:
        target.write_bytes(contents)
        if not direct:
            target.replace(path)
    except OSError as error:
        raise Problem(f"{option}: cannot write {file}: {error.strerror}", code=1) from None
    finally:
        if not direct:
            with suppress(OSError):
                target.unlink()
