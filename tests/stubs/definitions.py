"""What stub files say, read from their text."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import gradpack as torch

SOURCE = Path(torch.__file__).parent


class Definition:
    """One `def` of a stub: its parameters in order, with the texts of types and defaults, and the result."""

    def __init__(self, node: ast.FunctionDef) -> None:
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        self.types = {p.arg: ast.unparse(p.annotation) for p in [*positional, *a.kwonlyargs] if p.annotation}
        self.types |= {p.arg: ast.unparse(p.annotation) for p in (a.vararg, a.kwarg) if p and p.annotation}
        self.positional = [p.arg for p in positional]
        self.named = [p.arg for p in a.kwonlyargs]
        self.several = [p.arg for p in (a.vararg, a.kwarg) if p is not None]
        given = [None] * (len(positional) - len(a.defaults)) + [*a.defaults]
        self.defaults: dict[str, Any] = {}
        for p, default in [*zip(positional, given, strict=True), *zip(a.kwonlyargs, a.kw_defaults, strict=True)]:
            if default is not None:
                self.defaults[p.arg] = ast.literal_eval(default)
        self.result = ast.unparse(node.returns) if node.returns else ""

    @property
    def names(self) -> list[str]:
        return [*self.positional, *self.several, *self.named]


def definitions(path: str, owner: str = "") -> dict[str, list[Definition]]:
    """Return the definitions of a stub, or of a class in it, by name."""
    body = ast.parse((SOURCE / path).read_text(encoding="utf-8")).body
    if owner:
        body = next(n.body for n in body if isinstance(n, ast.ClassDef) and n.name == owner)
    found: dict[str, list[Definition]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(Definition(node))
    return found


def names(path: str, owner: str = "") -> set[str]:
    """Return all names that a stub, or a class in it, gives."""
    body = ast.parse((SOURCE / path).read_text(encoding="utf-8")).body
    if owner:
        body = next(n.body for n in body if isinstance(n, ast.ClassDef) and n.name == owner)
    found = set(definitions(path, owner))
    for node in body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            found |= {a.asname for a in node.names if a.asname and a.asname[0] != "_"}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
    return found


# The stub, the class in it, and what it stands for.
STUBS = [
    ("__init__.pyi", "", torch),
    ("core/tensor_methods.pyi", "TensorMethods", torch.Tensor),
    ("nn/functional.pyi", "", torch.nn.functional),
    ("linalg/__init__.pyi", "", torch.linalg),
    ("fft/__init__.pyi", "", torch.fft),
    ("special/__init__.pyi", "", torch.special),
    ("array_api/__init__.pyi", "", torch.array_api),
]
FUNCTIONS = [
    (path, name, found, getattr(space, name))
    for path, owner, space in STUBS
    for name, found in definitions(path, owner).items()
]
