"""Arguments by torch's names for them, and what whole numbers become where torch cuts them off."""

from __future__ import annotations

import pytest

FACTORIES = ("zeros", "ones", "empty", "rand", "randn")


@pytest.mark.parametrize("name", FACTORIES)
def test_factories_take_the_size_by_name(torch, name):
    assert getattr(torch, name)(size=(2, 3)).shape == (2, 3)
    with pytest.raises(TypeError):
        getattr(torch, name)()


@pytest.mark.parametrize(
    ("name", "keyword", "value", "shape"),
    [
        ("reshape", "shape", (3, 2), (3, 2)),
        ("view", "size", (6,), (6,)),
        ("expand", "size", (4, 2, 3), (4, 2, 3)),
        ("permute", "dims", (1, 0), (3, 2)),
        ("repeat", "repeats", (2, 1), (4, 3)),
        ("tile", "dims", (2,), (2, 6)),
        ("sum_to_size", "size", (1, 3), (1, 3)),
        ("resize_", "size", (2, 2), (2, 2)),
        ("new_zeros", "size", (4,), (4,)),
        ("new_ones", "size", (4,), (4,)),
        ("new_empty", "size", (4,), (4,)),
    ],
)
def test_methods_of_many_numbers_take_them_by_name(torch, name, keyword, value, shape):
    assert getattr(torch.zeros(2, 3), name)(**{keyword: value}).shape == shape


@pytest.mark.filterwarnings("ignore:.*lu_solve is deprecated")
def test_other_names(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.swapaxes(x, axis0=0, axis1=1).tolist() == x.swapaxes(axis0=1, axis1=0).tolist() == x.T.tolist()
    assert x.clone().swapaxes_(axis0=0, axis1=1).tolist() == x.T.tolist()
    assert torch.zeros(2, 2).copy_(other=x).tolist() == x.tolist()
    assert torch.zeros(1).resize_as_(the_template=x).shape == (2, 2)
    assert [p.tolist() for p in torch.hsplit(x, sections=2)] == [[[1.0], [3.0]], [[2.0], [4.0]]]
    assert [len(p) for p in x.vsplit(indices=[1])] == [1, 1]
    assert [len(p) for p in torch.tensor_split(x, tensor_indices_or_sections=torch.tensor(2))] == [1, 1]
    assert len(torch.unsafe_split(input=x, split_size=1)) == 2
    assert torch.nn.functional.one_hot(input=torch.tensor([1]), num_classes=2).tolist() == [[0, 1]]
    assert torch.special.chebyshev_polynomial_t(x=x, n=1).tolist() == x.tolist()
    upper = torch.tensor([[1.0, 1.0], [0.0, 2.0]])
    assert torch.linalg.solve_triangular(input=upper, B=upper, upper=True).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    solved = torch.lu_solve(x, *torch.linalg.lu_factor(torch.eye(2)))
    assert torch.lu_solve(input=x, LU_data=torch.eye(2), LU_pivots=torch.tensor([1, 2], dtype=torch.int32)).equal(
        solved
    )
    index = torch.tensor([[0, 1]])
    assert x.scatter(0, index, value=torch.tensor(9.0), reduce="add").tolist() == [[10.0, 2.0], [3.0, 13.0]]


def test_bounds_of_random_integers(torch):
    x = torch.zeros(2)
    for made in torch.randint(3, (2,)), torch.randint(high=3, size=(2,)), torch.randint(3, size=(2,)):
        assert made.shape == (2,) and bool((made < 3).all())
    assert torch.randint_like(x, high=1).tolist() == torch.randint_like(x, 1).tolist() == [0.0, 0.0]
    for call in (
        lambda: torch.randint(3),
        lambda: torch.randint(3, 2),
        lambda: torch.randint_like(x),
        lambda: torch.arange(),
    ):
        with pytest.raises(TypeError):
            call()
    assert torch.arange(end=3).tolist() == torch.arange(0, end=3).tolist() == [0, 1, 2]


def test_how_many_whole_numbers(torch):
    """The number of elements counts the steps as they are, of int64 alone as whole ones."""
    assert torch.arange(0.0, -8.000001, -4.0, dtype=torch.int32).tolist() == [0, -4, -8]
    assert torch.arange(0.0, -8.000001, -4.0, dtype=torch.int64).tolist() == [0, -4]
    assert torch.arange(0.0, 4.0, 1.5, dtype=torch.int16).tolist() == [0, 1, 2]
    assert torch.arange(0.0, 1.5, 0.5, dtype=torch.uint8).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="step must be nonzero"):
        torch.arange(0.0, 1.5, 0.5, dtype=torch.int64)


