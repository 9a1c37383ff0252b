"""Layers that take in the batch normalization after them."""

from __future__ import annotations

import pytest


def normalization(torch, kind, n, **options):
    bn = getattr(torch.nn, kind)(n, **options).eval()
    bn.running_mean.copy_(torch.arange(n) - 1.0)
    bn.running_var.copy_(torch.arange(n) + 0.5)
    if bn.affine:
        with torch.no_grad():
            bn.weight.copy_(torch.arange(n) * 0.5 + 1)
            bn.bias.copy_(torch.arange(n) * -0.25)
    return bn


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions(torch, bias, affine, groups):
    conv = torch.nn.Conv2d(2, 4, 2, bias=bias, groups=groups).eval()
    bn = normalization(torch, "BatchNorm2d", 4, affine=affine)
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn)
    x = torch.randn(3, 2, 4, 4)
    assert torch.allclose(fused(x), bn(conv(x)), atol=1e-5)
    assert type(fused) is type(conv) and fused is not conv and fused.weight.is_leaf
    assert fused.weight.requires_grad and fused.bias.requires_grad is bias
    assert (conv.bias is not None) is bias


def test_transposed_convolutions(torch):
    conv, bn = torch.nn.ConvTranspose1d(2, 3, 2).eval(), normalization(torch, "BatchNorm1d", 3)
    x = torch.randn(1, 2, 4)
    assert torch.allclose(torch.nn.utils.fuse_conv_bn_eval(conv, bn, transpose=True)(x), bn(conv(x)), atol=1e-5)


@pytest.mark.parametrize("n", [1, 3])
def test_linear_layers(torch, n):
    linear, bn = torch.nn.Linear(2, 3).eval(), normalization(torch, "BatchNorm1d", n)
    fused, x = torch.nn.utils.fuse_linear_bn_eval(linear, bn), torch.randn(4, 2)
    by_hand = (linear(x) - bn.running_mean) / (bn.running_var + bn.eps) ** 0.5 * bn.weight + bn.bias
    assert torch.allclose(fused(x), by_hand, atol=1e-5)


def test_dtypes_stay(torch):
    conv, bn = torch.nn.Conv1d(2, 3, 1).to(torch.float16).eval(), normalization(torch, "BatchNorm1d", 3)
    conv.weight.requires_grad_(False)
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn)
    assert fused.weight.dtype is torch.float16 and fused.bias.dtype is torch.float16
    assert not fused.weight.requires_grad and fused.bias.requires_grad


def test_what_cannot_be_fused(torch):
    fuse = torch.nn.utils.fuse_conv_bn_eval
    conv, bn = torch.nn.Conv1d(2, 3, 1), torch.nn.BatchNorm1d(3)
    for layer, norm in (conv, bn.eval()), (conv.eval(), torch.nn.BatchNorm1d(3)):
        layer.train(norm is bn)
        with pytest.raises(AssertionError, match="Fusion only for eval!"):
            fuse(layer, norm)
    with pytest.raises(AssertionError):
        fuse(conv.eval(), torch.nn.BatchNorm1d(3, track_running_stats=False).eval())
    with pytest.raises(RuntimeError, match="size of tensor"):
        fuse(conv, normalization(torch, "BatchNorm1d", 4))
    with pytest.raises(AssertionError, match=r"linear\.out_features == bn\.num_features"):
        torch.nn.utils.fuse_linear_bn_eval(torch.nn.Linear(2, 3).eval(), normalization(torch, "BatchNorm1d", 2))
