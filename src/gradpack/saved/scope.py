"""Where policies apply: `bypass`, `forbid` and `propagate`; and `name`, which gives tensors names to select by."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

from ..autograd.decorate import decorate
from ..autograd.saved_hooks import disable_saved_tensors_hooks
from ..base.exits import surely
from ..base.modes import MODE, using
from ..base.scopes import LEAVE, enter
from ..core.packed import PackedWithInfo, alias_for_hooks
from ..core.tensor import Tensor
from ..nn._module.calls import CALLS

F = TypeVar("F", bound=Callable[..., Any])

_FIELDS = ("hooks", "forbidden", "recorder", "mutation", "ops")


class bypass:  # noqa: N801 - reads as a keyword
    """Disable all policies and saved tensor hooks in this block: saved tensors are kept as they are.

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

    __exit__ = LEAVE

    def __call__(self, function: F) -> F:
        return decorate(bypass, function)


def forbid(message: str) -> Any:
    """Make entering a policy or hooks in this block raise RuntimeError with `message`. Also a decorator.

    Args:
        message: the text of the error.

    Raises:
        RuntimeError: on entry, if policies or hooks are active already: `bypass` disables them.

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
    """Return `function` wrapped so that it runs, in any thread, under the policies that are active now.

    A new thread starts without policies, as it starts with grad mode enabled. Tasks of asyncio inherit those of the
    task that creates them.

    Args:
        function: the function.

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

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with surely(partial(CALLS.set, CALLS.get())), using(**fields):
            CALLS.set(call)
            return function(*args, **kwargs)

    return run  # type: ignore[return-value]


def name(tensor: Tensor, name: str) -> Tensor:
    """Give a tensor a name, which `Policy.where(name=...)` selects by and reports show; return the tensor.

    Operations that save the tensor after this see the name. If the operation that computed it has already saved it,
    the active policy packs it again.

    Args:
        tensor: the tensor.
        name: its name.

    Raises:
        TypeError: for anything but a tensor and a str.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with saved.record() as r:
        ...     h = saved.name(x * 2, "h")
        ...     y = (h * h).sum()
        >>> [(row.slot, row.name) for row in r.rows]
        [('other', 'h'), ('input', 'h')]
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
                packed.handle = None  # drop it first, or packing again would reuse it
                packed.handle = hooks[0](alias_for_hooks(tensor, node), packed.info)
    return tensor
