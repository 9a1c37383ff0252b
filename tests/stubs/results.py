"""Calls of functions with arguments made by their stubs, and whether results have the types that these say."""

from __future__ import annotations

import contextlib
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

import gradpack as torch
from gradpack import return_types
from gradpack.array_api import _types
from gradpack.core.storage import UntypedStorage
from gradpack.ops.attributes import TypedStorage
from gradpack.ops.create.exchange import DLDeviceType
from gradpack.ops.random.generator import Generator
from gradpack.utils.hooks import RemovableHandle

NAMES = {
    "Tensor": torch.Tensor,
    "Size": torch.Size,
    "Generator": Generator,
    "ModuleType": types.ModuleType,
    "UntypedStorage": UntypedStorage,
    "TypedStorage": TypedStorage,
    "DLDeviceType": DLDeviceType,
    "RemovableHandle": RemovableHandle,
    "Any": Any,
    "ndarray": np.ndarray,
    "Type": type,
    "_int": int,
    "_float": float,
    "_bool": bool,
    "_dtype": torch.dtype,
    "_device": torch.device,
    "return_types": return_types,
    "Callable": Callable,
    "_Kind": Any,
    "Self": torch.Tensor,
    **{n: getattr(_types, n) for n in "FloatLimits IntLimits UniqueAll UniqueCounts UniqueInverse".split()},
}

# A tensor of each of these shapes is tried; most functions take a square matrix.
_TENSORS = [
    lambda: torch.eye(3) * 2 + 0.25,
    lambda: torch.rand(4),
    lambda: torch.rand(2, 3, 4, 4),
    lambda: torch.ones(3, 3, dtype=torch.int64),
    lambda: torch.rand(2, 3, 4),
    lambda: torch.rand(1, 2, 3, 4, 4),
    lambda: torch.tensor(0.5),
    lambda: torch.ones(2, 2, dtype=torch.bool),
]
_OTHERS = {
    "_int": [1, 0],
    "_float": [0.5],
    "_bool": [True],
    "_Scalar": [0.5, 1],
    "str": ["linear", "cpu", "sum"],
    "_dtype": [torch.float32],
    "_int | Sequence[_int]": [1, (1, 1), 3],
    "Sequence[_int]": [(1, 1), (0, 1)],
    "Callable[..., Any]": [lambda *args: args[0]],
}
# These change the state of the process, or need files or devices.
_LEFT_OUT = (
    "set_",
    "save",
    "load",
    "install",
    "manual_seed",
    "seed",
    "autocast_",
    "use_",
    "from_file",
    "cuda",
    "share_",
)


def fits(value: Any, text: str) -> bool:
    """Return whether a value is of the type that a text names."""
    return _is(value, eval(text, dict(NAMES)))


def _is(value: Any, kind: Any) -> bool:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    if origin in (types.UnionType, typing.Union):
        return any(_is(value, k) for k in arguments)
    if origin is tuple:
        if not isinstance(value, tuple) or (type(value) is not tuple and type(value).__name__[0] != "_"):
            return False
        if arguments[-1] is ...:
            return all(_is(v, arguments[0]) for v in value)
        return len(value) == len(arguments) and all(map(_is, value, arguments))
    return isinstance(value, origin or kind)


def _values(text: str) -> list[Any]:
    kinds = text.split(" | ")
    if text in _OTHERS:
        return _OTHERS[text]
    if text in ("Sequence[Tensor]", "Tensor | Sequence[Tensor]"):
        return [[torch.eye(3), torch.eye(3)]]
    return [v for kind in kinds for v in _OTHERS.get(kind, ())]


def results_of(name: str, stub: Any, function: Any) -> Iterator[tuple[Any, Any]]:
    """Yield arguments of calls that succeed, and their results."""
    if name.startswith(_LEFT_OUT) or not callable(function):
        return
    needed = [p for p in stub.positional if p not in stub.defaults]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in _TENSORS:
            options = [[None] if _takes_tensor(stub, p) else _values(stub.types.get(p, "Any")) for p in needed]
            for chosen in list(product(*options))[:6]:
                args = [make() if _takes_tensor(stub, p) else v for p, v in zip(needed, chosen, strict=True)]
                with contextlib.suppress(Exception):
                    yield args, function(*args)


def _takes_tensor(stub: Any, p: str) -> bool:
    return p == "self" or stub.types.get(p, "").startswith("Tensor") and "Sequence" not in stub.types.get(p, "")


_A = torch.tensor([[3.0, 1.0], [2.0, 1.0]])
_IMAGE = torch.rand(1, 2, 4, 4)
_F = torch.nn.functional
# The type of the result, and a call.
HANDS: list[tuple[str, Callable[[], Any]]] = [
    ("Tensor", lambda: torch.max(_A)),
    ("return_types.max", lambda: _A.max(0)),
    ("Tensor", lambda: torch.min(_A, _A)),
    ("return_types.median", lambda: torch.median(_A, dim=1)),
    ("tuple[Tensor, ...]", lambda: torch.where(_A > 1)),
    ("Tensor", lambda: torch.where(_A > 1, _A, 0.0)),
    ("tuple[Tensor, ...]", lambda: _A.nonzero(as_tuple=True)),
    ("Tensor", lambda: torch.nonzero(_A)),
    ("Tensor", lambda: torch.unique(_A)),
    ("tuple[Tensor, Tensor]", lambda: torch.unique(_A, return_counts=True)),
    ("tuple[Tensor, Tensor, Tensor]", lambda: _A.unique(return_inverse=True, return_counts=True)),
    ("tuple[Tensor, Tensor]", lambda: torch.unique_consecutive(_A, True)),
    ("tuple[Tensor, Tensor]", lambda: torch.lu(_A)),
    ("tuple[Tensor, Tensor, Tensor]", lambda: torch.lu(_A, get_infos=True)),
    ("Tensor", lambda: torch.atleast_2d(_A)),
    ("tuple[Tensor, ...]", lambda: torch.atleast_2d(_A, _A)),
    ("Tensor", lambda: _F.max_pool2d(_IMAGE, 2)),
    ("tuple[Tensor, Tensor]", lambda: _F.max_pool2d(_IMAGE, 2, return_indices=True)),
    ("tuple[Tensor, Tensor]", lambda: _F.adaptive_max_pool2d(_IMAGE, 2, True)),
    ("str", lambda: _A.type()),
    ("Tensor", lambda: _A.type(torch.float64)),
    ("Tensor", lambda: _A.to("cpu")),
    ("ndarray[Any, Any]", lambda: _A.numpy()),
    ("_int", lambda: _A.size(0)),
    ("Size", lambda: _A.size()),
    ("tuple[Tensor, Tensor]", lambda: torch.std_mean(_A)),
    ("return_types.linalg_svd", lambda: torch.linalg.svd(_A)),
    ("return_types.linalg_lu", lambda: torch.linalg.lu(_A)),
    ("return_types.linalg_lstsq", lambda: torch.linalg.lstsq(_A, _A)),
    ("tuple[Tensor, ...]", lambda: torch.split(_A, 1)),
    ("return_types.topk", lambda: torch.topk(_A, 1)),
]
