"""Complex tensors from two real ones: real and imaginary parts, or absolute values and angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes
from ...base.errors import not_a_tensor, not_implemented_for, scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general
from ..create.making import _into_out
from .complex_parts import imag, of_parts, real
from .trigonometry import cos, sin

FUNCTIONS = "complex polar"


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

    Example::

        >>> import gradpack as torch
        >>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
        tensor([1.+2.j])
    """
    _check_parts("complex", real=real, imag=imag)
    made = of_parts(real, imag)
    return made if out is None else _into_out(out, made, "complex")


def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """A complex tensor from absolute values and angles.

    Example::

        >>> import gradpack as torch
        >>> torch.polar(torch.tensor([2.0]), torch.tensor([0.0]))
        tensor([2.+0.j])
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
