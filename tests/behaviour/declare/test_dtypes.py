"""Integers without a sign, complex numbers in half precision: making them, and what can be done with them."""

from __future__ import annotations

import numpy as np
import pytest

UNSIGNED = ["uint16", "uint32", "uint64"]


@pytest.mark.parametrize("name", UNSIGNED)
def test_making_and_converting(torch, name):
    d = getattr(torch, name)
    most = 2 ** (8 * d.itemsize) - 1
    assert torch.iinfo(d).max == most and torch.iinfo(d).min == 0 and not d.is_signed
    x = torch.tensor([1, most], dtype=d)
    assert x.tolist() == [1, most] and x[1].item() == most and x.dtype is d
    assert x.numpy().dtype == name and torch.from_numpy(x.numpy()).dtype is d
    assert str(x) == f"tensor([{1:>{len(str(most))}}, {most}], dtype={d})"
    assert torch.tensor([-1]).to(d).tolist() == [most] and x.to(torch.int64)[0].item() == 1
    assert torch.zeros(2, dtype=d).tolist() == [0, 0] and torch.full((2,), most, dtype=d)[0].item() == most
    assert x.float().dtype is torch.float32 and x.bool().tolist() == [True, True]
    assert x.type().endswith(f"UInt{8 * d.itemsize}Tensor")


@pytest.mark.parametrize("name", UNSIGNED)
def test_few_operations(torch, name):
    d = getattr(torch, name)
    x = torch.tensor([[1, 2], [2, 5]], dtype=d)
    same = [x * 2, x & x, torch.cat([x, x]), torch.stack([x, x]), x.t(), torch.where(x == 2, x, 0), x[x == 2]]
    assert all(y.dtype is d for y in same)
    assert (x * 2).tolist() == [[2, 4], [4, 10]] and x[x == 2].tolist() == [2, 2]
    assert x.unique().tolist() == [1, 2, 5] and x.sum().dtype is torch.int64 and x.sum().item() == 10
    assert (x + 1.5).dtype is torch.float32 and (x / 2).dtype is torch.float32 and x.sin().dtype is torch.float32
    refused = [
        lambda: x + 1,
        lambda: -x,
        lambda: x < 2,
        lambda: x @ x,
        lambda: x.max(),
        lambda: x.abs(),
        lambda: x.clamp(0, 1),
        lambda: x.tril(),
        lambda: x.masked_fill(x == 1, 0),
        lambda: x.gather(0, torch.tensor([[0]])),
        lambda: x.flatten().bincount(),
        lambda: torch.arange(3, dtype=d),
        lambda: torch.eye(3, dtype=d),
        lambda: torch.rand(3, dtype=d),
    ]
    for call in refused:
        with pytest.raises(NotImplementedError, match=f"not implemented for 'UInt{8 * d.itemsize}'"):
            call()


def test_no_common_dtype(torch):
    x = torch.tensor([1], dtype=torch.uint16)
    for other in "bool uint8 int8 int64 uint32 uint64 complex64".split():
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            torch.promote_types(torch.uint16, getattr(torch, other))
    with pytest.raises(RuntimeError, match="attempted to promote UInt16 and Long"):
        x + torch.tensor([1])
    with pytest.raises(RuntimeError, match="attempted to promote UInt16 and Int"):
        torch.result_type(x, torch.tensor([1], dtype=torch.int32))
    assert torch.promote_types(torch.uint16, torch.float16) is torch.float16
    assert torch.promote_types(torch.uint64, torch.uint64) is torch.uint64
    assert torch.result_type(x, 1.0) is torch.float32 and torch.can_cast(torch.int64, torch.uint16)
    with pytest.raises(RuntimeError):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for UInt16"):
        torch.uint16.to_complex()


