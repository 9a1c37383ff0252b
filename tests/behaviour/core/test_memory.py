"""How tensors lie in memory: views as other dtypes, sizes changed in place, strides of empty ones, masks."""

from __future__ import annotations

import warnings

import pytest


def test_view_as_another_dtype(torch):
    x = torch.arange(8.0).reshape(2, 4)
    wider, narrower = x.view(torch.float64), x.view(torch.int16)
    assert wider.shape == (2, 2) and wider.stride() == (2, 1) and narrower.shape == (2, 8)
    assert wider.data_ptr() == x.data_ptr() and torch.equal(wider.view(torch.float32), x)
    y = torch.ones(2, requires_grad=True)
    for dtype in (torch.float32, torch.int32, torch.float16):
        assert not y.view(dtype).requires_grad
    x.view(torch.int32).zero_()
    assert x.sum() == 0 and x._version == 1


@pytest.mark.parametrize(
    ("make", "dtype", "message"),
    [
        (lambda t: t.ones(3), "float64", r"self.size\(-1\) must be divisible by 2 to view Float as Double"),
        (lambda t: t.ones(5)[1:], "float64", r"self.storage_offset\(\) must be divisible by 2 to view Float as Double"),
        (lambda t: t.tensor(1.0), "int64", r"self.dim\(\) cannot be 0 to view Float as Long"),
        (lambda t: t.ones(4, 4).t(), "float16", r"self.stride\(-1\) must be 1 to view Float as Half"),
        (
            lambda t: t.ones(4, 4, 2).as_strided((4, 4, 2), (2, 1, 1)),
            "float64",
            r"self.stride\(1\) must be divisible by 2 to view Float as Double \(different element sizes\), but got 1",
        ),
    ],
)
def test_view_as_another_dtype_refused(torch, make, dtype, message):
    with pytest.raises(RuntimeError, match=message):
        make(torch).view(getattr(torch, dtype))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.tensor(1.0), "Input tensor must have one or more dimensions"),
        (lambda t: t.ones(3, 2, 2).transpose(1, 2), "Tensor must have a last dimension with stride 1"),
        (lambda t: t.ones(2, 2, 3).transpose(0, 2)[..., :1], "Tensor must have a last dimension of size 2"),
        (lambda t: t.ones(9).as_strided((2, 2), (1, 1)), "Tensor must have a stride divisible by 2 for all but last"),
        (lambda t: t.tensor([]), "Tensor must have a last dimension of size 2"),
    ],
)
def test_view_as_complex_refused(torch, make, message):
    with pytest.raises(RuntimeError, match=message):
        torch.view_as_complex(make(torch))


def test_views_of_nothing_are_views(torch):
    x = torch.zeros(0, 4)
    assert x.reshape(4, 0)._base is x and x.view(-1)._is_view() and x.flatten()._is_view()
    z = torch.zeros(0, dtype=torch.complex64)
    assert torch.view_as_real(z)._base is z
    y = torch.ones(2, 3, 4, 5)[..., 1]
    assert y[:, 1:1].stride() == y.stride() == (60, 20, 5) and y[:, 1:1].is_contiguous()
    assert torch.zeros(2, 0, 3).stride() == (3, 3, 1)


def test_resize_in_place(torch, real):
    x = torch.arange(3.0)
    assert x.resize_(3, 2, 2, 2, memory_format=torch.channels_last).stride() == (8, 1, 4, 2)
    assert x.is_contiguous(memory_format=torch.channels_last) and x[0, :, 0, 0].tolist() == [0.0, 1.0]
    template = torch.ones(2, 3, 2, 2).contiguous(memory_format=torch.channels_last)
    assert torch.ones(2).resize_as_(template, memory_format=torch.preserve_format).stride() == template.stride()
    assert torch.ones(2).resize_as_(template).stride() == (12, 4, 2, 1)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(2).resize_(2, 2, memory_format=torch.channels_last)
    y = torch.zeros((), dtype=torch.float64)
    for sizes, message in (
        ([2, 4, 2**29, 2**29], "Storage size calculation overflowed with sizes="),
        ([8, 8, 2**29, 2**29], "numel: integer multiplication overflow"),
        ([0, 4, 2305843009213693952], "Stride calculation overflowed"),
    ):
        with pytest.raises(RuntimeError, match=message):
            y.resize_(sizes)
    assert real or y.shape == ()  # refused, and left as it was


def test_set_takes_a_storage(torch):
    source, x = torch.arange(10.0), torch.tensor(())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x.set_(source.storage(), storage_offset=0, size=torch.Size([4]), stride=[2])
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0] and x.data_ptr() == source.data_ptr()
    assert x.set_(source.untyped_storage(), 1, (2,), (3,)).tolist() == [1.0, 4.0]


def test_values_at_a_mask(torch):
    a = torch.arange(4)

    def put(values):
        a[a > -1] = torch.tensor(values)

    with pytest.raises(RuntimeError, match="shape mismatch"):
        put([])
    with pytest.raises(RuntimeError, match="shape mismatch"):
        put([1, 2, 3])
    with pytest.raises(RuntimeError, match="got Long for the destination and Float for the source"):
        put([1.0, 2.0, 3.0, 4.0])
    assert a.tolist() == [0, 1, 2, 3]
    put(1.5)
    assert a.tolist() == [1, 1, 1, 1]
    with pytest.raises(TypeError, match="does not support deleting items"):
        del a[0]


def test_byte_masks_warn_where_they_are_used(torch):
    x, mask = torch.arange(3.0), torch.tensor([1, 0, 1], dtype=torch.uint8)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        first = x[mask]
        second = x[mask]
    assert first.tolist() == second.tolist() == [0.0, 2.0]
    assert {w.filename for w in seen} == {__file__} and len({w.lineno for w in seen}) == 2


def test_what_a_tensor_lists(torch):
    x = torch.ones(2, 2)
    names = dir(x)
    assert "shape" in names and "volatile" not in names and "__cuda_array_interface__" not in names
    for name in names:
        if name != "imag":
            assert hasattr(x, name), name


def test_history_of_a_view_that_was_taken_again(torch):
    def written(x):
        out = x.clone().view(-1)
        out.add_(1)
        return out

    x = torch.ones(2, 2, requires_grad=True)
    names = []
    for forced in (False, True):
        with torch.autograd._force_original_view_tracking(forced):
            assert torch.autograd.is_view_replay_enabled() is forced
            out = written(x)
            names.append(out.grad_fn.name())
            x.grad = None
            (out * torch.arange(4.0)).sum().backward()
        assert x.grad.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert names == ["AsStridedBackward0", "ViewBackward0"]
