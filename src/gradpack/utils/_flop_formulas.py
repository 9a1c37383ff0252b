"""Numbers of floating point operations: formulas for torch's operations, and the ones that ours consist of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from math import prod
from typing import Any, TypeVar

from ..core.tensor import Tensor
from ..declare.op import Op
from ..ops import aten
from ..ops.aten import OpOverloadPacket

_F = TypeVar("_F", bound=Callable[..., int])
Shape = tuple[int, ...]
# A part of a call: an operation of torch's, the arguments that its formula gets, the result.
Part = tuple[OpOverloadPacket, tuple[Any, ...], Any]

flop_registry: dict[Any, Callable[..., int]] = {}


def shapes_of(value: Any) -> Any:
    """Arguments with shapes in the places of tensors."""
    if isinstance(value, list | tuple):
        return type(value)(map(shapes_of, value)) if type(value) in (list, tuple) else tuple(map(shapes_of, value))
    return value.shape if isinstance(value, Tensor) else value


def by_shapes(formula: Callable[..., int]) -> Callable[..., int]:
    """A formula that takes shapes as one that takes arguments."""

    @wraps(formula)
    def count(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        named = {key: shapes_of(value) for key, value in kwargs.items()}
        return formula(*map(shapes_of, args), out_shape=shapes_of(out_val), **named)

    return count


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[_F], _F]:
    """Say how many operations a call of some operations takes.

    Args:
        targets: an operation, as `torch.ops.aten.mm`, or several.
        get_raw: the formula gets the arguments as they are, and the result as `out_val=`. Otherwise it gets the
            shapes of tensors in their places, and that of the result as `out_shape=`.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
        >>> @register_flop_formula(torch.ops.aten.sin)
        ... def sin_flops(shape, *args, out_shape=None, **kwargs):
        ...     return 10 * shape.numel()
        >>> with FlopCounterMode(display=False) as counter:
        ...     y = torch.ones(4).sin()
        >>> counter.get_total_flops()
        40
        >>> del flop_registry[torch.ops.aten.sin]
    """

    def register(formula: _F) -> _F:
        for target in targets if isinstance(targets, Iterable) else (targets,):
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be an operation as torch.ops.aten.mm is, "
                    f"got {target!r} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula if get_raw else by_shapes(formula)
        return formula

    return register


# -- the formulas --


@register_flop_formula(aten.mm)
def mm_flop(a: Shape, b: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """FLOPs of a matrix product."""
    return 2 * a[0] * a[1] * b[1]


@register_flop_formula(aten.addmm)
def addmm_flop(input: Shape, a: Shape, b: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """FLOPs of `addmm`: those of its matrix product."""
    return mm_flop(a, b)


@register_flop_formula(aten.bmm)
def bmm_flop(a: Shape, b: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """FLOPs of a batched matrix product."""
    return 2 * prod(a) * b[-1]


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(input: Shape, a: Shape, b: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """FLOPs of `baddbmm`: those of its batched matrix product."""
    return bmm_flop(a, b)


@register_flop_formula([aten.convolution, aten._convolution])
def conv_flop(x: Shape, weight: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """FLOPs of a convolution: each element of the result (transposed: of the input) meets a kernel."""
    _bias, _stride, _padding, _dilation, transposed, *_ = args
    return 2 * x[0] * prod((x if transposed else out_shape)[2:]) * prod(weight)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(grad_out: Shape, x: Shape, weight: Shape, *args: Any, out_shape: Any = None) -> int:
    """FLOPs of a convolution's gradients by input and weight: each takes as many as the convolution."""
    output_mask = args[-1]
    return conv_flop(x, weight, *args, out_shape=grad_out) * (bool(output_mask[0]) + bool(output_mask[1]))


@register_flop_formula(aten._scaled_dot_product_flash_attention)
def sdpa_flop(query: Shape, key: Shape, value: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """FLOPs of attention: the scores, and their product with the values. Masks are not accounted for."""
    return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


@register_flop_formula(aten._scaled_dot_product_flash_attention_backward)
def sdpa_backward_flop(
    grad_out: Shape, query: Shape, key: Shape, value: Shape, *args: Any, out_shape: Any = None, **kwargs: Any
) -> int:
    """FLOPs of attention's backward: the scores again, their gradients, and those of query, key and value."""
    return 2 * prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])


