"""What functions that make and fill tensors take, and what they refuse."""

from __future__ import annotations

import array

import numpy as np
import pytest


def test_lists_with_tensors_of_one_element(torch):
    one = torch.tensor([7])
    assert torch.tensor([one, torch.tensor(2)]).tolist() == [7, 2]
    assert torch.tensor([[one, 2], [3, torch.tensor([[4]])]]).tolist() == [[7, 2], [3, 4]]
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
        torch.tensor([torch.ones(2), torch.ones(2)])


def test_numbers_with_dtypes_of_their_own_decide(torch):
    assert torch.tensor([1.0, 2.0]).dtype is torch.float32
    assert torch.tensor([1.0, np.float64(2)]).dtype is torch.float64
    assert torch.tensor([1.0, torch.tensor(2.0, dtype=torch.float64)]).dtype is torch.float64
    assert torch.tensor([[1, 2], [3, 4.5]]).dtype is torch.float32


def test_any_sequence(torch):
    class Some:
        def __init__(self, items):
            self.items = items

        def __len__(self):
            return 3

        def __getitem__(self, i):
            return self.items[i]

    assert torch.tensor(Some([1.0, 2.0, 3.0])).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="could not determine the shape of object type 'Some'"):
        torch.tensor(Some(None))


@pytest.mark.parametrize(
    ("dtype", "low", "high", "words"),
    [
        ("uint8", -1, 4, "from is out of bounds for unsigned char"),
        ("uint8", 0, 257, "to - 1 is out of bounds for unsigned char"),
        ("bool", 0, 3, "to - 1 is out of bounds for bool"),
        ("int16", -40000, 4, "from is out of bounds for short"),
        ("int32", 5, 5, "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
    ],
)
def test_random_integers_fit_the_dtype(torch, dtype, low, high, words):
    x = torch.ones(4, dtype=getattr(torch, dtype))
    before = x.tolist()
    with pytest.raises(RuntimeError, match=words):
        x.random_(low, high)
    assert x.tolist() == before


def test_random_integers_up_to_the_ends_of_64_bits(torch):
    x = torch.empty(1000, dtype=torch.int64)
    assert (x.random_(-(2**63), None) < 0).any() and (x > 0).any()
    assert x.random_(2**62, None).min() >= 2**62
    assert set(torch.empty(100, dtype=torch.bool).random_(0, 2).tolist()) == {False, True}
    assert torch.empty(20000, dtype=torch.uint8).random_().max() == 255
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^11\), 2\^11\]"):
        torch.empty(3, dtype=torch.float16).random_(0, 3000)


def test_uniform_numbers_within_the_dtype(torch):
    x = torch.zeros(3)
    for bounds, words in (((-1e39, 1), "from is out of bounds"), ((-3e38, 3e38), "to-from"), ((2, 1), "range")):
        with pytest.raises(RuntimeError, match=words):
            x.uniform_(*bounds)
    assert x.tolist() == [0, 0, 0]


def test_permutations_fit_the_dtype(torch):
    assert sorted(torch.randperm(129, dtype=torch.uint8).tolist()) == list(range(129))
    with pytest.raises(RuntimeError, match="n cannot be greater than 2049 for Half"):
        torch.randperm(4096, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="cannot be converted"):
        torch.randperm(300, dtype=torch.int8)
    with pytest.raises(RuntimeError, match='"randperm" not implemented for'):
        torch.randperm(3, dtype=torch.bool)


def test_asarray_of_a_buffer_and_of_a_capsule(torch):
    floats = array.array("f", [1, 2])
    x = torch.asarray(floats)
    floats[0] = 5
    assert x.tolist() == [5, 2]
    assert torch.asarray(bytearray(b"ab"), dtype=torch.uint8).tolist() == [97, 98]
    y = torch.ones(2)
    z = torch.asarray(y.__dlpack__())
    y[0] = 3
    assert z.tolist() == [3, 1]


def test_asarray_that_may_not_copy(torch):
    x = torch.ones(2)
    assert torch.asarray(x, copy=False) is x
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Float' into dtype 'Double'"):
        torch.asarray(x, dtype=torch.float64, copy=False)
    with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
        torch.asarray([1, 2], copy=False)
    with pytest.raises(RuntimeError, match="can't alias NumPy scalars"):
        torch.asarray(np.float64(1), copy=False)


