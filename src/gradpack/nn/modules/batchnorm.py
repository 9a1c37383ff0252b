"""Layers that normalise over batches."""

from __future__ import annotations

import sys
from typing import Any

from ...base.dtypes import int64
from ...core.tensor import Tensor
from ...ops.create.create import tensor
from ...ops.create.fill import empty, ones, zeros
from .. import functional as F
from .. import init
from .._public import give_all
from ..parameter import Parameter, UninitializedBuffer
from .lazy import _LazyLayer, _named
from .module import Module


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
            own = self.num_batches_tracked
            state_dict[key] = tensor(0, dtype=int64) if own is None or own.device.type == "meta" else own
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
    """Brings each channel of a batch to mean 0 and variance 1, then scales and shifts it.

    `(x - mean) / sqrt(var + eps) * weight + bias`. In training, mean and variance are those of the batch, and running
    averages of them are kept; in evaluation, the running ones are taken. The running variance is that with `n - 1`.

    Args:
        num_features: the number of channels.
        eps: what is added to the variance.
        momentum: how far the running statistics move towards those of a batch: `running = (1 - momentum) * running +
            momentum * new`; None for their average so far.
        affine: whether to scale and shift by a learned weight and bias.
        track_running_stats: whether to keep running statistics; without, those of the batch are taken in evaluation,
            too.
        bias: whether there is a bias, besides the weight.

    Shape:
        input: (batch, channels) or (batch, channels, length), and so is the output.
        weight: (channels): ones at the start.
        bias: (channels): zeros at the start.
        running_mean, running_var: (channels), buffers: zeros and ones at the start.

    Raises:
        ValueError: for an input of other dimensions, or one number for each channel only, in training.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.BatchNorm1d(2)
        >>> x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
        >>> torch.allclose(layer(x), torch.tensor([[-1.0, -1.0], [1.0, 1.0]]), atol=1e-4)
        True
        >>> layer.running_mean, layer.running_var  # a tenth of the way to (2, 4) and (2, 8)
        (tensor([0.2000, 0.4000]), tensor([1.1000, 1.7000]))
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Brings each channel of a batch to mean 0 and variance 1, then scales and shifts it.

    `(x - mean) / sqrt(var + eps) * weight + bias`. In training, mean and variance are those of the batch, and running
    averages of them are kept; in evaluation, the running ones are taken. The running variance is that with `n - 1`.

    Args:
        num_features: the number of channels.
        eps: what is added to the variance.
        momentum: how far the running statistics move towards those of a batch: `running = (1 - momentum) * running +
            momentum * new`; None for their average so far.
        affine: whether to scale and shift by a learned weight and bias.
        track_running_stats: whether to keep running statistics; without, those of the batch are taken in evaluation,
            too.
        bias: whether there is a bias, besides the weight.

    Shape:
        input: (batch, channels, height, width), and so is the output.
        weight: (channels): ones at the start.
        bias: (channels): zeros at the start.
        running_mean, running_var: (channels), buffers: zeros and ones at the start.

    Raises:
        ValueError: for an input of other dimensions, or one number for each channel only, in training.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.BatchNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
        gradpack.Size([2, 3, 4, 4])
    """

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Brings each channel of a batch to mean 0 and variance 1, then scales and shifts it.

    `(x - mean) / sqrt(var + eps) * weight + bias`. In training, mean and variance are those of the batch, and running
    averages of them are kept; in evaluation, the running ones are taken. The running variance is that with `n - 1`.

    Args:
        num_features: the number of channels.
        eps: what is added to the variance.
        momentum: how far the running statistics move towards those of a batch: `running = (1 - momentum) * running +
            momentum * new`; None for their average so far.
        affine: whether to scale and shift by a learned weight and bias.
        track_running_stats: whether to keep running statistics; without, those of the batch are taken in evaluation,
            too.
        bias: whether there is a bias, besides the weight.

    Shape:
        input: (batch, channels, depth, height, width), and so is the output.
        weight: (channels): ones at the start.
        bias: (channels): zeros at the start.
        running_mean, running_var: (channels), buffers: zeros and ones at the start.

    Raises:
        ValueError: for an input of other dimensions, or one number for each channel only, in training.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.BatchNorm3d(3)(torch.randn(2, 3, 2, 2, 2)).shape
        gradpack.Size([2, 3, 2, 2, 2])
    """

    dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Brings each channel of (batch, channels, ...) to mean 0 and variance 1, over the batches of all processes.

    With one process, whose batch is the whole, it is as `BatchNorm1d`, which says what the arguments are. As in
    PyTorch, statistics are not exchanged between processes that compute on the CPU.

    Args:
        process_group: the processes; all of them unless it is given.

    Raises:
        ValueError: for inputs without a dimension of channels, and without channels; and in training, if there are
            several processes.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.SyncBatchNorm(2)(torch.randn(3, 2, 4, 4)).shape
        gradpack.Size([3, 2, 4, 4])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        self._check_non_zero_input_channels(input)
        dist: Any = sys.modules.get("gradpack.distributed")
        if self.training and dist is not None and dist.is_initialized() and dist.get_world_size(self.process_group) > 1:
            raise ValueError(
                "SyncBatchNorm: statistics are not exchanged between ranks on the CPU: use the layers of BatchNorm"
            )

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Put a `SyncBatchNorm` in place of each batch normalisation in a module, with its parameters and buffers.

        Returns:
            The module, or the new layer if it is a batch normalisation itself.

        Example::

            >>> import gradpack as torch
            >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
            >>> type(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]).__name__
            'SyncBatchNorm'
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls._like(module, process_group)
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result

    @classmethod
    def _like(cls, module: _BatchNorm, process_group: Any) -> SyncBatchNorm:
        """Return a layer with the options and the same tensors of another."""
        options = (module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats)
        made = cls(*options, process_group, bias=module.bias is not None)
        made._parameters.update(module._parameters)
        made._buffers.update(module._buffers)
        made.training = module.training
        if hasattr(module, "qconfig"):
            made.qconfig = module.qconfig
        return made


class _LazyNormBase(_LazyLayer, _NormBase):
    """Base class of the lazy normalisation layers: `num_features` is taken from the first input."""

    sized_by = "num_features"

    def initialize_parameters(self: Any, input: Tensor) -> None:
        """Weight, bias and statistics for the features of `input`."""
        shape = (tuple(input.shape)[1],)
        self._materialize(*shape, weight=shape, bias=shape, running_mean=shape, running_var=shape)


def _lazy_norm(base: Any) -> Any:
    instance = base.__name__.startswith("Instance")

    class Lazy(_LazyNormBase, base.__base__):  # type: ignore[misc]
        cls_to_become = base
        dims = base.dims

        def __init__(
            self,
            eps: float = 1e-5,
            momentum: float | None = 0.1,
            affine: bool = True,
            track_running_stats: bool = True,
            device: Any = None,
            dtype: Any = None,
            *,
            bias: bool = True,
        ) -> None:
            super().__init__(0, eps, momentum, False, False)
            self.affine, self.track_running_stats = affine, track_running_stats
            if affine:
                self._later(bias, device, dtype)
            if track_running_stats:
                self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
                self.running_var = UninitializedBuffer(device=device, dtype=dtype)
                self.num_batches_tracked = tensor(0, dtype=int64, device=device)

    kind = "an instance" if instance else "a batch"
    return _named(Lazy, base, f"{kind} normalization whose `num_features` is that of the first input", "()")


LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = map(_lazy_norm, (BatchNorm1d, BatchNorm2d, BatchNorm3d))


give_all(globals())
