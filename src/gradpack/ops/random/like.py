"""Random numbers in the shape and dtype of another tensor."""

from __future__ import annotations

from typing import Any

from ...base.devices import CPU
from ...base.dtypes import as_dtype, dtype
from ...base.errors import not_a_tensor
from ...core.tensor import Tensor
from ...declare.generate.profiling import noted
from ..create.making import finish, on_device
from ..shape.memory_formats import as_beside
from .drawing import drawing
from .floats import _check_floating, normal_array, uniform_array
from .generator import Generator
from .integers import randint

FUNCTIONS = "rand_like randn_like randint_like"


def _like(op: str, input: Any, d: dtype | None, kernel: str) -> Any:
    if not isinstance(input, Tensor):
        raise not_a_tensor(op, "input", 1, input)
    d = as_dtype(op, d)
    _check_floating(kernel, d or input._spec.dtype)
    return input._spec.backend.spec_for(d or input._spec.dtype, CPU).native


@noted
@drawing
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Uniform numbers in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.rand_like(torch.ones(2)).shape
        gradpack.Size([2])
    """
    native = _like("rand_like", input, dtype, "check_uniform_bounds")
    where = device or input._spec.device
    made = on_device(uniform_array, where)(generator, input._shape, native)
    return finish(as_beside(made, input._data, memory_format), requires_grad, where)


@noted
@drawing
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Standard normal numbers in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.randn_like(torch.ones(2)).shape
        gradpack.Size([2])
    """
    native = _like("randn_like", input, dtype, "normal_kernel_cpu")
    where = device or input._spec.device
    made = on_device(normal_array, where)(generator, input._shape, native)
    return finish(as_beside(made, input._data, memory_format), requires_grad, where)


@noted
@drawing
def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    generator: Generator | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers below a bound in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.randint_like(torch.ones(2), 1)
        tensor([0., 0.])
    """
    if high is None and low is None:
        raise TypeError("randint_like() missing required argument: 'high' must be an int")
    low, high = (0, low) if high is None else (low or 0, high)
    where = device or input._spec.device
    made = randint(low, high, input._shape, generator=generator, dtype=dtype or input._spec.dtype, device=where)
    return finish(as_beside(made._data, input._data, memory_format), requires_grad, where)
