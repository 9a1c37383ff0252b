"""Jacobians, Hessians, and products with them, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import late
from ..base.modes import MODE, using
from .forward_ad import push_forward
from .functional_parts import (
    NOT_AGAIN,
    as_given,
    as_given_twice,
    as_tuple,
    check_followed,
    check_v,
    filled,
    fresh,
    gradients,
    one_row_at_a_time,
    only_element,
    units,
    without_history,
)

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Func = Callable[..., Any]

_OUTPUTS = "outputs of the user-provided function"
_NO_V = "The vector v can only be None if "
_ONE_INPUT = _NO_V + "the input to the user-provided function is a single Tensor with a single element."


def _vector(v: Any, like: Any, is_tuple: bool, create_graph: bool, name: str, message: str = _ONE_INPUT) -> Any:
    """Return the vector of a product as new tensors of the sizes of `like`; None if it may be omitted."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(message)
        return None
    v = fresh(as_tuple(v, "v", name)[1], create_graph, False)
    check_v(v, like, is_tuple)
    return v


class _Call:
    """A call of the user's function on new tensors, with a graph, for one of the functions here.

    Attributes:
        inputs, outputs: tuples of tensors.
        v: a vector in the space of the inputs, or None; `vjp`, whose `v` is in that of the outputs, sets it later.
        many_inputs, many_outputs: whether the user has tuples of them.
    """

    def __init__(self, name: str, func: Func, inputs: Any, create_graph: bool, strict: bool, v: Any = ...) -> None:
        self.create_graph, self.strict = create_graph, strict
        self.many_inputs, inputs = as_tuple(inputs, "inputs", name)
        self.inputs = fresh(inputs, create_graph, True)
        self.v = _vector(v, self.inputs, self.many_inputs, create_graph, name) if v is not ... else None
        self.many_outputs, self.outputs = as_tuple(func(*self.inputs), _OUTPUTS, name)
        check_followed(self.outputs, "outputs", strict)

    def slope(self, name: str) -> Any:
        """The gradient of the only element of the outputs, with its graph."""
        only_element(self.outputs, self.many_outputs, name)
        found = gradients(self.outputs, self.inputs, create_graph=True)
        check_followed(found, "jacobian", self.strict)
        return found

    def product(self, roots: Any, sources: Any, many: bool, stage: str) -> tuple[Any, Any]:
        """The outputs, and the gradients of `roots`, given `v`, at the sources."""
        with using(grad=self.create_graph or MODE.get().grad):
            found = gradients(roots, sources, self.v, create_graph=self.create_graph)
            product = filled(found, sources, self.strict, self.create_graph, stage)
        outputs = as_given(without_history(self.outputs, self.create_graph), self.many_outputs)
        return outputs, as_given(without_history(product, self.create_graph), many)


def vjp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """Return the outputs of `func`, and the vector-Jacobian product with `v`, by a backward pass.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: of the sizes of the outputs; may be omitted if the only output has one element.
        create_graph: record the computation, so that the results are differentiable.
        strict: raise RuntimeError if an output does not depend on an input, instead of giving zeros.

    Returns:
        The outputs, and the product with the structure of the inputs.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.vjp(lambda x: x * x, x, torch.ones(2))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with using(grad=True):
        call = _Call("vjp", func, inputs, create_graph, strict)
        message = _NO_V + "the user-provided function returns a single Tensor with a single element."
        call.v = _vector(v, call.outputs, call.many_outputs, create_graph, "vjp", message)
    return call.product(call.outputs, call.inputs, call.many_inputs, "back")


def jvp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """Return the outputs of `func`, and the Jacobian-vector product with `v`, by double backward.

    `func.jvp` uses forward mode, which takes one pass.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: of the sizes of the inputs; may be omitted if the only input has one element.
        create_graph: record the computation, so that the results are differentiable.
        strict: raise RuntimeError if an output does not depend on an input, instead of giving zeros.

    Returns:
        The outputs, and the product with the structure of the outputs.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.jvp(lambda x: x * x, x, torch.ones(2))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    from ..ops.create.fill_like import zeros_like

    with using(grad=True):
        call = _Call("jvp", func, inputs, create_graph, strict, v)
        # The vjp is linear in these, so their values do not matter: its own vjp is the jvp.
        seeds = tuple(zeros_like(out, requires_grad=True) for out in call.outputs)
        back = gradients(call.outputs, call.inputs, seeds, create_graph=True)
        check_followed(back, "grad_inputs", strict)
    return call.product(back, seeds, call.many_outputs, "back_trick")


