"""Where policies apply and where not: `bypass`, `forbid`, `propagate`; and `name`, which they choose by."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..autograd.decorate import decorate
from ..autograd.saved_hooks import disable_saved_tensors_hooks
from ..base.modes import MODE, using
from ..nn.calls import CALLS
from ..tensor.packed import PackedWithInfo, lent
from ..tensor.tensor import Tensor
from .blocks import enter, leave

F = TypeVar("F", bound=Callable[..., Any])

_FIELDS = ("hooks", "forbidden", "recorder", "mutation", "ops")


class bypass:  # noqa: N801 - reads as a keyword
    """No policies and no hooks in this block, whatever is around it: saved tensors stay as they are.

    Also a decorator.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(print, lambda packed: packed):
        ...     with saved.bypass():
        ...         y = x.exp()
    """

    def __enter__(self) -> None:
        enter(self, hooks=None)

    def __exit__(self, *exc: object) -> None:
        leave(self)

    def __call__(self, function: F) -> F:
        return decorate(bypass, function)


def forbid(message: str) -> Any:
    """Entering a policy, or hooks, in this block raises RuntimeError with `message`. Also a decorator.

    Raises:
        RuntimeError: on entry, if some are active already: `bypass` switches them off.

    Example::

        >>> from gradpack import saved
        >>> with saved.forbid("not in this block"):
        ...     with saved.Policy():
        ...         pass
        Traceback (most recent call last):
            ...
        RuntimeError: not in this block
    """
    if not isinstance(message, str):
        raise TypeError(f"forbid(): message must be a string, not {type(message).__name__}")
    return disable_saved_tensors_hooks(message)


def propagate(function: F) -> F:
    """`function`, to be run by another thread, under the policies that are active here and now.

    A thread starts without any, as it starts with grad mode on. Tasks of asyncio need no help: they start with those
    of the task that made them.

    Example::

        >>> import threading
        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: print("packed"), lambda packed: packed):
        ...     thread = threading.Thread(target=saved.propagate(lambda: x.exp()))
        >>> thread.start(); thread.join()
        packed
    """
    mode = MODE.get()
    fields = {name: getattr(mode, name) for name in _FIELDS}
    call = CALLS.get()

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        token = CALLS.set(call)
        try:
            with using(**fields):
                return function(*args, **kwargs)
        finally:
            CALLS.reset(token)

    return run  # type: ignore[return-value]


def name(tensor: Tensor, name: str) -> Tensor:
    """Give a tensor a name that policies choose by and reports show; returns it.

    Operations that save the tensor after this see the name. If the one that made it has saved it before, the policy
    that is active gets to choose again.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> h = saved.name(torch.ones(2), "h1")
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"name(): argument 'tensor' (position 1) must be Tensor, not {type(tensor).__name__}")
    if not isinstance(name, str):
        raise TypeError(f"name(): argument 'name' (position 2) must be str, not {type(name).__name__}")
    tensor.__dict__["_saved_name"] = name
    node: Any = tensor._edge
    op = getattr(node, "op", None)
    hooks = MODE.get().hooks
    if op is not None and hooks is not None and len(hooks) == 3:
        for slot in op.saved:
            packed = getattr(node, slot, None)
            if isinstance(packed, PackedWithInfo) and op.saves(slot) == "result" and packed.unpack == hooks[1]:
                packed.info.name = name
                packed.handle = None  # let go of it first: packing again would find it
                packed.handle = hooks[0](lent(tensor, node), packed.info)
    return tensor
