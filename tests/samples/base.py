"""How samples are written down, and the table of all of them.

A sample is a call: `S(T(3, 4), T(4), dim=-1)`. `T` describes a tensor and holds no values, so that
one sample serves every dtype, layout and way of calling.
"""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

KINDS = ("float", "int", "bool", "complex")


def _adjoint(a: Any) -> Any:
    return np.conj(np.swapaxes(a, -1, -2))


def _hermitian(a: Any) -> Any:
    return (a + _adjoint(a)) / 2


# What a matrix may have to be: how it is made of a drawn one, and how a direction in which it stays so.
FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "regular": (lambda a: a + 3 * np.eye(a.shape[-2], a.shape[-1], dtype=a.dtype), lambda a: a),
    "hermitian": (lambda a: _hermitian(a) + np.diag(np.arange(a.shape[-1])).astype(a.dtype), _hermitian),
    "positive": (lambda a: a @ _adjoint(a) / 2 + np.diag(2.0 + np.arange(a.shape[-1])).astype(a.dtype), _hermitian),
    "lower": (lambda a: np.tril(a) + 3 * np.eye(a.shape[-1], dtype=a.dtype), np.tril),
    "upper": (lambda a: np.triu(a) + 3 * np.eye(a.shape[-1], dtype=a.dtype), np.triu),
}


class T:
    """A tensor of a shape, with values drawn from `[low, high)`.

    `T(3, 4)`, `T((3, 4))`, `T()` or `T(())` for 0-dim. A "float" takes the dtype that a test asks
    for (also a complex one, then both parts are drawn); the other kinds keep theirs: int64, bool and
    complex128. Integers are drawn from `low` up to, without, `high`. With a `form`, they are matrices
    of that form, and stay so along directions.
    """

    __slots__ = ("form", "high", "kind", "low", "shape", "values")

    values: np.ndarray[Any, Any] | None

    def __init__(
        self, *shape: Any, low: float = -2.0, high: float = 2.0, kind: str = "float", form: str | None = None
    ) -> None:
        if len(shape) == 1 and isinstance(shape[0], tuple | list):
            shape = tuple(shape[0])
        if kind not in KINDS:
            raise ValueError(f"a sample tensor is one of {', '.join(KINDS)}, not {kind!r}")
        self.shape = tuple(int(n) for n in shape)
        self.low, self.high, self.kind, self.values, self.form = low, high, kind, None, form

    @classmethod
    def of(cls, values: Any, kind: str | None = None) -> T:
        """A tensor of given values; its kind is that of the values unless given."""
        array = np.asarray(values)
        if not array.size and kind is None and array.dtype == np.float64:
            kind = "float"
        made = cls(
            array.shape,
            kind=kind or {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}[array.dtype.kind],
        )
        made.values = array
        return made

    def array(self, rng: np.random.Generator, dtype: Any = np.float64) -> np.ndarray[Any, Any]:
        """An array; `dtype` is for "float" only."""
        native = {
            "float": np.dtype(dtype),
            "int": np.dtype(np.int64),
            "bool": np.dtype(bool),
            "complex": np.dtype(np.complex128),
        }[self.kind]
        if self.values is not None:
            whole = native.kind in "iu" and self.values.dtype.kind == "f"
            return (np.nan_to_num(self.values, posinf=9, neginf=-9) if whole else self.values).astype(native)
        if self.kind == "int":
            return rng.integers(int(self.low), int(self.high), self.shape, dtype=np.int64)
        if self.kind == "bool":
            return rng.integers(0, 2, self.shape).astype(bool)
        drawn: Any = rng.uniform(self.low, self.high, self.shape)
        if native.kind == "c":
            drawn = drawn + 1j * rng.uniform(self.low, self.high, self.shape)
        elif native.kind in "iub":
            drawn = np.trunc(drawn) if native.kind != "u" else np.abs(np.trunc(drawn))
        if self.form is not None and native.kind in "fc":
            drawn = FORMS[self.form][0](drawn)
        return np.asarray(drawn).astype(native)

    def along(self, direction: Any) -> Any:
        """The direction, or what is left of it in a matrix that keeps its form."""
        return direction if self.form is None else FORMS[self.form][1](direction).astype(direction.dtype)

    def __repr__(self) -> str:
        if self.values is not None:
            return f"T.of({self.values.tolist()})"
        return f"T({', '.join(map(str, self.shape)) if self.shape else '()'}, {self.form or self.kind})"


class S:
    """The arguments of one call. `T`s may lie in lists, tuples and slices."""

    __slots__ = ("args", "kwargs")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs

    def tensors(self) -> list[T]:
        """Every tensor described, in order."""
        found: list[T] = []

        def note(t: T) -> T:
            found.append(t)
            return t

        self.map(note)
        return found

    def map(self, function: Callable[[T], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with `function(t)` in the place of each `T`."""
        return tuple(_map(a, function) for a in self.args), {k: _map(v, function) for k, v in self.kwargs.items()}

    def __repr__(self) -> str:
        return f"S({', '.join([*map(repr, self.args), *(f'{k}={v!r}' for k, v in self.kwargs.items())])})"


def _map(value: Any, function: Callable[[T], Any]) -> Any:
    if isinstance(value, T):
        return function(value)
    if type(value) in (list, tuple):
        return type(value)(_map(v, function) for v in value)
    return value


def seeded(*names: Any) -> np.random.Generator:
    """A generator that depends on names only: the same values in every run and every order."""
    return np.random.default_rng(zlib.crc32("/".join(map(str, names)).encode()))


def modules() -> Iterator[Any]:
    """Every module of samples."""
    import tests.samples as package

    for found in pkgutil.iter_modules(package.__path__):
        if found.name != "base":
            yield importlib.import_module(f"tests.samples.{found.name}")


@lru_cache(maxsize=1)
def all_samples() -> dict[str, list[S]]:
    """The samples of every operation.

    Raises:
        ValueError: if two modules have samples of one operation, or an operation has an empty list.
    """
    merged: dict[str, list[S]] = {}
    where: dict[str, str] = {}
    for module in modules():
        for name, samples in module.SAMPLES.items():
            if name in merged:
                raise ValueError(f"samples of {name!r} are in {where[name]} and in {module.__name__}: keep one")
            if not samples or not all(isinstance(s, S) for s in samples):
                raise ValueError(f"{module.__name__}: the samples of {name!r} are to be a list of S(...), not empty")
            merged[name], where[name] = samples, module.__name__
    return merged
