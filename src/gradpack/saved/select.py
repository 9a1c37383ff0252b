"""The conditions of `Policy.where`: functions of a `SavedInfo`, built from patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import Any

from .info import KINDS, SavedInfo


class Select:
    """A function that returns whether a `SavedInfo` meets all conditions; `str()` shows them."""

    def __init__(self, tests: tuple[Callable[[SavedInfo], bool], ...], text: str) -> None:
        self._tests, self._text = tests, text

    def __call__(self, info: SavedInfo) -> bool:
        return all(test(info) for test in self._tests)

    def __and__(self, other: Select) -> Select:
        return Select(self._tests + other._tests, f"{self._text}, {other._text}")

    def __str__(self) -> str:
        return self._text


def selector(**asked: Any) -> Select:
    """Return the selection for the arguments of `Policy.where`.

    Raises:
        ValueError: for an unknown kind, or if no condition is given.
        TypeError: if `min_bytes` is no int, or `fn` cannot be called.
    """
    asked = {key: value for key, value in asked.items() if value is not None and value != 0}
    if not asked:
        raise ValueError(
            "where(): say which tensors: by op=, slot=, kind=, module=, dtype=, name=, min_bytes= or fn=(a function)"
        )
    # Cheap tests first, module patterns and functions last.
    order = ("min_bytes", "kind", "dtype", "slot", "op", "name", "module", "fn")
    tests = tuple(_TESTS[key](asked[key]) for key in sorted(asked, key=order.index))
    shown = ", ".join(f"{key}={getattr(value, '__name__', repr(value))}" for key, value in asked.items())
    return Select(tests, shown)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


def _patterns(key: str, value: Any) -> tuple[str, ...]:
    found = _several(value)
    for pattern in found:
        if not isinstance(pattern, str):
            raise TypeError(f"where(): {key} is a name or several, not {type(pattern).__name__}")
    return found


def _size(value: Any) -> Callable[[SavedInfo], bool]:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"where(): min_bytes is a number of bytes, an int, not {type(value).__name__}")
    return lambda info: info.nbytes >= value


def _kind(value: Any) -> Callable[[SavedInfo], bool]:
    kinds = _patterns("kind", value)
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"where(): there is no kind {kind!r} of saved tensors; there are {', '.join(KINDS)}")
    return lambda info: info.kind in kinds


def _dtype(value: Any) -> Callable[[SavedInfo], bool]:
    names = frozenset(str(d).rpartition(".")[2] for d in _several(value))
    return lambda info: info.dtype.name in names


def _matches(key: str) -> Callable[[Any], Callable[[SavedInfo], bool]]:
    """Return the test for patterns of one kind of names."""
    names = _NAMES[key]

    def made(value: Any) -> Callable[[SavedInfo], bool]:
        patterns = _patterns(key, value)
        return lambda info: any(fnmatchcase(name, p) for name in names(info) for p in patterns)

    return made


_NAMES: dict[str, Callable[[SavedInfo], Iterable[str]]] = {
    "slot": lambda info: (info.slot,),
    "op": lambda info: info.names,
    "name": lambda info: () if info.name is None else (info.name,),
    "module": lambda info: accumulate(info.module.split("."), "{}.{}".format),
}


def _function(value: Any) -> Callable[[SavedInfo], bool]:
    if not callable(value):
        raise TypeError(f"where(): fn is a function of what is known of a tensor, not {type(value).__name__}")
    return lambda info: bool(value(info))


_TESTS: dict[str, Callable[[Any], Callable[[SavedInfo], bool]]] = {
    "min_bytes": _size,
    "kind": _kind,
    "dtype": _dtype,
    "fn": _function,
    **{key: _matches(key) for key in _NAMES},
}
