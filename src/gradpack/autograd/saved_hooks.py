"""Saved tensor hooks: how the tensors that autograd saves for backward are packed and unpacked.

`autograd.graph` exports these under torch's names. In addition to being context managers, as in torch,
`saved_tensors_hooks`, `save_on_cpu` and `disable_saved_tensors_hooks` accept a function (or coroutine
function) to run, whose result they return.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ContextDecorator
from functools import partial
from typing import Any

from ..base import scopes
from ..base.exits import Exit
from ..base.modes import MODE, Block, Undo, using
from ..core.copy_on_write import Mutation
from ..core.tensor import Tensor, wrap
from .decorate import decorate

PackHook = Callable[[Tensor], Any]  # from a saved tensor to a packed object
UnpackHook = Callable[[Any], Tensor]  # from the packed object to the tensor


def _run_inside(manager: Any, fn: Callable[[], Any]) -> Any:
    """Run `fn()` inside a context manager; for a coroutine function, return a coroutine that enters it at each step."""
    if inspect.iscoroutinefunction(fn):
        return decorate(lambda: manager, fn)()
    with manager:
        return fn()


class _InitSignature:
    """The `__signature__` of classes that have a `__new__`: that of their `__init__`."""

    def __get__(self, made: Any, owner: Any) -> inspect.Signature:
        if made is not None:  # an instance is called with a function
            raise AttributeError("__signature__")
        found = inspect.signature(owner.__init__)
        return found.replace(parameters=list(found.parameters.values())[1:])


class saved_tensors_hooks:  # noqa: N801 - torch's name
    """Pack every tensor that autograd saves in this block, and unpack it when backward needs it.

    Args:
        pack_hook: from the saved tensor (detached) to any object.
        unpack_hook: from that object to a tensor with the content, shape and dtype of the original.
        fn: run this function with the hooks active, and return its result instead of a context manager.
        compose: hooks around this block then pack the tensors that `pack_hook` returns.

    Only the innermost pair applies, unless `compose` is set. Unpacking works after the block has ended. The scope
    follows threads and asyncio tasks. The check for in-place modification still holds: if `pack_hook` kept the tensor
    itself, not a copy, and it was modified since, backward raises.

    Raises:
        TypeError: in backward, if unpack_hook does not return a tensor.
        RuntimeError: if pack_hook modifies its input, or, in backward, if unpack_hook returns another shape or dtype.

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
    __signature__ = _InitSignature()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        fn = kwargs.pop("fn", args[2] if len(args) == 3 else None)
        if fn is None or cls is not saved_tensors_hooks:  # a subclass has its own arguments
            return made
        made.__init__(*args[:2], **kwargs)  # type: ignore[misc]
        return _run_inside(made, fn)

    def __init__(self, pack_hook: PackHook, unpack_hook: UnpackHook, fn: Any = None, *, compose: bool = False) -> None:
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
            hooks = (*hooks, describe)  # a policy of `saved`, which is informed of the tensors
        scopes.enter(self, hooks=hooks)

    __exit__ = scopes.LEAVE

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(lambda: saved_tensors_hooks(self.pack_hook, self.unpack_hook, compose=self.compose), function)


def leave_saved_tensors_hooks() -> None:
    """End the block of hooks that was entered last, by any code.

    Raises:
        RuntimeError: if no hooks are active.
    """
    entered = MODE.get().blocks
    if not entered:
        raise RuntimeError("there are no saved tensor hooks to take away")
    scopes.end(entered[-1].who, entered[-1])


class _Inner:
    """The packed object of the inner of two composed hooks, if it is no tensor: the outer hook is skipped."""

    __slots__ = ("packed",)

    def __init__(self, packed: Any) -> None:
        self.packed = packed


