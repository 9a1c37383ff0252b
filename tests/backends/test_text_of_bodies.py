"""What the text of operations and layers must not say, for it would hold for arrays in host memory only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "gradpack"

MAKERS = set(
    "arange as_tensor empty empty_strided eye from_numpy full linspace logspace ones rand randint randn randperm "
    "scalar_tensor tensor tril_indices triu_indices zeros".split()
)
# Who makes tensors in host memory, or where the default device says, and why that is right.
ANYWHERE = {
    "autograd/variable": "an empty `Variable`",
    "distributions/utils": "numbers only: there is no tensor to follow",
    "nn/modules/batchnorm": "a count that an old state does not have",
    "nn/init": "indices, from the generator of the host",
    "nn/parallel/_join": "numbers that ranks exchange",
    "nn/parameter": "an empty `Parameter`",
    "ops/create/create": "what another library made says where it is",
    "ops/create/fill_like": "like a tensor on `meta`, on another device",
    "ops/shape/join": "no tensors at all",
    "ops/numpy_api/protocol": "arrays of NumPy's",
    "ops/index/overwrite": "a number, converted when it is written",
    "ops/sparse/coordinates": "sparse tensors are in host memory",
    "ops/reduce/unique": "numbers, which count for less in the choice of a dtype",
    "optim/_formula_optimizer": "counts of steps are in host memory",
    "optim/adagrad": "counts of steps are in host memory",
    "optim/asgd": "numbers of the schedule are in host memory",
    "optim/nadam": "numbers of the schedule are in host memory",
    "optim/optimizer": "counts of steps are in host memory",
}
OWN = {"autograd/functions/apply", "autograd/functions/node"}  # have a `zeros` of their own, of shape and spec


def trees(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).with_suffix("").as_posix()
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def _is_array(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "ndarray" and getattr(node.value, "id", "") == "np"


def of_any_library(tree: ast.Module) -> list[int]:
    """The lines of `type(x) is np.ndarray`: true of CuPy's arrays in a body where `np` is CuPy."""
    compared = [n for n in ast.walk(tree) if isinstance(n, ast.Compare)]
    return [n.lineno for n in compared if any(map(_is_array, (n.left, *n.comparators)))]


def without_device(tree: ast.Module) -> list[int]:
    """The lines of calls that make tensors and do not say where: their operands may be on any device."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    made = [
        n
        for n in calls
        if getattr(n.func, "id", "") in MAKERS
        or (
            getattr(n.func, "attr", "") in MAKERS
            and re.match("_|late$", getattr(getattr(n.func, "value", None), "id", ""))
        )
    ]
    return [n.lineno for n in made if not any(k.arg in ("device", None) for k in n.keywords)]


def test_types_are_not_compared_to_what_np_is_bound_to() -> None:
    assert of_any_library(ast.parse("type(x) is np.ndarray\nisinstance(x, np.ndarray)\nkind is not np.ndarray")) == [
        1,
        3,
    ]
    found = {name: lines for name, tree in trees(".") if (lines := of_any_library(tree))}
    assert not found, "compare to `_array_type`, which is NumPy's wherever a body runs"


def test_tensors_are_made_where_the_operands_are() -> None:
    lines = "zeros(2)\nones(2, device=d)\nnp.ones(2)\n_random.rand(2)\nfull(2, **kind)\nlate.zeros(2)"
    assert without_device(ast.parse(lines)) == [1, 4, 6]
    found = {name: lines for name, tree in trees("autograd", "nn", "ops", "optim", "distributions", "func", "amp")
             if (lines := without_device(tree)) and name not in OWN}  # fmt: skip
    assert set(found) == set(ANYWHERE), found
