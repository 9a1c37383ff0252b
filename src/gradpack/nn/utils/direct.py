"""Who may work on arrays directly, without a tensor operation for every step."""

from __future__ import annotations

from ...base.modes import MODE


def may_write() -> bool:
    """May arrays be written to behind the back of the tensors? Not while somebody follows every write."""
    mode = MODE.get()
    return mode.mutation is None and not mode.levels
