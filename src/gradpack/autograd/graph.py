"""The autograd graph and saved tensor hooks: `torch.autograd.graph`.

Beside the context managers, `saved_tensors_hooks`, `save_on_cpu` and `disable_saved_tensors_hooks`
take a function (or coroutine function) to run, and return its result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from ..base.modes import MODE, RUN, change
from ..graph.node import Node, Slot
from ..tensor.hooks import RemovableHandle, add, tensor_hooks_of
from ..tensor.mutation import Mutation
from ..tensor.tensor import InferenceCounter, Tensor
from .decorate import decorate
from .edges import GradientEdge, get_gradient_edge

PackHook = Callable[[Tensor], Any]
UnpackHook = Callable[[Any], Tensor]

__all__ = [
    "GradientEdge",
    "Node",
    "PackHook",
    "UnpackHook",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


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

    The innermost pair applies. Unpacking works after the block has ended. The scope follows threads
    and asyncio tasks. The check for in-place writes still holds: if what unpack returns shares
    storage that was written to after packing, backward raises.

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

    def __new__(cls, pack_hook: Any = None, unpack_hook: Any = None, fn: Callable[[], Any] | None = None) -> Any:
        made = super().__new__(cls)
        if fn is None:
            return made
        made.__init__(pack_hook, unpack_hook)  # type: ignore[misc]
        return _run_inside(made, fn)

    def __init__(self, pack_hook: PackHook, unpack_hook: UnpackHook, fn: Any = None) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks(): {name} must be callable, not {type(hook).__name__}")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        forbidden = MODE.get().forbidden
        if forbidden is not None:
            raise RuntimeError(forbidden)
        self._before.append(change(hooks=(self.pack_hook, self.unpack_hook)))

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(lambda: saved_tensors_hooks(self.pack_hook, self.unpack_hook), function)


def _pack_to_cpu(tensor: Tensor) -> Any:
    """A copy in host memory; of an expanded tensor, only the elements that there are."""
    data, backend = tensor._data, tensor._spec.backend
    strides = getattr(data, "strides", None)
    if strides is not None and 0 in strides:
        index = tuple(
            slice(0, 1) if s == 0 and n > 1 else slice(None) for s, n in zip(strides, data.shape, strict=True)
        )
        kept = tensor.detach()
        kept._data = data[index]
        kept._shape = tuple(kept._data.shape)
        return tensor._spec.device, tensor._shape, kept.clone()
    copy = tensor.detach()
    copy._data, copy._counter = backend.copy(data), [0]
    return tensor._spec.device, tensor._shape, copy.cpu()


def _unpack_from_cpu(packed: Any) -> Tensor:
    device, shape, kept = packed
    kept = kept.to(device)
    return kept if kept._shape == shape else kept.expand(shape)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - torch's name
    """Keep what autograd saves in this block as copies in host memory, until backward needs it.

    Args:
        pin_memory: use pinned host memory, where the device has such.
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

    def __new__(cls, pin_memory: Any = False, device_type: str = "cuda") -> Any:
        made = object.__new__(cls)
        if not callable(pin_memory):
            return made
        made.__init__(False, device_type)  # type: ignore[misc]
        return _run_inside(made, pin_memory)

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_pack_to_cpu, _unpack_from_cpu)


class disable_saved_tensors_hooks:  # noqa: N801 - torch's name
    """Forbid saved tensor hooks in this block: entering some raises RuntimeError with `error_message`.

    Given a function instead of a message, runs it with the hooks bypassed, and returns its result.

    Raises:
        RuntimeError: at once, if hooks are active already.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        ...         pass
        Traceback (most recent call last):
            ...
        RuntimeError: not here
    """

    def __new__(cls, error_message: Any) -> Any:
        if callable(error_message):
            return _run_inside(_Bypass(), error_message)
        return super().__new__(cls)

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        if MODE.get().hooks is not None:
            raise RuntimeError(self.error_message)
        self._before.append(change(forbidden=self.error_message))

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(lambda: disable_saved_tensors_hooks(self.error_message), function)


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
        change(**before)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write to the storage of a tensor, or several, that autograd did not see."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if type(t._counter) is InferenceCounter:
            raise RuntimeError("Inference tensors do not track version counter.")
        t._counter[0] += 1


class _Handles:
    """The handles of a hook on several tensors, removed together."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook from all of them."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: Literal["all", "any"] = "all"
) -> _Handles:
    """Call `fn` when the gradients of all of `tensors`, or of the first of them, have been computed.

    Args:
        tensors: tensors that require grad.
        fn: gets a list with the gradients (None for a tensor outside of the pass) for mode "all", and one
            gradient for "any".
        mode: "all" or "any".

    Raises:
        ValueError: for another mode.

    Example::

        >>> import gradpack as torch
        >>> a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
        >>> seen = []
        >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), seen.append)
        >>> (a * 2 + b * 3).backward()
        >>> seen
        [[tensor([2.]), tensor([3.])]]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = list(tensors)
    edges = [_edge(t) for t in tensors]
    state: dict[str, Any] = {"run": None}

    def start(run: Any) -> None:
        if state["run"] is run:
            return
        state["run"] = run
        state["grads"] = [None] * len(tensors)
        state["called"] = False
        nodes = [e.parent if isinstance(e, Slot) else e for e in edges]
        state["left"] = sum(run.will_run(n) for n in nodes)

    def finished() -> None:
        state.clear()
        state["run"] = None

    def on_all(i: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            start(RUN.get())
            state["grads"][i] = grad
            state["left"] -= 1
            if not state["left"]:
                grads = state["grads"]
                finished()
                fn(grads)

        return hook

    def on_any(grad: Any) -> None:
        start(RUN.get())
        if not state["called"]:
            state["called"] = True
            fn(grad)

    handles = []
    for i, edge in enumerate(edges):
        handles.append(add(tensor_hooks_of(edge), on_all(i) if mode == "all" else on_any))
    return _Handles(handles)


def _edge(tensor: Tensor) -> Node:
    edge = tensor._current_edge()
    if edge is None:
        raise RuntimeError("register_multi_grad_hook() needs tensors that require grad")
    return edge
