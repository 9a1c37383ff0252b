"""Numbers that do not fit: ints of more than 64 bits, numbers beyond a dtype, lists that are too deep."""

from __future__ import annotations

import operator

import pytest

BIG = 2**70
TOO_BIG, NEGATIVE = "int too big to convert", "can't convert negative int to unsigned"
BINARY = [
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow eq ne lt le gt ge and_ or_ xor lshift rshift".split()
]
INPLACE = [
    getattr(operator, name) for name in "iadd isub imul ifloordiv imod ipow iand ior ixor ilshift irshift".split()
]


@pytest.mark.parametrize("call", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", ["int64", "uint8", "float32", "bool"])
def test_operators_refuse_numbers_of_more_than_64_bits(torch, call, kind):
    bits = call in BINARY[-5:]
    if (bits and kind == "float32") or (kind == "bool" and call in (operator.sub, operator.pow)):
        return
    x = torch.ones(2, dtype=getattr(torch, kind))
    for number, words in ((BIG, TOO_BIG), (2**64, TOO_BIG), (-BIG, NEGATIVE), (-(2**63) - 1, NEGATIVE)):
        with pytest.raises(OverflowError, match=words):
            call(x, number)
        with pytest.raises(OverflowError, match=words):
            call(number, x)


@pytest.mark.parametrize("call", INPLACE, ids=lambda f: f.__name__)
def test_operators_in_place_refuse_them_and_write_nothing(torch, call):
    x = torch.ones(2, dtype=torch.int64)
    with pytest.raises(OverflowError, match=TOO_BIG):
        call(x, BIG)
    assert x.tolist() == [1, 1] and x._version == 0


FUNCTIONS = {
    "add": lambda t, x, n: x.add(n),
    "alpha": lambda t, x, n: x.add(x, alpha=n),
    "rsub": lambda t, x, n: t.rsub(x, n),
    "div": lambda t, x, n: x.div(n, rounding_mode="floor"),
    "remainder": lambda t, x, n: t.remainder(n, x),
    "fmod": lambda t, x, n: x.fmod(n),
    "clamp": lambda t, x, n: x.clamp(0, n),
    "clamp_": lambda t, x, n: x.clamp_(max=n),
    "clamp_min": lambda t, x, n: x.clamp_min(n),
    "eq_": lambda t, x, n: x.eq_(n),
    "where": lambda t, x, n: t.where(x == 1, x, n),
    "where of two numbers": lambda t, x, n: t.where(x == 1, n, 1),
    "fill_": lambda t, x, n: x.fill_(n),
    "full": lambda t, x, n: t.full((2,), n),
    "full_like": lambda t, x, n: t.full_like(x, n),
    "masked_fill": lambda t, x, n: x.masked_fill(x == 1, n),
    "index_fill": lambda t, x, n: x.index_fill(0, t.tensor([0]), n),
    "scatter": lambda t, x, n: x.scatter(0, t.tensor([0]), n),
    "isin": lambda t, x, n: t.isin(x, n),
    "arange": lambda t, x, n: t.arange(0, 3, n),
    "linspace": lambda t, x, n: t.linspace(0, n, 3),
    "result_type": lambda t, x, n: t.result_type(x, n),
    "bitwise_and": lambda t, x, n: t.bitwise_and(n, x),
    "float_power": lambda t, x, n: x.float_power(n),
    "two numbers": lambda t, x, n: t.add(n, 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_refuse_numbers_of_more_than_64_bits(torch, name):
    for number, words in ((BIG, TOO_BIG), (-BIG, NEGATIVE)):
        with pytest.raises(OverflowError, match=words):
            FUNCTIONS[name](torch, torch.ones(2, dtype=torch.int64), number)


def test_numbers_of_uint64_wrap_around_as_others_do(torch):
    x = torch.ones(2, dtype=torch.int64)
    assert (x + 2**63).tolist() == [-(2**63) + 1] * 2
    assert (x < 2**63).tolist() == [False, False] and (x == 2**64 - 1).tolist() == [False, False]
    assert (torch.ones(2) < 2**63).tolist() == [True, True]
    assert (torch.full((1,), 5, dtype=torch.int8) == 261).tolist() == [True]
    for call in (lambda: x.bool() + 2**63, lambda: torch.result_type(2**63, 2)):
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            call()


UNFIT = {
    "alpha": (lambda t, x: x.add(x, alpha=300), "int8_t"),
    "clamp": (lambda t, x: x.clamp(max=300), "int8_t"),
    "clamp_max": (lambda t, x: x.clamp_max(300), "int8_t"),
    "clamp of float32": (lambda t, x: x.float().clamp(max=1e300), "float"),
    "clamp of float16": (lambda t, x: x.half().clamp(max=1e5), "c10::Half"),
    "pow": (lambda t, x: x.pow(300), "int8_t"),
    "pow of int64": (lambda t, x: x.long() ** 2**63, "int64_t"),
    "where": (lambda t, x: t.where(x == 1, x, 300), "int8_t"),
    "beta": (lambda t, x: t.addmv(x, x.expand(2, 2), x, beta=300), "int8_t"),
    "addmm": (lambda t, x: t.addmm(x[:1, None], x[:1, None], x[:1, None], alpha=300), "int8_t"),
    "addcmul": (lambda t, x: t.addcmul(x, x, x, value=300), "int8_t"),
    "pad": (lambda t, x: t.nn.functional.pad(x, (1, 0), value=300), "int8_t"),
    "fill_": (lambda t, x: x.fill_(300), "int8_t"),
    "a fraction below zero": (lambda t, x: x.to(t.uint8).fill_(-0.5), "uint8_t"),
    "complex": (lambda t, x: x.to(t.complex64).fill_(1e300), "c10::complex<float>"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_numbers_beyond_a_dtype_are_refused(torch, name):
    call, kind = UNFIT[name]
    with pytest.raises(RuntimeError, match=f"value cannot be converted to type {kind} without overflow"):
        call(torch, torch.ones(2, dtype=torch.int8))


@pytest.mark.parametrize(
    "make",
    [
        lambda t, n: t.tensor(n),
        lambda t, n: t.tensor([1, n]),
        lambda t, n: t.tensor([n, 1], dtype=t.int32),
        lambda t, n: t.as_tensor([n]),
        lambda t, n: t.LongTensor([n]),
        lambda t, n: t.ones(2)[[n]],
        lambda t, n: t.ones(2)[[0, n]],
        lambda t, n: t.ones(2).__setitem__([n], 1),
        lambda t, n: t.ones(2).__setitem__(n, 1),
        lambda t, n: t.ones(2, 2).__setitem__((0, n), 1),
    ],
)
def test_integers_of_new_tensors_and_indices_have_63_bits(torch, make):
    for number in (2**63, BIG, -BIG):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            make(torch, number)


def test_typed_constructors_refuse_what_does_not_fit(torch):
    for make, number in ((torch.IntTensor, 2**40), (torch.ByteTensor, 300), (torch.CharTensor, 127.5)):
        with pytest.raises(RuntimeError, match="without overflow"):
            make([number])


def itself(items=()):
    """A list that contains itself, first or after others."""
    found = list(items)
    found.append(found)
    return found


MAKERS = {
    "tensor": lambda t, data: t.tensor(data),
    "tensor of float32": lambda t, data: t.tensor(data, dtype=t.float32),
    "as_tensor": lambda t, data: t.as_tensor(data),
    "asarray": lambda t, data: t.asarray(data),
    "Tensor": lambda t, data: t.Tensor(data),
    "LongTensor": lambda t, data: t.LongTensor(data),
    "new_tensor": lambda t, data: t.ones(1).new_tensor(data),
    "new": lambda t, data: t.ones(1).new(data),
}


@pytest.mark.parametrize("name", MAKERS)
def test_lists_that_contain_themselves(torch, name):
    deep: list = [1.0]
    for _ in range(200):
        deep = [deep]
    pair: list = []
    pair += [pair, pair]
    for data in (itself(), pair, [itself()], itself()[0], (itself(),), deep):
        with pytest.raises(ValueError, match=r"too many dimensions '(list|tuple)'"):
            MAKERS[name](torch, data)
    if name != "Tensor":  # dtypes are inferred first
        return
    for data in (itself([1.0]), itself([[1.0]])):
        with pytest.raises(TypeError):
            torch.tensor(data)


def test_lists_deeper_than_arrays_have_dimensions(torch, real):
    deep: list = [1.0]
    for _ in range(63):
        deep = [deep]
    assert torch.tensor(deep).shape == (1,) * 64
    if not real:  # whose tensors have up to 128
        with pytest.raises(ValueError, match="too many dimensions 'list'"):
            torch.tensor([deep])


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        ([1, [2]], TypeError, "'list' object cannot be interpreted as an integer"),
        ([1.5, [2]], TypeError, "must be real number, not list"),
        ([[1], 2], TypeError, "not a sequence"),
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([[[1], [2]], [[3], 4]], TypeError, "not a sequence"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ([1, "a"], TypeError, "invalid data type 'str'"),
        (b"ab", TypeError, "invalid data type 'bytes'"),
        ([b"ab"], TypeError, "invalid data type 'bytes'"),
        ([1, None], RuntimeError, "Could not infer dtype of NoneType"),
    ],
)
def test_lists_of_what_is_no_number(torch, data, kind, words):
    with pytest.raises(kind, match=words):
        torch.tensor(data)


def test_what_is_no_number_is_no_number_of_a_dtype_either(torch):
    for make in (lambda data: torch.tensor(data, dtype=torch.float32), torch.Tensor, torch.FloatTensor):
        for data, words in (([None], "must be real number, not NoneType"), ([1, "2"], "must be real number, not str")):
            with pytest.raises(TypeError, match=words):
                make(data)
        with pytest.raises(ValueError, match="too many dimensions 'str'"):
            make(["1"])
    with pytest.raises(TypeError, match="'NoneType' object cannot be interpreted as an integer"):
        torch.tensor([None], dtype=torch.int64)


def test_any_sequence_makes_a_tensor(torch):
    assert torch.tensor([range(3)]).tolist() == [[0, 1, 2]]
    assert torch.LongTensor(range(3)).tolist() == [0, 1, 2]
    assert torch.Tensor([torch.tensor(3), 2]).tolist() == [3.0, 2.0]


@pytest.mark.parametrize("index", [b"0", b"", ([b"0"],), "a"])
def test_text_is_no_index(torch, index):
    x = torch.ones(2)
    with pytest.raises(TypeError, match=r"invalid data type '(bytes|str)'"):
        x[index]
    with pytest.raises(TypeError, match=r"invalid data type '(bytes|str)'"):
        x[index] = 1


def test_lists_that_are_no_index(torch):
    x = torch.ones(2)
    for index, kind, words in (
        ([{}], RuntimeError, "Could not infer dtype of dict"),
        ([[0], [1, 0]], ValueError, "expected sequence of length 1"),
        ([1j], TypeError, "'complex' object cannot be interpreted as an integer"),
    ):
        with pytest.raises(kind, match=words):
            x[index,]


def test_comparisons_of_16_bits_round_numbers_first(torch):
    for kind in (torch.float16, torch.bfloat16):
        x = torch.full((2,), 0.1, dtype=kind)
        assert (x == 0.1).all() and not (x != 0.1).any() and not (x < 0.1).any() and not (x > 0.1).any()
        assert (x == torch.tensor(0.1)).all()
        assert x.clone().eq_(0.1).tolist() == [1.0, 1.0]
    x = torch.full((2,), 256, dtype=torch.bfloat16)
    assert (x == 257).tolist() == [True, True] and (x - 257).tolist() == [0.0, 0.0]
    assert (torch.full((2,), float("inf"), dtype=torch.float16) == 1e10).tolist() == [True, True]