def test_whole_numbers_at_even_distances(torch):
    seven = torch.linspace(0, 7, 50, dtype=torch.int64).tolist()
    assert [seven.count(n) for n in range(8)] == [7, 7, 7, 7, 7, 7, 7, 1]
    assert torch.logspace(0, 1.2, 2, dtype=torch.int64).tolist() == [1, 10]
    assert torch.logspace(0, 3, 4, base=2, dtype=torch.int32).tolist() == [1, 2, 4, 8]
    assert torch.linspace(0, -2, 3, dtype=torch.uint8).tolist() == [0, 127, 254]
    for name in "linspace", "logspace":
        with pytest.raises(RuntimeError, match="without overflow"):
            getattr(torch, name)(0, -2.5, 3, dtype=torch.uint8)


def test_bytes_are_resized_with_weights_of_16_bits(torch):
    x = torch.tensor([[[[0, 255, 7], [100, 3, 200]]]], dtype=torch.uint8)
    resize = torch.nn.functional.interpolate
    assert resize(x, (3, 4), mode="bilinear").tolist() == EXPECTED[0]
    assert resize(x, (3, 4), mode="bicubic").tolist() == EXPECTED[1]
    assert resize(x, (1, 2), mode="bilinear", antialias=True).tolist() == EXPECTED[2]


EXPECTED = [
    [[[[0, 159, 162, 7], [50, 99, 120, 104], [100, 39, 77, 200]]]],
    [[[[0, 205, 205, 0], [54, 103, 129, 107], [116, 1, 52, 233]]]],
    [[[[80, 113]]]],
]


def test_what_only_floats_have(torch):
    whole = torch.ones(2, 2, dtype=torch.int64)
    with pytest.raises(NotImplementedError):
        torch.nn.functional.rms_norm(whole, (2,))
    with pytest.raises(NotImplementedError):
        torch.linalg.householder_product(whole, whole[0])


def test_nothing_to_put_into_a_number(torch):
    nothing = torch.zeros(0, dtype=torch.int64)
    assert torch.put(torch.tensor(3.0), nothing, torch.zeros(0)).item() == 3.0


def test_the_norm_of_infinity(torch):
    x = torch.tensor([float("inf"), float("-inf")], requires_grad=True)
    assert torch.autograd.grad(torch.linalg.vector_norm(x, 1), x)[0].tolist() == [1.0, -1.0]


def test_quotients_of_half_precision_are_rounded_before_they_are_cut_off(torch):
    a, b = torch.tensor([17.875, 7.0]), torch.tensor([0.9961, 2.0])
    low = a.to(torch.bfloat16), b.to(torch.bfloat16)
    assert torch.div(*low, rounding_mode="trunc").tolist() == [18.0, 3.0]
    assert torch.div(low[0].float(), low[1].float(), rounding_mode="trunc").tolist() == [17.0, 3.0]
    assert low[0].div_(low[1], rounding_mode="trunc").tolist() == [18.0, 3.0] and low[0]._version == 1


# A call by torch's names, and the same by NumPy's.
NUMPY_NAMES = {
    "quantile": (
        lambda t, x: t.quantile(x, 0.5, dim=0, keepdim=True),
        lambda t, x: t.quantile(x, 0.5, axis=0, keepdims=True),
    ),
    "fft": (lambda t, x: t.fft.fft(x, dim=0), lambda t, x: t.fft.fft(x, axis=0)),
    "rfftn": (lambda t, x: t.fft.rfftn(x, dim=(0, 1)), lambda t, x: t.fft.rfftn(a=x, axis=(0, 1))),
    "fftshift": (lambda t, x: t.fft.fftshift(x, dim=1), lambda t, x: t.fft.fftshift(x=x, axis=1)),
    "trapezoid": (lambda t, x: t.trapezoid(x, dim=0), lambda t, x: t.trapezoid(x, axis=0)),
    "gradient": (lambda t, x: t.gradient(x, dim=0)[0], lambda t, x: t.gradient(x, axis=0)[0]),
    "vecdot": (lambda t, x: t.linalg.vecdot(x, x, dim=0), lambda t, x: t.linalg.vecdot(x, x, axis=0)),
    "norm": (lambda t, x: t.linalg.norm(x, dim=0, keepdim=True), lambda t, x: t.linalg.norm(x, axis=0, keepdims=True)),
    "vector_norm": (lambda t, x: t.linalg.vector_norm(x, dim=0), lambda t, x: t.linalg.vector_norm(x, axis=0)),
    "cosine_similarity": (
        lambda t, x: t.cosine_similarity(x, x * x, dim=0),
        lambda t, x: t.cosine_similarity(x1=x, x2=x * x, axis=0),
    ),
    "pairwise_distance": (
        lambda t, x: t.nn.functional.pairwise_distance(x, x * x, keepdim=True),
        lambda t, x: t.nn.functional.pairwise_distance(x, x * x, keepdims=True),
    ),
    "amax": (lambda t, x: t.amax(x, dim=0), lambda t, x: t.amax(x1=x, axis=0)),
    "cross": (lambda t, x: t.linalg.cross(x, x * x, dim=1), lambda t, x: t.linalg.cross(x, x2=x * x, axis=1)),
}


