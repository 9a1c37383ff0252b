"""Integrals, quantiles, unique values, bins, copies of views, masked reductions and segments against torch."""

# ruff: noqa: E501 - calls in one line each

from __future__ import annotations

import math
import warnings

import pytest

import gradpack

torch = pytest.importorskip("torch")
pytest.importorskip("torch.testing._internal.common_methods_invocations")

from tests.oracle.both import outcome  # noqa: E402
from tests.oracle.opinfo import report, table  # noqa: E402

NAMES = """
    trapezoid trapz cumulative_trapezoid gradient quantile nanquantile unique unique_consecutive isin bincount histc
    histogram histogramdd searchsorted bucketize put index_reduce.amax index_reduce.amin index_reduce.mean
    index_reduce.prod _unsafe_masked_index alias_copy as_strided_copy diagonal_copy expand_copy narrow_copy permute_copy
    split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy
    unsafe_chunk unsafe_split fill _chunk_cat nonzero_static unravel_index resolve_neg
""".split()
MASKED = [n for n in table() if n.startswith("masked.")]


@pytest.mark.parametrize("name", NAMES)
def test_torchs_samples(name):
    assert not report(name, table()[name], 6)


@pytest.mark.parametrize("name", MASKED)
def test_masked_reductions(name):
    assert not report(name, table()[name], 12)


@pytest.mark.parametrize("name", ["_segment_reduce.lengths", "_segment_reduce.offsets"])
def test_segments(name):
    told = report(name, table()[name], 30)
    assert not [line for line in told if "float16" not in line], "only the rounding of half precision may differ"


