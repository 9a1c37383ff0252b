"""`backward` and `grad`: what is asked of the engine, and the checks before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..backends.numpy import hush, silent, unhush
from ..base.modes import MODE, RUN, without_grad
from ..graph import engine
from ..graph.node import AccumulateGrad, Node, Slot
from ..tensor import leaf as _leaf  # noqa: F401 - tells leaves how to store a gradient
from ..tensor.hooks import registered, retain_grad
from ..tensor.tensor import Tensor, alias, wrap


class GradientEdge(NamedTuple):
    """A place in the graph: a node and which of its outputs. Stands for a tensor without holding its data."""

    node: Node
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The gradient edge of a tensor that requires grad.

    Raises:
        RuntimeError: if it does not.
    """
    edge = tensor._current_edge()
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients.")
    if isinstance(edge, Slot):
        return GradientEdge(edge.parent, edge.nr, edge)
    return GradientEdge(edge, 0, tensor if isinstance(edge, AccumulateGrad) else None)


class Pass:
    """One backward pass that is going on."""

    __slots__ = ("__weakref__", "callbacks", "depth", "plan")

    def __init__(self, plan: engine.Plan | None, depth: int) -> None:
        self.plan = plan
        self.depth = depth  # how many passes it runs inside of
        self.callbacks: list[Callable[[], Any]] = []

    def will_run(self, node: Node) -> bool:
        """Whether the pass runs this node, as far as it was planned."""
        return self.plan is None or self.plan.will_run(node)


_DEEP = 50  # passes inside passes, after which a new thread gives Python's recursion limit anew


