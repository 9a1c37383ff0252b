"""Transposed convolutions of groups, with the batch normalization after them."""

import gradpack as torch


def test_transposed_convolutions_of_groups():
    conv = torch.nn.ConvTranspose2d(4, 6, 2, groups=2).eval()
    bn = torch.nn.BatchNorm2d(6).eval()
    bn.running_mean.copy_(torch.arange(6) - 1.0)
    bn.running_var.copy_(torch.arange(6) + 0.5)
    x = torch.randn(2, 4, 3, 3)
    fused = torch.nn.utils.fuse_conv_bn_eval(conv, bn, transpose=True)
    assert torch.allclose(fused(x), bn(conv(x)), atol=1e-5)
