"""The state of autocast: for which kinds of device it is on, and which dtype it casts to there."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .dtypes import dtype
from .modes import MODE, change

# The dtypes that autocast casts to unless told otherwise, by kind of device.
DEFAULTS: dict[str, dtype] = {
    kind: dtypes.bfloat16 if kind in ("cpu", "hpu", "maia", "xla") else dtypes.float16
    for kind in "cpu cuda xpu mps hpu mtia maia ipu xla privateuseone".split()
}


class Autocast:
    """The state of autocast. Immutable but for the cache: `replaced` returns a changed copy.

    Attributes:
        enabled: the kinds of device it is on for.
        dtypes: what it casts to, where that is not the default.
        caching: whether casts of leaves are kept until the outermost block ends.
        nesting: the number of blocks around.
        cache: from the id of a leaf (and whether grad was on) to itself and its cast.
    """

    __slots__ = ("cache", "caching", "dtypes", "enabled", "nesting")

    def __init__(
        self, enabled: frozenset[str], dtypes: dict[str, dtype], caching: bool, nesting: int, cache: dict[Any, Any]
    ) -> None:
        self.enabled, self.dtypes, self.caching, self.nesting, self.cache = enabled, dtypes, caching, nesting, cache

    @property
    def settings(self) -> tuple[Any, ...]:
        """All that casts depend on."""
        return self.enabled, tuple(self.dtypes.items())

    @property
    def active(self) -> bool:
        return bool(self.enabled)

    def dtype_of(self, kind: str) -> dtype:
        return self.dtypes.get(kind) or DEFAULTS[kind]

    def changed(self, kind: str, enabled: bool | None = None, dtype: dtype | None = None, **changes: Any) -> Autocast:
        """Return this state with changes for a kind of device, and others."""
        if enabled is not None:
            changes["enabled"] = self.enabled | {kind} if enabled else self.enabled - {kind}
        if dtype is not None:
            others = {k: d for k, d in self.dtypes.items() if k != kind}
            changes["dtypes"] = others if DEFAULTS.get(kind) is dtype else {**others, kind: dtype}
        return self.replaced(**changes)

    def replaced(self, **changes: Any) -> Autocast:
        return Autocast(**{name: changes.get(name, getattr(self, name)) for name in self.__slots__})


_OFF = Autocast(frozenset(), {}, True, 0, {})


def current() -> Autocast:
    """The current state of autocast."""
    found: Autocast | None = MODE.get().autocast
    return _OFF.replaced(cache={}) if found is None else found


def become(state: Autocast) -> None:
    """Make a state the current one."""
    idle = not state.enabled and not state.dtypes and state.caching and not state.nesting
    change(autocast=None if idle else state)
