"""`out=`: its dtype, its shape, and memory that it shares with the operands; dtypes that are refused."""

from __future__ import annotations

import warnings

import pytest


def test_operations_element_by_element_convert_into_out(torch):
    out = torch.zeros(2, dtype=torch.float64)
    assert torch.add(torch.ones(2), 1.0, out=out) is out
    assert out.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda t, o: t.mm(t.ones(2, 2), t.ones(2, 2), out=o),
            "Expected out tensor to have dtype float, but got double",
        ),
        (
            lambda t, o: t.gather(t.ones(2, 2), 0, t.zeros(2, 2, dtype=t.int64), out=o),
            "Expected out tensor to have dtype",
        ),
        (lambda t, o: t.floor(t.ones(2, 2), out=o), "Found dtype Double but expected Float"),
        (lambda t, o: t.amax(t.ones(2, 2), 0, out=o), "Expected the dtype for input and out to match"),
        (lambda t, o: t.zeros(2, 2, dtype=t.float32, out=o), "dtype Float does not match dtype of out parameter"),
        (lambda t, o: t.complex(t.ones(2), t.ones(2), out=o), "Expected object of scalar type ComplexFloat"),
    ],
)
def test_others_want_their_own_dtype_and_leave_out_alone(torch, call, message):
    out = torch.full((2, 2), 7.0, dtype=torch.float64)
    with pytest.raises(RuntimeError, match=message):
        call(torch, out)
    assert out.tolist() == [[7.0, 7.0], [7.0, 7.0]]


def test_of_several_results_none_is_written_when_one_is_refused(torch):
    first, second = torch.full((2,), 7.0), torch.zeros(2)  # the second are indices
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int, but got float instead"):
        torch.max(torch.ones(2, 2), 0, out=(first, second))
    assert first.tolist() == [7.0, 7.0]


def test_out_that_shares_memory_with_an_operand(torch):
    x = torch.arange(3.0)
    index = torch.tensor([0, 1, 2])
    for call in (
        lambda: torch.gather(x, 0, index, out=x),
        lambda: torch.take(x, index, out=x),
        lambda: torch.index_select(x, 0, index, out=x),
        lambda: torch.cat([x[:1], x[1:]], out=x),
    ):
        with pytest.raises(RuntimeError, match="unsupported operation"):
            call()
    assert torch.mul(x, 2, out=x).tolist() == [0.0, 2.0, 4.0]


