"""Saved tensor hooks: what happens to the tensors that autograd keeps for backward.

`autograd.graph` exports these under torch's names. Beside the context managers of torch,
`saved_tensors_hooks`, `save_on_cpu` and `disable_saved_tensors_hooks` take a function (or coroutine
function) to run, and return its result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..base.modes import MODE, change
from ..tensor.mutation import Mutation
from ..tensor.tensor import Tensor, wrap
from .decorate import decorate

PackHook = Callable[[Tensor], Any]  # from a tensor to what is kept of it
UnpackHook = Callable[[Any], Tensor]  # and back


def _run_inside(manager: Any, fn: Callable[[], Any]) -> Any:
    """The result of `fn()` inside a context; of a coroutine function, a coroutine that is inside at each step."""
    if inspect.iscoroutinefunction(fn):
        return decorate(lambda: manager, fn)()
    with manager:
        return fn()


class saved_tensors_hooks:  # noqa: N801 - torch's name
    """Pack every tensor that autograd saves in this block, and unpack it when backward needs it.

    Args:
        pack_hook: from the tensor (detached) to anything.
        unpack_hook: from that to a tensor with the content, shape and dtype of the original.
        fn: run this function with the hooks active, and return its result instead of a context manager.
        compose: if there are hooks around this block, they pack the tensors that `pack_hook` makes.

    The innermost pair applies, and only that, unless `compose` is asked for. Unpacking works after the
    block has ended. The scope follows threads and asyncio tasks. The check for in-place writes still
    holds: if `pack_hook` kept the tensor, and not a copy, and it was written to since, backward raises.

    Raises:
        TypeError: in backward, if unpack returns no tensor.
        RuntimeError: if pack writes to its input, or, in backward, if unpack returns another shape or dtype.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().tolist(), torch.tensor):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 4.])
    """

    compose = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        fn = kwargs.pop("fn", args[2] if len(args) == 3 else None)
        if fn is None or cls is not saved_tensors_hooks:  # a subclass has arguments of its own
            return made
        made.__init__(*args[:2], **kwargs)  # type: ignore[misc]
        return _run_inside(made, fn)

    def __init__(self, pack_hook: PackHook, unpack_hook: UnpackHook, *, compose: bool = False) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self.compose = compose

    def __enter__(self) -> None:
        forbidden = MODE.get().forbidden
        if forbidden is not None:
            raise RuntimeError(forbidden)
        for name in ("pack_hook", "unpack_hook"):
            if not callable(getattr(self, name)):
                raise TypeError(
                    f"saved_tensors_hooks(): incompatible function arguments: {name} must be callable, not "
                    f"{type(getattr(self, name)).__name__}"
                )
        hooks: tuple[Any, ...] = (self.pack_hook, self.unpack_hook)
        whose: Any = getattr(self.pack_hook, "__self__", None)
        describe = getattr(whose, "__saved_info__", None)
        around = MODE.get().hooks
        if self.compose and around is not None:
            hooks = _composed(self.pack_hook, self.unpack_hook, around)
        elif describe is not None and getattr(self.unpack_hook, "__self__", None) is whose:
            hooks = (*hooks, describe)  # a policy of `saved`: tell it what it packs
        mode = MODE.get()
        change(hooks=hooks, around=(*mode.around, mode.hooks))

    def __exit__(self, *exc: object) -> None:
        leave_saved_tensors_hooks()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(lambda: saved_tensors_hooks(self.pack_hook, self.unpack_hook, compose=self.compose), function)


def leave_saved_tensors_hooks() -> None:
    """End the block that was entered last, whoever entered it."""
    *around, hooks = MODE.get().around or (None,)
    change(hooks=hooks, around=tuple(around))


class _Inner:
    """What the inner of two composed pack hooks made, where that is no tensor: nothing for the outer one."""

    __slots__ = ("packed",)

    def __init__(self, packed: Any) -> None:
        self.packed = packed


def _composed(pack: PackHook, unpack: UnpackHook, around: tuple[Any, ...]) -> tuple[Any, ...]:
    """Hooks that hand the tensors that `pack` makes to the hooks around it."""
    pack_around, unpack_around = around[:2]

    def pack_both(tensor: Tensor, *note: Any) -> Any:
        packed = pack(tensor)
        return pack_around(packed, *note) if isinstance(packed, Tensor) else _Inner(packed)

    def unpack_both(packed: Any) -> Tensor:
        return unpack(packed.packed if type(packed) is _Inner else unpack_around(packed))

    return (pack_both, unpack_both, *around[2:])


def _pack_to_cpu(tensor: Tensor, beside: bool = False) -> Any:
    """A copy in host memory; of an expanded tensor, only the elements that there are.

    If made `beside` the host, it is pinned memory that the stream in use fills, and reads again.
    """
    data, backend = tensor._data, tensor._spec.backend
    strides = getattr(data, "strides", None)
    if strides is not None and 0 in strides:
        index = tuple(
            slice(0, 1) if s == 0 and n > 1 else slice(None) for s, n in zip(strides, data.shape, strict=True)
        )
        kept = tensor.detach()
        kept._data = data[index]
        kept._shape = tuple(kept._data.shape)
        return tensor._spec.device, tensor._shape, kept.clone(), False
    if tensor._spec.device.type != "cpu":
        return tensor._spec.device, tensor._shape, wrap(backend.download(data, beside)), beside
    copy = tensor.detach()
    copy._data, copy._counter = backend.copy(data), [0]
    return tensor._spec.device, tensor._shape, copy, False


def _pack_to_pinned(tensor: Tensor) -> Any:
    return _pack_to_cpu(tensor, True)


def _unpack_from_cpu(packed: Any) -> Tensor:
    device, shape, kept, beside = packed
    kept = kept.to(device, non_blocking=beside)
    return kept if kept._shape == shape else kept.expand(shape)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - torch's name
    """Keep what autograd saves in this block as copies in host memory, until backward needs it.

    Args:
        pin_memory: use pinned host memory, where the device has such: the host does not wait for copies then.
        device_type: the device to move from.

    A tensor on the CPU is copied too, so that a later write to it does no harm.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 2.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = object.__new__(cls)
        if cls is not save_on_cpu or not args or not callable(args[0]):
            return made
        made.__init__()  # type: ignore[misc]
        return _run_inside(made, args[0])

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        if not isinstance(device_type, str):
            raise TypeError(f"save_on_cpu(): device_type must be a str, not {type(device_type).__name__}")
        super().__init__(_pack_to_pinned if pin_memory else _pack_to_cpu, _unpack_from_cpu)