def _composed(pack: PackHook, unpack: UnpackHook, around: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return hooks that pass the tensors that `pack` returns to the hooks around."""
    pack_around, unpack_around = around[:2]

    def pack_both(tensor: Tensor, *note: Any) -> Any:
        packed = pack(tensor)
        return pack_around(packed, *note) if isinstance(packed, Tensor) else _Inner(packed)

    def unpack_both(packed: Any) -> Tensor:
        return unpack(packed.packed if type(packed) is _Inner else unpack_around(packed))

    return (pack_both, unpack_both, *around[2:])


def _pack_to_cpu(tensor: Tensor, beside: bool = False) -> Any:
    """Copy a saved tensor to host memory; of an expanded tensor, only the stored elements.

    If `beside` is set, it is copied to pinned memory, and back, asynchronously in the current stream.
    """
    data, backend = tensor._data, tensor._spec.backend
    strides = getattr(data, "strides", None)
    if strides is not None and 0 in strides:
        dims = zip(strides, data.shape, strict=True)
        index = tuple(slice(0, 1) if step == 0 and n > 1 else slice(None) for step, n in dims)
        kept = tensor.detach()
        kept._data = data[index]
        kept._shape = tuple(kept._data.shape)
        return tensor._spec.device, tensor._shape, kept.clone(), False
    if tensor._spec.device.type != "cpu":
        return tensor._spec.device, tensor._shape, wrap(backend.download(data, beside)), beside
    copy = tensor.detach()
    copy._data, copy._counter = backend.copy(data), [0]
    return tensor._spec.device, tensor._shape, copy, False


def _unpack_from_cpu(packed: Any) -> Tensor:
    device, shape, kept, beside = packed
    kept = kept.to(device, non_blocking=beside)
    return kept if kept._shape == shape else kept.expand(shape)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - torch's name
    """Offload saved tensors of this block to host memory, until backward needs them.

    Args:
        pin_memory: use pinned host memory, if the device supports it: copies are asynchronous then.
        device_type: the device to offload from.

    A tensor on the CPU is copied too, so that it may be modified in place afterwards.

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
        super().__init__(partial(_pack_to_cpu, beside=True) if pin_memory else _pack_to_cpu, _unpack_from_cpu)


def disable_saved_tensors_hooks(error_message: Any) -> Any:
    """Disable saved tensor hooks in a block: entering some raises RuntimeError with `error_message`.

    Given a function instead of a message, run it without the active hooks, and return its result.

    Args:
        error_message: the text of the error; or a function to run at once.

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
    return _run_inside(using(hooks=None), error_message) if callable(error_message) else _Forbid(error_message)


class _Forbid(Block):
    """Context manager that forbids saved tensor hooks."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def _changes(self) -> dict[str, Any]:
        if not isinstance(self.error_message, str):
            raise TypeError(
                "disable_saved_tensors_hooks(): incompatible function arguments: error_message must be str, not "
                f"{type(self.error_message).__name__}"
            )
        if MODE.get().hooks is not None:
            raise RuntimeError(self.error_message)
        return {"forbidden": self.error_message}

    def __enter__(self) -> None:
        super().__enter__()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(lambda: _Forbid(self.error_message), function)


def allow_mutation_on_saved_tensors() -> Any:
    """Context manager: saved tensors may be modified in place, as they are copied just before.

    Run both forward and backward in the block: the saved tensors are cleared at its end. Saved tensor hooks
    may be active around the block or in it: they get a copy to pack.

    Raises:
        RuntimeError: if such blocks are nested.
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
    return _AllowMutation()


class _AllowMutation(Block, ContextDecorator):
    """Context manager that copies saved tensors before their storage is written to."""

    mutation: Mutation

    def _recreate_cm(self) -> _AllowMutation:
        return _AllowMutation()

    def _changes(self) -> dict[str, Any]:
        if MODE.get().mutation is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self.mutation = Mutation()
        return {"mutation": self.mutation}

    def __enter__(self) -> Mutation:
        super().__enter__()
        return self.mutation

    def _clear(self, undo: Undo) -> None:
        self.mutation.clear()
        self._leave(undo)

    __exit__ = Exit(Block._last, _clear)


saved_tensors_hooks.__module__ = "gradpack.autograd.graph"
save_on_cpu.__module__ = "gradpack.autograd.graph"
