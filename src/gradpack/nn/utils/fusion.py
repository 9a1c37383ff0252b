"""A layer and the batch normalization after it as one layer, for evaluating."""

from __future__ import annotations

import copy
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill_like import ones_like, zeros_like
from ...ops.pointwise.exponential import rsqrt
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused(layer: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a copy of a layer, with the weights that also do the batch normalization after it."""
    fused = copy.deepcopy(layer)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        layer.weight, layer.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("fusing needs running statistics: the normalization was made without them")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of a convolution that also does the batch normalization after it. Both must be evaluating.

    Args:
        conv: the convolution.
        bn: the batch normalization after it.
        transpose: for a transposed convolution.

    Raises:
        AssertionError: if either is training, or the normalization has no running statistics.

    Example::

        >>> import gradpack as torch
        >>> conv, bn = torch.nn.Conv1d(2, 3, 1).eval(), torch.nn.BatchNorm1d(3).eval()
        >>> bn.running_mean += 1
        >>> x = torch.randn(4, 2, 5)
        >>> fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn)
        >>> torch.allclose(fused(x), bn(conv(x)), atol=1e-6)
        True
    """
    _check(conv, bn)
    return _fused(conv, bn, transpose)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution that also does a batch normalization.

    Args:
        conv_w: weight of the convolution, of shape (out, in / groups, ...), transposed (in, out / groups, ...).
        conv_b: its bias; None for zeros.
        bn_rm: the running mean of the normalization, of shape (out,).
        bn_rv: its running variance.
        bn_eps: what it adds to the variance.
        bn_w: its weight; None for ones.
        bn_b: its bias; None for zeros.
        transpose: for a transposed convolution.

    Example::

        >>> import gradpack as torch
        >>> one = torch.ones(1)
        >>> weight, bias = torch.nn.utils.fuse_conv_bn_weights(torch.ones(1, 1, 1), None, one, 4 * one, 0.0, None, one)
        >>> weight.item(), bias.item()
        (0.5, 0.5)
    """
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    factor = rsqrt(bn_rv + bn_eps) * (ones_like(bn_rm) if bn_w is None else bn_w)
    shift = (bias - bn_rm) * factor + (zeros_like(bn_rm) if bn_b is None else bn_b)
    spread = (1,) * (conv_w.ndim - 2)
    if transpose:
        per_group = conv_w.shape[1]
        groups = factor.numel() // per_group
        by_row = factor.reshape(groups, per_group).repeat_interleave(conv_w.shape[0] // groups, 0)
        weight = conv_w * by_row.reshape((*by_row.shape, *spread))
    else:
        weight = conv_w * factor.reshape((-1, 1, *spread))
    return _parameters(weight, shift, conv_w, conv_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of a linear layer that also does the batch normalization after it. Both must be evaluating.

    Args:
        linear: the linear layer.
        bn: the batch normalization after it.

    Raises:
        AssertionError: if either is training, or their sizes differ, or the normalization has no running statistics.

    Example::

        >>> import gradpack as torch
        >>> linear, bn = torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(3).eval()
        >>> x = torch.randn(4, 2)
        >>> torch.allclose(torch.nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-6)
        True
    """
    _check(linear, bn)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            f"To fuse, linear.out_features == bn.num_features or bn.num_features == 1: they are {linear.out_features} "
            f"and {bn.num_features}"
        )
    return _fused(linear, bn)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer that also does a batch normalization.

    Args:
        linear_w: weight of the linear layer, of shape (out, in).
        linear_b: its bias; None for zeros.
        bn_rm: the running mean of the normalization, of shape (out,).
        bn_rv: its running variance.
        bn_eps: what it adds to the variance.
        bn_w: its weight; None for ones.
        bn_b: its bias; None for zeros.

    Example::

        >>> import gradpack as torch
        >>> one = torch.ones(1)
        >>> weight, bias = torch.nn.utils.fuse_linear_bn_weights(torch.ones(1, 1), None, one, 4 * one, 0.0, one, one)
        >>> weight.item(), bias.item()
        (0.5, 0.5)
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _parameters(weight: Tensor, bias: Tensor, old: Tensor, old_bias: Tensor | None) -> tuple[Parameter, Parameter]:
    """Make leaves of the old dtypes that require grad where the old ones did."""
    kind = old.dtype if old_bias is None else old_bias.dtype
    return (
        Parameter(weight.detach().to(old.dtype), old.requires_grad),
        Parameter(bias.detach().to(kind), old_bias is not None and old_bias.requires_grad),
    )