def disable_saved_tensors_hooks(error_message: Any) -> Any:
    """Forbid saved tensor hooks in a block: entering some raises RuntimeError with `error_message`.

    Given a function instead of a message, runs it with the hooks bypassed, and returns its result.

    Raises:
        RuntimeError: on entry, if hooks are active already.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        ...         pass
        Traceback (most recent call last):
            ...
        RuntimeError: not here
    """
    return _run_inside(_Bypass(), error_message) if callable(error_message) else _Forbid(error_message)


class _Forbid:
    """Hooks are refused in this block."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        if not isinstance(self.error_message, str):
            raise TypeError(
                "disable_saved_tensors_hooks(): incompatible function arguments: error_message must be str, not "
                f"{type(self.error_message).__name__}"
            )
        if MODE.get().hooks is not None:
            raise RuntimeError(self.error_message)
        self._before.append(change(forbidden=self.error_message))

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(lambda: _Forbid(self.error_message), function)


class _Bypass:
    """No hooks in this block."""

    def __init__(self) -> None:
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self._before.append(change(hooks=None))

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Mutation]:
    """In this block, tensors that autograd saved may be written to in place: they are copied just before.

    Run both forward and backward in the block: what it kept is forgotten at its end. Saved tensor hooks
    may be active as well, around it or inside: each is given a copy to pack.

    Raises:
        RuntimeError: if the block is nested in another of its kind.
        AssertionError: in a backward outside of the block that recorded the graph.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
        ...     a = torch.ones(2, requires_grad=True)
        ...     b = a.clone()
        ...     out = (b ** 2).sum()
        ...     _ = b.sin_()
        ...     out.backward()
        >>> a.grad
        tensor([2., 2.])
    """
    if MODE.get().mutation is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    mutation = Mutation()
    before = change(mutation=mutation)
    try:
        yield mutation
    finally:
        mutation.clear()
        change(**before)


saved_tensors_hooks.__module__ = "gradpack.autograd.graph"


save_on_cpu.__module__ = "gradpack.autograd.graph"
