"""Hooks on tensors and nodes: kept beside the node, run by the engine in torch's order.

At a tensor: tensor hooks in order of registration, then the retained gradient, then the node's
prehooks, the node itself, post-accumulate hooks of a leaf, the node's posthooks.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from ..base.errors import inside_a_transform
from ..base.exits import Exit
from ..base.modes import MODE, TRANSFORMS
from ..graph.node import AccumulateGrad, Gradient, Node, NoGradEdge, OutputSlot, PartialGrads
from .tensor import Tensor, raw, wrap

registered = [0]  # the number of hooks; while 0, the moment at which leaves accumulate is not observable


class HookDict(OrderedDict[int, Callable[..., Any]]):
    """Hooks of a tensor or a node, by id, in order. Counts them in `registered`."""

    def __setitem__(self, key: int, hook: Callable[..., Any]) -> None:
        if key not in self:
            registered[0] += 1
        super().__setitem__(key, hook)

    def __delitem__(self, key: int) -> None:
        super().__delitem__(key)
        registered[0] -= 1

    def __del__(self) -> None:
        registered[0] -= len(self)


class RemovableHandle:
    """Removes a hook: by `remove()`, or at the end of a `with` block.

    Args:
        hooks_dict: the hooks, by id; refers to it weakly.
        extra_dict: a dict, or a list of dicts, from which the id is removed as well.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(1, requires_grad=True)
        >>> with x.register_hook(lambda grad: grad * 10):
        ...     x.sum().backward()
        >>> x.sum().backward()
        >>> x.grad
        tensor([11.])
    """

    id: int
    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref: Callable[[], Any] = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = () if extra_dict is None else (extra_dict,) if isinstance(extra_dict, dict) else tuple(extra_dict)
        self.extra_dict_ref: tuple[Callable[[], Any], ...] = tuple(map(weakref.ref, extra))

    def remove(self) -> None:
        """Remove the hook. Doing it twice is fine."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None and self.id in hooks:
                del hooks[self.id]

    def __getstate__(self) -> tuple[Any, ...]:
        return self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks, self.id, *extra = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        self.extra_dict_ref = tuple(map(weakref.ref, extra[0] if extra and extra[0] else ()))

    def __enter__(self) -> Any:
        return self

    __exit__ = Exit(lambda self: None, lambda self, _: self.remove())


RemovableHandle.__module__ = "gradpack.utils.hooks"


def add(
    hooks: OrderedDict[int, Any], hook: Callable[..., Any], *, prepend: bool = False, extra: Any = None
) -> RemovableHandle:
    """Append, or prepend, `hook` to `hooks`; return its handle."""
    handle = RemovableHandle(hooks, extra_dict=extra)
    try:
        hooks[handle.id] = hook
        if prepend:
            hooks.move_to_end(handle.id, last=False)
    except BaseException:  # an interrupt: the caller does not get the handle
        handle.remove()
        raise
    return handle


class NodeExtras:
    """Optional state of a node: hooks, tensors that retain their gradient, metadata, a traceback."""

    __slots__ = ("accumulated", "attributes", "metadata", "outer", "post", "pre", "retained", "tensor_hooks", "trace")

    def __init__(self) -> None:
        self.tensor_hooks: dict[int, HookDict] | None = None  # by output number, in order of registration
        self.retained: dict[int, Any] | None = None  # weak references; `tensor_hooks` is not None then
        self.pre: HookDict | None = None
        self.post: HookDict | None = None
        self.accumulated: HookDict | None = None
        self.metadata: dict[Any, Any] | None = None
        self.trace: Any = None
        self.attributes: dict[str, Any] | None = None  # what users set on the node
        self.outer: Any = None  # for the node of a write through a view: a weak reference to its CopySlices

    def run_tensor_hooks(self, node: Node, g: Gradient, create_graph: bool) -> Gradient:
        """Run the tensor hooks of all outputs of a node, just before it runs; then store the retained gradients.

        Hooks of a result that got no gradient are called with None.
        """
        parts: list[Gradient] | None = list(g) if isinstance(g, PartialGrads) else None
        for nr, hooks in tuple((self.tensor_hooks or {}).items()):
            value = g if parts is None else parts[nr]
            for hook in tuple(hooks.values()):
                given = value if value is None or isinstance(value, Tensor) else wrap(value)
                result = hook(given)
                if result is not None:
                    value = _raw(_checked(hook, given, result), create_graph)
            if parts is None:
                g = value
            else:
                parts[nr] = value
        for nr, tensor in tuple((self.retained or {}).items()):
            _retain(tensor(), g if parts is None else parts[nr], create_graph)
        return g if parts is None else PartialGrads(parts)

    def run_node(self, node: Node, g: Gradient, keep: bool, create_graph: bool, edges: Any = None) -> Any:
        """Run a node and its hooks; `edges` has None for edges whose gradient is not needed, or is None."""
        if self.pre:
            given = _as_tensors(g)
            for hook in tuple(self.pre.values()):
                result = hook(given)
                if result is not None:
                    given = _replaced(hook, given, result)
            g = _as_gradient(g, given, create_graph)
        if isinstance(node, AccumulateGrad):
            if g is not None:
                first = node.grad is None
                AccumulateGrad.store(node, g, create_graph)
                if first and self.post and not create_graph:
                    g = node.grad._data  # posthooks see `.grad`, after post-accumulate hooks
            tensor = node.tensor()
            if self.accumulated and tensor is not None:
                for hook in tuple(self.accumulated.values()):
                    result = hook(tensor)
                    if result is not None and result is not tensor:
                        _checked(hook, tensor, result)
                        raise RuntimeError("Tensor post accumulate grad hooks should return None.")
            grads: Iterable[Gradient] = ()
        else:
            grads = run(node, g, keep, create_graph, edges)
        if self.post:
            found = list(grads)
            places = node.shown or range(len(found))
            inputs = tuple(_as_tensors_one(found[i]) for i in places)
            for hook in tuple(self.post.values()):
                result = hook(inputs, _as_tensors(g))
                if result is not None:
                    inputs = _replaced(hook, inputs, result)
            for i, x in zip(places, inputs, strict=True):
                found[i] = _raw(x, create_graph)
            grads = found
        return grads


