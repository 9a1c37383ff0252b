"""What users of tensors meet outside of autograd: sizes, numbers of 16 bits, memory that is shared, who is warned."""

import math
import operator
import re
import warnings

import pytest

SHARED = "some elements of the input tensor and the written-to tensor refer to a single memory location"


# -- sizes --


@pytest.mark.parametrize("name", ["rand", "randn", "zeros", "ones", "empty"])
def test_makers_take_as_many_sizes_as_there_are(torch, name):
    assert getattr(torch, name)(1, 2, 1, 2, 1, 2, 1, 2, 1).shape == (1, 2, 1, 2, 1, 2, 1, 2, 1)


def test_a_size_is_of_ints(torch):
    size = torch.Size([torch.tensor(2), True, 3])
    assert size == (2, 1, 3)
    assert {type(n) for n in size} == {int}
    for wrong in ([2.5], ["a"], [[1]], torch.ones(2)):
        with pytest.raises(TypeError, match="takes an iterable of 'int'"):
            torch.Size(wrong)


def test_sizes_are_joined_from_both_sides(torch):
    size, add = torch.Size([1]), operator.add
    assert type(add(size, (2,))) is type(add((2,), size)) is torch.Size
    assert (add(size, (2,)), add((2,), size)) == ((1, 2), (2, 1))
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        add(size, [2])
    with pytest.raises(TypeError, match="'int'"):
        add(size, (2.5,))

    class Joins:
        def __radd__(self, other):
            return other, "joined"

    assert size + Joins() == (size, "joined")


@pytest.mark.parametrize("wrong", [[3, 3], 3.0])
def test_a_tensor_is_a_size_only_as_one_int(torch, wrong):
    with pytest.raises(TypeError):
        torch.ones(torch.tensor(wrong))
    assert torch.ones(torch.tensor(3)).shape == (3,)


def test_expanded_dimensions_of_one_element_have_a_stride(torch):
    x = torch.rand(5)
    assert x.expand(1, 1, 5).stride() == x.unsqueeze(0).unsqueeze(0).stride() == (5, 5, 1)
    assert x.expand(2, 1, 5).stride() == (0, 5, 1)


