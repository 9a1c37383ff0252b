"""`SyncBatchNorm`, which in one process is batch normalisation of inputs of any number of dimensions."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .batch_norm import _BatchNorm
from .module import Module


class SyncBatchNorm(_BatchNorm):
    """Brings each channel of (batch, channels, ...) to mean 0 and variance 1, over the batches of all processes.

    There is one process here, whose batch is the whole: see `BatchNorm1d` for the arguments. Models that are written
    for several processes run as they are.

    Args:
        process_group: kept, and otherwise of no meaning.

    Raises:
        ValueError: for inputs without a dimension of channels, and without channels.

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
        made = cls(
            module.num_features,
            module.eps,
            module.momentum,
            module.affine,
            module.track_running_stats,
            process_group,
            bias=module.bias is not None,
        )
        made._parameters.update(module._parameters)
        made._buffers.update(module._buffers)
        made.training = module.training
        if hasattr(module, "qconfig"):
            made.qconfig = module.qconfig
        return made
