"""Named tuples of several results, as `torch.return_types` has them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from . import spelling

TYPES: dict[str, type[Results]] = {}


class Results(tuple[Any, ...]):
    """A tuple of results that are attributes, too."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0

    def __new__(cls, *values: Any) -> Results:
        """Make one from the values, or as in torch from a sequence of them."""
        items: Iterable[Any] = values
        if len(values) == 1 and cls.n_fields > 1:
            items = values[0]
        made = tuple.__new__(cls, items)
        if len(made) != cls.n_fields:
            raise TypeError(f"torch.return_types.{cls.__name__}() takes a {cls.n_fields}-sequence ({len(made)} given)")
        return made

    def __repr__(self) -> str:
        lines = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{spelling.library}.return_types.{type(self).__name__}(\n{lines})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (type(self).__name__, tuple(self)))

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))


def _again(name: str, values: tuple[Any, ...]) -> Results:
    """Unpickle results."""
    from importlib import import_module

    kind = TYPES.get(name)
    if kind is None:  # its operation is not loaded yet
        kind = getattr(import_module("gradpack.return_types"), name)
    return kind(*values)


def return_type(name: str, fields: Iterable[str]) -> Any:
    """Return the type with this name and these fields, made if there is none.

    Where a declared operation and the public function return their results in different orders,
    the function, which is defined later, has the public name.
    """
    names = tuple(fields)
    found = TYPES.get(name)
    if found is None or found._fields != names:
        body: dict[str, Any] = {n: property(itemgetter(i), doc=f"Result {i}.") for i, n in enumerate(names)}
        body |= {"__slots__": (), "__module__": "gradpack.return_types", "_fields": names, "__match_args__": names}
        body |= {"n_fields": len(names), "n_sequence_fields": len(names)}
        found = TYPES[name] = type(name, (Results,), body)
    return found
