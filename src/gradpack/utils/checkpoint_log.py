"""`checkpoint(..., debug=True)`: logs the operations of both runs, and shows them if the runs differ."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from ..base.modes import OpMode
from ..core.tensor import Tensor
from ..ops.aten import overload_of
from .checkpoint_parts import CheckpointError


class _Log(OpMode):
    """Writes down each operation and where it was called."""

    def __init__(self) -> None:
        super().__init__()
        self._clear()

    def __enter__(self) -> Any:
        self._clear()
        return super().__enter__()

    def _clear(self) -> None:
        self.lines: list[str] = []
        self.places: list[list[str]] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # numbered objects, kept alive so that no other gets the same id

    def _name(self, value: Any) -> str:
        if isinstance(value, Tensor):
            found = self._numbers.get(id(value))
            if found is None:
                found = self._numbers[id(value)] = len(self._numbers)
                self._alive.append(value)
            return f"${found}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(map(self._name, value)) + "]"
        return repr(value)

    def operation(self, op: Any, values: list[Any], run: Any) -> Any:
        given = ", ".join(self._name(v) for v in values if v is not None)
        outs, extras = run()
        made = ", ".join(f"{self._name(o)}: {o.dtype.abbr}{list(o.shape)}" for o in outs)
        self.lines.append(f"{made} = torch._ops.{overload_of(op, values)}({given})")
        stack = reversed(traceback.extract_stack())
        here = __file__.rpartition("/")[0].removesuffix("/utils")
        self.places.append(
            [f"{f.filename}:{f.lineno}:{f.name}" for f in stack if f.filename[:1] != "<" and here not in f.filename]
        )
        return outs, extras

    def traces(self, label: str) -> str:
        text = ""
        for i, (line, places) in enumerate(zip(self.lines, self.places, strict=True)):
            text += f"{line}   ({i + 1} of {len(self.lines)} in {label})\n\n" + "".join(f"{p}\n" for p in places)
            text += "\n\n"
        return text


_TEMPLATE = """\
 An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.

{bar}
|        1. Stack traces of the operators that ran in the original forward     |
{line}

{forward_traces}
{bar}
|        2. Stack traces of the operators that ran during recomputation        |
{line}

{again_traces}
{bar}
|       3. Log of operators in the original forward and recomputation          |
{line}

Operations executed during the original forward:

{forward}

Operations executed during recomputation:

{again}

{line}
 ERROR: Detected non-determinism while running activation checkpointing

 Tensors saved in the original forward and in the recomputation differ. Find the
 first operation above where the two logs differ: its stack trace says where it
 was called.
"""


def debug_contexts() -> tuple[Callable[[], tuple[Any, Any]], Callable[[CheckpointError], NoReturn]]:
    """A `context_fn` that logs both runs, and what raises an error with the logs in it."""
    first, second = _Log(), _Log()

    def explain(error: CheckpointError) -> NoReturn:
        text = _TEMPLATE.format(
            bar="+" + "~" * 78 + "+",
            line="+" + "-" * 78 + "+",
            forward_traces=first.traces("original"),
            again_traces=second.traces("recompute"),
            forward="\n".join(first.lines),
            again="\n".join(second.lines),
        )
        raise CheckpointError(text) from error

    return lambda: (first, second), explain
