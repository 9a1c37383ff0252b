"""`torch.serialization.add_safe_globals`: what `load` may call besides what it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.exits import Exit

Allowed = Callable[..., Any] | tuple[Callable[..., Any], str]

_allowed: list[Allowed] = []


def add_safe_globals(safe_globals: list[Allowed]) -> None:
    """Allow `load` to call these functions and classes where a file names them, and `save` to write the instances.

    Args:
        safe_globals: functions and classes, or pairs of one and the full name that files have for it.

    Example::

        >>> import collections, gradpack as torch
        >>> torch.serialization.add_safe_globals([collections.defaultdict, dict])
        >>> torch.serialization.clear_safe_globals()
    """
    _allowed.extend(entry for entry in _checked(safe_globals) if entry not in _allowed)


def get_safe_globals() -> list[Allowed]:
    """The functions and classes that `add_safe_globals` was given.

    Example::

        >>> import collections, gradpack as torch
        >>> with torch.serialization.safe_globals([collections.Counter]):
        ...     torch.serialization.get_safe_globals()
        [<class 'collections.Counter'>]
    """
    return list(_allowed)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` was given.

    Example::

        >>> import collections, gradpack as torch
        >>> torch.serialization.add_safe_globals([collections.Counter])
        >>> torch.serialization.clear_safe_globals()
        >>> torch.serialization.get_safe_globals()
        []
    """
    _allowed.clear()


class safe_globals:  # noqa: N801 - torch's name
    """Allow functions and classes inside a `with` statement: see `add_safe_globals`.

    Args:
        safe_globals: functions and classes, or pairs of one and the full name that files have for it.

    Example::

        >>> import fractions, io, gradpack as torch
        >>> file = io.BytesIO()
        >>> with torch.serialization.safe_globals([fractions.Fraction]):
        ...     torch.save(fractions.Fraction(1, 2), file)
        ...     _ = file.seek(0)
        ...     torch.load(file)
        Fraction(1, 2)
    """

    def __init__(self, safe_globals: list[Allowed]) -> None:
        self.safe_globals = safe_globals
        self._before = get_safe_globals()

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    __exit__ = Exit(lambda self: self._before, lambda _, before: _allowed.__setitem__(slice(None), before))


def by_name() -> dict[str, Any]:
    """The allowed functions and classes, under the names that files have for them: `torch` for this library."""
    found: dict[str, Any] = {}
    for entry in _allowed:
        value, name = entry if isinstance(entry, tuple) else (entry, full_name(entry))
        found[name] = found[as_torch(name)] = value
    return found


def full_name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def as_torch(name: str) -> str:
    """The name of a class or function of ours that torch has for it."""
    package, _, rest = name.partition(".")
    return f"torch.{rest}" if package == "gradpack" else name


def _checked(entries: list[Allowed]) -> list[Allowed]:
    for entry in entries:
        pair = isinstance(entry, tuple)
        if isinstance(entry, tuple) and (len(entry) != 2 or not isinstance(entry[1], str)):
            raise ValueError(f"add_safe_globals(): expected pairs of a function or class and its name, got {entry!r}")
        value = entry[0] if isinstance(entry, tuple) else entry
        if not callable(value) or (not pair and not hasattr(value, "__qualname__")):
            raise TypeError(f"add_safe_globals(): expected functions and classes, got {entry!r}")
    return list(entries)
