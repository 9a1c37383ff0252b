"""The backend class by which einops supports gradpack: einops finds it among its `AbstractBackend` subclasses."""

from __future__ import annotations

from typing import Any

from einops._backends import AbstractBackend

from ..base import dtypes
from ..core.tensor import Tensor
from ..ops import methods


def _ours(name: str) -> Any:
    return methods.EXPORTED.get(name) or methods.exported(name)


class GradpackBackend(AbstractBackend):
    """The operations of gradpack under the names that einops has for them."""

    framework_name = "gradpack"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Any:
        made = _ours("from_numpy")(x)
        return made.requires_grad_() if self.is_float_type(made) else made

    def to_numpy(self, x: Any) -> Any:
        return x.detach().cpu().numpy()

    def arange(self, start: int, stop: int) -> Any:
        return _ours("arange")(start, stop, dtype=dtypes.int64)

    def shape(self, x: Any) -> Any:
        return x.shape

    def transpose(self, x: Any, axes: Any) -> Any:
        return x.permute(axes)

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        if operation in ("min", "max"):
            return getattr(x, f"a{operation}")(tuple(axes))
        if operation in ("sum", "mean"):
            return getattr(x, operation)(tuple(axes))
        if operation not in ("any", "all", "prod"):
            raise NotImplementedError(f"einops reduction {operation!r} is not known: use min, max, sum, mean or prod")
        for axis in sorted(axes, reverse=True):
            x = getattr(x, operation)(axis)
        return x

    def stack_on_zeroth_dimension(self, tensors: Any) -> Any:
        return _ours("stack")(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = x.unsqueeze(position)
            sizes[position] = length
        return x.expand(sizes)

    def tile(self, x: Any, repeats: Any) -> Any:
        return x.repeat(repeats)

    def concat(self, tensors: Any, axis: int) -> Any:
        return _ours("cat")(tensors, axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(x.is_floating_point() or x.is_complex())

    def einsum(self, pattern: str, *x: Any) -> Any:
        return _ours("einsum")(pattern, *x)
