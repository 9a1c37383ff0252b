"""Compositions of other operations: their gradients against differences, of first and second order."""

from __future__ import annotations

import math
import warnings

import pytest


def vector(torch, n, low=0.3):
    """Numbers without ties, in no order."""
    return (torch.arange(n, dtype=torch.float64) * 1.7).sin() + low * torch.arange(n, dtype=torch.float64)


def difference(function, x, v, step=1e-6):
    return float(function(x + step * v) - function(x - step * v)) / (2 * step)


JOBS = {
    "trapezoid": lambda t, x: t.trapezoid(x * x),
    "trapezoid at places": lambda t, x: t.trapezoid(x.sin(), x),
    "cumulative_trapezoid": lambda t, x: t.cumulative_trapezoid(x * x, dx=0.5),
    "gradient": lambda t, x: t.gradient(x * x, spacing=0.5, edge_order=2)[0],
    "gradient at places": lambda t, x: t.gradient(x, spacing=[t.arange(8.0, dtype=t.float64) ** 2])[0],
    "quantile": lambda t, x: t.quantile(x * x, t.tensor([0.2, 0.9], dtype=t.float64)),
    "quantile of rows": lambda t, x: t.quantile(x.reshape(2, 4), 0.4, 1, True, interpolation="midpoint"),
    "nanquantile": lambda t, x: t.nanquantile(x, 0.6),
    "mode": lambda t, x: t.mode(x.reshape(2, 4) ** 2, 1).values,
    "put": lambda t, x: t.put(x * x, t.tensor([1, -1, 1]), x[:3] ** 3, True),
    "index_reduce": lambda t, x: t.index_reduce(x.reshape(4, 2), 0, t.tensor([0, 2, 0]), x[:6].reshape(3, 2), "prod"),
    "index_reduce mean": lambda t, x: t.index_reduce(x, 0, t.tensor([0, 2, 0]), x[:3] ** 2, "mean", include_self=False),
    "view_copy": lambda t, x: t.view_copy(x * x, (2, 4)),
    "unbind_copy": lambda t, x: t.unbind_copy((x * x).reshape(2, 4))[1],
    "unsafe_split": lambda t, x: t.unsafe_split(x * x, 3)[2],
    "segment_reduce": lambda t, x: t.segment_reduce(x * x, "mean", lengths=t.tensor([3, 5])),
    "segment_reduce max": lambda t, x: t.segment_reduce(x * x, "max", lengths=t.tensor([3, 5])),
    "fill": lambda t, x: t.fill(x, x[3] ** 2),
    "masked.mean": lambda t, x: t.masked.mean(x * x, 0, mask=x > 1),
    "masked.softmax": lambda t, x: t.masked.softmax(x, 0, mask=x < 1),
    "masked.std": lambda t, x: t.masked.std(x, 0, mask=x > 0.5),
    "masked.amax": lambda t, x: t.masked.amax(x * x, 0, mask=x < 1),
    "masked.norm": lambda t, x: t.masked.norm(x, 3, 0, mask=x > 0.5),
    "masked.prod": lambda t, x: t.masked.prod(x, 0, mask=x > 0.5),
    "stft": lambda t, x: t.stft(x, 4, 2, window=x[:4], return_complex=True).abs(),
    "istft": lambda t, x: t.istft(t.complex(x[:6], x[2:]).reshape(3, 2), 4, 2, window=x[:4] + 2),
    "ldexp": lambda t, x: t.ldexp(x, x * 0.5),
    "frexp": lambda t, x: t.frexp(x + 0.3).mantissa,
    "ndtr": lambda t, x: t.special.ndtr(x),
}


@pytest.mark.parametrize("name", JOBS)
def test_gradients(torch, name, real):
    def total(x):
        made = JOBS[name](torch, x)
        weights = torch.arange(made.numel(), dtype=torch.float64).cos().reshape(made.shape)
        return (made * weights).sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, v = vector(torch, 8).requires_grad_(), (torch.arange(8, dtype=torch.float64) * 0.7).cos()
        (g,) = torch.autograd.grad(total(x), x, create_graph=True)
        plain = x.detach()
        assert float((g.detach() * v).sum()) == pytest.approx(difference(total, plain, v), rel=1e-5, abs=1e-7)
        if not g.requires_grad or (real and name.startswith("segment_reduce")):  # torch has no second derivative
            return

        def slope(at):
            at = at.detach().requires_grad_()
            (found,) = torch.autograd.grad(total(at), at)
            return (found * v).sum()

        (second,) = torch.autograd.grad((g * v).sum(), x)
        assert float((second * v).sum()) == pytest.approx(difference(slope, plain, v), rel=1e-5, abs=1e-6)


