"""Anomaly detection: shows the forward call of the operation whose backward failed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from contextvars import ContextVar
from os.path import dirname
from typing import Any

from ..base.callers import COMPILED
from ..base.exits import Exit
from ..base.modes import MODE, change
from ..core.hooks import NodeExtras
from ..core.tensor import raw
from ..graph.node import AccumulateGrad, Gradient, Node, reachable

__all__ = ["detect_anomaly", "set_detect_anomaly"]

_INSIDE = dirname(dirname(__file__))

# The node whose backward runs now: the parent of nodes that are made meanwhile.
_RUNNING: ContextVar[Node | None] = ContextVar("gradpack running node", default=None)

# Whether gradients are checked for nan while anomaly detection is on.
_CHECK_NAN: ContextVar[bool] = ContextVar("gradpack check nan", default=True)


class Anomaly:
    """The settings of anomaly mode. Records the traceback of each node, and the node whose backward made it."""

    __slots__ = ("check_nan",)

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def note(self, node: Node) -> None:
        """Record the stack of the call that made this node, without the frames of this library."""
        import traceback  # importing it takes a millisecond, and few programs need it

        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith((_INSIDE, *COMPILED)):
            frame = frame.f_back
        metadata = _watched(node).metadata
        if metadata is None:
            metadata = node.extras.metadata = {}
        metadata["traceback_"] = traceback.format_stack(frame)
        parent = _RUNNING.get()
        if parent is not None:
            metadata["parent_"] = parent

    def watch(self, roots: Iterable[Node]) -> None:
        """Watch all nodes that a backward pass may run, also those made outside of anomaly mode."""
        for node in reachable(roots):
            if node.extras is not None or type(node) is not AccumulateGrad:  # a leaf without hooks cannot fail
                _watched(node)


class _Watched(NodeExtras):
    """The extras of a node that show its traceback if it fails while anomaly mode is on."""

    __slots__ = ()

    def run_tensor_hooks(self, node: Node, g: Gradient, create_graph: bool) -> Gradient:
        try:
            return super().run_tensor_hooks(node, g, create_graph)
        except Exception:
            if MODE.get().anomaly is not None:
                _show(node)
            raise

    def run_node(self, node: Node, g: Gradient, keep: bool, create_graph: bool, edges: Any = None) -> Any:
        anomaly = MODE.get().anomaly
        if anomaly is None:
            return super().run_node(node, g, keep, create_graph, edges)
        outer = _RUNNING.get()
        try:
            _RUNNING.set(node)
            grads = tuple(super().run_node(node, g, keep, create_graph, edges))
            if anomaly.check_nan:
                for i, grad in enumerate(grads):
                    array = raw(grad)
                    # Only nan is unequal to itself, in every array library.
                    if hasattr(array, "dtype") and bool((array != array).any()):  # noqa: PLR0124
                        raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
        except Exception:
            _show(node)
            raise
        finally:
            _RUNNING.set(outer)
        return grads


def _watched(node: Node) -> NodeExtras:
    extras = node.extras
    if extras is None:
        extras = node.extras = _Watched()
    elif type(extras) is NodeExtras:
        extras.__class__ = _Watched
    return extras


def _show(node: Node | None) -> None:
    """Warn with the traceback of the forward call of a node, and of the nodes whose backward made it."""
    failed, induced = "Error detected in {}. ", "\n\nPrevious calculation was induced by {}. "
    what, lead = failed, "Traceback of forward call that caused the error:\n"
    while node is not None:
        metadata: dict[str, Any] = (node.extras and node.extras.metadata) or {}
        if "traceback_" not in metadata:
            text = failed.format(node.name()) + (
                "No forward pass information available. Enable detect anomaly during forward pass for more information."
            )
        else:
            text = what.format(node.name()) + lead + "".join(metadata["traceback_"])
        try:
            warnings.warn(text, stacklevel=3)
        except Warning:  # warnings are errors, but the error to raise is that of the node
            sys.stderr.write(text + "\n")
        what, lead = induced, "Traceback of forward call that induced the previous calculation:\n"
        node = metadata.get("parent_")


_SET_BACK = Exit(lambda block: (block.prev, block.prev_check_nan), lambda block, before: set_anomaly_enabled(*before))


class detect_anomaly:  # noqa: N801 - torch's name
    """Context manager for anomaly detection: errors in backward show the forward call, and nan is an error.

    Args:
        check_nan: raise when a node's backward gives nan.

    Example::

        >>> import warnings, gradpack as torch
        >>> x = torch.zeros(1, requires_grad=True)
        >>> with warnings.catch_warnings(action="ignore"), torch.autograd.detect_anomaly():
        ...     (x.sqrt() * 0).backward()
        Traceback (most recent call last):
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)

    __exit__ = _SET_BACK


class set_detect_anomaly:  # noqa: N801 - torch's name
    """Switch anomaly detection on or off: at once as a function, or for a block.

    Args:
        mode: on or off.
        check_nan: whether nan in a gradient is an error.

    Example::

        >>> import gradpack as torch
        >>> import warnings
        >>> x = torch.tensor([-1.0], requires_grad=True)
        >>> with warnings.catch_warnings(action="ignore"), torch.autograd.set_detect_anomaly(True):
        ...     x.sqrt().sum().backward()
        Traceback (most recent call last):
            ...
        RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
        >>> with torch.autograd.set_detect_anomaly(True, check_nan=False):
        ...     x.sqrt().sum().backward()
        >>> x.grad
        tensor([nan])
        >>> torch.is_anomaly_enabled()
        False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    __exit__ = _SET_BACK


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on.

    Example::

        >>> import gradpack as torch
        >>> torch.is_anomaly_enabled()
        False
    """
    return MODE.get().anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection, when it is on, looks for nan.

    Example::

        >>> import gradpack as torch
        >>> torch.is_anomaly_check_nan_enabled()
        True
    """
    return _CHECK_NAN.get()


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection on or off.

    Args:
        enabled: whether backward passes name the operation whose backward failed, and the line that called it.
        check_nan: whether NaN in a gradient is an error then.

    Raises:
        TypeError: for anything but booleans.

    Example::

        >>> import gradpack as torch
        >>> torch.set_anomaly_enabled(True); torch.is_anomaly_enabled()
        True
        >>> torch.set_anomaly_enabled(False)
    """
    for position, (name, value) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not "
                f"{type(value).__name__}"
            )
    mode, before = MODE.get(), _CHECK_NAN.get()
    try:
        _CHECK_NAN.set(check_nan)
        change(anomaly=Anomaly(check_nan) if enabled else None)
    except BaseException:  # an interrupt
        MODE.set(mode)
        _CHECK_NAN.set(before)
        raise
