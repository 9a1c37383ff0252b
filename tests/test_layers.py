"""Imports go downward only, and never in a circle.

Read from the text of the modules, so that imports inside functions count.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from gradpack.base import late
from gradpack.ops.lazy_names import LAZY

ROOT = Path(__file__).parents[1] / "src" / "gradpack"

# From the bottom up. A layer imports those before it and, within itself, whatever it likes. The table of kernels, which
# `ops` asks, names kernels by their paths: they may import `ops`.
LAYERS = [
    "base",
    "kernels",
    "backends",
    "graph",
    "core",
    "declare",
    "ops",
    "kernels/blocks",
    "kernels/numba",
    "kernels/scipy",
    "autograd",
    "func",
    "profiler",
    "amp",
    "cpu",
    "signal",
    "fft",
    "special",
    "linalg",
    "array_api",
    "distributions",
    "distributed",
    "nn",
    "optim",
    "utils",
    "compiler",
    "saved",
    "serialization",
    "examples",
    "extend",
    "testing",
    "compat",
    "cli",
]
LEVEL = {name: level for level, name in enumerate(LAYERS)}

# A module that reaches up, what it reaches for, and why that is right. The import is to be inside a
# function: when the module is loaded, the upper layer is not.
ALLOWED = {
    "declare/batching/rules_layers": {"ops": "the state of the default generator is set back"},
    "autograd/profiler": {"nn": "a profiler that shows modules observes their calls"},
    "ops/create/convert": {"autograd": "a tensor that changes its device takes its history along"},
}

# Who may name NumPy besides backends and operations. Elsewhere arrays are whatever the backend says.
NUMPY = {
    "base/blas": "finds the BLAS library that NumPy is linked with",
    "compiler/passes/blas_sums": "puts calls of NumPy's functions in the place of others",
    "compiler/passes/buffers": "asks for the ufuncs that take an array for their result",
    "compiler/comparison": "compares what programs and functions return",
    "compiler/first_run": "copies what programs return",
    "compiler/emit": "programs are calls of NumPy's functions",
    "compiler/facts": "compares the arrays of tensors with NumPy's type",
    "compiler/passes/fusion": "joins calls of NumPy's functions",
    "compiler/passes/large_forms": "calls NumPy's functions on parts of arrays",
    "compiler/static_shapes": "knows which of NumPy's functions have results of known shapes",
    "compiler/graphs": "gives programs arrays of gradients",
    "compiler/python/state": "compares the numbers of arrays that are in reach",
    "compiler/instruction_text": "knows which of NumPy's functions are methods of arrays",
    "compiler/passes/small_forms": "computes where calls of NumPy's move elements",
    "compiler/lowering": "compares what bodies and their calls of NumPy's functions return",
    "compiler/recorded_array": "stands for an array of NumPy's",
    "compiler/recording": "records calls of NumPy's functions",
    "compiler/recording_backend": "records calls of NumPy's functions",
    "compiler/passes/rows": "puts calls of NumPy's functions on all rows in the place of calls on each",
    "compiler/passes/uniform": "knows calls of NumPy's functions on constants",
    "compiler/passes/simplify": "rewrites calls of NumPy's functions",
    "compiler/python/changing_numbers": "makes arrays of numbers",
    "compiler/python/words": "reads words of memory in one step",
    "compiler/session": "gives tensors arrays of NumPy's again",
    "compat/config": "tells its version",
    "cli/doctor": "tells which BLAS library it is linked with",
    "cli/report": "draws curves from what was measured",
    "compat/tensorboard": "counts values for histograms, and writes images",
    "declare/generate/complex_form": "conjugates the gradients of compiled code",
    "declare/dispatch/interpreter": "makes arrays of the scalars that NumPy returns",
    "declare/generate/constants": "numbers as arrays of the dtypes that compiled code runs on",
    "declare/decorators": "compiled code is for NumPy arrays; all others take the interpreted path",
    "declare/generate/broadcast_forms": "looks at how arrays of NumPy's are broadcast",
    "declare/generate/elementwise_parts": "divides large arrays of NumPy's",
    "declare/generate/fusion": "gives compiled loops numbers of NumPy's, which have a dtype",
    "declare/generate/fusion_text": "knows the names of NumPy's functions",
    "declare/dispatch/unbroadcast": "sums the gradients of compiled code",
    "types": "names its arrays in annotations",
    "extend/places": "asks NumPy for a dtype by what the user has of it",
    "saved/hook_pairs": "maps files as arrays",
    "saved/budgets/assignment": "adds to what is held at many moments at once",
    "saved/budgets/planner": "looks at all changes of a plan at once",
    "saved/policies/compress": "rounds and compresses arrays, on whatever thread",
    "saved/policies/offload": "writes arrays in blocks",
    "saved/policies/quantize": "quantises blocks of arrays in place",
    "saved/policies/codec": "packs bits",
    "saved/policies/packed_store": "shows parts of unpacked memory",
    "saved/policies/transfers": "shows pinned memory as arrays",
    "saved/storage": "shows the memory of tensors as arrays",
    "serialization/npz": "reads and writes NumPy's files",
    "serialization/pickling": "writes the memory of tensors, and NumPy's numbers",
    "serialization/pytorch": "reads and writes the memory of tensors",
    "serialization/rebuild": "makes tensors of the memory that files hold",
    "serialization/safetensors_files": "files hold arrays",
    "serialization/tree": "files hold arrays",
    "distributed/_arrays": "reduces the arrays that ranks exchange",
    "distributed/_collectives": "joins and divides the arrays that ranks exchange",
    "distributed/_mpi": "receives messages into arrays",
    "distributed/_objects": "makes arrays of bytes of objects",
    "distributed/_sockets": "receives messages into arrays",
    "testing/_comparison": "compares values",
    "testing/sim/arena": "its memory is that of a NumPy array",
    "testing/sim/array": "its kernels compute with NumPy",
    "testing/sim/backend": "its kernels compute with NumPy",
    "utils/data/_utils/collate": "makes tensors of the arrays and numbers that examples are made of",
    "utils/data/_utils/worker": "seeds the random numbers of NumPy that datasets draw",
    "quasirandom": "points are integers until they are drawn",
}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    """`declare/op` for a module, `declare` for a package."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return "/".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(parts: Sequence[str]) -> str:
    """The layer of a module: that of its folder in the package, or of one in that."""
    inner = "/".join(parts[:2])
    return inner if inner in LEVEL else parts[0]


