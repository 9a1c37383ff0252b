"""`to` and the methods named after dtypes: order of memory, nodes, and when a tensor comes back as it is."""

from __future__ import annotations

import pytest

METHODS = "float double half bfloat16 int long short char byte bool cfloat cdouble".split()
LAST = (24, 1, 8, 2)  # strides of (2, 2, 3, 4) with the channels last


@pytest.mark.parametrize("method", METHODS)
def test_memory_format(torch, method):
    x = torch.arange(48.0).reshape(2, 2, 3, 4)
    assert getattr(x, method)(memory_format=torch.channels_last).stride() == LAST
    last = x.contiguous(memory_format=torch.channels_last)
    assert getattr(last, method)().stride() == LAST
    assert getattr(last, method)(memory_format=torch.contiguous_format).stride() == (24, 12, 4, 1)
    assert getattr(last, method)(memory_format=torch.preserve_format).stride() == LAST


def test_only_memory_format(torch):
    x = torch.arange(48.0).reshape(2, 2, 3, 4)
    last = x.float(memory_format=torch.channels_last)
    assert last is not x and last.stride() == LAST and torch.equal(last, x)
    assert last.float(memory_format=torch.channels_last) is last
    assert x.cpu(memory_format=torch.contiguous_format) is x
    assert x.cpu(memory_format=torch.channels_last).stride() == LAST
    turned = x.permute(3, 2, 0, 1)
    assert turned.to(torch.float32, memory_format=torch.contiguous_format) is turned  # not seen to be otherwise
    assert turned.to(torch.float32, memory_format=torch.contiguous_format, copy=True).is_contiguous()
    assert turned.to(torch.float64, memory_format=torch.contiguous_format).is_contiguous()


def test_every_copy_is_one_node(torch):
    x = torch.arange(48.0).reshape(2, 2, 3, 4).requires_grad_()
    for made in (
        x.to(torch.float64),
        x.to(torch.float32, copy=True),
        x.to(memory_format=torch.channels_last),
        x.double(memory_format=torch.channels_last),
    ):
        assert made.grad_fn.name() == "ToCopyBackward0"
        (g,) = torch.autograd.grad(made.sum(), x)
        assert g.dtype is torch.float32 and torch.equal(g, torch.ones_like(x))


def test_bad_memory_formats(torch):
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(2, 3).double(memory_format=torch.channels_last)
    with pytest.raises(TypeError, match=r"double\(\).*'memory_format'.* must be torch.memory_format, not int"):
        torch.ones(2, 3).double(memory_format=3)
