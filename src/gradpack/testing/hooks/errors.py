"""Hooks that fail or return what they may not: what is said, and what state is left."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from .gate import Gates, hooks, leaf, near, raises, same

gate = GATES = Gates()


class Mine(Exception):  # noqa: N818 - a user's
    """Exception raised by the hooks of these gates."""


def _fail(_: Any) -> Any:
    raise Mine("no")


def _said(error: BaseException) -> str:
    """Return all messages of an exception, without the source lines of its traceback."""
    return "\n".join([*traceback.format_exception_only(error), *map(str, getattr(error, "__notes__", ()))])


@gate
def error_in_pack_is_placed(torch: Any) -> None:
    """An error in a pack hook says which operation saved the tensor, and in which line."""
    x = leaf(torch)
    with raises(Mine, "the error was lost") as found, hooks(torch, _fail):
        line = sys._getframe().f_lineno + 1
        x.sin()
    said = _said(found[0])
    assert "sin" in said.lower(), "it does not say which operation saved the tensor"
    assert f"{__file__}:{line}" in said or f"line {line}" in said, "it does not say in which line"


@gate
def error_in_unpack_is_placed(torch: Any) -> None:
    """An error in an unpack hook says which operation saved the tensor."""
    x = leaf(torch)
    with hooks(torch, lambda t: t.clone(), _fail):
        y = x.sin().sum()
    with raises(Mine, "the error was lost") as found:
        y.backward()
    assert "sin" in _said(found[0]).lower(), "it does not say which operation saved the tensor"


@gate
def errors_leave_no_trace(torch: Any) -> None:
    """After errors in pack and unpack hooks no hooks are active, grad mode is on, and the next step is right."""
    x = leaf(torch)
    for pack, unpack in ((_fail, same), (lambda t: t.clone(), _fail)):
        with raises(Mine, "the error was lost"), hooks(torch, pack, unpack):
            x.sin().sum().backward()
    assert torch.is_grad_enabled(), "grad mode is off"
    assert x.grad is None, "a gradient came of a backward that failed"
    x.sin().sum().backward()
    near(x.grad, x.cos())


def _returned(torch: Any, wrong: Any, what: str) -> None:
    x = leaf(torch)
    with hooks(torch, lambda t: t.clone(), wrong):
        y = x.sin().sum()
    try:
        y.backward()
    except (RuntimeError, TypeError):
        return
    raise AssertionError(f"{what} was accepted, and the gradient is {[round(v, 4) for v in x.grad.tolist()]}")


@gate
def wrong_shape(torch: Any) -> None:
    """An unpack hook that returns another shape is refused."""
    _returned(torch, lambda t: t[:1], "one element in place of three")


@gate
def wrong_dtype(torch: Any) -> None:
    """An unpack hook that returns another dtype is refused."""
    _returned(torch, lambda t: t.to(torch.bfloat16), "bfloat16 in place of float32")


@gate
def wrong_type(torch: Any) -> None:
    """An unpack hook that returns no tensor is refused."""
    _returned(torch, lambda t: t.tolist(), "a list")
