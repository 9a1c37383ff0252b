"""Whether code may write to arrays directly, without a tensor operation for every step."""

from __future__ import annotations

from ...base.modes import MODE


def may_write() -> bool:
    """Whether arrays may be written to unseen by their tensors: not while a mode observes every write."""
    mode = MODE.get()
    return mode.mutation is None and not mode.levels
