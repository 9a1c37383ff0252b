"""`backward` and `grad`: check their arguments and call the engine."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from ..base.callers import warn_once
from ..base.modes import MODE, TRANSFORMS, using, without_grad
from ..core import accumulate_grad as _leaf  # noqa: F401 - sets `AccumulateGrad.store`
from ..core import copying as _copying  # noqa: F401 - sets the copying methods of Tensor
from ..core import data as _data  # noqa: F401 - sets `Tensor.data` and `Tensor.grad_dtype`
from ..core import node_methods as _node_methods  # noqa: F401 - sets methods of nodes
from ..core.hooks import retain_grad
from ..core.tensor import Tensor, alias
from ..declare.batching.batch_tensor import all_examples, batched, bottom, entered, is_batched_now, lifted
from ..graph.node import Node, NoGradEdge
from .arguments import GradientEdge, batch_size, flag, input_edge, inputs_of, root_edge, seeds_of, sequence
from .backward_pass import captured, run

_Key = TypeVar("_Key")


def backward(
    tensors: Tensor | GradientEdge | Iterable[Tensor | GradientEdge],
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
        retain_graph: keep the saved tensors. Default: the value of `create_graph`.
        create_graph: record the backward, so that gradients can be differentiated.
        grad_variables: the former name of `grad_tensors`; gives a FutureWarning.
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
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if TRANSFORMS.get() or MODE.get().levels:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms."
        )
    named = () if inputs is None else inputs_of(inputs, "backward")
    outputs = sequence(tensors)
    seeds = seeds_of(outputs, grad_tensors, False)
    edges = [root_edge(out, i) for i, out in enumerate(outputs)]
    wanted = None if inputs is None else [_accumulating(value) for value in named]
    if flag("create_graph", create_graph):
        _warn_of_cycle()
    run(edges, seeds, create_graph if retain_graph is None else retain_graph, create_graph, wanted, False)


def _accumulating(value: Any) -> Node:
    """The edge of an input of `backward`, whose gradient is accumulated into `.grad`, leaf or not."""
    if isinstance(value, Tensor):
        retain_grad(value)
    return input_edge(value)


def _warn_of_cycle() -> None:
    """Warn, once per process as in torch, that a gradient with a graph in `.grad` is a reference cycle."""
    warn_once(
        "create_graph",
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        "the cycle and avoid the leak.",
    )


@overload
def grad(  # type: ignore[overload-overlap]
    outputs: Tensor | GradientEdge | Iterable[Tensor | GradientEdge],
    inputs: Mapping[_Key, Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = ...,
    retain_graph: bool | None = ...,
    create_graph: bool = ...,
    only_inputs: bool = ...,
    allow_unused: bool | None = ...,
    is_grads_batched: bool = ...,
    materialize_grads: bool = ...,
) -> dict[_Key, Tensor]: ...
@overload
def grad(
    outputs: Tensor | GradientEdge | Iterable[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Iterable[Tensor | GradientEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = ...,
    retain_graph: bool | None = ...,
    create_graph: bool = ...,
    only_inputs: bool = ...,
    allow_unused: bool | None = ...,
    is_grads_batched: bool = ...,
    materialize_grads: bool = ...,
) -> tuple[Tensor, ...]: ...
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
    """Compute the sum of the gradients of `outputs` with respect to each of `inputs`.

    Args:
        outputs: one tensor or a sequence of tensors (or `GradientEdge`s).
        inputs: a tensor, or a sequence or dict of tensors, to differentiate with respect to.
        grad_outputs: the gradient of each output; None for a scalar.
        retain_graph: keep the saved tensors. Default: the value of `create_graph`.
        create_graph: record the backward, so that the gradients can be differentiated.
        only_inputs: of no effect; False gives a FutureWarning. `backward` accumulates into all leaves.
        allow_unused: return None for an input that the outputs do not depend on.
        is_grads_batched: whether the first dimension of each gradient is a batch dimension.
        materialize_grads: return zeros instead of None.

    Returns:
        A tuple with one gradient for each input, or a dict if `inputs` is one.

    Raises:
        RuntimeError: if an output does not require grad, a gradient is missing or of the wrong shape, the graph was
            freed by an earlier backward, or, without `allow_unused`, an input is not in the graph.
        ValueError: for `materialize_grads=True` with `allow_unused=False`.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> first, = torch.autograd.grad(x ** 3, x, create_graph=True)
        >>> second, = torch.autograd.grad(first, x)
        >>> first.item(), second.item()
        (27.0, 18.0)
    """
    materialize_grads = flag("materialize_grads", materialize_grads)
    if allow_unused is not None:
        allow_unused = flag("allow_unused", allow_unused)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    targets = sequence(outputs)
    sources = inputs_of(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    seeds = seeds_of(targets, grad_outputs, is_grads_batched)
    keep = create_graph if retain_graph is None else retain_graph
    count = batch_size(seeds) if is_grads_batched else 0
    if not is_grads_batched and MODE.get().levels and any(map(is_batched_now, (*targets, *sources))):
        found = _of_examples(targets, sources, seeds, keep, create_graph)
    else:
        edges = [root_edge(out, i) for i, out in enumerate(targets)]
        wanted = [input_edge(value) for value in sources]
        if is_grads_batched:
            found = _batched(edges, seeds, count, wanted, keep, create_graph)
        else:
            found = captured(edges, seeds, wanted, keep, create_graph)
    for i, g in enumerate(found):
        value = sources[i]
        if g is not None and isinstance(value, Tensor) and value._spec.flow is not value._spec.dtype:
            g = found[i] = g.to(value._spec.dtype)
        if g is None and materialize_grads:
            if not isinstance(sources[i], Tensor):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            from ..ops.create.fill_like import zeros_like

            found[i] = zeros_like(sources[i], requires_grad=create_graph)
        elif g is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
    result: Any = dict(zip(inputs, found, strict=True)) if type(inputs) is dict else tuple(found)
    return result


def _batched(
    edges: list[Node], seeds: list[Any], count: int, wanted: list[Node], keep: bool, create_graph: bool
) -> list[Tensor | None]:
    """Run one backward pass for a whole batch of gradients, under a level of `vmap`."""
    from ..declare.batching.level import VmapLevel

    level, mode = VmapLevel(count, inner=True), MODE.get()
    try:
        MODE.set(entered(mode if create_graph else without_grad(mode), level))  # without grad, as the pass itself is
        found = captured(edges, [batched(seed, level) for seed in seeds], wanted, keep, create_graph)
    finally:
        MODE.set(mode)
    return [g if g is None else all_examples(g, level) for g in found]


def _of_examples(
    targets: tuple[Any, ...], sources: tuple[Any, ...], seeds: list[Any], keep: bool, create_graph: bool
) -> list[Tensor | None]:
    """Compute gradients of tensors that `vmap` has batched, in the graph with all batch dimensions."""
    levels = MODE.get().levels
    depth = 1 + max(levels.index(v._data.level) for v in (*targets, *sources) if is_batched_now(v))
    used, inner = levels[:depth], levels[depth:]
    for i, out in enumerate(targets):
        root_edge(out, i)  # raises if a tensor has no graph at this level of `vmap`
    whole = [bottom(v, used, inner) if isinstance(v, Tensor) else v for v in targets]
    edges = [root_edge(out, i) for i, out in enumerate(whole)]
    wanted = [input_edge(bottom(v, used, inner) if isinstance(v, Tensor) else v) for v in sources]
    grads = [g if g is None else bottom(g, used, inner) for g in seeds]
    with using(levels=inner):
        found = captured(edges, grads, wanted, keep, create_graph)
    return [g if g is None else lifted(g, used, inner) for g in found]


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Any] | None = None,
) -> None:
    """Add the gradients of this tensor to the `.grad` of the leaves it was computed from: see `autograd.backward`.

    Args:
        gradient: the gradient of a loss by this tensor, of its shape; None for a tensor of one element.
        retain_graph: keep what is needed to go backward again. Default: the value of `create_graph`.
        create_graph: record the backward, so that gradients can be differentiated.
        inputs: accumulate into these only; None for all leaves.

    Raises:
        RuntimeError: if the tensor does not require grad, `gradient` is missing or of the wrong shape, or the graph was
            freed by an earlier backward.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> loss = (w * w).sum()
        >>> loss.backward()
        >>> w.grad
        tensor([2., 4.])
        >>> (w * 3).backward(torch.tensor([1.0, 10.0]))  # not one number: what is the gradient of each?
        >>> w.grad  # added up
        tensor([ 5., 34.])
    """
    edge = self._edge if self._view is None else self._current_edge()
    if (
        gradient is None
        and inputs is None
        and not self._shape
        and edge is not None
        and type(edge) is not NoGradEdge
        and self._spec.plain
        and not TRANSFORMS.get()
    ):
        # The loss of a training step: one number, whose gradient is one.
        if create_graph is not False and flag("create_graph", create_graph):
            _warn_of_cycle()
        seed = alias(self._spec.backend.one(self._spec), self._spec, ())
        run([edge], [seed], create_graph if retain_graph is None else retain_graph, create_graph, None, False)
        return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_tensor_backward.__name__, _tensor_backward.__qualname__ = "backward", "Tensor.backward"
Tensor.backward = _tensor_backward  # type: ignore[method-assign, assignment]
