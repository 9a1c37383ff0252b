"""`torch.backends.opt_einsum`: in which order `einsum` contracts more than two operands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ..base.exits import block

_STRATEGIES = ("auto", "greedy", "optimal")


def is_available() -> bool:
    """Whether opt_einsum is installed. It is imported when `einsum` first needs it."""
    return find_spec("opt_einsum") is not None


def get_opt_einsum() -> Any:
    """The package opt_einsum, or None."""
    if not is_available():
        return None
    import opt_einsum

    return opt_einsum


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str | None]:
    """Set whether and how to optimize contraction paths; return the previous settings.

    Raises:
        ValueError: for an unknown strategy, and where opt_einsum is not installed or not enabled.
    """
    this: Any = sys.modules[__name__]
    before = this.enabled, this.strategy
    if _enabled is not None:
        this.enabled = _enabled
    if _strategy is not None:
        _check(_strategy, this.enabled)
        this.strategy = _strategy
    return before


def _check(strategy: str, enabled: bool) -> None:
    lacking = "available" if not is_available() else "" if enabled else "enabled"
    if lacking:
        raise ValueError(
            f"opt_einsum is not {lacking}, so setting a `strategy` to {strategy} has no use: "
            + ("install it" if lacking == "available" else "set `enabled` to True")
        )
    if strategy not in _STRATEGIES:
        raise ValueError(f"`strategy` must be one of the following: [{', '.join(_STRATEGIES)}] but is {strategy}")


@block
def flags(enabled: bool | None = None, strategy: str | None = None) -> Iterator[None]:
    """Set whether and how to optimize contraction paths for a block: `with flags(enabled=False): ...`."""
    this = vars(sys.modules[__name__])
    before = {name: this[name] for name in ("enabled", "strategy")}
    try:
        set_flags(enabled, strategy)
        yield
    finally:
        this.update(before)


enabled: bool = is_available()
strategy: str | None = "auto" if enabled else None


class _Module(ModuleType):
    """The module itself: what is assigned to `enabled` is checked; any of opt_einsum's ways can be the `strategy`."""

    def __setattr__(self, name: str, wanted: Any) -> None:
        if name == "enabled" and wanted and not is_available():
            raise ValueError(
                f"opt_einsum is not available, so setting `enabled` to {wanted} has no use: einsum contracts from left "
                "to right. Install it with pip install 'gradpack[einsum]'"
            )
        super().__setattr__(name, bool(wanted) if name == "enabled" else wanted)


sys.modules[__name__].__class__ = _Module
