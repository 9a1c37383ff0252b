"""Blocks that change the mode, entered by objects that several tasks and threads may share."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ..base.modes import change

# What was entered by this task or thread, outermost first, with what to restore.
_ENTERED: ContextVar[tuple[tuple[Any, dict[str, Any]], ...]] = ContextVar("gradpack saved blocks", default=())


def enter(who: Any, **changes: Any) -> None:
    """Change fields of the mode until `leave(who)`. The same object may enter again before it leaves."""
    _ENTERED.set((*_ENTERED.get(), (who, change(**changes))))


def leave(who: Any) -> None:
    """Undo the last `enter(who)` of this task or thread."""
    entered = _ENTERED.get()
    last = max(i for i, (owner, _) in enumerate(entered) if owner is who)
    _ENTERED.set(entered[:last] + entered[last + 1 :])
    change(**entered[last][1])
