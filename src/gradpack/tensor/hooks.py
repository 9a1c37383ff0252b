"""Hooks on tensors and nodes: kept beside the node, run by the engine in torch's order.

At a tensor: tensor hooks in order of registration, then the retained gradient, then the node's
prehooks, the node itself, post-accumulate hooks of a leaf, the node's posthooks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from ..base.modes import MODE
from ..graph.node import AccumulateGrad, Gradient, Node, Part, Slot
from .tensor import Tensor, raw, wrap

_next_id = count().__next__

registered = [0]  # hooks registered and not removed; while 0, the moment at which leaves are served cannot be seen


class HookDict(dict[int, Callable[..., Any]]):
    """Hooks by id, in order. A class of its own so that handles can refer to it weakly."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """Removes a hook: by `remove()`, or at the end of a `with` block."""

    __slots__ = ("_dict", "id")

    def __init__(self, hooks: HookDict) -> None:
        self._dict = weakref.ref(hooks)
        self.id = _next_id()

    def remove(self) -> None:
        """Remove the hook. Doing it twice is fine."""
        hooks = self._dict()
        if hooks is not None and hooks.pop(self.id, None) is not None:
            registered[0] -= 1

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def add(hooks: HookDict, hook: Callable[..., Any], *, prepend: bool = False) -> RemovableHandle:
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    registered[0] += 1
    if prepend:
        later = [item for item in hooks.items() if item[0] != handle.id]
        for key, _ in later:
            hooks[key] = hooks.pop(key)
    return handle


class NodeExtras:
    """What few nodes have: hooks, a tensor that retains its gradient, metadata, a traceback."""

    __slots__ = ("accumulated", "metadata", "post", "pre", "retained", "siblings", "tensor_hooks", "trace")

    def __init__(self) -> None:
        self.tensor_hooks: HookDict | None = None
        self.retained: Any = None  # a weak reference
        self.pre: HookDict | None = None
        self.post: HookDict | None = None
        self.accumulated: HookDict | None = None
        self.metadata: dict[Any, Any] | None = None
        self.trace: Any = None
        self.siblings: dict[int, NodeExtras] | None = None  # of results with tensor hooks, by their number

    def run_tensor_hooks(self, node: Node, g: Gradient, create_graph: bool) -> Gradient:
        for hook in list((self.tensor_hooks or {}).values()):
            given = g if g is None or isinstance(g, Tensor) else wrap(g)
            result = hook(given)
            if result is not None:
                g = _checked(hook, given, result, create_graph)
        tensor = None if self.retained is None else self.retained()
        if tensor is not None and g is not None:
            held = tensor._own_grad
            if held is not None:
                tensor._own_grad = held + g if create_graph else wrap(raw(held) + g)
            elif create_graph:
                tensor._own_grad = g.clone()
            else:
                tensor._own_grad = wrap(g).clone()
        return g

    def run_node(self, node: Node, g: Gradient, keep: bool, create_graph: bool) -> Iterable[Gradient]:
        if self.siblings is not None and isinstance(g, Part):
            g = self._tell_unused(node, g, create_graph)
        if self.pre:
            given = _as_tensors(g)
            for hook in list(self.pre.values()):
                result = hook(given)
                if result is not None:
                    given = _replaced(hook, given, result)
            g = _as_gradient(g, given, create_graph)
        if isinstance(node, AccumulateGrad):
            if g is not None:
                AccumulateGrad.store(node, g, create_graph)
            if self.accumulated and node.tensor() is not None:
                for hook in list(self.accumulated.values()):
                    hook(node.tensor())
            grads: Iterable[Gradient] = ()
        else:
            anomaly = MODE.get().anomaly
            if anomaly is None:
                grads = _run(node, g, keep, create_graph)
            else:
                grads = anomaly.run(node, lambda: _run(node, g, keep, create_graph))
        if self.post:
            grads = tuple(grads)
            inputs = tuple(_as_tensors_one(x) for x in grads)
            for hook in list(self.post.values()):
                result = hook(inputs, _as_tensors(g))
                if result is not None:
                    inputs = _replaced(hook, inputs, result)
                    grads = tuple(x if create_graph else raw(x) for x in inputs)
        return grads

    def _tell_unused(self, node: Node, g: Part, create_graph: bool) -> Part:
        """Tensor hooks on a result that got no gradient are called with None, as in torch."""
        parts = list(g)
        for nr, extras in (self.siblings or {}).items():
            if parts[nr] is None:
                parts[nr] = extras.run_tensor_hooks(node, None, create_graph)
        return Part(parts)


def _run(node: Node, g: Gradient, keep: bool, create_graph: bool) -> Iterable[Gradient]:
    if g is None:
        return node.undefined(keep, create_graph)
    return node.backward_graph(g, keep) if create_graph else node.backward(g, keep)


def _checked(hook: Callable[..., Any], given: Tensor | None, result: Any, create_graph: bool) -> Gradient:
    name = getattr(hook, "__name__", repr(hook))
    if not isinstance(result, Tensor):
        raise TypeError(f"hook '{name}' should return None or a Tensor, but it returned {type(result).__name__}")
    if given is not None:
        if result._shape != given._shape:
            raise RuntimeError(
                f"hook '{name}' has changed the size of value: the gradient has shape {list(given._shape)}, "
                f"the hook returned {list(result._shape)}"
            )
        if result._spec is not given._spec:
            raise RuntimeError(
                f"hook '{name}' has changed the type of value (was {given.dtype} on {given.device}, "
                f"got {result.dtype} on {result.device})"
            )
    return result if create_graph else result._data


def _as_tensors_one(g: Gradient) -> Any:
    return g if g is None or isinstance(g, Tensor) else wrap(g)


def _as_tensors(g: Gradient) -> tuple[Any, ...]:
    return tuple(map(_as_tensors_one, g)) if isinstance(g, Part) else (_as_tensors_one(g),)


def _as_gradient(g: Gradient, given: tuple[Any, ...], create_graph: bool) -> Gradient:
    values = given if create_graph else tuple(map(raw, given))
    return Part(values) if isinstance(g, Part) else values[0]


def _replaced(hook: Callable[..., Any], given: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    name = getattr(hook, "__name__", repr(hook))
    if isinstance(result, Tensor):
        result = (result,)
    if not isinstance(result, tuple | list):
        raise TypeError(f"hook '{name}' should return None, a Tensor or a tuple, not {type(result).__name__}")
    if len(result) != len(given):
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values: got {len(result)}, expected {len(given)}"
        )
    return tuple(
        new if old is None or new is None else _checked(hook, old, new, True)
        for old, new in zip(given, result, strict=True)
    )


def extras_of(node: Node) -> NodeExtras:
    if node.extras is None:
        node.extras = NodeExtras()
    return node.extras


def tensor_hooks_of(edge: Node) -> HookDict:
    """The tensor hooks of an edge, to add to."""
    extras = extras_of(edge)
    if extras.tensor_hooks is None:
        extras.tensor_hooks = HookDict()
    if isinstance(edge, Slot):
        parent = extras_of(edge.parent)
        if parent.siblings is None:
            parent.siblings = {}
        parent.siblings[edge.nr] = extras
    return extras.tensor_hooks


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call `hook(grad)` when the gradient of this tensor is computed; what it returns replaces it.

    Returns a handle whose `remove()` removes the hook.

    Raises:
        RuntimeError: if the tensor does not require grad.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
    """
    edge = self._current_edge()
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return add(tensor_hooks_of(edge), hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook(tensor)` after the gradient of this leaf has been accumulated."""
    edge = self._current_edge()
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not isinstance(edge, AccumulateGrad):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    extras = extras_of(edge)
    if extras.accumulated is None:
        extras.accumulated = HookDict()
    return add(extras.accumulated, hook)


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this non-leaf in `.grad`. Does nothing for a leaf."""
    edge = self._current_edge()
    if edge is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if isinstance(edge, AccumulateGrad):
        return
    extras = extras_of(edge)
    extras.retained = weakref.ref(self)
    if extras.tensor_hooks is None:
        extras.tensor_hooks = HookDict()


def _node_register_hook(self: Node, fn: Callable[..., Any]) -> RemovableHandle:
    """Call `fn(grad_inputs, grad_outputs)` after the node has run; what it returns replaces grad_inputs."""
    extras = extras_of(self.parent if isinstance(self, Slot) else self)
    if extras.post is None:
        extras.post = HookDict()
    return add(extras.post, fn)


def _node_register_prehook(self: Node, fn: Callable[..., Any]) -> RemovableHandle:
    """Call `fn(grad_outputs)` before the node runs; what it returns replaces grad_outputs."""
    extras = extras_of(self.parent if isinstance(self, Slot) else self)
    if extras.pre is None:
        extras.pre = HookDict()
    return add(extras.pre, fn)


def _node_metadata(self: Node) -> dict[Any, Any]:
    """A dict for the user's own notes on the node."""
    extras = extras_of(self)
    if extras.metadata is None:
        extras.metadata = {}
    return extras.metadata


Tensor.register_hook = register_hook  # type: ignore[attr-defined]
Tensor.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook  # type: ignore[attr-defined]
Tensor.retain_grad = retain_grad  # type: ignore[attr-defined]
Node.register_hook = _node_register_hook  # type: ignore[attr-defined]
Node.register_prehook = _node_register_prehook  # type: ignore[attr-defined]
Node.metadata = property(_node_metadata)  # type: ignore[attr-defined]