# Each line is run by both libraries as `t`; results, or the types of exceptions, must be the same.
CALLS = """
t.searchsorted(t.tensor([1, 3, 5]), 3) ; t.searchsorted(t.tensor([1, 3, 5]), 3.5, right=True)
t.searchsorted(t.tensor([1., 3]), t.tensor([nan, inf, -inf])) ; t.bucketize(nan, t.tensor([1., 2]))
t.searchsorted(t.tensor([[1, 3], [2, 2]]), t.tensor([[2, 3], [2, 3]]), side="right", out_int32=True)
t.searchsorted(t.tensor([3., 1, 2]), t.tensor([1.5]), sorter=t.tensor([1, 2, 0]))
t.searchsorted(t.tensor([1., 2]), t.tensor([1.]), side="x") ; t.searchsorted(t.tensor(1.), t.tensor([1.]))
t.searchsorted(t.tensor([1., 2]), t.tensor([1.]), side="left", right=True)
t.searchsorted(t.tensor([[1., 2]]), 1) ; t.searchsorted(t.tensor([[1., 2]]), t.tensor([1.]))
t.searchsorted(t.tensor([1., 2]), t.tensor([1.]), sorter=t.tensor([0]))
t.searchsorted(t.tensor([1., 2]), t.tensor([1.]), sorter=t.tensor([0, 5]))
t.searchsorted(t.tensor([1., 2]), t.tensor([1.]), sorter=t.tensor([0, 1], dtype=t.int32))
t.searchsorted(t.tensor([1., 2]), t.tensor([1.]), out=t.empty(1))
t.bucketize(t.tensor([1.]), t.tensor([[1.]])) ; t.bucketize(t.tensor([3, 1]), t.tensor([1, 2]), right=True)
t.bincount(t.tensor([1.])) ; t.bincount(t.tensor([-1])) ; t.bincount(t.tensor([[1]]))
t.bincount(t.tensor([1]), minlength=-1) ; t.bincount(t.tensor([1, 2]), weights=t.tensor([1.]))
t.bincount(t.tensor([1, 2]), t.tensor([1, 2])) ; t.tensor([1, 1]).bincount(minlength=4) ; t.bincount(t.tensor([True]))
t.histc(t.tensor([1., 2, 3]), 4, 0, 3) ; t.histc(t.tensor([1., 1]), 4) ; t.histc(t.tensor([1., nan]), 4)
t.histc(t.tensor([1., inf]), 4) ; t.histc(t.tensor([1., 2]), 4, 3, 1) ; t.histc(t.tensor([1., 2]), 0)
t.histc(t.tensor([1, 2]), 4) ; t.histc(t.tensor([]), 3) ; t.tensor([1., 2]).histc(bins=2)
t.histogram(t.tensor([1., 2, 3]), t.tensor([0., 1, 2])) ; t.histogram(t.tensor([1., 2, 3]), 4, range=(0., 2.))
t.histogram(t.tensor([1., 2, 2.5]), 4, weight=t.tensor([1., 2, 3]), density=True) ; t.histogram(t.tensor([1, 2]), 4)
t.histogram(t.tensor([1., 2]), 4, weight=t.tensor([1.])) ; t.histogram(t.tensor([1., 2]), 0)
t.histogram(t.tensor([1., 2]), t.tensor([[0., 1]])) ; t.histogram(t.tensor([1., 2]), t.tensor([0., 1]).double())
t.histogram(t.tensor([1., 2]), t.tensor([0., 1]), range=(0., 1.))
t.histogramdd(t.tensor([[1., 2, 3], [2, 3, 4]]), [2, 2, 2]) ; t.histogramdd(t.tensor([[1., 2], [2, 3]]), 2)
t.histogramdd(t.tensor([[1., 2], [2, 3]]), [t.tensor([0., 1, 2]), t.tensor([0., 3])])
t.histogramdd(t.tensor([1., 2]), [2]) ; t.histogramdd(t.tensor([[1., 2]]), [2])
t.histogramdd(t.tensor([[1., 2]]), [2, 2], range=(0., 1.))
t.unique(t.tensor([nan, nan, 1.]), return_inverse=True, return_counts=True) ; t.unique(t.tensor([1j]))
t.unique(t.ones(2, 0), dim=0) ; t.unique(t.ones(0, 2), dim=0) ; t.unique(t.ones(0), return_counts=True)
t.unique(t.tensor([[1, 2], [1, 2], [0, 9]]), dim=0, return_inverse=True, return_counts=True)
t.unique(t.tensor([[1, 1, 2], [1, 1, 0]]), dim=1) ; t.unique(t.tensor([True, False]))
t.unique(t.tensor([1., 2], requires_grad=True)).sum().backward()
t.unique_consecutive(t.tensor([1., 2], requires_grad=True)).requires_grad
t.unique_consecutive(t.tensor([1, 1, 2, 1]), True, True) ; t.tensor([2, 1]).unique() ; t.unique([1])
t.unique_consecutive(t.tensor([[1, 1], [1, 1], [2, 0]]), dim=0)
t.mode(t.tensor([1, 2, 2, 1])) ; t.mode(t.ones(0, 3), 0) ; t.mode(t.tensor(2.)) ; t.mode(t.tensor([[1, 1], [2, 1]]), 0, True)
t.isin(1, t.tensor([1, 2])) ; t.isin(t.tensor([1, 2]), 1, invert=True) ; t.isin(t.tensor([nan]), t.tensor([nan]))
t.isin(t.arange(30), t.arange(0, 30, 2)) ; t.isin(1, 2) ; t.isin(t.tensor([1, 2]), t.tensor([]))
t.unravel_index(t.tensor([1, 5]), (2, 3)) ; t.unravel_index(t.tensor([1.]), (2, 3)) ; t.unravel_index(t.tensor([1]), 3)
t.unravel_index(t.tensor([1]), (2, -3)) ; t.unravel_index(t.tensor(4), t.tensor([2, 3]))
t.nonzero_static(t.tensor([1, 0, 1]), size=4) ; t.nonzero_static(t.tensor([1]), size=-1)
t.nonzero_static(t.tensor([[1, 0], [0, 1]]), size=1, fill_value=7) ; t.tensor([1]).nonzero_static(size=2)
t.quantile(t.tensor([1, 2]), 0.5) ; t.quantile(t.tensor([1., 2]), t.tensor([[0.5]])) ; t.quantile(t.tensor([]), 0.5)
t.quantile(t.tensor([1., 2]), t.tensor(0.5).double()) ; t.quantile(t.tensor([1., 2]), 1.5)
t.quantile(t.tensor([1., 2]), t.tensor([1.5])) ; t.quantile(t.tensor([1., 2]), 0.5, interpolation="x")
t.quantile(t.tensor([1., nan]), 0.5) ; t.nanquantile(t.tensor([[1., nan], [nan, nan]]), 0.5, 1)
t.quantile(t.arange(6.).reshape(2, 3), t.tensor([0.25, 0.5]), 1, True) ; t.quantile(t.arange(6.), 0.3, keepdim=True)
t.quantile(t.tensor([1., 5]), t.tensor([]), 0).shape ; t.tensor([1., 2]).quantile(0.25, interpolation="nearest")
t.trapezoid(t.tensor([1., 2]), t.tensor([1., 2, 3])) ; t.trapezoid(t.tensor([True])) ; t.trapezoid(t.ones(2, 0))
t.trapezoid(t.tensor([1, 2, 4])) ; t.cumulative_trapezoid(t.tensor([1, 2, 4])) ; t.trapz(t.ones(2, 3), dx=0.5, dim=0)
t.trapezoid(t.tensor([1., 2]), t.tensor([1., 2]), dx=1) ; t.trapezoid(t.ones(2, 3), t.arange(6.).reshape(2, 3))
t.gradient(t.tensor([1., 4, 9]), spacing=2.) ; t.gradient(t.tensor([1., 4, 9]), edge_order=3)
t.gradient(t.tensor([1.])) ; t.gradient(t.tensor([1, 2, 4], dtype=t.uint8)) ; t.gradient(t.tensor([1, 2, 4]))
t.gradient(t.arange(9.).reshape(3, 3), dim=1) ; t.gradient(t.arange(9.).reshape(3, 3), dim=(0, 0))
t.gradient(t.arange(9.).reshape(3, 3), spacing=[1., 2, 3]) ; t.gradient(t.arange(9.).reshape(3, 3), dim=(0, 5))
t.gradient(t.tensor([1., 4, 9]), spacing=[t.tensor([0., 1, 3])], edge_order=2)
t.put(t.zeros(2, 2), t.tensor([0, 4]), t.tensor([5., 7])) ; t.put(t.zeros(2), t.tensor([0, 1]), t.tensor([5.]))
t.put(t.zeros(2), t.tensor([0]).int(), t.tensor([5.])) ; t.put(t.zeros(2), t.tensor([0]), t.tensor([5.]).double())
t.zeros(3).put_(t.tensor([0, -1, 0]), t.ones(3), True) ; t.put(t.zeros(2, 2), t.tensor([[-1]]), t.ones(1, 1))
t.index_reduce(t.zeros(2), 0, t.tensor([0, 0]), t.ones(2), "x") ; t.index_reduce(t.zeros(2), 0, t.tensor([0, 2]), t.ones(2), "mean")
t.index_reduce(t.zeros(2), 0, t.tensor([0, 0]), t.ones(2).double(), "mean")
t.index_reduce(t.zeros(2), 0, t.tensor([0]), t.ones(2), "mean") ; t.index_reduce(t.zeros(2, 2), 0, t.tensor([0]), t.ones(2), "mean")
t.index_reduce(t.tensor([1, 2]), 0, t.tensor([0, 0]), t.tensor([3, 5]), "mean")
t.ones(2).index_reduce_(0, t.tensor([0, 0]), t.tensor([3., 5]), "amax", include_self=False)
t.fill(t.zeros(2), 3) ; t.fill(t.zeros(2), t.tensor([3.])) ; t.fill(t.zeros(2).long(), 2.5)
t.empty_permuted((2, 3), (1, 0)).stride() ; t.empty_permuted((2, 3), (0, 0)) ; t.empty_permuted((2, 3), (0,))
t.view_copy(t.arange(6), (4, 2)) ; t.view_copy(t.arange(6), (3, -1)) ; t.view_copy(t.arange(2), t.int32)
t.unbind_copy(t.arange(4).reshape(2, 2), out=(t.empty(2).long(), t.empty(2).long()))
t.split_copy(t.arange(4), 3) ; t.slice_copy(t.arange(9).reshape(3, 3), 1, 0, 2) ; t.select_copy(t.eye(2), 0, 1)
t.permute_copy(t.ones(2, 3), (1, 0)).stride() ; t.squeeze_copy(t.ones(1, 2, 1), (0, 2)).shape ; t.t_copy(t.ones(2, 3))
t.unsafe_chunk(t.arange(4), 2) ; t.unsafe_split(t.arange(4), 3) ; t.unsafe_split_with_sizes(t.arange(4), (1, 3))
t.as_strided_scatter(t.arange(6.), t.tensor([7., 8]), (2,), (2,), 1) ; t.as_strided_scatter(t.arange(6.), t.ones(3), (2,), (2,))
t._chunk_cat([t.arange(3.), t.ones(2)], 0, 2) ; t._chunk_cat([], 0, 2) ; t._chunk_cat([t.ones(2)], 1, 2)
t.tensor([2., 4]).__rdiv__(8) ; t.is_neg(t.ones(2)) ; t.is_conj(t.ones(2)) ; t.resolve_neg(t.ones(2))
t.segment_reduce(t.ones(2), "foo", lengths=t.tensor([1, 1])) ; t.segment_reduce(t.ones(2), "sum")
t.segment_reduce(t.ones(2), "sum", lengths=t.tensor([1, 2])) ; t.segment_reduce(t.ones(2), "mean", lengths=t.tensor([2, 0]))
t.segment_reduce(t.ones(2, 3), "sum", lengths=t.tensor([1, 1]), axis=1) ; t.segment_reduce(t.ones(2).long(), "sum", lengths=t.tensor([2]))
t.segment_reduce(t.arange(3.), "max", offsets=t.tensor([0, 1, 3])) ; t.segment_reduce(t.ones(2), "sum", indices=t.tensor([0, 1]))
t.frexp(t.tensor([1., 2, inf, nan, 0])) ; t.frexp(t.tensor([1])) ; t.ldexp(t.tensor([1, 2]), t.tensor([1, 2]))
t.ldexp(t.ones(1), 2) ; t.gcd(t.tensor([4]), 2) ; t.gcd(t.tensor([1.]), t.tensor([2.])) ; t.lcm(t.tensor([-4, 0]), t.tensor([6, 0]))
t.nextafter(t.tensor([1]), t.tensor([2])) ; t.mvlgamma(t.tensor([0.3]), 0) ; t.mvlgamma(t.tensor([3]), 2)
t.masked.sum(t.ones(2, 3), 1, mask=t.tensor([[True], [False]])) ; t.masked.mean(t.tensor([1, 2]), 0) ; t.masked.sum(t.ones(2), 3)
t.masked.sum(t.ones(2, 2), (0, 0)) ; t.masked.sum(t.ones(2), 0, mask=t.ones(1, 2)) ; t.masked.median(t.tensor([1, 2]), 0, mask=t.tensor([False]))
t.masked.var(t.ones(2), 0, True, correction=1) ; t.masked.argmax(t.tensor([1., 5]), 0) ; t.masked.softmax(t.ones(2), 0, mask=t.tensor([False]))
"""


@pytest.mark.parametrize("line", CALLS.strip().split("\n"))
def test_calls(line):
    for call in line.split(" ; "):

        def run(t, call=call):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(call, {"t": t, "nan": math.nan, "inf": math.inf})

        expected, given = outcome(run, torch), outcome(run, gradpack)
        assert repr(given) == repr(expected), call
