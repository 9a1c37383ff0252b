"""Gradients of a `Function`: zeros for undefined ones, and those that do not fit their argument."""

from __future__ import annotations

from typing import Any

from ...base.devices import device
from ...base.dtypes import FLOATING, dtype
from ...base.layouts import layout
from ...base.memory_formats import memory_format
from ...base.modes import MODE
from ...base.size import Size
from ...core.tensor import Tensor, alias

_OF_TORCH = (Size, device, dtype, layout, memory_format)
_HEAP = 1 << 9  # the flag of classes that were made by a class statement


def zeros(shape: tuple[int, ...], spec: Any) -> Tensor:
    """Zeros of a shape and spec."""
    if spec.plain and not MODE.get().leaves_fast_path:
        return alias(spec.backend.xp.zeros(shape, spec.native), spec, shape)
    from ...ops.create.fill import zeros as make

    return make(shape, dtype=spec.dtype, device=spec.device)


def type_name(value: Any) -> str:
    """The name of a value's type in torch's error messages: with its module, for types of compiled modules."""
    kind = type(value)
    module = "torch" if isinstance(value, _OF_TORCH) else kind.__module__.partition(".")[0]
    if module == "builtins" or (kind.__flags__ & _HEAP and module != "torch"):
        return kind.__name__
    return f"{module}.{kind.__name__}"


def fitted(value: Tensor, shape: tuple[int, ...], spec: Any, name: str, i: int) -> Tensor:
    """Return a gradient in the shape and dtype of its input: summed if the input was broadcast; else raise."""
    from ...ops.reduce.reduce import sum_to_size

    if value._shape != shape:
        extra = len(value._shape) - len(shape)
        if extra < 0 or not all(n in (1, m) for n, m in zip(shape, value._shape[extra:], strict=True)):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {i} - got {list(value._shape)} but expected "
                f"shape compatible with {list(shape)}"
            )
        value = sum_to_size(value, shape)
    if value._spec is not spec:
        if value._spec.device != spec.device:
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {i} - expected device {spec.device} but got "
                f"{value.device}"
            )
        given = value._spec.dtype
        if given.category != FLOATING and given.is_complex != spec.dtype.is_complex:
            raise RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                f"got false. Function {name} returned a gradient of dtype {given} at index {i} for an input of "
                f"{spec.dtype}: convert it with .to(dtype), or take its real part"
            )
        value = value.to(spec.dtype)
    return value
