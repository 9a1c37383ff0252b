"""Operations from outside do all that those of gradpack do, and go away without a trace."""

from __future__ import annotations

import time

import numpy as np
import pytest

import gradpack as torch
from gradpack import extend
from gradpack.autograd import forward_ad
from gradpack.declare.op import REGISTRY
from tests.extend import outside
from tests.ops import calling_checks, checks, dtype_checks, layout_checks, memory_checks, saved_checks
from tests.ops.cases import Case

CHECKS = [
    checks.first_order,
    checks.second_order,
    checks.tangents,
    checks.forward_over_reverse,
    checks.kind,
    saved_checks.saved,
    saved_checks.hooks,
    saved_checks.versions,
    saved_checks.twice,
    dtype_checks.low_precision,
    dtype_checks.single_precision,
    dtype_checks.complex_numbers,
    dtype_checks.integers,
    layout_checks.layouts,
    layout_checks.paths,
    layout_checks.bodies,
    memory_checks.aliasing,
    memory_checks.lifetime,
    calling_checks.inplace,
    calling_checks.out_argument,
]


@pytest.fixture(autouse=True)
def operations():
    with extend.registering():
        outside.declare()
        yield


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ["sinhc", "softstep", "weighted_total"])
def test_it_passes_what_every_operation_passes(name, check):
    for nr, sample in enumerate(outside.SAMPLES[name]):
        check(Case(REGISTRY[name], nr, sample))


def test_methods_and_functions():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.sinhc()
    assert y.grad_fn.name() == "SinhcBackward0"
    y.sum().backward()
    np.testing.assert_allclose(x.grad, (np.cosh([1, 2]) * [1, 2] - np.sinh([1, 2])) / [1, 4], rtol=1e-6)
    z = x.detach().clone()
    assert z.sinhc_() is z and torch.equal(z, y.detach())
    assert torch.weighted_total(torch.ones(2, 3), torch.ones(3)).tolist() == [3, 3]
    out = torch.empty(2)
    assert REGISTRY["sinhc"].public(x.detach(), out=out) is out and torch.equal(out, z)


def test_gradcheck_and_forward_mode():
    x = torch.tensor([0.7, 1.9], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, b: a.softstep(b), (x, w), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda a: a.sinhc(), (x,))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), torch.ones(2, dtype=torch.float64))
        tangent = forward_ad.unpack_dual(dual.sinhc()).tangent
    (gradient,) = torch.autograd.grad(x.sinhc().sum(), x)
    np.testing.assert_allclose(tangent, gradient)


def test_saved_tensors_go_through_hooks_and_the_meter():
    x = torch.ones(4, requires_grad=True)
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.shape) or t, lambda t: t):
        y = x.sinhc()
    assert packed == [(4,)]
    y.sum().backward()
    with torch.saved.meter() as meter:
        x.sinhc()
    assert meter.peak >= 16


