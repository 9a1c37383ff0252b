"""Layers that normalise over batches, instances and groups of channels."""

from __future__ import annotations

import warnings
from typing import Any

from ..base.dtypes import int64
from ..core.tensor import Tensor
from ..ops.create.create import tensor
from ..ops.create.fill import empty, ones, zeros
from . import functional as F
from . import init
from .module import Module
from .normalize import _Affine
from .parameter import Parameter


class _NormBase(Module):
    """Base class of the normalisation layers that may track running statistics."""

    _version = 2
    dims: tuple[int, ...] = ()  # how many dimensions an input may have
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64, device=device) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Running means zeros, variances ones."""
        if self.track_running_stats:
            methods: Any = self
            methods.running_mean.zero_()
            methods.running_var.fill_(1)
            methods.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros, statistics as at the beginning."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if not self.dims:
            raise NotImplementedError
        if input.dim() not in self.dims:
            words = " or ".join(f"{n}D" for n in self.dims)
            raise ValueError(f"expected {words} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(  # type: ignore[override]
        self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any
    ) -> None:
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = tensor(0, dtype=int64) if self.num_batches_tracked is None else self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        own = self._buffers
        if self.training and self.track_running_stats and own["num_batches_tracked"] is not None:
            count: Any = own["num_batches_tracked"]
            count.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(count)
        mean, var = own["running_mean"], own["running_var"]
        by_batch = self.training or (mean is None and var is None)
        if self.training and not self.track_running_stats:
            mean = var = None
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Brings each channel of (batch, channels) or (batch, channels, length) to mean 0 and variance 1.

    Args:
        num_features: how many channels.
        eps: keeps the division away from zero.
        momentum: how far the running statistics move towards those of a batch; None for their average so far.
        affine: scale and shift by a learned `weight`, which starts as ones, and `bias`, zeros?
        track_running_stats: keep running statistics, and use them in evaluation?

    Example::

        >>> import gradpack as torch
        >>> torch.nn.BatchNorm1d(2)(torch.tensor([[1.0, 2.0], [3.0, 6.0]])).tolist()[0][0] < -0.99
        True
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Brings each channel of (batch, channels, height, width) to mean 0 and variance 1: see `BatchNorm1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.BatchNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
        gradpack.Size([2, 3, 4, 4])
    """

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Brings each channel of (batch, channels, depth, height, width) to mean 0 and variance 1: see `BatchNorm1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.BatchNorm3d(3)(torch.randn(2, 3, 2, 2, 2)).shape
        gradpack.Size([2, 3, 2, 2, 2])
    """

    dims = (5,)


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(  # type: ignore[override]
        self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any
    ) -> None:
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            found = [prefix + n for n in ("running_mean", "running_var") if prefix + n in state_dict]
            if found:
                names, kind = " and ".join(f'"{k}"' for k in found), type(self).__name__
                args[-1].append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False: they stem "
                    f"from a very old checkpoint. Remove these keys, or set track_running_stats=True in {kind}."
                )
                for key in found:
                    state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def _normalise(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _get_no_batch_dim(self) -> int:
        return self.dims[0]

    def forward(self, input: Tensor) -> Any:
        self._check_input_dim(input)
        dim = input.dim() - self._get_no_batch_dim()
        alone = not dim
        if input.shape[dim] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.shape[dim]}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        return self._normalise(input.unsqueeze(0)).squeeze(0) if alone else self._normalise(input)


class InstanceNorm1d(_InstanceNorm):
    """Brings each channel of each element of (batch, channels, length), or without batch, to mean 0 and variance 1.

    Args:
        affine: scale and shift by a learned `weight` and `bias`?
        track_running_stats: keep running statistics, and use them in evaluation?

    Example::

        >>> import gradpack as torch
        >>> torch.nn.InstanceNorm1d(1)(torch.tensor([[[1.0, 1.0]]])).tolist()
        [[[0.0, 0.0]]]
    """

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Brings each channel of each image of (batch, channels, height, width) to mean 0: see `InstanceNorm1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.InstanceNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
        gradpack.Size([2, 3, 4, 4])
    """

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Brings each channel of each volume of (batch, channels, depth, height, width) to mean 0: see `InstanceNorm1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.InstanceNorm3d(3)(torch.randn(2, 3, 2, 2, 2)).shape
        gradpack.Size([2, 3, 2, 2, 2])
    """

    dims = (4, 5)


class GroupNorm(_Affine):
    """Brings each of `num_groups` groups of channels to mean 0 and variance 1, then scales and shifts each channel.

    Raises:
        ValueError: unless the channels divide evenly.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.GroupNorm(2, 4)(torch.randn(3, 4, 5)).shape
        gradpack.Size([3, 4, 5])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._register_affine(num_channels, affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides by (k + alpha * the average square over `size` neighbouring channels) ** beta.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LocalResponseNorm(2)(torch.ones(1, 4, 3)).shape
        gradpack.Size([1, 4, 3])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
