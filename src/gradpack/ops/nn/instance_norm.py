"""Normalisation of each channel of each element of a batch, by way of a batch of one element."""

from __future__ import annotations

from ...base import late
from ...base.modes import using
from ...core.tensor import Tensor
from ..conv.spatial import check_tensor
from .batch_norm import batch_norm

FUNCTIONS = "instance_norm"


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Bring each channel of each element of the batch, over space, to mean 0 and variance 1, then scale and shift it.

    Args:
        input: shape (batch, channels, *space).
        weight, bias, running_mean, running_var: shape (channels), or None.
        use_input_stats: normalise by the statistics of the input, and move the running ones towards their mean over the
            batch; else normalise by the running ones.
        momentum: how far the running statistics move.
        eps: what is added to the variance before its root is divided by.
        cudnn_enabled: accepted; there is one implementation.

    Raises:
        RuntimeError: if the shapes do not fit, or there are no running statistics to normalise by.

    Example::

        >>> import gradpack as torch
        >>> torch.instance_norm(torch.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 1e-5, True)
        tensor([[[-1.0000,  1.0000]]])
    """
    check_tensor("instance_norm", input=input)
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    if input.ndim < 2:
        raise RuntimeError(f"instance_norm(): Expected at least 2 dimensions, but got shape {list(input._shape)}")
    batch, channels = input._shape[:2]
    given = {"weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var}
    for name, value in given.items():
        if value is not None and value.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {value.numel()}")

    def each(t: Tensor | None) -> Tensor | None:
        return None if t is None else t.repeat(batch)

    means, variances = each(running_mean), each(running_var)
    if not input._spec.dtype.low:  # these may be of any floating dtype
        means, variances = (None if t is None else t.to(input.dtype) for t in (means, variances))
    flat = late.reshape(input, (1, batch * channels, *input._shape[2:]))
    out = batch_norm(flat, each(weight), each(bias), means, variances, use_input_stats, momentum, eps)
    if use_input_stats:
        for running, made in ((running_mean, means), (running_var, variances)):
            if running is not None and made is not None and batch:
                with using(grad=False):
                    running.copy_(late.mean(late.reshape(made, (batch, channels)), 0))
    return late.reshape(out, input._shape)