# A call, and the exception that it raises because the number does not fit; or the one element of its result.
NUMBERS = [
    (lambda t: t.tensor(300, dtype=t.uint8), RuntimeError),
    (lambda t: t.tensor([[1, 2], [3, 300]], dtype=t.uint8), RuntimeError),
    (lambda t: t.tensor(-255, dtype=t.uint8), 1),
    (lambda t: t.tensor(-256, dtype=t.uint8), RuntimeError),
    (lambda t: t.tensor(-1.5, dtype=t.uint8), RuntimeError),
    (lambda t: t.tensor(-200, dtype=t.int8), RuntimeError),
    (lambda t: t.tensor([128, 1.5], dtype=t.int8), RuntimeError),
    (lambda t: t.tensor(2**31, dtype=t.int32), RuntimeError),
    (lambda t: t.tensor(2**63), ValueError),
    (lambda t: t.tensor(-(2**63) - 1), ValueError),
    (lambda t: t.tensor(2**63, dtype=t.uint32), ValueError),
    (lambda t: t.tensor(-1, dtype=t.uint32), 2**32 - 1),
    (lambda t: t.tensor(-1, dtype=t.uint64), OverflowError),
    (lambda t: t.tensor(2**64, dtype=t.uint64), OverflowError),
    (lambda t: t.tensor(1.5, dtype=t.uint64), TypeError),
    (lambda t: t.tensor(1e20, dtype=t.int64), RuntimeError),
    (lambda t: t.tensor(float("nan"), dtype=t.int64), RuntimeError),
    (lambda t: t.tensor(1 + 1j, dtype=t.float32), TypeError),
    (lambda t: t.tensor([1 + 0j], dtype=t.int64), TypeError),
    (lambda t: t.tensor(1e20, dtype=t.float16), float("inf")),
    (lambda t: t.tensor(2**70, dtype=t.float64), float(2**70)),
    (lambda t: t.as_tensor([300], dtype=t.uint8), RuntimeError),
    (lambda t: t.ones(3).new_tensor([2**40], dtype=t.int32), RuntimeError),
    (lambda t: t.full((1,), -8, dtype=t.uint8), 248),
    (lambda t: t.full((1,), 300, dtype=t.uint8), RuntimeError),
    (lambda t: t.full((1,), 1e20, dtype=t.int32), RuntimeError),
    (lambda t: t.full((2,), 1e20, dtype=t.float16), RuntimeError),
    (lambda t: t.full((1,), float("inf"), dtype=t.float16), float("inf")),
    (lambda t: t.full((1,), 1 + 1j, dtype=t.float32), RuntimeError),
    (lambda t: t.full((1,), 2**64), OverflowError),
    (lambda t: t.full((1,), -1, dtype=t.uint64), 2**64 - 1),
    (lambda t: t.full_like(t.ones(1), 1 + 1j), RuntimeError),
    (lambda t: t.full_like(t.ones(1, dtype=t.int32), 1e20), RuntimeError),
    (lambda t: t.scalar_tensor(1 + 1j, dtype=t.float32), RuntimeError),
    (lambda t: t.scalar_tensor(300, dtype=t.uint8), RuntimeError),
    (lambda t: t.scalar_tensor(-3, dtype=t.uint8), 253),
    (lambda t: t.tensor(3).fill_(2**64), OverflowError),
    (lambda t: t.tensor(3.0).fill_(2**63), float(2**63)),
    (lambda t: t.zeros(1, dtype=t.uint64).fill_(2**63), 2**63),
]


@pytest.mark.parametrize("case", range(len(NUMBERS)))
def test_numbers_that_do_not_fit(torch, case):
    call, expected = NUMBERS[case]
    if isinstance(expected, type):
        with pytest.raises(expected):
            call(torch)
    else:
        assert call(torch).item() == expected


def test_an_array_is_converted_as_it_is(torch):
    assert torch.tensor(np.array([300]), dtype=torch.uint8).tolist() == [44]


half_complex = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")