def test_factories_resize_out_without_a_warning(torch):
    out = torch.zeros(4, dtype=torch.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.ones(2, 3, out=out) is out
        assert out.tolist() == [[1, 1, 1], [1, 1, 1]]
        assert torch.arange(6, out=out).shape == (2, 3)  # as many elements: the shape stays


def test_running_sums_are_computed_in_the_dtype_of_out(torch):
    out = torch.zeros(3, dtype=torch.int64)
    torch.cumsum(torch.tensor([0.6, 0.6, 0.6]), 0, out=out)
    assert out.tolist() == [0, 0, 0]


def test_bool_has_no_matrix_product(torch):
    x = torch.ones(2, 2, dtype=torch.bool)
    for call in (lambda: x @ x, lambda: torch.mm(x, x), lambda: torch.dot(x[0], x[0]), lambda: torch.addmm(x, x, x)):
        with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
            call()
    assert torch.outer(x[0], x[0]).all()


def test_dtypes_without_a_kernel(torch):
    half = torch.ones(3, dtype=torch.bfloat16)
    with pytest.raises(NotImplementedError, match="not implemented for 'BFloat16'"):
        torch.special.bessel_j1(half)
    with pytest.raises(RuntimeError, match=r"isin\(\)"):
        torch.isin(half > 0, half > 0)
    with pytest.raises(RuntimeError, match="may not be a boolean tensor"):
        torch.mvlgamma(half > 0, 1)
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
        torch.ones(1, dtype=torch.complex64).abs_()
    with pytest.raises(TypeError, match="doesn't apply to a 'int' object"):
        torch.Tensor.__radd__(2, half)


def test_running_sums_in_place_keep_their_dtype(torch):
    x = torch.ones(3)
    assert x.cumsum_(0, dtype=torch.float32) is x
    with pytest.raises(RuntimeError, match="Bad in-place call"):
        x.cumsum_(0, dtype=torch.float64)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own first use of forward mode
def test_the_tangent_of_an_upper_cholesky_factor(torch):
    a = torch.tensor([[4.0, 2.0], [2.0, 5.0]], dtype=torch.float64)
    tangent = torch.tensor([[1.0, 3.0], [0.0, 2.0]], dtype=torch.float64)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(a, tangent)
        lower = torch.autograd.forward_ad.unpack_dual(torch.linalg.cholesky(dual)).tangent
        upper = torch.autograd.forward_ad.unpack_dual(torch.linalg.cholesky(dual, upper=True)).tangent
    assert torch.allclose(upper, lower.mT)


def test_complex_logcumsumexp_stays_on_the_branch_of_the_largest(torch):
    x = torch.tensor([1 + 8.0j, 0.5 + 8.0j], dtype=torch.complex128)
    assert torch.logcumsumexp(x, 0)[1].imag.item() == pytest.approx(8.0)


@pytest.mark.parametrize(("values", "indices", "part"), [("int8", "int64", "values"), ("uint8", "int32", "indices")])
def test_results_of_mode_are_not_converted(torch, values, indices, part):
    out = torch.ones(3, dtype=getattr(torch, values)), torch.ones(3, dtype=getattr(torch, indices))
    with pytest.raises(RuntimeError, match=f"expected scalar type .* but got .* for {part}"):
        torch.mode(torch.ones(3, 3, dtype=torch.uint8), -1, out=out)
    assert out[0].tolist() == [1, 1, 1] and out[1].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("hist", "edges", "part"), [("float64", "float32", "hist"), ("float32", "float64", "bin_edges")]
)
def test_results_of_histogram_are_not_converted(torch, hist, edges, part):
    out = torch.empty(1, dtype=getattr(torch, hist)), torch.empty(2, dtype=getattr(torch, edges))
    with pytest.raises(RuntimeError, match=f"input tensor and {part} tensor should have the same dtype"):
        torch.histogram(torch.ones(3), 1, out=out)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x, o: t.eq(x, 1.0, out=o),
        lambda t, x, o: t.ge(x, x, out=o),
        lambda t, x, o: t.logical_and(x, x, out=o),
        lambda t, x, o: t.isposinf(x, out=o),
        lambda t, x, o: t.any(x, 0, out=o),
    ],
)
def test_what_has_no_derivative_takes_operands_that_require_grad(torch, call):
    out = torch.empty(0, dtype=torch.bool)
    assert call(torch, torch.ones(2, requires_grad=True), out) is out
    assert not out.requires_grad


def test_a_comparison_is_written_into_a_leaf_that_requires_grad(torch):
    leaf = torch.zeros(2, requires_grad=True)
    torch.eq(torch.ones(2), 1.0, out=leaf)
    assert leaf.tolist() == [1.0, 1.0]
    assert leaf.requires_grad


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums_and_products_are_computed_in_the_dtype_of_out(torch, name):
    x = torch.tensor([[0.5, 1.75], [-2.5, 300.25]])
    out = torch.empty(0, dtype=torch.int64)
    getattr(torch, name)(x, 1, out=out)
    assert out.tolist() == getattr(torch, name)(x.long(), 1).tolist()
    wide = torch.empty(0, dtype=torch.float64)
    getattr(torch, name)(x * 0.1, 1, out=wide)
    assert wide.tolist() == getattr(torch, name)((x * 0.1).double(), 1).tolist()


def test_where_and_limits_want_their_own_dtype(torch):
    x, out = torch.ones(2), torch.empty(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="Expected out type to be Float but got Double"):
        torch.where(x > 0, x, x, out=out)
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch.clamp(x, 0, 1, out=out)
    assert torch.clamp(x, min=x, out=out) is out


MAKERS = {
    "zeros": lambda t, o: t.zeros(3, out=o),
    "ones": lambda t, o: t.ones(3, out=o),
    "full": lambda t, o: t.full((3,), 2.0, out=o),
    "arange": lambda t, o: t.arange(3.0, out=o),
    "linspace": lambda t, o: t.linspace(0, 1, 3, out=o),
}


@pytest.mark.filterwarnings("ignore:The number of elements in the out tensor", "ignore:An output with one or more")
@pytest.mark.parametrize("name", MAKERS)
def test_what_makes_a_tensor_counts_one_write(torch, name):
    for size in (2, 3):
        out = torch.full((size,), 7.0)
        MAKERS[name](torch, out)
        assert tuple(out.shape) == (3,)
        assert out._version == 1


