"""Anomaly detection: where in forward was the operation whose backward failed?"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

from ..base.modes import MODE, change
from ..graph.node import Node
from ..tensor.hooks import extras_of
from ..tensor.tensor import raw

# The node whose backward runs now: nodes that are made meanwhile are its doing.
_RUNNING: ContextVar[Node | None] = ContextVar("gradpack running node", default=None)


class Anomaly:
    """The settings of anomaly mode. Notes where each node was made, and by which node's backward."""

    __slots__ = ("check_nan",)

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def note(self, node: Node) -> None:
        """Keep the stack of the call that made this node."""
        extras_of(node).trace = (traceback.extract_stack()[:-4], _RUNNING.get())

    def run(self, node: Node, call: Callable[[], Iterable[Any]]) -> Iterable[Any]:
        """Run a node's backward; if it fails, or gives nan, show where in forward it came from."""
        token = _RUNNING.set(node)
        try:
            grads = tuple(call())
            if self.check_nan:
                for i, g in enumerate(grads):
                    array = raw(g)
                    if array is not None and hasattr(array, "dtype") and bool(_has_nan(array)):
                        raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
        except Exception:
            _show(node)
            raise
        finally:
            _RUNNING.reset(token)
        return grads


def _has_nan(array: Any) -> Any:
    return (array != array).any()  # noqa: PLR0124 - true of nan alone, in every array library


def _show(node: Node) -> None:
    """Warn with the traceback of the call that made a node, and of those that led to it."""
    trace = None if node.extras is None else node.extras.trace
    text = f"Error detected in {node.name()}. "
    if trace is None:
        text += "No forward pass information available. Enable detect anomaly during forward pass for more information."
        warnings.warn(text, stacklevel=2)
        return
    stack, parent = trace
    text += "Traceback of forward call that caused the error:\n" + "".join(traceback.format_list(stack))
    while parent is not None:
        above = None if parent.extras is None else parent.extras.trace
        if above is None:
            text += f"\nPrevious calculation was induced by {parent.name()}. No forward pass information available."
            break
        text += f"\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that induced it:\n"
        text += "".join(traceback.format_list(above[0]))
        parent = above[1]
    warnings.warn(text, stacklevel=2)


class set_detect_anomaly:  # noqa: N801 - torch's name
    """Switch anomaly detection on or off: at once as a function, or for a block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = change(anomaly=Anomaly(check_nan) if mode else None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        change(**self._before)


class detect_anomaly:  # noqa: N801 - torch's name
    """In this block, errors in backward show the forward call, and nan in a gradient is an error.

    Args:
        check_nan: raise when a node's backward gives nan.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self._before: list[dict[str, Any]] = []
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before.append(change(anomaly=Anomaly(self.check_nan)))

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on.

    Example::

        >>> import gradpack as torch
        >>> torch.is_anomaly_enabled()
        False
    """
    return MODE.get().anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection looks for nan.

    Example::

        >>> import gradpack as torch
        >>> torch.is_anomaly_check_nan_enabled()
        False
    """
    anomaly = MODE.get().anomaly
    return anomaly is not None and bool(anomaly.check_nan)


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection on or off.

    Example::

        >>> import gradpack as torch
        >>> torch.set_anomaly_enabled(True); torch.is_anomaly_enabled()
        True
        >>> torch.set_anomaly_enabled(False)
    """
    change(anomaly=Anomaly(check_nan) if mode else None)
