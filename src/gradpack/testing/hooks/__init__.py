"""Conformance checks of saved tensor hooks, for any module with the interface of torch.

    python -m gradpack.testing.hooks torch
    python -m gradpack.testing.hooks gradpack

The text of each gate is the same for every module, and uses only what modules offer to users. Each
runs in a thread of its own, so that what one leaves behind is not there for the next.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextvars import Context
from threading import Thread
from typing import Any, NamedTuple

from . import copies, errors, graphs, scopes, writes
from .gate import Gate

GATES: tuple[Gate, ...] = (*scopes.GATES, *writes.GATES, *copies.GATES, *graphs.GATES, *errors.GATES)


class Outcome(NamedTuple):
    """Result of one gate."""

    gate: Gate
    holds: bool
    reason: str  # why not, in a line; "" if it holds


def run(module: Any, gates: Iterable[Gate] = GATES, patience: float = 60.0) -> list[Outcome]:
    """Check each gate on a module.

    Args:
        module: what a program imports as `torch`.
        gates: which.
        patience: seconds that one may take.

    Example::

        >>> import gradpack
        >>> from gradpack.testing import hooks
        >>> all(outcome.holds for outcome in hooks.run(gradpack))
        True
    """
    return [_run(module, gate, patience) for gate in gates]


def _run(module: Any, gate: Gate, patience: float) -> Outcome:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            gate.check(module)
        except BaseException as error:  # an exit, too, is a failure of the gate
            failed.append(error)

    thread = Thread(target=Context().run, args=(work,), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread.start()
        thread.join(patience)
    if thread.is_alive():
        return Outcome(gate, holds=False, reason=f"did not end within {patience:g} s")
    return Outcome(gate, not failed, _line(failed[0]) if failed else "")


def _line(error: BaseException) -> str:
    """An exception in one line."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    return text if isinstance(error, AssertionError) and text else f"{type(error).__name__}: {text}".rstrip(": ")
