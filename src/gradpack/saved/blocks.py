"""Blocks that change the mode, entered by objects that several tasks and threads may share.

Blocks of a task or thread may end in any order, as those of two generators do: what ends is taken out from among the
others, which stay as they are.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from ..base.modes import MODE, OpMode, change

_Watches = tuple[OpMode, ...]


class _Entered(NamedTuple):
    """A block that has not ended: whose it is, what it has see operations, and the fields to restore."""

    who: Any
    watches: _Watches
    before: dict[str, Any]


# What was entered by this task or thread, outermost first.
_ENTERED: ContextVar[tuple[_Entered, ...]] = ContextVar("gradpack saved blocks", default=())


def enter(who: Any, watches: _Watches = (), **changes: Any) -> None:
    """Change fields of the mode until `leave(who)`. The same object may enter again before it leaves.

    Args:
        who: whose block it is.
        watches: modes of operations that are on until then, too.
        changes: fields, other than that of the modes of operations.
    """
    mode, entered = MODE.get(), _ENTERED.get()
    before = {name: getattr(mode, name) for name in changes}
    try:
        change(ops=(*mode.ops, *watches), **changes)
        _ENTERED.set((*entered, _Entered(who, watches, before)))
    except BaseException:  # somebody has interrupted: a block that was not entered is not left either
        MODE.set(mode)
        _ENTERED.set(entered)
        raise


def leave(who: Any) -> None:
    """Undo the last `enter(who)` of this task or thread.

    Raises:
        RuntimeError: if there was none.
    """
    entered = _ENTERED.get()
    last = -1
    for at, block in enumerate(entered):
        if block.who is who:
            last = at
    if last < 0:
        raise RuntimeError(
            f"{who!r} cannot be left here: this task or thread has not entered it. (A generator that is suspended "
            "within the block has to be resumed, and closed, where it was begun)"
        )
    try:
        _take_out(entered, last)
    except BaseException:  # somebody has interrupted: the block ends all the same
        if _ENTERED.get() is entered:
            _take_out(entered, last)
        raise


def _take_out(entered: tuple[_Entered, ...], last: int) -> None:
    _, watches, restored = entered[last]
    above = []
    for other in entered[last + 1 :]:  # what they are to restore is now what this block would have restored
        mine = {name: restored[name] for name in other.before if name in restored}
        restored = {name: value for name, value in restored.items() if name not in mine}
        above.append(other._replace(before=other.before | mine))
    change(ops=_without(MODE.get().ops, watches), **restored)
    _ENTERED.set((*entered[:last], *above))


def _without(modes: _Watches, watches: _Watches) -> _Watches:
    """The modes without one of each of `watches`, the innermost."""
    left = list(modes)
    for watch in watches:
        for at in range(len(left) - 1, -1, -1):
            if left[at] is watch:
                del left[at]
                break
    return tuple(left)