@cache
def imports(path: Path) -> list[tuple[str, bool, int]]:
    """What a module imports: the full name, whether inside a function, and the line.

    Imports for the type checker only do not count.
    """
    found: list[tuple[str, bool, int]] = []
    package = ["gradpack", *path.relative_to(ROOT).parent.parts]

    def visit(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name, inside, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found.extend((f"{source}.{alias.name}", inside, node.lineno) for alias in node.names)
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text(encoding="utf-8")), False)
    return found


def reached(path: Path) -> list[tuple[str, bool, int]]:
    """The layers of ours that a module imports from, its own left out."""
    own = layer_of(name_of(path).split("/"))
    found = []
    for name, inside, line in imports(path):
        parts = name.split(".")
        if parts[0] == "gradpack":
            layer = layer_of(parts[1:]) if len(parts) > 1 and parts[1] in LEVEL else "public"
            if layer != own:
                found.append((layer, inside, line))
    return found


def is_upward(own: str, layer: str) -> bool:
    if layer == "public":  # what users see stands on all but the top layers
        return LEVEL[own] < LEVEL["examples"]
    return LEVEL[layer] >= LEVEL[own]


def test_every_folder_is_a_layer():
    folders = {p.name for p in ROOT.iterdir() if p.is_dir() and list(p.glob("*.py"))}
    assert folders <= set(LEVEL)


@pytest.mark.parametrize("layer", LEVEL)
def test_imports_go_downward(layer):
    wrong = []
    for path in modules():
        name = name_of(path)
        if layer_of(name.split("/")) != layer:
            continue
        for target, inside, line in reached(path):
            if is_upward(layer, target) and not (inside and target in ALLOWED.get(name, {})):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert not wrong, f"imports go downward only: {wrong}"