def test_gradient_of_as_strided_scatter(torch, real):
    """What is written over has no influence. torch 2.13 has it the other way round; see docs/differences.md."""
    x, src = torch.zeros(8, requires_grad=True), torch.ones(2, requires_grad=True)
    out = torch.as_strided_scatter(x, src, (2,), (3,), 1)
    assert out.tolist() == [0, 1, 0, 0, 1, 0, 0, 0]
    g, h = torch.autograd.grad((out * torch.arange(1.0, 9.0)).sum(), (x, src))
    assert h.tolist() == [2, 5]
    assert g.tolist() == ([0, 2, 0, 0, 5, 0, 0, 0] if real else [1, 0, 3, 4, 0, 6, 7, 8])


def test_no_gradient_of_which_values_there_are(torch):
    x = torch.tensor([2.0, 1.0, 2.0], requires_grad=True)
    for made in (torch.unique(x), torch.unique_consecutive(x), torch.unique(x, dim=0)):
        assert made.requires_grad
        with pytest.raises(NotImplementedError, match="is not implemented"):
            made.sum().backward()


def test_results_without_history(torch):
    x = torch.tensor([2.0, 1.0, 2.0], requires_grad=True)
    assert not torch.histc(x, 3).requires_grad
    assert not torch.isin(x, x).requires_grad
    assert not torch.bucketize(x, torch.tensor([1.0])).requires_grad
    assert not torch.special.bessel_j0(x).requires_grad
    assert not torch.special.hermite_polynomial_h(x, 3).requires_grad


def test_put_in_place(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 2
    assert y.put_(torch.tensor([0, -1]), torch.tensor([5.0, 7.0])) is y
    assert y.tolist() == [5, 2, 2, 7]
    y.sum().backward()
    assert x.grad.tolist() == [0, 2, 2, 0]


def test_index_reduce_in_place(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.index_reduce_(0, torch.tensor([0, 0]), torch.tensor([3.0, 5.0]), "prod")
    assert y.tolist() == [30, 2, 2]
    y.sum().backward()
    assert x.grad.tolist() == [30, 2, 2]


def test_named_tuples(torch):
    made = torch.histogram(torch.tensor([1.0, 2.0]), 2)
    assert type(made).__name__ == "histogram"
    assert made.bin_edges.tolist() == [1, 1.5, 2]
    assert torch.mode(torch.tensor([1, 1, 2])).values.item() == 1
    assert torch.frexp(torch.tensor([3.0])).exponent.dtype is torch.int32


def test_dropout_multiplies(torch):
    F = torch.nn.functional
    torch.manual_seed(0)
    out = F.dropout(torch.full((1000,), float("inf")), 0.5)
    assert 400 < int(out.isnan().sum()) < 600
    assert bool((out.isnan() | (out == float("inf"))).all())
    assert F.dropout(torch.ones(3, dtype=torch.float16), 1.0).tolist() == [0, 0, 0]
    x = torch.arange(4)
    for inplace in (False, True):
        with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
            F.dropout(x, 0.5, inplace=inplace)
    assert x.tolist() == [0, 1, 2, 3]
    assert F.dropout(x, 0.5, training=False) is x
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        F.alpha_dropout(x, 0.5, training=True)
    for drop in (F.dropout, F.alpha_dropout):  # all of them, which needs no scale
        assert drop(x, 1.0, training=True).tolist() == [0] * 4 and drop(x, 1.0, training=True).dtype is torch.int64


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_a_product_with_two_zeros_on_one_place_is_differentiated_once_only(torch, name):
    reduce, index = getattr(torch, name), torch.tensor([0, 0])
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    src = torch.tensor([0.0, 0.0], dtype=torch.float64, requires_grad=True)
    found = torch.autograd.grad(reduce(x, 0, index, src, "prod").sum(), (x, src), create_graph=True)
    assert [f.tolist() for f in found] == [[0.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="Double backward is unsupported"):
        torch.autograd.grad(found[1].sum(), (x, src))
    one = torch.tensor([0.0, 3.0], dtype=torch.float64, requires_grad=True)
    found = torch.autograd.grad(reduce(x, 0, index, one, "prod").sum(), (x, one), create_graph=True)
    second = torch.autograd.grad(found[1].sum(), (x, one))
    assert [f.tolist() for f in second] == [[3.0], [2.0, 2.0]]


def test_the_smallest_of_nothing_is_refused(torch):
    with pytest.raises(RuntimeError, match="cannot compute the -1 norm"):
        torch.linalg.vector_norm(torch.zeros(0, 0), -1, dim=0)
    for order, shape in ((-1, (2, 0)), (-math.inf, (0, 2)), (-2, (0, 2))):
        with pytest.raises(IndexError, match="to have non-zero size"):
            torch.linalg.matrix_norm(torch.zeros(shape), order)
        assert torch.linalg.matrix_norm(torch.zeros(shape), -order) == 0
    assert torch.linalg.cond(torch.zeros(0, 0), -1) == 0
