"""Anomaly detection: where in forward was the operation whose backward failed?"""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from ..base.modes import MODE, change
from ..graph.node import Node
from ..tensor.hooks import extras_of


class Anomaly:
    """The settings of anomaly mode. Notes where each node was made, and by which node's backward."""

    __slots__ = ("check_nan",)

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def note(self, node: Node) -> None:
        """Keep the stack of the call that made this node."""
        extras_of(node).trace = traceback.extract_stack()[:-4]


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