def _retain(tensor: Tensor | None, g: Gradient, create_graph: bool) -> None:
    """Accumulate into the `.grad` of a non-leaf that retains its gradient; replace that of a pass for a batch."""
    if tensor is None or g is None:
        return
    held = tensor._own_grad
    if held is not None and getattr(held._data, "level", None) in (None, *MODE.get().levels):
        tensor._own_grad = held + g if create_graph else wrap(raw(held) + g)
    else:
        tensor._own_grad = (g if create_graph else wrap(g)).clone()


def _raw(value: Any, create_graph: bool) -> Gradient:
    return value if create_graph or value is None else value._data


def run(node: Any, g: Gradient, keep: bool, create_graph: bool, edges: Any = None) -> Any:
    """Return the gradients of a node's inputs, without hooks."""
    if g is None:
        return node.undefined(keep, create_graph)
    given = (g, keep) if edges is None else (g, keep, edges)
    return node.backward_graph(g, keep) if create_graph else node.backward(*given)


def _checked(hook: Callable[..., Any], given: Any, result: Any) -> Tensor:
    """Return the result of a hook; raise unless it is a Tensor of the shape, dtype and device of what it replaces."""
    name = getattr(hook, "__name__", repr(hook))
    if not isinstance(result, Tensor):
        raise TypeError(
            f"expected Variable, but hook returned '{type(result).__name__}' (hook '{name}' should return None or a "
            "Tensor)"
        )
    if given is None:
        raise RuntimeError(f"can't replace a None gradient with a non-None value (returned by hook '{name}')")
    if result._spec is not given._spec:
        raise RuntimeError(
            f"hook '{name}' has changed the type of value (was {given.type()} got {result.type()}): return it as "
            f"{given.dtype} on {given.device}"
        )
    if result._shape != given._shape:
        raise RuntimeError(
            f"hook '{name}' has changed the size of value: the gradient has shape {list(given._shape)}, "
            f"the hook returned {list(result._shape)}"
        )
    return result


def _as_tensors_one(g: Gradient) -> Any:
    return g if g is None or isinstance(g, Tensor) else wrap(g)


def _as_tensors(g: Gradient) -> tuple[Any, ...]:
    return tuple(map(_as_tensors_one, g)) if isinstance(g, PartialGrads) else (_as_tensors_one(g),)


def _as_gradient(g: Gradient, given: tuple[Any, ...], create_graph: bool) -> Gradient:
    values = tuple(_raw(value, create_graph) for value in given)
    return PartialGrads(values) if isinstance(g, PartialGrads) else values[0]


def _replaced(hook: Callable[..., Any], given: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    """Return the gradients that a node hook returned; raise unless they are a tuple of the same length."""
    name = getattr(hook, "__name__", repr(hook))
    if not isinstance(result, tuple):
        raise TypeError(
            f"expected tuple, but hook returned '{type(result).__name__}' (hook '{name}' should return None or a tuple "
            f"of {len(given)} gradients)"
        )
    if len(result) != len(given):
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(result)}, but expected {len(given)})"
        )
    return tuple(None if new is None else _checked(hook, old, new) for old, new in zip(given, result, strict=True))


def extras_of(node: Node) -> NodeExtras:
    if node.extras is None:
        node.extras = NodeExtras()
    return node.extras