def _in_a_thread(call: Callable[[], None]) -> None:
    """Run something on another thread, in this context, and wait for it; its exception is raised here."""
    from contextvars import copy_context
    from threading import Thread

    failed: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=copy_context().run, args=(work,), name="gradpack nested backward")
    thread.start()
    thread.join()
    if failed:
        raise failed.pop()


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call `callback()` at the end of the backward pass that is going on; the innermost, if they nest.

    Raises:
        RuntimeError: outside of a backward pass.
    """
    this = RUN.get()
    if this is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    this.callbacks.append(callback)


def _edge_of(value: Any, what: str, i: int) -> Node:
    if isinstance(value, GradientEdge):
        if isinstance(value.ownership_token, Slot):
            return value.ownership_token
        return value.node
    if not isinstance(value, Tensor):
        raise TypeError(f"{what}s can be either Tensors or GradientEdges, but {what} {i} is {type(value).__name__}")
    edge = value._current_edge()
    if edge is None:
        if what == "input":
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
    return edge


def _sequence(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Tensor | GradientEdge) or value is None:
        return (value,)
    return tuple(value)


def _seeds(outputs: tuple[Any, ...], grads: tuple[Any, ...], batched: bool) -> list[Tensor]:
    """The gradient of each output: given, or one for a scalar."""
    from ..ops.fill import ones_like

    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    seeds: list[Tensor] = []
    for i, (out, g) in enumerate(zip(outputs, grads, strict=True)):
        if g is None:
            if isinstance(out, GradientEdge):
                raise RuntimeError(
                    "grad can be implicitly created only for scalar outputs: give grad_tensors for a GradientEdge"
                )
            if out._current_edge() is None:
                raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
            if out.numel() != 1:
                raise RuntimeError(
                    f"grad can be implicitly created only for scalar outputs: output {i} has shape {list(out._shape)}; "
                    "give its gradient, or reduce it to a scalar first"
                )
            if out._spec.dtype.is_complex:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
            seeds.append(ones_like(out))
            continue
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if isinstance(out, Tensor):
            shape = g._shape[1:] if batched else g._shape
            if shape != out._shape:
                extra = " (its first dimension is the batch)" if batched else ""
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape}{extra} and output[{i}] has a shape "
                    f"of {out.shape}."
                )
            if g._spec.dtype.is_complex != out._spec.dtype.is_complex:
                raise RuntimeError(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
                    f"in dtype: grad_output[{i}] has a dtype of {g.dtype} and output[{i}] has a dtype of {out.dtype}."
                )
            if g._spec.device != out._spec.device:
                raise RuntimeError(f"grad_output[{i}] is on {g.device}, output[{i}] on {out.device}: move it first")
            if g._spec is not out._spec:
                g = g.to(out._spec.dtype)
        seeds.append(g)
    return seeds


def _run(
    edges: list[Node], seeds: list[Tensor], keep: bool, create_graph: bool, inputs: list[Node] | None, capture: bool
) -> engine.Plan | None:
    mode = MODE.get()
    tensors = create_graph or bool(mode.dual) or bool(mode.levels)
    plan = engine.Plan(edges, inputs) if inputs is not None or registered[0] else None
    roots: list[tuple[Node, Any]] = [
        (edge, seed if tensors else seed._data) for edge, seed in zip(edges, seeds, strict=True)
    ]
    outer = RUN.get()
    this = Pass(plan, 0 if outer is None else outer.depth + 1)
    running = RUN.set(this)
    token = None
    if mode.grad is not create_graph:
        token = MODE.set(mode.replace(grad=True) if create_graph else without_grad(mode))
    silenced = hush(silent)
    threads = mode.threads and not mode.special and not tensors
    try:
        if this.depth and this.depth % _DEEP == 0:
            _in_a_thread(
                lambda: engine.run(roots, keep=keep, create_graph=tensors, plan=plan, capture=capture, threads=threads)
            )
        else:
            engine.run(roots, keep=keep, create_graph=tensors, plan=plan, capture=capture, threads=threads)
        while this.callbacks:
            this.callbacks.pop(0)()
    finally:
        unhush(silenced)
        RUN.reset(running)
        if token is not None:
            MODE.reset(token)
    return plan


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from.

    Args:
        tensors: one tensor or a sequence of tensors (or `GradientEdge`s).
        grad_tensors: the gradient of each; None for a scalar.
        retain_graph: keep what the graph saved. Default: the value of `create_graph`.
        create_graph: record the backward, so that gradients can be differentiated.
        inputs: accumulate into these only.

    Raises:
        RuntimeError: if a tensor does not require grad, a gradient is missing or of the wrong shape, or the
            graph was freed by an earlier backward.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.backward((x * x).sum())
        >>> x.grad
        tensor([2., 4.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) were both passed: use `grad_tensors`.")
        grad_tensors = grad_variables
    if inputs is not None and not isinstance(inputs, Tensor | GradientEdge) and len(inputs) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = _sequence(tensors)
    grads = (None,) * len(outputs) if grad_tensors is None else _sequence(grad_tensors)
    wanted: list[Node] | None = None
    seeds = _seeds(outputs, grads, False)
    edges = [_edge_of(out, "tensor", i) for i, out in enumerate(outputs)]
    if inputs is not None:
        wanted = []
        for i, value in enumerate(_sequence(inputs)):
            wanted.append(_edge_of(value, "input", i))
            if isinstance(value, Tensor):
                retain_grad(value)
    _run(edges, seeds, create_graph if retain_graph is None else retain_graph, create_graph, wanted, False)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The sum of gradients of `outputs` with respect to each of `inputs`.

    Args:
        outputs: one tensor or a sequence of tensors (or `GradientEdge`s).
        inputs: what to differentiate by: a tensor, a sequence, or a dict of tensors.
        grad_outputs: the gradient of each output; None for a scalar.
        retain_graph: keep what the graph saved. Default: the value of `create_graph`.
        create_graph: record the backward, so that the gradients can be differentiated.
        allow_unused: give None for an input that the outputs do not depend on.
        is_grads_batched: the first dimension of each gradient is a batch of gradients.
        materialize_grads: give zeros instead of None.

    Returns:
        A tuple with one gradient for each input, or a dict if `inputs` is one.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> first, = torch.autograd.grad(x ** 3, x, create_graph=True)
        >>> second, = torch.autograd.grad(first, x)
        >>> first.item(), second.item()
        (27.0, 18.0)
    """
    if not only_inputs:
        import warnings

        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: False.")
    names = list(inputs) if isinstance(inputs, dict) else None
    sources = tuple(inputs.values()) if isinstance(inputs, dict) else _sequence(inputs)
    if not sources:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    targets = _sequence(outputs)
    grads = (None,) * len(targets) if grad_outputs is None else _sequence(grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    seeds = _seeds(targets, grads, is_grads_batched)
    edges = [_edge_of(out, "tensor", i) for i, out in enumerate(targets)]
    wanted = [_edge_of(value, "input", i) for i, value in enumerate(sources)]
    if is_grads_batched:
        found = _batched(edges, seeds, wanted, keep, create_graph)
    else:
        plan = _run(edges, seeds, keep, create_graph, wanted, True)
        found = [_result(plan, edge) for edge in wanted]
    results: list[Tensor | None] = []
    for value, g in zip(sources, found, strict=True):
        if g is None and materialize_grads:
            from ..ops.fill import zeros_like

            g = zeros_like(value)
        elif g is None and not allow_unused:
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
                "if this is the desired behavior."
            )
        results.append(g)
    return tuple(results) if names is None else dict(zip(names, results, strict=True))


def _result(plan: engine.Plan | None, edge: Node) -> Tensor | None:
    g = None if plan is None else plan.captured[edge]
    return g if g is None or isinstance(g, Tensor) else wrap(g)


def _batched(
    edges: list[Node], seeds: list[Tensor], wanted: list[Node], keep: bool, create_graph: bool
) -> list[Tensor | None]:
    """One backward for each gradient of the batch, the results stacked."""
    from ..ops.join import stack

    count = len(seeds[0])
    rows: list[list[Tensor | None]] = []
    for i in range(count):
        plan = _run(edges, [seed[i] for seed in seeds], keep or i < count - 1, create_graph, wanted, True)
        rows.append([_result(plan, edge) for edge in wanted])
    return [None if any(g is None for g in column) else stack(list(column)) for column in zip(*rows, strict=True)]


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Any] | None = None,
) -> None:
    """Add the gradients of this tensor to the `.grad` of the leaves it was computed from.

    See `gradpack.autograd.backward`.
    """
    edge = self._current_edge()
    if gradient is None and inputs is None and not self._shape and edge is not None and self._spec.plain:
        # The loss of a training step: one number, whose gradient is one.
        seed = alias(self._spec.backend.one(self._spec), self._spec, ())
        _run([edge], [seed], create_graph if retain_graph is None else retain_graph, create_graph, None, False)
        return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


Tensor.backward = _tensor_backward  # type: ignore[attr-defined]
