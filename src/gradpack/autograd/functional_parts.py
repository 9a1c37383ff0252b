"""Helpers of `autograd.functional`: tuples, checks of `strict`, zeros for independent inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import late
from ..base.errors import inside_a_transform
from ..base.modes import MODE, TRANSFORMS
from ..core.tensor import Tensor
from .api import grad
from .arguments import flag, input_edge, root_edge, seeds_of
from .backward_pass import rows_of

Tensors = tuple[Tensor, ...]


def as_tuple(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """Return whether `value` is a tuple, and the tuple of its tensors.

    Raises:
        TypeError: if an item is no tensor.
    """
    given = isinstance(value, tuple)
    items = value if given else (value,)
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            found = f"value at index {i} has" if given else f"given {what} has"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {found} type "
                f"{type(item)}."
            )
    return given, items


def as_given(results: Any, was_tuple: bool) -> Any:
    """Return a tuple if the argument was a tuple, else the only result."""
    return results if was_tuple else results[0]


def as_given_twice(results: Any, outer: bool, inner: bool) -> Any:
    """`as_given` for a tuple of tuples."""
    return as_given(results if inner else tuple(row[0] for row in results), outer)


def fresh(inputs: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """Return new tensors of the same values, so that the function may have captured the original ones.

    They are views of these if the results are to be differentiable, else leaves.

    Raises:
        RuntimeError: under a functional transform, where a leaf cannot be made.
    """
    create_graph = flag("create_graph", create_graph)
    return tuple(t.view_as(t) if create_graph and t.requires_grad else _leaf(t, need_graph) for t in inputs)


def _leaf(t: Tensor, need_graph: bool) -> Tensor:
    if TRANSFORMS.get() or MODE.get().levels:
        raise inside_a_transform("requires_grad_")
    return t.detach()._follow(need_graph)


def without_history(results: Any, create_graph: bool) -> Any:
    """Detach the results unless `create_graph` is set."""
    if create_graph:
        return results
    if isinstance(results[0], Tensor):
        return tuple(r.detach() for r in results)
    return tuple(without_history(row, create_graph) for row in results)


def check_v(v: Tensors, other: Tensors, is_tuple: bool) -> None:
    """Raise RuntimeError unless `v` has the sizes of `other`."""
    if len(other) != len(v):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}."
            if is_tuple
            else "The given v should contain a single Tensor."
        )
    for i, (given, wanted) in enumerate(zip(v, other, strict=True)):
        if given._shape != wanted._shape:
            entry = f"Entry {i} in " if is_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {wanted.size()} but got {given.size()}.")


def only_element(outputs: Tensors, is_tuple: bool, name: str) -> None:
    """Raise RuntimeError unless the function returned one tensor with one element."""
    if is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")


_STRICT = {
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the user-provided function. "
    "This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input {} is independent of the input. This is not allowed in strict mode. You should ensure that your function "
    "is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
    "for example).",
    "hessian": "The hessian of the user-provided function with respect to input {} is independent of the input. This "
    "is not allowed in strict mode. You should ensure that your function is thrice differentiable and that the "
    "hessian depends on the inputs.",
}


def check_followed(values: Any, what: str, strict: bool) -> None:
    """In strict mode, raise RuntimeError for a value that does not require grad. `what` is a key of `_STRICT`."""
    for i, value in enumerate(values if strict else ()):
        if value is None:
            raise RuntimeError(_INDEPENDENT["back"].format(i))
        if not value.requires_grad:
            raise RuntimeError(_STRICT[what].format(i))


_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {}. This is not allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs when using "
    "the double backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {}. This is not allowed in "
    "strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
    "This is not allowed in strict mode as it prevents from using the double backward trick to replace forward mode "
    "AD.",
}


NOT_AGAIN = (
    "The {} of the user-provided function is independent of input {}. This is not allowed in strict mode when "
    "create_graph=True."
)


def filled(grads: Any, like: Tensors, strict: bool, create_graph: bool, stage: str) -> Tensors:
    """Replace gradients that are None by zeros; in strict mode, raise RuntimeError."""
    from ..ops.create.fill_like import zeros_like

    found = []
    for i, g in enumerate(grads):
        if g is None:
            if strict:
                raise RuntimeError(_INDEPENDENT[stage].format(i))
            g = zeros_like(like[i])
        elif strict and create_graph and not g.requires_grad:
            raise RuntimeError(NOT_AGAIN.format("hessian" if "double" in stage else "jacobian", i))
        found.append(g)
    return tuple(found)


def gradients(outputs: Any, inputs: Tensors, seeds: Any = None, **options: Any) -> Any:
    """`autograd.grad` of the outputs that require grad; None for inputs that they do not depend on."""
    seeds = (None,) * len(outputs) if seeds is None else seeds
    pairs = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad([o for o, _ in pairs], inputs, [s for _, s in pairs], allow_unused=True, **options)


def one_row_at_a_time(out: Tensor, inputs: Tensors, create_graph: bool) -> list[list[Tensor | None]]:
    """The gradients of each element of an output, by one backward pass for each."""
    if MODE.get().levels:
        return [gradients((out,), inputs, (u,), retain_graph=True, create_graph=create_graph) for u in units((out,))[0]]
    rows: Any = ([u] for u in units((out,))[0]) if out._shape else [seeds_of((out,), None, False)]
    return rows_of([root_edge(out, 0)], rows, [input_edge(x) for x in inputs], create_graph)


def units(tensors: Sequence[Tensor], start: int = 0, stop: int | None = None) -> list[Tensor]:
    """Rows `start` to `stop` of the identity over all elements of the tensors, split and shaped like the tensors."""
    stop = sum(t.numel() for t in tensors) if stop is None else stop
    parts, first = [], 0
    for t in tensors:
        count = t.numel()
        part = late.zeros(stop - start, count, dtype=t.dtype, device=t.device)
        low, high = max(start, first), min(stop, first + count)
        if low < high:
            if part._spec.plain:
                part._data.reshape(-1)[(low - start) * count + low - first :: count + 1][: high - low] = 1
            elif start == first:  # a constant of a program that is recorded
                part = late.eye(stop - start, count, dtype=t.dtype, device=t.device)
            else:
                part[low - start : high - start, low - first : high - first].diagonal().fill_(1)
        parts.append(part if len(t._shape) == 1 else part.reshape(stop - start, *t._shape))
        first += count
    return parts