# -- gradpack's operations in terms of torch's --


def _matmul(a: Shape, b: Shape) -> tuple[OpOverloadPacket, Shape, Shape] | None:
    """Return the `mm` or `bmm` that a product of two shapes is, and its shapes; None for a matrix and a vector."""
    if len(b) < 2 or not a:
        return None
    if len(a) == 1:
        return (aten.mm, (1, *a), b) if len(b) == 2 else None
    if len(b) == 2:
        return aten.mm, (prod(a[:-1]), a[-1]), b
    if len(a) == 2:  # the batch goes to the columns
        return aten.mm, a, (b[-2], prod(b[:-2]) * b[-1])
    ndim = max(len(a), len(b)) - 2
    first, second = ((1,) * (ndim + 2 - len(s)) + tuple(s[:-2]) for s in (a, b))
    batch = prod(max(m, n) if m and n else 0 for m, n in zip(first, second, strict=True))
    return aten.bmm, (batch, *a[-2:]), (batch, *b[-2:])


def parts(op: Op, values: dict[str, Any], out: Any, wanted: dict[str, bool]) -> tuple[list[Part], list[Part]]:
    """The operations of torch's that a call of ours is made of, and those of its backward.

    Args:
        wanted: which of the inputs get gradients.
    """
    name = op.name
    sides: Any = _PRODUCTS.get(name)
    if sides is not None:
        added = values[op.params[0]] if name in ("addmm", "baddbmm") else values.get("bias")
        a, b = (tuple(values[side].shape) for side in sides)
        if name == "linear":
            b = b[::-1]
            if len(b) == 1:
                return [], []
        found = _matmul(a, b)
        if found is None:
            return [], []
        packet, a, b = found
        backward: list[Part] = [(packet, (a, b), None) for side in sides if wanted[side]]  # each costs the same
        if added is None:
            return [(packet, (a, b), out)], backward
        return [(aten.addmm if packet is aten.mm else aten.baddbmm, (added, a, b), out)], backward
    if name == "convolution":
        args = tuple(values[p] for p in op.params)
        mask = [wanted[p] for p in op.inputs]
        return [(aten.convolution, args, out)], [(aten.convolution_backward, (out.shape, *args, mask), None)]
    if name == "_attention":
        args = tuple(values[p] for p in op.params[:3])
        return [(aten._scaled_dot_product_flash_attention, args, out)], [
            (aten._scaled_dot_product_flash_attention_backward, (out.shape, *args), None)
        ]
    if name in _CONVOLUTIONS:
        return _of_convolution(name, values, out, wanted)
    return [], []


def _of_convolution(
    name: str, values: dict[str, Any], out: Any, wanted: dict[str, bool]
) -> tuple[list[Part], list[Part]]:
    """Return the convolutions in forward and backward of one convolution kernel, for double backward."""
    x, weight, g = (values.get(p, out) for p in ("input", "weight", "output"))
    args = (x, weight, None, values["stride"], values["padding"], values["dilation"], False)
    backward: list[Part] = [(aten.convolution, args, g)] * sum(wanted.values())
    if name == "_conv_output":
        return [(aten.convolution, args, out)], backward
    mask = [name == "_conv_input", name == "_conv_weight", False]
    return [(aten.convolution_backward, (g, *args, None, values["groups"], mask), out)], backward


_PRODUCTS = {
    "matmul": ("input", "other"),
    "mm": ("input", "mat2"),
    "bmm": ("input", "mat2"),
    "addmm": ("mat1", "mat2"),
    "baddbmm": ("batch1", "batch2"),
    "linear": ("input", "weight"),
    "product_each": ("input", "other"),
}
_CONVOLUTIONS = ("_conv_output", "_conv_input", "_conv_weight")
KNOWN = frozenset({*_PRODUCTS, *_CONVOLUTIONS, "convolution", "_attention"})  # what `parts` takes apart