def jacobian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Compute the Jacobian of `func`: for output `i` and input `j` a tensor of shape `output.shape + input.shape`.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: record the computation, so that the result is differentiable.
        strict: raise RuntimeError if an output does not depend on an input, instead of giving zeros.
        vectorize: compute all rows (or columns) at once, by `vmap`.
        strategy: "reverse-mode": a row for each element of the outputs; or "forward-mode": a column for each
            element of the inputs, which needs `vectorize=True`.

    Returns:
        A tensor; a tuple if inputs or outputs are one; a tuple of tuples `J[i][j]` if both are.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(_TOGETHER.format("create_graph=True", "create_graph=False"))
        if strict:
            raise RuntimeError(_TOGETHER.format("strict=True", "strict=False"))
        return _forward(func, inputs, vectorize)
    with using(grad=True):
        call = _Call("jacobian", func, inputs, create_graph, strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        if vectorize:
            rows = _all_rows(call.outputs, call.inputs, create_graph)
        else:
            rows = [_rows(i, out, call.inputs, strict, create_graph) for i, out in enumerate(call.outputs)]
        result = without_history(tuple(rows), create_graph)
    return as_given_twice(result, call.many_outputs, call.many_inputs)


_TOGETHER = (
    'torch.autograd.functional.jacobian: `{}` and `strategy="forward-mode"` are not supported together (yet). Please '
    'either set `{}` or `strategy="reverse-mode"`.'
)


def _rows(i: int, out: Any, inputs: Any, strict: bool, create_graph: bool, alone: bool = False) -> tuple[Any, ...]:
    """The Jacobian of one output, by a backward pass for each element. `alone`: keep a single row as it is."""
    if out._spec.dtype.is_complex:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
    count = out.numel()
    rows: list[Any] = [(None,) * len(inputs)] * count
    if out.requires_grad and count:
        rows = one_row_at_a_time(out, inputs, create_graph)
    columns: list[list[Any]] = [[] for _ in inputs]
    for found in rows:
        for nr, (column, g, like) in enumerate(zip(columns, found, inputs, strict=True)):
            if g is None and strict:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {nr}. This is not allowed in "
                    "strict mode."
                )
            if g is not None and strict and create_graph and not g.requires_grad:
                raise RuntimeError(NOT_AGAIN.format("jacobian", i))
            column.append(late.zeros_like(like) if g is None else g)
    if alone and count == 1:
        return tuple(column[0] for column in columns)
    return tuple(
        late.stack(column).view((*out._shape, *like._shape)) for column, like in zip(columns, inputs, strict=True)
    )


def _all_rows(outputs: Any, inputs: Any, create_graph: bool) -> list[tuple[Any, ...]]:
    """The Jacobians of all outputs, by one batched backward pass."""
    sizes = [out.numel() for out in outputs]
    found = gradients(outputs, inputs, units(outputs), create_graph=create_graph, is_grads_batched=True)
    parts = []
    for g, like in zip(found, inputs, strict=True):
        g = late.zeros((sum(sizes), *like._shape), dtype=like.dtype, device=like.device) if g is None else g
        pieces = g.split(sizes) if create_graph or len(sizes) > 1 else (g,)
        parts.append([p.view((*out._shape, *like._shape)) for p, out in zip(pieces, outputs, strict=True)])
    return [tuple(row) for row in zip(*parts, strict=True)]


def _forward(func: Func, inputs: Any, vectorize: bool) -> Any:
    """The Jacobian by forward mode: all columns in one pass over a batch of tangents."""
    from ..declare.batching.level import mapped

    is_tuple, inputs = as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    about: list[Any] = []

    def call(values: list[Any]) -> Any:
        out_is_tuple, outs = as_tuple(func(*values), "outputs", "jacobian")
        about.extend((out_is_tuple, [out._shape for out in outs]))
        return outs, None

    found = mapped(lambda tangents: push_forward(call, list(inputs), list(tangents), inner=True)[1], units(inputs))
    out_is_tuple, shapes = about
    sizes = [x.numel() for x in inputs]
    result = []
    for columns, shape in zip(found, shapes, strict=True):
        parts = zip(columns.split(sizes), inputs, strict=True)
        result.append([part.permute(*range(1, part.ndim), 0).reshape((*shape, *x._shape)) for part, x in parts])
    return as_given_twice(result, out_is_tuple, is_tuple)  # lists, as in torch


def hessian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Compute the Hessian of a `func` that returns one element: the Jacobian of its gradient.

    Args:
        func: takes tensors, returns a tensor of one element.
        inputs: a tensor or a tuple of tensors.
        create_graph, strict, vectorize: as for `jacobian`.
        outer_jacobian_strategy: "reverse-mode" or "forward-mode", for the second derivative.

    Returns:
        A tensor of shape `input.shape + input.shape`; for a tuple of inputs a tuple of tuples `H[i][j]`.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    is_tuple, inputs = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def number(*values: Any) -> Any:
        out = func(*values)
        out_is_tuple, outs = as_tuple(out, _OUTPUTS, "hessian")
        check_followed(outs, "outputs", strict)
        only_element(outs, out_is_tuple, "hessian")
        return out.squeeze() if out._shape else out

    def slope(*values: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            values = tuple(t._follow() for t in values)  # else `fresh` would detach them
        with using(grad=True):
            values = fresh(values, True, True)
            found = _rows(0, number(*values), values, False, True, alone=True)
        check_followed(found, "jacobian", strict)
        return found

    result = jacobian(slope, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return as_given_twice(result, is_tuple, is_tuple)


def vhp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """Return the output of a `func` that returns one element, and the product of `v` with its Hessian.

    Args:
        func: takes tensors, returns a tensor of one element.
        inputs, v: tensors or tuples of tensors of the same sizes; `v` may be left out if the only input is one number.
        create_graph, strict: as for `vjp`.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    with using(grad=True):
        call = _Call("vhp", func, inputs, create_graph, strict, v)
        slope = call.slope("vhp")
    return call.product(slope, call.inputs, call.many_inputs, "double_back")


def hvp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """Return the output of a `func` that returns one element, and its Hessian times `v`. `vhp` is faster, and equal.

    Args:
        func: takes tensors, returns a tensor of one element.
        inputs, v: tensors or tuples of tensors of the same sizes; `v` may be left out if the only input is one number.
        create_graph, strict: as for `vjp`.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    from ..ops.create.fill_like import zeros_like

    with using(grad=True):
        call = _Call("hvp", func, inputs, create_graph, strict, v)
        seeds = tuple(zeros_like(x, requires_grad=True) for x in call.inputs)
        back = gradients(call.slope("hvp"), call.inputs, seeds, create_graph=True)
        check_followed(back, "hessian", strict)
    return call.product(back, seeds, call.many_inputs, "double_back_trick")
