"""Layers that normalise over each channel of each element of a batch."""

from __future__ import annotations

import warnings
from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .._public import give_all
from .batchnorm import _lazy_norm, _NormBase


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
        by_input = self.training or not self.track_running_stats
        factor = 0.0 if self.momentum is None else self.momentum
        mean, var = self.running_mean, self.running_var
        return F.instance_norm(input, mean, var, self.weight, self.bias, by_input, factor, self.eps)

    def _get_no_batch_dim(self) -> int:
        return self.dims[0]

    def forward(self, input: Tensor) -> Tensor:
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
    """Brings each channel of each element of a batch to mean 0 and variance 1.

    `(x - mean) / sqrt(var + eps) * weight + bias`. Mean and variance are those of each channel of each element, in
    training and, unless running statistics are kept, in evaluation.

    Args:
        num_features: the number of channels.
        eps: what is added to the variance.
        momentum: how far the running statistics move.
        affine: whether to scale and shift by a learned weight and bias.
        track_running_stats: whether to keep running statistics, and use them in evaluation.
        bias: whether there is a bias, besides the weight.

    Shape:
        input: (batch, channels, length), or without batch; and so is the output.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.InstanceNorm1d(1)(torch.tensor([[[1.0, 1.0]]])).tolist()
        [[[0.0, 0.0]]]
    """

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Brings each channel of each element of a batch to mean 0 and variance 1.

    `(x - mean) / sqrt(var + eps) * weight + bias`. Mean and variance are those of each channel of each element, in
    training and, unless running statistics are kept, in evaluation.

    Args:
        num_features: the number of channels.
        eps: what is added to the variance.
        momentum: how far the running statistics move.
        affine: whether to scale and shift by a learned weight and bias.
        track_running_stats: whether to keep running statistics, and use them in evaluation.
        bias: whether there is a bias, besides the weight.

    Shape:
        input: (batch, channels, height, width), or without batch; and so is the output.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.InstanceNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
        gradpack.Size([2, 3, 4, 4])
    """

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Brings each channel of each element of a batch to mean 0 and variance 1.

    `(x - mean) / sqrt(var + eps) * weight + bias`. Mean and variance are those of each channel of each element, in
    training and, unless running statistics are kept, in evaluation.

    Args:
        num_features: the number of channels.
        eps: what is added to the variance.
        momentum: how far the running statistics move.
        affine: whether to scale and shift by a learned weight and bias.
        track_running_stats: whether to keep running statistics, and use them in evaluation.
        bias: whether there is a bias, besides the weight.

    Shape:
        input: (batch, channels, depth, height, width), or without batch; and so is the output.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.InstanceNorm3d(3)(torch.randn(2, 3, 2, 2, 2)).shape
        gradpack.Size([2, 3, 2, 2, 2])
    """

    dims = (4, 5)


LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = map(
    _lazy_norm, (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)


give_all(globals())
