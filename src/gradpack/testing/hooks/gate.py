"""The type of a gate, and helpers that gates share."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Gate(NamedTuple):
    """One claim, and what checks it: a function of a module that raises where the claim does not hold."""

    name: str
    claim: str
    check: Callable[[Any], None]


class Gates(list[Gate]):
    """The gates of one file; calling it registers a function by its name and docstring."""

    def __call__(self, check: Callable[[Any], None]) -> Callable[[Any], None]:
        claim = " ".join((check.__doc__ or "").split())
        self.append(Gate(check.__name__.replace("_", "-"), claim, check))
        return check


def same(value: Any) -> Any:
    return value


def hooks(torch: Any, pack: Callable[[Any], Any] = same, unpack: Callable[[Any], Any] = same, **options: Any) -> Any:
    return torch.autograd.graph.saved_tensors_hooks(pack, unpack, **options)


def noting(seen: list[Any], make: Callable[[Any], Any] = lambda t: t.clone(), mark: Any = None) -> Any:
    """A hook that puts what it is given, or a mark, into a list, and returns what `make` makes of it."""

    def hook(given: Any) -> Any:
        seen.append(given if mark is None else mark)
        return make(given)

    return hook


def numbering(kept: dict[int, Any], make: Callable[[Any], Any] = lambda t: t.clone()) -> Any:
    """A pack hook that keeps what `make` makes under a number, and returns the number."""

    def pack(tensor: Any) -> int:
        number = len(kept)
        kept[number] = make(tensor)
        return number

    return pack


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values) or [0.5, 1.5, 2.5], requires_grad=True)


def near(found: Any, expected: Any, what: str = "the gradient", within: float = 1e-6) -> None:
    """Raises AssertionError unless the numbers are close."""
    found, expected = _flat(found), _flat(expected)
    close = len(found) == len(expected) and all(
        abs(a - b) <= within * (1 + abs(b)) for a, b in zip(found, expected, strict=True)
    )
    assert close, f"{what} is {_shown(found)}, and {_shown(expected)} would be right"


def _flat(value: Any) -> list[float]:
    if hasattr(value, "detach"):
        value = value.detach().tolist()
    if not isinstance(value, list | tuple):
        return [float(value)]
    return [number for item in value for number in _flat(item)]


def _shown(values: list[float]) -> str:
    return "[" + ", ".join(f"{v:.4g}" for v in values[:4]) + (", ...]" if len(values) > 4 else "]")


@contextmanager
def raises(kind: Any, otherwise: str = "it was accepted") -> Iterator[list[BaseException]]:
    """Expect an exception of the block; the list that is given gets it."""
    found: list[BaseException] = []
    try:
        yield found
    except kind as error:
        found.append(error)
    else:
        raise AssertionError(otherwise)


@contextmanager
def counting_references() -> Iterator[Callable[[Any], Callable[[], None]]]:
    """Without the garbage collector: gives a function that says of an object, later, whether it is gone."""
    was_on = gc.isenabled()
    gc.disable()

    def watch(thing: Any) -> Callable[[], None]:
        kept = weakref.ref(thing)

        def gone() -> None:
            assert kept() is None, "the result is alive although nobody holds it: it and its graph hold each other"

        return gone

    try:
        yield watch
    finally:
        if was_on:
            gc.enable()
