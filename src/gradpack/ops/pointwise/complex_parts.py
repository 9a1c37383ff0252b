"""Complex numbers: their parts, conjugates and angles.

Gradients of these are not those of real formulas conjugated: each formula here says what becomes
of a complex gradient, in torch's convention (the direction of steepest ascent).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.numpy import PAIR, paired
from ...base import dtypes, late
from ...base.dtypes import FLOATING
from ...base.errors import not_a_tensor, not_implemented_for, scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.batch_tensor import is_batched, of_all_examples
from ...declare.decorators import elementwise, general, linear
from ...declare.dispatch.autocast import in_float32
from ..create.making import _into_out
from .blockwise import is_numpy
from .operands import is_complex, zeros_for
from .trigonometry import cos, sin

FUNCTIONS = "real imag conj conj_physical resolve_conj angle view_as_real view_as_complex complex polar"
METHODS = "conj conj_physical resolve_conj angle"
INPLACE = "conj_physical_"


def is_paired(array: Any) -> bool:
    """Whether complex numbers are pairs of float16."""
    return is_numpy(array) and array.dtype == PAIR


def real(input: Any) -> Any:
    """The real part: a view of a complex tensor, and a real tensor itself.

    Example::

        >>> import gradpack as torch
        >>> torch.real(torch.tensor([1 + 2j]))
        tensor([1.])
    """
    return _real(input) if is_complex(input) else input


def _as_complex(g: Any) -> Any:
    """`g` in its complex dtype."""
    if isinstance(g, Tensor):
        return late._to_copy(g, g._spec.dtype.to_complex())
    return np.astype(g, np.result_type(g.dtype, np.complex64))


@linear(input=lambda g: _as_complex(g), view="real", result="real", holomorphic=False, broadcasts=True, name="real")
def _real(input: Array) -> Any:
    """The real part."""
    return input["real"] if is_paired(input) else np.real(input)


def imag(input: Any) -> Any:
    """The imaginary part: a view of a complex tensor.

    Raises:
        RuntimeError: for a real tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.imag(torch.tensor([1 + 2j]))
        tensor([2.])
    """
    if not is_complex(input):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _imag(input)


def _beside_zero(g: Any) -> Any:
    """`g * 1j`, whose real part is zero even where `g` is not finite."""
    return of_parts(late.zeros_as(g, tuple(g.shape)), g)


@linear(input=lambda g: _beside_zero(g), view="real", result="real", holomorphic=False, broadcasts=True, name="imag")
def _imag(input: Array) -> Any:
    """The imaginary part."""
    return input["imag"] if is_paired(input) else np.imag(input)


@linear(
    real=lambda g: _real(g),
    imag=lambda g: _imag(g),
    result="complex",
    dtypes="bif",
    holomorphic=False,
    broadcasts=True,
    name="complex",
)
def of_parts(real: Array, imag: Array) -> Any:
    """Complex numbers from parts, without the NaN that `real + 1j * imag` gives for infinities; signs of zeros stay."""
    if not is_numpy(real) or not is_numpy(imag):
        return real + 1j * imag
    if real.shape == imag.shape and real.flags.c_contiguous and imag.flags.c_contiguous and real.dtype.char in "fd":
        made = np.empty(real.shape, np.complex64 if real.dtype.char == "f" else np.complex128)
    else:  # the sum only allocates: broadcast shape, strides of the operands
        made = np.asarray(np.add(real, imag, dtype=np.result_type(real, np.complex64)))
    made.real, made.imag = real, imag
    return made


@elementwise(input=lambda g: conj_physical(g), holomorphic=False, name="conj_physical")
def _conj_physical(input: Array) -> Any:
    """The complex conjugate."""
    return np.conj(input)


def conj_physical(input: Any, *, out: Any = None) -> Any:
    """The complex conjugate, in memory of its own; a real tensor itself.

    Example::

        >>> import gradpack as torch
        >>> torch.conj_physical(torch.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    if out is not None:
        return _conj_physical(input, out=out)
    return input if isinstance(input, Tensor) and not is_complex(input) else _conj_physical(input)


def conj(input: Any) -> Any:
    """The complex conjugate; a real tensor itself.

    Example::

        >>> import gradpack as torch
        >>> torch.conj(torch.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    return _conj_physical(input) if is_complex(input) else input


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugates are never postponed here.

    Example::

        >>> import gradpack as torch
        >>> torch.resolve_conj(torch.tensor([1 + 1j]).conj())
        tensor([1.-1.j])
    """
    return input


def angle(input: Any, *, out: Any = None) -> Any:
    """The angle of a complex number in radians; of a real one, 0 or pi.

    Example::

        >>> import gradpack as torch
        >>> torch.angle(torch.tensor([1j, -1 + 0j]))
        tensor([1.5708, 3.1416])
    """
    if isinstance(input, Tensor) and input._spec.dtype.category < FLOATING:
        input = input.to(dtypes.get_default_dtype())
    return _angle(input, out=out)


def _angle_slope(g: Any, input: Any) -> Any:
    if not is_complex(input):
        return zeros_for(g)
    size = late.abs(input)
    return late.where(late.eq(size, 0), 0.0, g * (input * 1j) / (size * size))


def _angle_tangent(input_t: Any, input: Any) -> Any:
    if not is_complex(input):
        return zeros_for(input_t)
    size = late.abs(input)
    return late.where(late.eq(size, 0), 0.0, imag(input_t * conj_physical(input)) / (size * size))


@elementwise(input=_angle_slope, jvp=_angle_tangent, result="real", holomorphic=False, name="angle")
def _angle(input: Array) -> Any:
    """The angle in radians."""
    if is_complex(input):
        return np.arctan2(np.imag(input), np.real(input))
    half_turn = np.where(input < 0, np.full_like(input, math.pi), 0.0)
    return np.where(input != input, input, half_turn)  # noqa: PLR0124 - NaN


@linear(input=lambda g: _view_as_complex(g), view="real", result="real", holomorphic=False)
def view_as_real(input: Array) -> Any:
    """A view of a complex tensor as a real one, with a last dimension for the two parts.

    Raises:
        RuntimeError: for a real tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.view_as_real(torch.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """
    if is_paired(input):
        return input[..., None].view(np.float16)
    if not is_complex(input):
        raise RuntimeError(f"view_as_real is only supported for complex tensors, not for {input.dtype}")
    if not is_numpy(input):
        return np.stack([np.real(input), np.imag(input)], axis=-1)
    return input[..., None].view(np.float32 if input.itemsize == 8 else np.float64)


@in_float32
def view_as_complex(input: Tensor) -> Tensor:
    """A view of a real tensor, whose last dimension holds the two parts, as a complex one.

    Raises:
        RuntimeError: if the tensor is not of float16, float32 or float64, the last dimension has not size 2, or the
            parts do not lie next to each other.

    Example::

        >>> import gradpack as torch
        >>> torch.view_as_complex(torch.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """
    if input.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{scalar_type(input.dtype)}"
        )
    if not input._shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input._shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if is_batched(input):
        return of_all_examples(view_as_complex, input)
    strides = input.stride() if input._spec.backend.aliasing else (1,)
    if strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s in strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return _view_as_complex(input)


