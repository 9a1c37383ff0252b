"""Tensors print as torch's do: every dtype, odd values, summaries, options, what is not the default."""

from __future__ import annotations

from importlib import import_module
from math import inf, nan

import pytest

import gradpack

torch = pytest.importorskip("torch")

FLOATS = [
    [1.0, 2.0], [1.5, 2.25], [1e-5, 1.0], [1e9, 1.0], [1e-3, 10.0], [nan, 1.0], [inf, -inf, 1.5], [nan, nan],
    [0.0, -0.0], [-1.0, 10.5], [1e38, 1e-38], [123456789.0], [1e8], [1000.0, 100000.0], [1.0, 1.5, nan, inf], [1e-45],
    [1.0, 2.0, inf], [0.0001, 0.5], [0.00009, 0.5], [1e-8, 1e8], [0.0, 1e-10], [-1e-8, 1e8],
]  # fmt: skip
COMPLEX = [[1 + 2j], [1 - 2j, -1.5 + 0.25j], [complex(nan, 1), complex(1, inf)], [1e-5 + 1j], [1e9 + 1j, 1 + 1e-9j]]
SUMMARIES = [
    "arange(1001)", "arange(2000.).reshape(40, 50)", "arange(3000.).reshape(10, 10, 30)",
    "arange(2002).reshape(2, 1001)",
    "arange(2000).reshape(1000, 2)", "linspace(0, 1, 1500)", "arange(1200) * 1j", "zeros(1200, dtype={}.bool)",
    "zeros(1001, 1)", "arange(1001 * 6).reshape(6, 1001)", "arange(1001 * 7).reshape(7, 1001)", "zeros(2000, 0)",
    "arange(30.)", "arange(100)", "zeros(2, 0)", "zeros(0)", "zeros(0, dtype={}.int64)", "arange(24.).reshape(2, 3, 4)",
    "arange(24.).reshape(2, 1, 3, 4)", "ones(1).expand(3)", "arange(6.).reshape(2, 3).T",
]  # fmt: skip
OPTIONS = [
    {"precision": 2}, {"sci_mode": True}, {"sci_mode": False}, {"threshold": 5}, {"edgeitems": 1, "threshold": 3},
    {"linewidth": 30}, {"profile": "short"}, {"profile": "full"}, {"precision": 8}, {"precision": 0},
]  # fmt: skip


def alike(make):
    """The text of what `make` makes, the same of both libraries."""
    ours, theirs = (repr(make(module)).replace("gradpack.", "torch.") for module in (gradpack, torch))
    assert ours == theirs


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("values", FLOATS, ids=str)
def test_floating_point(name, values):
    alike(lambda m: m.tensor(values, dtype=m.float64).to(getattr(m, name)))


@pytest.mark.parametrize("name", ["complex64", "complex128"])
@pytest.mark.parametrize("values", COMPLEX, ids=str)
def test_complex(name, values):
    alike(lambda m: m.tensor(values, dtype=getattr(m, name)))


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_integers_and_bool(name):
    alike(lambda m: m.tensor([[1, 0, 100], [7, 8, 9]]).to(getattr(m, name)))
    alike(lambda m: m.tensor(1).to(getattr(m, name)))


@pytest.mark.parametrize("value", [3.5, 3.0, 1e10, nan, inf, -inf, 5, True, 1j, 0.1, 1e-10, 123456.789, 2**62])
def test_scalars(value):
    alike(lambda m: m.tensor(value))
    alike(lambda m: f"{m.tensor(value)}")


@pytest.mark.parametrize("text", SUMMARIES)
def test_shapes_and_summaries(text):
    alike(lambda m: eval(f"m.{text.format('m')}", {"m": m}))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options):
    def shown(m):
        m.set_printoptions(**options)
        try:
            tensors = [
                m.tensor([1.23456789, 1e-7, 1e5]), m.arange(12.0), m.arange(40).reshape(4, 10),
                m.tensor([1.5 + 2j, nan]),
                m.arange(20.0) / 7, m.tensor(0.123456), m.tensor([True, False] * 4),
            ]  # fmt: skip
            return [repr(t) for t in tensors]
        finally:
            m.set_printoptions(profile="default")

    alike(shown)


def test_what_is_not_the_default():
    def leaf(m, **options):
        return m.tensor([1.0, 2.0], requires_grad=True, **options)

    for make in [
        lambda m: leaf(m),
        lambda m: leaf(m) * 2,
        lambda m: (leaf(m) * 2)[:1],
        lambda m: leaf(m).unbind(0)[0],
        lambda m: leaf(m, dtype=m.float64) * 2,
        lambda m: leaf(m).detach(),
        lambda m: m.zeros(0, requires_grad=True),
        lambda m: m.nn.Parameter(m.ones(2)),
        lambda m: m.nn.Parameter(m.ones(2), requires_grad=False),
        lambda m: [leaf(m), m.ones(1)],
        lambda m: str(leaf(m)),
    ]:
        alike(make)


def test_another_default_dtype():
    def shown(m):
        m.set_default_dtype(m.float64)
        try:
            return [repr(m.tensor([1.0])), repr(m.tensor([1.0], dtype=m.float32)), repr(m.tensor([1j]))]
        finally:
            m.set_default_dtype(m.float32)

    alike(shown)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")  # torch compiles something for it
def test_duals():
    def shown(m):
        forward_ad = import_module(m.__name__ + ".autograd.forward_ad")
        with forward_ad.dual_level():
            return repr(forward_ad.make_dual(m.ones(2), m.ones(2) * 2))

    alike(shown)
