"""New tensors of the dtype and device of another: `new_zeros` and the like."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...backends.memory_layout import reach
from ...core.tensor import Tensor
from ...declare.batching.batch_tensor import is_batched, of_all_examples
from ...declare.generate.profiling import noted

METHODS = "new_tensor new_zeros new_ones new_full new_empty new_empty_strided"


def _method_new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
) -> Tensor:
    """A new tensor of the same dtype."""
    from .create import tensor

    device = self._spec.device if device is None else device
    return tensor(data, dtype=dtype or self._spec.dtype, device=device, requires_grad=requires_grad)


def _new_filled(name: str) -> Any:
    makers: list[Any] = []

    def method(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: Any = False,
        layout: Any = None,
        pin_memory: Any = False,
    ) -> Tensor:
        if not makers:
            from . import fill

            makers.append(getattr(fill, name))
        if is_batched(self):
            from .making import shape_of

            shape = shape_of(f"new_{name}", sizes if size is None else (size,))
            return of_all_examples(lambda v: method(v, (v._shape[0], *shape), dtype=dtype), self)
        made: Tensor = makers[0](
            *sizes,
            size=size,
            dtype=dtype or self._spec.dtype,
            device=device or self._spec.device,
            requires_grad=requires_grad,
        )
        return made

    method.__doc__ = f"A new tensor of the same dtype: `gradpack.{name}`."
    return method


_method_new_zeros = noted(_new_filled("zeros"), "new_zeros")
_method_new_ones = noted(_new_filled("ones"), "new_ones")
_method_new_empty = noted(_new_filled("empty"), "new_empty")


@partial(noted, name="new_empty_strided")
def _method_new_empty_strided(
    self: Tensor,
    size: Any,
    stride: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = False,
    requires_grad: Any = False,
) -> Tensor:
    """A new uninitialised tensor of the same dtype, with given strides."""
    from .fill import empty_strided

    if is_batched(self):
        step = reach(tuple(size), tuple(stride))

        def of_all(whole: Tensor) -> Tensor:
            made: Tensor = _method_new_empty_strided(whole, (whole._shape[0], *size), (step, *stride), dtype)
            return made

        return of_all_examples(of_all, self)
    return empty_strided(
        size, stride, dtype=dtype or self._spec.dtype, device=device or self._spec.device, requires_grad=requires_grad
    )


@partial(noted, name="new_full")
def _method_new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = False,
    requires_grad: Any = False,
) -> Tensor:
    """A new tensor of the same dtype, filled with one value."""
    from .fill import full

    if is_batched(self):
        return of_all_examples(lambda v: _method_new_full(v, (v._shape[0], *size), fill_value, dtype=dtype), self)
    return full(
        size,
        fill_value,
        dtype=dtype or self._spec.dtype,
        device=device or self._spec.device,
        requires_grad=requires_grad,
    )
