"""Blocks of hooks, entered by context managers that several tasks and threads may share.

The blocks of a task or thread may end in any order, as those of two generators do: the one that ends is removed, and
the others stay. The active blocks are part of the mode, so that each begins and ends in one step, which an interrupt
cannot leave half done.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from .exits import Exit
from .modes import MODE, Mode, OpMode

_Watches = tuple[OpMode, ...]


class Scope:
    """An active block: its owner, its operation modes, and the fields to restore.

    Attributes:
        outer: the mode around it; None if a block around it has ended before it.
        inner: the mode at its beginning.
    """

    __slots__ = ("before", "inner", "outer", "watches", "who")

    def __init__(self, who: Any, watches: _Watches, before: dict[str, Any], outer: Mode | None) -> None:
        self.who, self.watches, self.before, self.outer = who, watches, before, outer
        self.inner: ref[Mode] | None = None


def enter(who: Any, watches: _Watches = (), **changes: Any) -> None:
    """Change fields of the mode until the block ends. The same object may enter again before it leaves.

    Args:
        who: the owner of the block.
        watches: operation modes that are on in the block.
        changes: other fields of the mode.
    """
    mode = MODE.get()
    scope = Scope(who, watches, {name: getattr(mode, name) for name in changes}, mode)
    inner = mode.replace(ops=(*mode.ops, *watches), blocks=(*mode.blocks, scope), **changes)
    scope.inner = ref(inner)
    try:
        MODE.set(inner)
    except BaseException:  # an interrupt: a block that was not entered is not left either
        MODE.set(mode)
        raise


def innermost(who: Any) -> Scope:
    """The last block of this owner that this task or thread has entered.

    Raises:
        RuntimeError: if there is none.
    """
    for scope in reversed(MODE.get().blocks):
        if scope.who is who:
            return scope
    raise RuntimeError(
        f"{who!r} cannot be left here: this task or thread has not entered it. (A generator that is suspended "
        "within the block has to be resumed, and closed, where it was begun)"
    )


def end(who: Any, scope: Scope) -> None:
    """End a block, unless it has ended."""
    mode = MODE.get()
    if scope.outer is not None and scope.inner is not None and scope.inner() is mode:
        MODE.set(scope.outer)  # nothing else has changed
    elif any(other is scope for other in mode.blocks):
        MODE.set(_without(mode, scope))


LEAVE = Exit(innermost, end)  # `__exit__` of classes whose `__enter__` calls `enter(self, ...)`


def _without(mode: Mode, scope: Scope) -> Mode:
    """The mode without a block, as if it had never been entered."""
    place = next(at for at, other in enumerate(mode.blocks) if other is scope)
    restored, above = scope.before, []
    for other in mode.blocks[place + 1 :]:  # they restore what this block would have restored
        mine = {name: restored[name] for name in other.before if name in restored}
        restored = {name: value for name, value in restored.items() if name not in mine}
        above.append(Scope(other.who, other.watches, other.before | mine, None))
    ops = list(mode.ops)
    for watch in scope.watches:  # remove the innermost occurrence of each
        for at in range(len(ops) - 1, -1, -1):
            if ops[at] is watch:
                del ops[at]
                break
    return mode.replace(ops=tuple(ops), blocks=(*mode.blocks[:place], *above), **restored)