# -- 16 bits --


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_round_a_number_before_they_add(torch, dtype):
    dtype = getattr(torch, dtype)
    x = torch.arange(-64, 64).to(dtype) / 7
    number = 3.3
    rounded = torch.tensor(number, dtype=dtype).float()
    for call in (
        lambda x, n: x + n,
        lambda x, n: x - n,
        lambda x, n: n - x,
        lambda x, n: x % n,
        lambda x, n: x.abs() ** n,
    ):
        expected = call(x.float(), rounded.item()).to(dtype)
        assert torch.equal(call(x, number), expected)
        recorded = call(x.clone().requires_grad_(), number)
        assert torch.equal(recorded.detach(), expected)
    assert torch.equal(x.clone().add_(number), (x.float() + rounded).to(dtype))
    assert torch.equal(x + torch.tensor(number), (x.float() + rounded).to(dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_round_once(torch, dtype):
    dtype = getattr(torch, dtype)
    x = torch.arange(-64, 64).to(dtype) / 7
    for call in (lambda x: x * 3.3, lambda x: x / 3.3):
        assert torch.equal(call(x), call(x.float()).to(dtype))


def test_integers_drawn_for_16_bits_stay_in_bounds(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = torch.empty(5000, dtype=torch.bfloat16).random_(-300, 300).double()
        assert drawn.max() <= 299
        assert drawn.min() >= -300
    assert torch.empty(5000, dtype=torch.float16).random_(0, None).double().max() <= 2048


def test_an_imaginary_number_is_true(torch):
    assert torch.tensor([0.5j, 0j, 1]).to(torch.bool).tolist() == [True, False, True]
    assert torch.tensor([0.5j, 0j], dtype=torch.bool).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float16", "bool"])
def test_lists_of_tensors_without_dimensions(torch, dtype):
    x = torch.tensor([0, 1, 1], dtype=getattr(torch, dtype))
    made = torch.tensor([x[1], x[0]])
    assert made.dtype is x.dtype
    assert made.tolist() == [x[1].item(), x[0].item()]
    assert torch.tensor([x[1], x[0]], dtype=torch.float64).tolist() == [1.0, 0.0]


# -- writes --


def test_parts_of_complex_numbers_take_numbers(torch):
    z = torch.tensor([1 + 2j, 3 + 4j])
    z.real = 0
    z.imag = 1.5
    assert z.tolist() == [1.5j, 1.5j]
    with pytest.raises(RuntimeError, match="without overflow"):
        z.imag = 1j


@pytest.mark.parametrize("kind", ["add", "multiply"])
def test_scatter_in_place_combines(torch, kind):
    index = torch.tensor([2, 0])
    combined = {"add": [1.0 + 5.0, 2.0, 3.0 + 4.0], "multiply": [5.0, 2.0, 12.0]}[kind]
    x = torch.tensor([1.0, 2.0, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert x.scatter_(0, index, torch.tensor([4.0, 5.0]), reduce=kind).tolist() == combined
    assert torch.tensor([1.0, 2.0]).scatter_(0, torch.tensor([0]), 3.0, reduce=kind)[1] == 2.0


@pytest.mark.parametrize(
    "call",
    [
        lambda y, i, v: y.index_add_(0, i, y[:3]),
        lambda y, i, v: y.index_copy_(0, i, y[:3]),
        lambda y, i, v: y.put_(i, y[:3]),
        lambda y, i, v: y.index_put_((i,), y[:3]),
        lambda y, i, v: y.scatter_(0, i, y[:3]),
        lambda y, i, v: y.scatter_add_(0, i, y[:3]),
        lambda y, i, v: i.index_add_(0, i, i.clone()),
        lambda y, i, v: i.index_copy_(0, i.clone(), i),
        lambda y, i, v: i.index_fill_(0, i, 0),
        lambda y, i, v: i.put_(i, i.clone()),
        lambda y, i, v: i.index_put_((i,), i.clone()),
        lambda y, i, v: i.scatter_(0, i, 1),
        lambda y, i, v: i.scatter_add_(0, i, i.clone()),
        lambda y, i, v: i.scatter_reduce_(0, i, i.clone(), "sum"),
    ],
)
def test_where_to_write_is_not_what_is_written_to(torch, call):
    y, i, v = torch.arange(6.0), torch.tensor([2, 1, 0]), torch.rand(3)
    with pytest.raises(RuntimeError, match=SHARED):
        call(y, i, v)
    assert y.tolist() == [0, 1, 2, 3, 4, 5]
    assert i.tolist() == [2, 1, 0]


def test_an_element_fills_its_own_tensor(torch):
    y, i = torch.arange(4.0), torch.tensor([1, 2])
    assert y.index_fill_(0, i, y[3]).tolist() == [0, 3, 3, 3]
    assert y.masked_fill_(y > 0, y[0]).tolist() == [0, 0, 0, 0]
    y = torch.arange(4.0)
    assert y.fill_(y[2]).tolist() == [2, 2, 2, 2]
    x = torch.arange(3.0, requires_grad=True)
    w = x.clone()
    w.fill_(w[1]).sum().backward()
    assert x.grad.tolist() == [0, 3, 0]


def test_elements_are_replaced_by_numbers_only(torch):
    for x in (torch.arange(3), torch.arange(3.0)):
        for wrong in ("a", None):
            with pytest.raises(TypeError, match=r"must be real number|cannot be interpreted as an integer"):
                x.apply_(lambda k, wrong=wrong: wrong)


# -- what is refused --


def test_what_has_no_dtype(torch):
    for wrong in (None, object(), {}):
        with pytest.raises(RuntimeError, match="Could not infer dtype of"):
            torch.tensor(wrong)
    for wrong in ("a", [1, "a"]):
        with pytest.raises(TypeError, match="invalid data type 'str'"):
            torch.tensor(wrong)


def test_settings_look_at_what_they_are_given(torch):
    with pytest.raises(TypeError, match="'warn_only' must be bool, not int"):
        torch.use_deterministic_algorithms(False, warn_only=1)
    for call in (torch.set_num_threads, torch.set_num_interop_threads):
        for wrong in (-1, 1.5):
            with pytest.raises(RuntimeError):
                call(wrong)
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            call(2**65)
    for wrong in (-(2**63) - 1, 2**64):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            torch.manual_seed(wrong)
    assert torch.manual_seed(2.7).initial_seed() == 2


def test_new_takes_a_size_by_name(torch):
    assert torch.rand(2).new(size=(3, 4)).shape == (3, 4)


def test_sort_takes_no_word_about_stability(torch):
    assert torch.sort(torch.tensor([2, 1]), stable=None).values.tolist() == [1, 2]


def test_ambiguous_orders_of_dimensions(torch):
    assert torch.empty(2, 3, 4).dim_order(ambiguity_check=True) == (0, 1, 2)
    formats = [torch.contiguous_format, torch.channels_last]
    assert torch.empty(2, 3, 4, 5).dim_order(ambiguity_check=formats) == (0, 1, 2, 3)
    for shape, asked in (((2, 2, 1, 2), True), ((2, 1, 3, 4), formats), ((1, 3, 4, 5), [])):
        with pytest.raises(RuntimeError, match="does not have unique dim order"):
            torch.empty(shape).dim_order(ambiguity_check=asked)
    with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
        torch.empty(2).dim_order(ambiguity_check="contiguous")


# -- warnings --


def test_a_number_of_what_requires_grad(torch):
    x = torch.tensor(2.0, requires_grad=True)
    torch.set_warn_always(True)
    try:
        for call in (float, complex, lambda x: math.pow(x, 3)):
            with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar") as told:
                call(x)
            assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            float(x.detach())
            x.item()
            int(x)
    finally:
        torch.set_warn_always(False)


@pytest.mark.parametrize(
    "call",
    [
        lambda torch: torch.add(torch.ones(2), 1, out=torch.zeros(3)),
        lambda torch: torch.cat([torch.ones(2)], out=torch.zeros(3)),
        lambda torch: torch.cumsum(torch.ones(2), 0, out=torch.zeros(3)),
        lambda torch: torch.var(torch.ones(1)),
        lambda torch: torch.nn.functional.mse_loss(torch.ones(2), torch.ones(1)),
        lambda torch: torch.nn.functional.softmax(torch.ones(2)),
        lambda torch: torch.tensor(torch.ones(2)),
    ],
)
def test_warnings_point_to_the_call(torch, call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(torch)
    assert [w.filename for w in told] == [__file__] * len(told)
    assert told


def test_what_is_said_of_a_resized_output(torch):
    said = "An output with one or more elements was resized since it had shape [3], which does not match the required"
    with pytest.warns(UserWarning, match=re.escape(said)) as told:
        torch.add(torch.ones(2), 1, out=torch.zeros(3))
    assert "will not be resized unless they have zero elements" in str(told[0].message)


# -- memory that nobody has written to --


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64", "int32", "uint8", "bool"])
def test_deterministic_algorithms_fill_what_is_empty(torch, dtype):
    dtype = getattr(torch, dtype)
    zeros = torch.zeros(2, 3, dtype=dtype)
    calls = (
        lambda: torch.empty(2, 3, dtype=dtype),
        lambda: torch.empty(2, 3, out=torch.zeros(1, dtype=dtype)),
        lambda: torch.empty_like(zeros),
        lambda: torch.empty_like(zeros.t(), memory_format=torch.contiguous_format),
        lambda: zeros.new_empty(2, 3),
        lambda: torch.empty_strided((2, 3), (1, 2), dtype=dtype),
        lambda: torch.empty_permuted((2, 3), (1, 0), dtype=dtype),
    )
    torch.use_deterministic_algorithms(True)
    try:
        for call in calls:
            made = call()
            if dtype.is_floating_point or dtype.is_complex:
                assert made.isnan().all()
            else:
                assert made.eq(True if dtype is torch.bool else torch.iinfo(dtype).max).all()
        torch.utils.deterministic.fill_uninitialized_memory = False
        assert torch.empty(3).shape == (3,)
        assert torch.zeros(3).tolist() == [0, 0, 0]
    finally:
        torch.utils.deterministic.fill_uninitialized_memory = True
        torch.use_deterministic_algorithms(False)


def test_the_setting_of_memory_is_a_bool(torch):
    with pytest.raises((TypeError, RuntimeError)):
        torch.utils.deterministic.fill_uninitialized_memory = 1
    assert torch.utils.deterministic.fill_uninitialized_memory is True