def test_modes_below_autograd_see_it():
    from gradpack.base.modes import OpMode

    class Log(OpMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def operation(self, op, values, run):
            self.names.append(op.name)
            return run()

    with Log() as log:
        torch.ones(2).sinhc()
    assert log.names == ["sinhc"]


def test_tensor_subclasses_see_it():
    names = []

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    assert isinstance(torch.ones(2).as_subclass(Logged).sinhc(), Logged)
    assert "sinhc" in names


def test_another_array_library_computes_it():
    strict = pytest.importorskip("array_api_strict")
    from gradpack.backends import array_api, backend_of
    from gradpack.core.tensor import wrap

    if backend_of(type(strict.asarray(0.0))) is None:
        array_api.register(strict)
    x = wrap(strict.asarray([1.0, 2.0])).requires_grad_()
    x.sinhc().sum().backward()
    assert type(x.grad._data) is type(strict.asarray(0.0))
    np.testing.assert_allclose(x.grad.numpy(), (np.cosh([1, 2]) * [1, 2] - np.sinh([1, 2])) / [1, 4])


# -- names --


def test_names_that_are_taken_are_refused_and_nothing_is_left():
    assert torch.sin and torch.arange and torch.hypot and torch.Tensor.hypot  # which come at their first use
    before = set(REGISTRY), set(vars(torch.Tensor)), set(vars(torch))
    for make, match in [
        (lambda: extend.elementwise(input=lambda g: g)(sin), "the name 'sin' is taken: the table of operations has it"),
        (lambda: extend.elementwise(input=lambda g: g)(arange), "the name 'arange' is taken: gradpack has it"),
        (lambda: extend.elementwise(input=lambda g: g, method=True)(item), "the name 'item' is taken: Tensor has it"),
        (lambda: extend.elementwise(input=lambda g: g, export=True)(inf), "the name 'inf' is taken: gradpack has it"),
        (lambda: extend.elementwise(input=lambda g: g)(hypot), "the name 'hypot' is taken"),
        (lambda: extend.method(item), "the name 'item' is taken: Tensor has it"),
        (lambda: extend.function(arange), "the name 'arange' is taken"),
        (lambda: extend.method(sin, name="not one"), "'not one' is no Python identifier"),
        (lambda: extend.dtype("float32", np.dtype("V4")), "the name 'float32' is taken"),
        (lambda: extend.dtype("float33", np.float32), "the NumPy dtype float32 holds gradpack.float32 already"),
        (lambda: extend.device("cpu", None), "the name 'cpu' is taken"),
    ]:
        with pytest.raises(ValueError, match=match):
            make()
    assert before == (set(REGISTRY), set(vars(torch.Tensor)), set(vars(torch)))


def sin(input):
    return input


def arange(input):
    return input


def hypot(input):
    return input


def item(input):
    return input


def inf(input):
    return input


def test_formulas_that_cannot_be_are_refused():
    with pytest.raises(TypeError, match=r"extend.general\(\): resutl='float' for sin_: a formula is a function"):
        extend.general(resutl="float", name="sin_", input=lambda g: g)(sin)
    with pytest.raises(TypeError, match="the formula of 'input' names 'other', which news does not have"):
        extend.general(input=lambda g, other: g, name="news")(sin)
    assert not extend.has_op("news")


def test_what_was_added_goes_away():
    y = torch.ones(2, requires_grad=True).sinhc()
    extend.remove("sinhc")
    assert not hasattr(torch.Tensor, "sinhc") and not hasattr(torch.Tensor, "sinhc_") and "sinhc" not in REGISTRY
    y.sum().backward()
    with pytest.raises(KeyError, match="nothing was added under the name 'sinhc'"):
        extend.remove("sinhc")
    with pytest.raises(KeyError):
        extend.remove("sin")
    with extend.registering():
        extend.elementwise(input=lambda g: 2 * g, method=True, name="sinhc")(sin)
        assert torch.ones(1).sinhc().item() == 1
    assert not hasattr(torch.Tensor, "sinhc")


# -- kernels --


def test_a_kernel_computes_and_the_formulas_stay():
    calls = []
    before = torch.tanh(torch.ones(2))

    @extend.kernel("tanh")
    def tanh(input):
        calls.append(input.shape)
        return np.sinh(input) / np.cosh(input)

    x = torch.ones(2, requires_grad=True)
    torch.tanh(x).sum().backward()
    x.tanh()
    assert calls == [(2,), (2,)]
    np.testing.assert_allclose(x.grad, 1 - np.tanh([1, 1]) ** 2, rtol=1e-6)
    with pytest.raises(ValueError, match="the name 'tanh' is taken: the table of kernels has it"):
        extend.kernel("tanh")(tanh)
    extend.remove("tanh")
    assert torch.equal(torch.tanh(torch.ones(2)), before) and len(calls) == 2


def test_a_kernel_of_an_operation_from_outside():
    @extend.kernel("sinhc")
    def sinhc(input):
        return np.full_like(input, 7)

    assert torch.ones(2).sinhc().tolist() == [7, 7]


def test_kernels_that_do_not_fit_are_refused():
    with pytest.raises(TypeError, match=r"the body of tanh takes \(input\), and this one takes \(x, y\)"):
        extend.kernel("tanh")(lambda x, y: x)
    with pytest.raises(ValueError, match="'tahn' is no operation"):
        extend.kernel("tahn")


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("looks", [True, False])
def test_an_operation_that_looks_at_the_clock_is_in_no_program(looks):
    @extend.elementwise(input=lambda g, input: g * 2, method=True)
    def timed(input):
        """Twice the numbers."""
        if looks:
            time.perf_counter()
        return np.multiply(input, 2)

    compiled = torch.compile(lambda x: x.timed())
    for _ in range(5):
        assert compiled(torch.ones(3)).tolist() == [2, 2, 2]
    assert ("it calls perf_counter()" in compiled.explain()) is looks and bool(compiled.kept) is not looks


def test_an_operation_made_after_a_program_is_known_by_the_next():
    first = torch.compile(lambda x: x.exp())
    for _ in range(3):
        first(torch.ones(3))

    @extend.elementwise(input=lambda g, input: g * 3, method=True)
    def tripled(input):
        """Three times the numbers."""
        return np.multiply(input, 3)

    later = torch.compile(lambda x: x.tripled())
    for _ in range(3):
        assert later(torch.ones(3)).tolist() == [3, 3, 3]
    assert "tripled" not in later.source and "3" in later.source