@pytest.mark.filterwarnings("ignore:The number of elements in the out tensor", "ignore:An output with one or more")
@pytest.mark.parametrize("name", MAKERS)
def test_what_makes_a_tensor_makes_of_a_leaf_one_that_does_not_require_grad(torch, name):
    leaf = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="arguments don't support automatic differentiation"):
        MAKERS[name](torch, leaf)
    with torch.no_grad():
        MAKERS[name](torch, leaf)
    assert tuple(leaf.shape) == (3,)
    assert not leaf.requires_grad


@pytest.mark.parametrize("name", ["eq", "logical_or", "histc", "special.bessel_j0", "special.chebyshev_polynomial_t"])
def test_what_has_no_derivative_is_written_to_a_leaf(torch, name):
    function = torch
    for part in name.split("."):
        function = getattr(function, part)
    out, ones = torch.zeros(2, requires_grad=True), torch.ones(2)
    second = {"histc": (2,), "special.bessel_j0": ()}.get(name, (ones,))
    expected = function(ones, *second)
    assert function(ones, *second, out=out) is out
    assert out.requires_grad and out.is_leaf and out._version == 1
    assert torch.equal(out.detach(), expected.float())


@pytest.mark.parametrize("name", ["argmax", "isposinf", "signbit", "nonzero", "any"])
def test_what_has_no_derivative_takes_operands_with_one(torch, name):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    expected = getattr(torch, name)(x.detach())
    out = torch.zeros_like(expected)
    assert getattr(torch, name)(x, out=out) is out and torch.equal(out, expected)
    assert not out.requires_grad


@pytest.mark.parametrize(
    "call",
    [
        lambda torch, x, out: torch.complex(x, x, out=out.to(torch.complex64)),
        lambda torch, x, out: torch.polar(x, x, out=out.to(torch.complex64)),
        lambda torch, x, out: torch.msort(x, out=out),
        lambda torch, x, out: torch.index_reduce(out, 0, torch.tensor([0]), x[:1], "prod", out=out.clone()),
    ],
)
def test_composed_functions_refuse_operands_with_a_gradient(torch, call):
    out = torch.zeros(2)
    with pytest.raises(RuntimeError, match="arguments don't support automatic differentiation"):
        call(torch, torch.ones(2, requires_grad=True), out)
    assert out.tolist() == [0, 0]


@pytest.mark.parametrize(
    "call",
    [lambda torch, out: torch.arange(2, out=out), lambda torch, out: torch.bitwise_not(torch.arange(2), out=out)],
)
def test_a_leaf_is_refused_as_out(torch, call):
    out = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="arguments don't support automatic differentiation"):
        call(torch, out)


@pytest.mark.parametrize(
    ("name", "args", "places", "message"),
    [
        ("sort", (), ("float32", "float64"), "Expected out tensor to have dtype long int, but got double"),
        ("topk", (1,), ("float64", "int64"), "Expected out tensor to have dtype float, but got double"),
        ("kthvalue", (1,), ("float32", "float64"), "output indices must be of scalar type Long"),
        ("kthvalue", (1,), ("float64", "int64"), "output values must be of same type as input"),
    ],
)
def test_results_of_sorting_are_not_converted(torch, name, args, places, message):
    out = tuple(torch.zeros(0, dtype=getattr(torch, d)) for d in places)
    with pytest.raises(RuntimeError, match=message):
        getattr(torch, name)(torch.ones(2), *args, out=out)


def test_decompositions_are_not_converted(torch):
    eye = torch.eye(2)
    wide = tuple(torch.zeros(0, dtype=torch.float64) for _ in range(3))
    for call in (
        lambda: torch.linalg.eigh(eye, out=wide[:2]),
        lambda: torch.linalg.svd(eye, out=wide),
        lambda: torch.svd(eye, out=wide),
        lambda: torch.msort(eye, out=wide[0]),
    ):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
            call()


def test_sums_without_nan_have_no_kernel_for_other_dtypes(torch):
    for d, name in ((torch.int64, "Long"), (torch.complex64, "ComplexFloat")):
        for call in (torch.nansum, torch.nanmean):
            with pytest.raises(NotImplementedError, match=f"\"nansum_cpu\" not implemented for '{name}'"):
                call(torch.ones(2), out=torch.zeros((), dtype=d))