def graph(inside_functions: bool) -> dict[str, set[str]]:
    """Which module imports which."""
    names = {name_of(path).replace("/", ".") for path in modules()}
    edges: dict[str, set[str]] = {}
    for path in modules():
        own = name_of(path).replace("/", ".")
        targets = edges.setdefault(own, set())
        for name, inside, _ in imports(path):
            if name.startswith("gradpack.") and (inside_functions or not inside):
                parts = name.split(".")[1:]
                found = next((m for m in (".".join(parts), ".".join(parts[:-1])) if m in names), own)
                if found != own:
                    targets.add(found)
    return edges


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that reach one another."""
    edges = {module: set(targets) for module, targets in edges.items()}
    while ends := {module for module, targets in edges.items() if not targets}:  # what imports nothing is in no circle
        edges = {module: targets - ends for module, targets in edges.items() if module not in ends}
    reach = {}
    for start in edges:
        reach[start], pending = set[str](), [start]
        while pending:
            new = edges[pending.pop()] - reach[start]
            reach[start] |= new
            pending += new
    found = {frozenset(b for b in reach[a] if a in reach[b]) for a in edges if a in reach[a]}
    return sorted(map(set, found), key=len)


def test_no_module_imports_itself_through_others():
    assert circles(graph(inside_functions=False)) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}], "the check sees none"


def test_imports_inside_functions_make_small_circles_only():
    assert all(len(circle) <= 8 for circle in circles(graph(inside_functions=True)))


def test_nothing_is_imported_at_the_end_of_a_file():
    late = []
    for path in modules():
        if path == ROOT / "__init__.py":  # a filter for warnings and the names of operations come first
            continue
        defined = False
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            defined = defined or isinstance(statement, ast.FunctionDef | ast.ClassDef)
            if defined and isinstance(statement, ast.Import | ast.ImportFrom):
                late.append(f"{path.relative_to(ROOT)}:{statement.lineno}")
    assert not late


def test_every_late_name_is_found():
    used = {
        node.attr
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "late"
    }
    listed = [(name, module) for module, names in late.PLACES.items() for name in names.split()]
    assert len(listed) == len(dict(listed)), "a name is listed once"
    assert set(dict(listed)) <= used, "names that nobody uses"
    for name in used:
        assert getattr(late, name) is getattr(importlib.import_module(f"gradpack.{late._modules()[name]}"), name)
    exported = {(n, f"ops.{m}") for m, (functions, _, ops) in LAZY.items() for n in (functions + " " + ops).split()}
    assert not exported & set(listed), "a name that is exported needs no other place"
    with pytest.raises(AttributeError, match=r"late\.expnd is in none of the modules"):
        late.expnd


def test_nothing_knows_compat_but_who_hooks_it_up():
    """Names are looked up in it by `gradpack/__init__.py`; a program that is run imports torch."""
    compat = ROOT / "compat"
    naming = {
        name_of(path)
        for path in modules()
        if not path.is_relative_to(compat)
        and (
            any(name.startswith("gradpack.compat.") for name, _, _ in imports(path))
            or any(
                "compat." in str(n.value)
                for n in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(n, ast.Constant)
            )
        )
    }
    assert naming == {"", "cli/run"}


def test_every_exception_is_used():
    for name, targets in ALLOWED.items():
        path = next(p for p in modules() if name_of(p) == name)
        used = {target for target, _, _ in reached(path) if is_upward(name.split("/")[0], target)}
        assert used == set(targets), f"the exceptions of {name} are not those it needs"


def test_numpy_is_named_only_where_arrays_are_made():
    naming = {
        name_of(path)
        for path in modules()
        if any(found.split(".")[0] in ("numpy", "ml_dtypes") for found, _, _ in imports(path))
    }
    free = {name for name in naming if name.split("/")[0] in ("backends", "kernels", "ops", "examples")}
    free |= {name for name in naming if name.startswith("compiler/jax/")}  # all of it is about arrays of JAX
    assert naming - free == set(NUMPY), "modules that import NumPy are not those listed with a reason"


def test_the_check_sees_imports_inside_functions(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_layers.ROOT", tmp_path)
    (tmp_path / "base").mkdir()
    path = tmp_path / "base" / "modes.py"
    path.write_text("from ..ops.fill import zeros\ndef f():\n    from ..core import leaf\n    import gradpack.nn\n")
    assert reached(path) == [("ops", False, 1), ("core", True, 3), ("nn", True, 4)]


def test_docstrings_say_what_is_returned_or_done():
    """Return, raise, a noun: a first line that begins with "What" tells a stranger nothing."""
    riddles = [
        f"{name_of(path)}:{getattr(node, 'lineno', 1)}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        and (ast.get_docstring(node) or "").startswith("What ")
    ]
    assert not riddles