def node_hooks_of(node: Node, kind: str) -> HookDict:
    """The "pre", "post" or "accumulated" hooks of a node; created if there are none."""
    extras = extras_of(node)
    found: HookDict | None = getattr(extras, kind)
    if found is None:
        found = HookDict()
        setattr(extras, kind, found)
    return found


def _place(edge: Node) -> tuple[Node, int]:
    """The node that an edge leads to, and the number of the output."""
    return (edge.parent, edge.nr) if isinstance(edge, OutputSlot) else (edge, 0)


def tensor_hooks_of(edge: Node) -> HookDict:
    """The tensor hooks of an edge; created if there are none."""
    node, nr = _place(edge)
    extras = extras_of(node)
    extras.tensor_hooks = extras.tensor_hooks or {}
    return extras.tensor_hooks.setdefault(nr, HookDict())


def _existing_hooks(self: Tensor) -> Any:
    """The tensor hooks, by the ids of their handles; None if there never were any."""
    edge = self._current_edge()
    if edge is None:
        return self.__dict__.get("_hooks_of_constant")
    node, nr = _place(edge)
    hooks = None if node.extras is None else node.extras.tensor_hooks
    return None if hooks is None else hooks.get(nr)


def _set_hooks(self: Tensor, hooks: Any) -> None:
    """Replace all hooks. Those of a tensor that does not require grad are stored but never called."""
    if hooks is not None and not isinstance(hooks, dict):
        raise RuntimeError("backward_hooks must be a dictionary or None")
    edge = self._current_edge()
    if edge is None or type(edge) is NoGradEdge:
        self.__dict__["_hooks_of_constant"] = hooks
        return
    own = tensor_hooks_of(edge)
    for key in tuple(own):
        del own[key]
    for key, hook in (hooks or {}).items():
        own[key] = hook


def _keep_hooks(self: Tensor) -> None:
    raise RuntimeError("Deletion of _backwards_hooks not allowed!")


def _existing_accumulated(self: Tensor) -> HookDict | None:
    """The post-accumulate-grad hooks, by the ids of their handles; None if there are none."""
    edge = self._edge
    return None if edge is None or edge.extras is None else edge.extras.accumulated


def retaining(tensor: Tensor, edge: Node | None) -> bool:
    """Whether the gradient that arrives at this edge is kept in the tensor's `.grad`."""
    if edge is None:
        return False
    node, nr = (edge.parent, edge.nr) if isinstance(edge, OutputSlot) else (edge, 0)
    kept = None if node.extras is None or node.extras.retained is None else node.extras.retained.get(nr)
    return kept is not None and kept() is tensor


def move_retained(old: Node | None, new: Node | None, tensor: Tensor) -> None:
    """Move `retain_grad` from the old edge of a tensor to its new one; other hooks stay at the old edge."""
    if old is None or new is None or old is new:
        return
    node, nr = (old.parent, old.nr) if isinstance(old, OutputSlot) else (old, 0)
    retained = None if node.extras is None else node.extras.retained
    if retained and nr in retained and retained[nr]() is tensor:
        _retain_at(new, tensor)
        del retained[nr]


def _retain_at(edge: Node, tensor: Tensor) -> None:
    node, nr = _place(edge)
    extras = extras_of(node)
    extras.retained, extras.tensor_hooks = extras.retained or {}, extras.tensor_hooks or {}
    extras.retained[nr] = weakref.ref(tensor)


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
    if edge is None or type(edge) is NoGradEdge:
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return add(HookDict(), hook)  # a view taken under `no_grad`: no gradient ever arrives
    return add(tensor_hooks_of(edge), hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook(tensor)` after the gradient of this leaf has been accumulated."""
    edge = self._current_edge()
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if edge is None or type(edge) is NoGradEdge:
        return add(HookDict(), hook)
    if not isinstance(edge, AccumulateGrad):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return add(node_hooks_of(edge, "accumulated"), hook)


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this non-leaf in `.grad`. Does nothing for a leaf."""
    if TRANSFORMS.get():
        raise inside_a_transform("retain_grad")
    edge = self._edge if self._edge is None or type(self._edge) is NoGradEdge else self._current_edge()
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if edge is not None and type(edge) not in (AccumulateGrad, NoGradEdge):
        _retain_at(edge, self)


Tensor.register_hook = register_hook  # type: ignore[method-assign, assignment]
Tensor.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook  # type: ignore[method-assign, assignment]
Tensor.retain_grad = retain_grad  # type: ignore[method-assign, assignment]
Tensor._backward_hooks = property(_existing_hooks, _set_hooks, _keep_hooks)  # type: ignore[attr-defined]
Tensor._post_accumulate_grad_hooks = property(_existing_accumulated)  # type: ignore[attr-defined]