@linear(
    input=lambda g: view_as_real(g),
    view="real",
    result="complex",
    holomorphic=False,
    dtypes="f",
    name="view_as_complex",
    autocast="float32",
)
def _view_as_complex(input: Array) -> Any:
    """Pairs along the last dimension as complex numbers; a view if they lie next to each other."""
    if is_numpy(input) and input.strides[-1] == input.itemsize and input.dtype in _OF_PARTS:
        return input.view(_OF_PARTS[input.dtype])[..., 0]
    made = np.astype(input[..., 0] + input[..., 1] * 1j, np.complex128 if input.itemsize == 8 else np.complex64)
    return paired(made) if is_numpy(input) and input.dtype == np.float16 else made


_OF_PARTS = {np.dtype(np.float16): PAIR, np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}


def _part(name: str, part: Any) -> property:
    def get(self: Tensor) -> Tensor:
        return part(self)

    def put(self: Tensor, value: Any) -> None:
        part(self)[...] = value

    return property(get, put, doc=f"The {name} part.")


PROPERTIES = {"real": _part("real", real), "imag": _part("imaginary", imag)}


# -- from two real tensors --


def _check_parts(op: str, **parts: Any) -> None:
    for position, (label, value) in enumerate(parts.items(), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor(op, label, position, value)
    first, second = (t._spec.dtype for t in parts.values())
    taken = (dtypes.float16, dtypes.float32, dtypes.float64)
    if first not in taken or second not in taken:
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {scalar_type(first)} and "
            f"{scalar_type(second)}"
        )
    if first is not second:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_type(first)} but got scalar type {scalar_type(second)} for "
            "second argument"
        )


def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """`real + 1j * imag`, of the complex dtype with their real dtype.

    Args:
        real: the real parts, of a floating point dtype.
        imag: the imaginary parts, of the same dtype; both broadcast.

    Raises:
        RuntimeError: for other dtypes, or different ones.

    Example::

        >>> import gradpack as torch
        >>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
        tensor([1.+2.j])
    """
    _check_parts("complex", real=real, imag=imag)
    made = of_parts(real, imag)
    return made if out is None else _into_out(out, made, "complex")


def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """A complex tensor from absolute values and angles: `abs * cos(angle) + 1j * abs * sin(angle)`.

    Args:
        abs: the absolute values, of dtype float32 or float64.
        angle: the angles in radians, of the same dtype; both broadcast.

    Raises:
        RuntimeError: for other dtypes, or different ones.

    Example::

        >>> import gradpack as torch
        >>> torch.polar(torch.tensor([2.0, 1.0]), torch.tensor([0.0, torch.pi / 4]))
        tensor([2.0000+0.0000j, 0.7071+0.7071j])
    """
    _check_parts("polar", abs=abs, angle=angle)
    if abs._spec.dtype.low:
        raise not_implemented_for("polar_cpu", abs._spec.dtype)
    made = _polar(abs, angle)
    return made if out is None else _into_out(out, made, "polar")


@general(
    abs=lambda g, angle: real(g) * cos(angle) + imag(g) * sin(angle),
    angle=lambda g, out: imag(g) * real(out) - real(g) * imag(out),
    result="complex",
    holomorphic=False,
    broadcasts=True,
    scalars=False,
    dtypes="f",
    name="polar",
    autocast="float32",
)
def _polar(abs: Array, angle: Array) -> Any:
    """Complex numbers from absolute values and angles."""
    return of_parts(abs * np.cos(angle), abs * np.sin(angle))
