"""Empty tensors, NaN and infinities, indices of none, and arguments of another kind: results and errors."""

from __future__ import annotations

import math
import re

import pytest

INF, NAN = math.inf, math.nan


def none(t, **options):
    """An index of no elements."""
    return t.zeros(0, **{"dtype": t.int64, **options})


# Calls, and the shapes of their results.
SHAPES = {
    "adaptive_max_pool1d": (lambda t: t.adaptive_max_pool1d(t.ones(0, 5), 2)[0], (0, 2)),
    "adaptive_max_pool2d": (lambda t: t.nn.functional.adaptive_max_pool2d(t.ones(0, 4, 4), 3), (0, 3, 3)),
    "adaptive_max_pool3d": (lambda t: t.nn.functional.adaptive_max_pool3d(t.ones(0, 4, 4, 4), 3), (0, 3, 3, 3)),
    "adaptive_avg_pool2d of a matrix": (lambda t: t.nn.functional.adaptive_avg_pool2d(t.ones(4, 5), 1), (1, 1)),
    "adaptive_avg_pool2d of five": (lambda t: t.nn.AdaptiveAvgPool2d(1)(t.ones(2, 3, 4, 5, 6)), (2, 3, 4, 1, 1)),
    "adaptive_avg_pool3d of six": (lambda t: t.nn.AdaptiveAvgPool3d(1)(t.ones(1, 2, 3, 4, 5, 6)), (1, 2, 3, 1, 1, 1)),
    "fractional_max_pool2d": (
        lambda t: t.nn.functional.fractional_max_pool2d(t.ones(0, 5, 5), 2, output_size=2),
        (0, 2, 2),
    ),
    "index_add": (lambda t: t.ones(3, 2).index_add(0, none(t), t.ones(0, 2)), (3, 2)),
    "index_copy": (lambda t: t.ones(3, 2).index_copy(0, none(t), t.ones(0, 2)), (3, 2)),
    "index_copy of a number": (lambda t: t.tensor(1.0).index_copy(0, none(t), t.ones(0)), ()),
    "index_fill": (lambda t: t.ones(3).index_fill(0, none(t), 2), (3,)),
    "instance_norm beside another dtype": (
        lambda t: t.nn.functional.instance_norm(t.ones(2, 3, 4), t.ones(3).double(), t.ones(3).double()),
        (2, 3, 4),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_of_unusual_inputs(torch, name):
    call, shape = SHAPES[name]
    assert tuple(call(torch).shape) == shape


def slope(t, function, *values):
    x = t.tensor(values, requires_grad=True)
    (found,) = t.autograd.grad(function(x).sum(), x)
    return found


# Calls, and the numbers they give.
VALUES = {
    "average of nothing": (lambda t: t.nn.functional.adaptive_avg_pool1d(t.ones(2, 0), 1), [[NAN], [NAN]]),
    "averages over parts": (
        lambda t: t.nn.functional.adaptive_avg_pool1d(t.tensor([[0.0, 1.0, 2.0, 3.0, INF, 5.0, 6.0, 7.0]]), 5),
        [[0.5, 2.0, INF, INF, 6.5]],
    ),
    "index_copy keeps the last": (lambda t: t.tensor(1.0).index_copy(0, t.tensor([0, 0]), t.tensor([2.0, 3.0])), 3.0),
    "degree NaN": (lambda t: t.special.chebyshev_polynomial_t(t.tensor([0.5]), NAN), [0.0]),
    "degrees": (
        lambda t: t.special.hermite_polynomial_h(t.tensor([0.5]), t.tensor([NAN, INF, 1e30, 2.0])),
        [0.0, 0.0, 0.0, -1.0],
    ),
    "determinant": (lambda t: t.linalg.det(t.tensor([[NAN, 1.0], [1.0, 1.0]])), NAN),
    "its logarithm": (lambda t: t.linalg.slogdet(t.tensor([[NAN, 1.0], [1.0, 1.0]])).logabsdet, NAN),
    "sign of a determinant": (lambda t: t.linalg.slogdet(t.full((2, 2), NAN)).sign, 0.0),
    "slope of a determinant": (
        lambda t: slope(t, t.linalg.det, [[NAN, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]])[1],
        [[2.0, 0.0], [0.0, 1.0]],
    ),
    "slope of what was replaced": (
        lambda t: slope(
            t, lambda x: x.scatter_reduce(0, t.tensor([0]), t.tensor([NAN]), "amax", include_self=False), 1.0, 2.0
        ),
        [0.0, 1.0],
    ),
    "rms_norm": (lambda t: t.nn.functional.rms_norm(t.ones(2), (2,), t.ones(2).double(), 0.0), [1.0, 1.0]),
}


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")
@pytest.mark.parametrize("name", VALUES)
def test_numbers_of_unusual_inputs(torch, name):
    call, expected = VALUES[name]
    found = call(torch)
    assert found.dtype is torch.float32
    torch.testing.assert_close(found, torch.tensor(expected), equal_nan=True)


@pytest.mark.parametrize("shape", [(5, 5), (25,), (3, 7, 11), (100, 100)])
def test_equal_numbers_do_not_vary(torch, shape):
    for value in (1.0, 3.0):
        x = torch.full(shape, value, dtype=torch.float64, requires_grad=True)
        assert x.std().item() == x.var(-1).sum().item() == x.var(0).sum().item() == 0.0
        (slope,) = torch.autograd.grad(x.std(), x, create_graph=True)
        (second,) = torch.autograd.grad(slope[0].sum(), x)
        assert not slope.any() and not second.any()


def test_second_derivative_of_prelu_at_zero(torch):
    x, weight = torch.tensor([0.0, 1.0, -1.0], requires_grad=True), torch.tensor(0.5, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.nn.functional.prelu(x, weight).sum(), weight, create_graph=True)
    assert torch.autograd.grad(slope, x)[0].tolist() == [0.0, 0.0, 1.0]


# Maps, their results' gradients, and the gradients of their inputs, which are ones.
GRADIENTS = {
    "pad": (lambda t, x: t.nn.functional.pad(x, (1, 2), "reflect"), [INF, 1, NAN, 1, 1, 1, 1], [1, NAN, 2, 1]),
    "pad, cut": (lambda t, x: t.nn.functional.pad(x, (-1, 2), "replicate"), [INF, 1, NAN, 1, 1], [0, INF, 1, NAN]),
    "interpolate": (lambda t, x: t.nn.functional.interpolate(x, size=3), [INF, 1, NAN], [INF, 1, NAN, 0]),
    "adaptive_avg_pool1d": (
        lambda t, x: t.nn.functional.adaptive_avg_pool1d(x, 3),
        [INF, 1, NAN],
        [INF, INF, NAN, NAN],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_that_are_not_finite_stay_where_they_belong(torch, name):
    call, given, expected = GRADIENTS[name]
    x = torch.ones(1, 1, 4, requires_grad=True)
    call(torch, x).backward(torch.tensor([[given]], dtype=torch.float32))
    torch.testing.assert_close(x.grad, torch.tensor([[expected]], dtype=torch.float32), equal_nan=True)


def test_gradient_of_an_imaginary_part_has_no_real_one(torch):
    x = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    x.imag.backward(torch.tensor([INF, NAN]))
    assert x.grad.real.tolist() == [0.0, 0.0] and x.grad.imag[0] == INF and x.grad.imag[1].isnan()


# Calls that are refused: the error, and words of both libraries.
REFUSED = {
    "conv1d": (
        lambda t: t.conv1d(t.ones(1, 1, 0), t.ones(1, 1, 1), padding=1),
        RuntimeError,
        "Only zero batch or zero",
    ),
    "conv2d": (lambda t: t.conv2d(t.ones(1, 1, 4, 0), t.ones(1, 1, 1, 1), padding=1), RuntimeError, "Only zero batch"),
    "adaptive_avg_pool3d": (
        lambda t: t.nn.functional.adaptive_avg_pool3d(t.ones(2, 0, 4, 4, 4), 2),
        RuntimeError,
        "non-zero size for non-batch dimensions",
    ),
    "adaptive_max_pool2d": (
        lambda t: t.nn.functional.adaptive_max_pool2d(t.ones(1, 1, 4, 4), (2,)),
        RuntimeError,
        "output_size.size() must be 2",
    ),
    "adaptive_avg_pool2d": (lambda t: t.nn.functional.adaptive_avg_pool2d(t.ones(1, 1, 4, 4), None), TypeError, "o"),
    "fractional_max_pool2d": (
        lambda t: t.nn.functional.fractional_max_pool2d(t.ones(3), 2, output_size=1),
        IndexError,
        "Dimension out of range",
    ),
    "fractional_max_pool3d": (
        lambda t: t.nn.functional.fractional_max_pool3d(t.ones(1, 2, 3, 5), 2, output_size=1),
        RuntimeError,
        "pool time 2 too large relative to input time 2",
    ),
    "index_add, dtype": (
        lambda t: t.ones(3).index_add(0, none(t, dtype=t.int16), t.ones(0)),
        RuntimeError,
        "int32/int64",
    ),
    "index_select, dtype": (lambda t: t.ones(3).index_select(0, none(t, dtype=t.float32)), RuntimeError, "dtype int32"),
    "index_select, empty": (lambda t: t.ones(0, 3).index_select(0, t.tensor([0])), RuntimeError, "index_select()"),
    "index_add, number": (
        lambda t: t.ones(3).index_add(0, t.tensor([0]), t.tensor(1.0)),
        RuntimeError,
        "source tensor shape must match self tensor shape",
    ),
    "index_add, to a number": (
        lambda t: t.tensor(1.0).index_add(0, t.tensor([0]), t.ones(1)),
        RuntimeError,
        "source tensor shape must match self tensor shape",
    ),
    "index_copy, rank": (
        lambda t: t.ones(3, 2).index_copy(0, none(t), t.ones(0)),
        IndexError,
        "When source and destination are not scalars, their dimensionality must match",
    ),
    "index_copy, number": (
        lambda t: t.ones(3, 2).index_copy(0, none(t), t.tensor(1.0)),
        IndexError,
        "When source is scalar, index should have one element (got 0)",
    ),
    "embedding, empty": (lambda t: t.nn.functional.embedding(t.tensor([0]), t.ones(0, 3)), RuntimeError, "ind"),
    "embedding, dtype": (
        lambda t: t.nn.functional.embedding(t.tensor([0], dtype=t.uint8), t.ones(2, 3)),
        RuntimeError,
        "to have one of the following scalar types: Long, Int",
    ),
    "binary_cross_entropy": (
        lambda t: t.nn.functional.binary_cross_entropy(t.tensor([0.5]), t.tensor([2.0])),
        RuntimeError,
        "all elements of target should be between 0 and 1",
    ),
    "kl_div": (
        lambda t: t.nn.functional.kl_div(t.ones(2), t.ones(2, dtype=t.int64), reduction="sum"),
        RuntimeError,
        "kl_div: Integral inputs not supported",
    ),
    "soft_margin_loss": (
        lambda t: t.nn.functional.soft_margin_loss(t.ones(1), t.ones(2)),
        RuntimeError,
        "output with shape [1] doesn't match the broadcast shape",
    ),
    "prelu": (
        lambda t: t.nn.functional.prelu(t.ones(2), t.ones(1).double()),
        RuntimeError,
        "prelu: Type promoting not supported. Got Float and Double",
    ),
    "linear": (lambda t: t.nn.functional.linear(t.ones(2, 2), t.ones(2), t.ones(2)), RuntimeError, " must be a matrix"),
    "batch_norm, dtype": (
        lambda t: t.nn.functional.batch_norm(t.ones(2, 2), t.ones(2).double(), t.ones(2).double()),
        RuntimeError,
        "mixed dtype",
    ),
    "batch_norm, statistics": (
        lambda t: t.nn.functional.batch_norm(t.ones(2, 2), t.ones(2, requires_grad=True), t.ones(2)),
        RuntimeError,
        "is not differentiable with respect to argument 'running_mean'",
    ),
    "native_batch_norm": (
        lambda t: t.native_batch_norm(t.ones(3, 0), None, None, None, None, True, 0.1, 0.0),
        RuntimeError,
        "input tensor must have at least one element, but got input_sizes = [3, 0]",
    ),
    "flip": (lambda t: t.flip(t.ones(2), 5), TypeError, "argument 'dims' (position 2) must be tuple of ints, not int"),
    "tile": (lambda t: t.tile(t.ones(2), 2), TypeError, "argument 'dims' (position 2) must be tuple of ints, not int"),
    "permute": (lambda t: t.ones(2).permute(), TypeError, "missing 1 required positional argument"),
    "is_same_size": (lambda t: t.ones(2).is_same_size(1), TypeError, "argument 'other' (position 1) must be Tensor"),
    "fftfreq": (lambda t: t.fft.fftfreq(-1), RuntimeError, "Trying to create tensor with negative dimension -1"),
    "random_": (lambda t: t.ones(3).random_(**{"from": 0}), TypeError, "received an invalid combination of arguments"),
    "random_, float": (lambda t: t.ones(3).random_(1.5), TypeError, "received an invalid combination of arguments"),
    "bernoulli": (lambda t: t.bernoulli(t.ones(2), p=2.0), RuntimeError, "bernoulli"),
    "unflatten": (lambda t: t.tensor(1.0).unflatten(0, (1,)), RuntimeError, "unflatten"),
    "eigvalsh": (
        lambda t: t.linalg.eigvalsh(t.tensor([[NAN, 1.0, 2.0], [INF, 3.0, 4.0], [2.0, 4.0, 5.0]])),
        RuntimeError,
        "linalg.eigh: The algorithm failed to converge",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusual_inputs_that_are_refused(torch, name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=re.escape(words)):
        call(torch)
