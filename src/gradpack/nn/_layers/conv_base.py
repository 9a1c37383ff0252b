"""The base class of convolutions: settings, checks and weights."""

from __future__ import annotations

import math
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ...ops.create.fill import empty
from .. import init
from ..modules.module import Module
from ..modules.utils import _reverse_repeat_tuple
from ..parameter import Parameter


class _ConvNd(Module):
    ndim: int
    transposed = False
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            strings = {"same", "valid"}
            if padding not in strings:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {strings}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = {"zeros", "reflect", "replicate", "circular"}
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _pads(padding, kernel_size, dilation)
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *kernel_size), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize weight and bias with random values."""
        with no_grad():
            init.kaiming_uniform_(self.weight, a=math.sqrt(5))
            if self.bias is not None:
                fan_in = math.prod(self.weight.shape[1:])
                bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        n = len(self.kernel_size)
        usual = {"padding": (0,) * n, "dilation": (1,) * n, "output_padding": (0,) * n, "groups": 1}
        text += "".join(f", {name}={getattr(self, name)}" for name in usual if getattr(self, name) != usual[name])
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


def _pads(padding: Any, kernel_size: Any, dilation: Any) -> tuple[int, ...]:
    """Return the padding in the order of `F.pad`: before and after, from the last dimension on."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    totals = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, kernel_size, strict=True)]
    return tuple(pad for total in reversed(totals) for pad in (total // 2, total - total // 2))