def test_asarray_and_history(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert torch.asarray(y, requires_grad=True) is y
    assert torch.asarray(y, copy=True, requires_grad=True).grad_fn is not None
    assert not torch.asarray(y, requires_grad=False).requires_grad
    assert torch.asarray([1.0], requires_grad=True).requires_grad


def test_range(torch):
    out = torch.zeros(0)
    with pytest.warns(UserWarning, match="range is deprecated"):
        torch.range(1, 0, -1, out=out)
    assert out.tolist() == [1, 0]
    for args, words in (((0, 3, 0), "step must be nonzero"), ((0, 3, -1), "inconsistent"), ((0, float("inf")), "unsu")):
        with pytest.warns(UserWarning, match="deprecated"), pytest.raises(RuntimeError, match=words):
            torch.range(*args)


def test_spaced_values_with_complex_ends(torch):
    powers = torch.logspace(0, 1j, 3)
    assert powers.dtype is torch.complex64 and abs(powers[2].item() - 10**1j) < 1e-6
    with pytest.raises(RuntimeError, match="can't be safely cast to passed dtype Float"):
        torch.linspace(0, 1j, 3, dtype=torch.float32)
    with pytest.raises(RuntimeError, match="only supports 0-dimensional start and end tensors"):
        torch.linspace(torch.ones(1), 1, 3)


def test_numbers_out_of_complex_ones(torch):
    assert float(torch.tensor(2 + 0j)) == 2.0 and complex(torch.tensor(1.5j)) == 1.5j
    for kind in float, int:
        with pytest.raises(RuntimeError, match="without overflow"):
            kind(torch.tensor(1.5j))


def test_repeats(torch):
    for bad, words in (([[1, 2]], "1D vector"), ([1, -1], "repeats can not be negative")):
        with pytest.raises(RuntimeError, match=words):
            torch.repeat_interleave(torch.tensor(bad))
    with pytest.raises(RuntimeError, match="repeats must be 0-dim or 1-dim tensor"):
        torch.repeat_interleave(torch.ones(2), torch.ones(2, 2, dtype=torch.int64), dim=0)
    with pytest.raises(RuntimeError, match="not implemented for 'Float'"):
        torch.repeat_interleave(torch.ones(2), torch.ones(2), dim=0)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda t: t.ones(2).flip(), TypeError, "missing 1 required positional argument"),
        (lambda t: t.ones(2, 3).movedim((0, 0), (1, 0)), RuntimeError, "movedim: repeated dim in `source`"),
        (lambda t: t.ones(2, 3).movedim((0, 1), (0, -2)), RuntimeError, "movedim: repeated dim in `destination`"),
        (lambda t: t.rot90(t.ones(2, 2), 1, [0, -2]), RuntimeError, "expected rotation dims to be different"),
        (lambda t: t.ones(3, 2).topk(2, True), TypeError, "must be int, not bool"),
        (lambda t: t.nonzero(t.ones(2), as_tuple=True, out=t.zeros(0)), RuntimeError, "does not support the out"),
        (lambda t: t.empty_strided((2,), ()), RuntimeError, "dimensionality of sizes"),
        (lambda t: t.Tensor(t.ones(1), device="cpu"), RuntimeError, "Legacy tensor constructor"),
        (lambda t: t.ones(1).new(t.ones(1), device="cpu"), RuntimeError, "Legacy tensor new"),
        (lambda t: t.full(2, 1.0), TypeError, "must be tuple of ints, not int"),
        (lambda t: t.full(t.tensor([2]), 1), TypeError, "must be tuple of ints, not Tensor"),
        (lambda t: t.ones(2).new_full(2, 1.0), TypeError, "must be tuple of ints, not int"),
        (lambda t: t.ones(2).uniform_(low=0), TypeError, "unexpected keyword argument 'low'"),
        (lambda t: t.ones(2).uniform_(a=0), TypeError, "unexpected keyword argument 'a'"),
        (lambda t: t.ones(2).random_(unknown=1), TypeError, "unexpected keyword|invalid combination"),
    ],
)
def test_arguments_that_mean_nothing(torch, call, kind, words):
    with pytest.raises(kind, match=words):
        call(torch)


def test_joining_nothing_but_empty_vectors(torch):
    empty = torch.zeros(0)
    assert torch.cat([empty, empty], 1).shape == torch.cat([empty], 3).shape == (0,)
    assert torch.cat([empty, torch.ones(2, 3)], 1).shape == (2, 3)


@pytest.mark.parametrize("name", ["chunk", "unsafe_chunk"])
def test_chunks_of_a_dimension_without_elements(torch, name):
    assert [part.shape for part in getattr(torch, name)(torch.zeros(3, 0), 2, 1)] == [(3, 0)] * 2


def test_msort_into_a_tensor(torch):
    out = torch.zeros(2)
    assert torch.msort(torch.tensor([3.0, 1.0]), out=out) is out and out.tolist() == [1, 3]


@pytest.mark.parametrize("make", ["Tensor", "FloatTensor", "new", "subclass"])
def test_the_old_constructor_makes_views_that_are_followed(torch, make):
    class Sub(torch.Tensor):
        pass

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    call = {"Tensor": torch.Tensor, "FloatTensor": torch.FloatTensor, "new": x.new, "subclass": Sub}[make]
    y = call(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y._is_view() and y.grad_fn.name() == "AliasBackward0"
    assert type(y) is (Sub if make == "subclass" else torch.Tensor)
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    c = torch.ones(2)
    z = call(c)
    z.add_(1)
    assert c.tolist() == [2.0, 2.0] and c._version == 1 and not z.requires_grad


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True to a scalar")  # once
@pytest.mark.parametrize("make", ["Tensor", "FloatTensor", "new"])
def test_the_old_constructor_takes_lists_of_tensors_that_require_grad(torch, make):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    call = {"Tensor": torch.Tensor, "FloatTensor": torch.FloatTensor, "new": x.new}[make]
    for given, expected in (([x[0], x[1]], [1.0, 2.0]), ([[x[0]], [x[1]]], [[1.0], [2.0]]), ([x[0], 3], [1.0, 3.0])):
        assert call(given).tolist() == expected and not call(given).requires_grad
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
        call([x, x])
    if make == "Tensor":
        with pytest.raises(TypeError, match=r"new\(\) received an invalid combination of arguments"):
            call(x, x)


def test_a_list_of_tensors_that_require_grad_warns(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar may lead to"):
            assert torch.tensor([x[0], x[1]]).tolist() == [1.0, 2.0]
        with torch.no_grad():
            assert torch.tensor([x[0], x[1]]).tolist() == [1.0, 2.0]
    finally:
        torch.set_warn_always(False)