@half_complex
def test_complex_numbers_in_half_precision(torch):
    d = torch.complex32
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=d)
    assert torch.chalf is d and d.itemsize == 4 and d.is_complex and d.to_real() is torch.float16
    assert torch.float16.to_complex() is d and torch.promote_types(d, torch.bfloat16) is torch.complex64
    assert x.tolist() == [1 + 2j, 3 - 1j] and x[1].item() == 3 - 1j
    assert str(x) == f"tensor([1.+2.j, 3.-1.j], dtype={d})"
    assert (
        (x * x + x).tolist() == [-2 + 6j, 11 - 7j] and (x * x).dtype is d and (x == x.clone()).tolist() == [True, True]
    )
    assert x.abs().dtype is torch.float16 and x.real.tolist() == [1, 3] and x.imag.dtype is torch.float16
    assert x.conj().tolist() == [1 - 2j, 3 + 1j] and x.cfloat().dtype is torch.complex64
    assert torch.view_as_real(x).tolist() == [[1, 2], [3, -1]]
    assert torch.view_as_complex(torch.ones(2, 2, dtype=torch.half)).dtype is d
    assert torch.complex(x.real, x.imag).tolist() == x.tolist() and (x.real * 1j).dtype is d
    assert torch.ones(2).chalf().tolist() == [1, 1] and torch.full((2,), 1j, dtype=d).tolist() == [1j, 1j]
    assert torch.cat([x, torch.ones(1, dtype=d)]).tolist() == [1 + 2j, 3 - 1j, 1]
    with pytest.raises(TypeError, match="unsupported ScalarType ComplexHalf"):
        x.numpy()
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexHalf'"):
        torch.arange(3, dtype=d)


@half_complex
def test_writes_to_complex_numbers_in_half_precision(torch):
    x = torch.zeros(3, dtype=torch.complex32)
    x[0] = 5
    x[1:] = torch.tensor([1j, 2])
    assert x.tolist() == [5, 1j, 2]
    part = x[1:]
    part.mul_(2)
    assert x.tolist() == [5, 2j, 4] and part.fill_(3j).tolist() == [3j, 3j] and x[2].item() == 3j
    x.real.zero_()
    assert x.copy_(x + 1).tolist() == [1, 1 + 3j, 1 + 3j] and x.zero_().tolist() == [0, 0, 0]
    assert x.normal_().abs().sum().item() > 0


@half_complex
def test_gradients_of_complex_numbers_in_half_precision(torch):
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex32, requires_grad=True)
    loss = lambda: (x * x + x.reshape(2, 1).reshape(2) + x).abs().sum()  # noqa: E731
    wide = x.detach().cfloat().requires_grad_()
    (expected,) = torch.autograd.grad((wide * wide + 2 * wide).abs().sum(), wide)
    loss().backward()
    assert x.grad.dtype is torch.complex32 and torch.allclose(x.grad.cfloat(), expected, rtol=2e-3)
    loss().backward()
    assert torch.allclose(x.grad.cfloat(), 2 * expected, rtol=2e-3)
    seed = torch.ones(2, dtype=torch.complex32)
    (g,) = torch.autograd.grad(x * x, x, seed, create_graph=True)
    assert g.dtype is torch.complex32 and g.tolist() == [2 - 4j, 6 + 2j]
    (g,) = torch.autograd.grad(torch.view_as_real(x).sum(), x)
    assert g.tolist() == [1 + 1j, 1 + 1j]
    pairs = torch.ones(2, 2, dtype=torch.half, requires_grad=True)
    for y in torch.view_as_complex(pairs), torch.complex(pairs[..., 0], pairs[..., 1]):
        (g,) = torch.autograd.grad((y * y).abs().sum(), pairs)
        assert g.dtype is torch.float16 and g.tolist() == [[2, 2], [2, 2]]


def test_alpha_of_bool_is_for_results_of_bool(torch):
    one = torch.tensor([1])
    for alpha in (1, 2):
        assert torch.add(one, one, alpha=alpha).tolist() == [1 + alpha]
    with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results"):
        torch.add(one, one, alpha=True)


def test_seeds_of_complex32(torch):
    x = torch.ones(2, dtype=torch.complex32, requires_grad=True)
    (g,) = torch.autograd.grad(torch.fill(x, True), x, torch.ones(2, dtype=torch.complex32))
    assert g.dtype is torch.complex32 and g.tolist() == [0, 0]


def test_limits_of_one_dtype_are_equal(torch):
    assert torch.finfo(torch.float32) == torch.finfo() != torch.finfo(torch.float64)
    assert torch.finfo(torch.complex64) == torch.finfo(torch.float32) != 3
    assert torch.iinfo(torch.int8) == torch.iinfo(torch.int8) != torch.iinfo(torch.int16)
    with pytest.raises(TypeError, match="unhashable"):
        hash(torch.iinfo(torch.int8))
