"""Reads docstrings: what they say first, their sections, and their examples."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import io
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gradpack
from gradpack.backends import cupy_loading
from gradpack.compat import hub

_SECTION = re.compile(r"^(Args|Raises|Returns|Yields|Attributes|Shape|Note|Example|Examples)(:{1,2})$")
_ITEM = re.compile(r"^([*\w][\w.*, ]*?)(?: \([^)]*\))?: (.*)$")
_IMPORT = re.compile(r"^\s*(?:>>>|\.\.\.) +(?:import|from) (\w+)", re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Docs:
    """The parts of a docstring."""

    text: list[str] = field(default_factory=list)
    sections: dict[str, list[str]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first paragraph."""
        return self.text[0] if self.text else ""

    def items(self, section: str) -> list[tuple[str, str]]:
        """The entries of a section such as Args: names and what is said of them."""
        found: list[tuple[str, str]] = []
        for line in self.sections.get(section, []):
            item = _ITEM.match(line)
            if item:
                found.append((item[1], item[2]))
            elif line.strip():
                name, said = found.pop() if found else ("", "")
                found.append((name, f"{said} {line.strip()}".strip()))
        return found


def read(value: Any) -> Docs:
    """Return the parts of the docstring of a function, class or property."""
    docs, section = Docs(), ""
    paragraph: list[str] = []

    def end() -> None:
        if paragraph:
            docs.text.append("\n".join(paragraph))
            paragraph.clear()

    for line in (inspect.getdoc(value) or "").splitlines():
        head = _SECTION.match(line)
        if head:
            end()
            section = head[1]
            docs.sections[section] = []
        elif section and (line.startswith(" ") or not line):
            docs.sections[section].append(line[4:])
        else:
            section = ""
            if line:
                paragraph.append(line)
            else:
                end()
    end()
    return docs


def example(value: Any) -> str:
    """Return the session in the docstring of a function or class; empty if there is none."""
    lines, found = (inspect.getdoc(value) or "").splitlines(), []
    inside = False
    for line in lines:
        if line.lstrip().startswith(">>>"):
            inside = True
        elif inside and line and not line.startswith(" "):
            inside = False
        if inside:
            found.append(line)
    return inspect.cleandoc("\n".join(found)) if found else ""


@cache
def kept_apart() -> dict[str, str]:
    """Return the examples of names whose docstrings have none, from the files in `examples`."""
    found = {}
    for file in sorted((Path(__file__).parent / "examples").glob("*.txt")):
        for block in re.split(r"\n\n(?=[A-Za-z][\w.]*\n>>> )", file.read_text(encoding="utf-8"))[1:]:
            name, _, session = block.strip().partition("\n")
            library = "gradpack.array_api as xp" if name.startswith("array_api.") else "gradpack as torch"
            found[name] = f">>> import {library}\n{session}"
    return found


def absent(session: str) -> list[str]:
    """Return the libraries that a session imports and that are not installed."""
    return sorted({name for name in _IMPORT.findall(session) if importlib.util.find_spec(name) is None})


def check(path: str, session: str) -> str:
    """Run a session and return what went wrong, as `doctest` says it; empty if it shows what it says.

    Those of `torch.cuda` show what happens where CuPy is not installed, and are run there.
    """
    if path.startswith("cuda.") and cupy_loading.library() is not None:
        return ""
    said: list[str] = []
    state = gradpack.get_rng_state()
    test = doctest.DocTestParser().get_doctest(session, {}, path, path, 0)
    try:
        with patch.object(hub, "_folder", None), redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
            doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    finally:
        gradpack.set_rng_state(state)
    return "".join(said)