@pytest.mark.parametrize("name", list(NUMPY_NAMES))
def test_names_of_numpys(torch, name):
    x = (torch.arange(12.0) * 1.7).sin().reshape(4, 3)
    by_torch, by_numpy = NUMPY_NAMES[name]
    assert torch.equal(by_torch(torch, x), by_numpy(torch, x))


def test_a_name_that_is_nobodys(torch):
    with pytest.raises(TypeError):
        torch.fft.fft(torch.ones(2), axes=0)


AXIS = {
    "unsqueeze": {},
    "squeeze": {},
    "unbind": {},
    "gather": {"index": "index"},
    "select": {"index": 0},
    "narrow": {"start": 0, "length": 1},
    "index_select": {"index": "places"},
    "index_fill": {"index": "places", "value": 2.0},
    "index_add": {"index": "places", "source": "part"},
    "index_copy": {"index": "places", "source": "part"},
    "scatter": {"index": "index", "value": 2.0},
    "scatter_add": {"index": "index", "src": "x"},
    "scatter_reduce": {"index": "index", "src": "x", "reduce": "sum"},
    "index_reduce": {"index": "places", "source": "part", "reduce": "prod"},
    "select_scatter": {"src": "row", "index": 0},
    "slice_scatter": {"src": "x"},
    "renorm": {"p": 2, "maxnorm": 1.0},
    "repeat_interleave": {"repeats": 2},
    "sum": {},
    "cumsum": {},
    "softmax": {},
    "sort": {},
}


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", AXIS)
def test_axis_is_dim(torch, name):
    x = torch.arange(12.0).reshape(1, 3, 4)
    known = {
        "x": x,
        "index": torch.zeros(1, 3, 4, dtype=torch.int64),
        "places": torch.tensor([0]),
        "part": x + 1,
        "row": x[0] + 1,
    }
    rest = {k: known.get(v, v) if isinstance(v, str) else v for k, v in AXIS[name].items()}

    def flat(out):
        return [t.tolist() for t in (out if isinstance(out, tuple) else (out,))]

    expected = flat(getattr(torch, name)(x, dim=0, **rest))
    assert flat(getattr(torch, name)(x, axis=0, **rest)) == expected
    assert flat(getattr(torch, name)(input=x, axis=0, **rest)) == expected
    assert flat(getattr(x, name)(axis=0, **rest)) == expected
    with pytest.raises(TypeError):
        getattr(torch, name)(x, dim=1, axis=0, **rest)


@pytest.mark.parametrize("name", ["split", "unique", "unique_consecutive"])
def test_what_is_python_in_torch_takes_dim_alone(torch, name):
    rest = {"split": (1,)}.get(name, ())
    with pytest.raises(TypeError):
        getattr(torch, name)(torch.ones(2, 2), *rest, axis=0)


def test_a_dimension_that_is_missing(torch):
    x, index = torch.ones(2, 2), torch.zeros(2, 2, dtype=torch.int64)
    for call in (
        lambda: torch.unsqueeze(x),
        lambda: x.unsqueeze(),
        lambda: torch.gather(x),
        lambda: torch.gather(x, index=index),
        lambda: torch.gather(x, 0),
        lambda: x.gather(axis=0),
        lambda: torch.scatter(x, index=index, value=1.0),
        lambda: x.narrow(0, length=1),
        lambda: torch.select(x, index=0),
    ):
        with pytest.raises(TypeError):
            call()
