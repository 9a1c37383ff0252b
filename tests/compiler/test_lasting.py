"""What a function does besides computing is done at each call: it ends the program, with a sentence that says why."""

from __future__ import annotations

import random
import sys
import warnings

import numpy as np
import pytest

import gradpack as torch
from gradpack import nn
from gradpack.compiler.compiled import Unsupported

CALLS = 7


def x(i, *shape):
    return torch.tensor(np.random.default_rng(i).standard_normal(shape or (3,)))


def seen(value):
    """Return what can be compared of a value."""
    if isinstance(value, torch.Tensor):
        return value.detach().numpy().copy(), value._version, value.requires_grad, value.is_leaf, vars(value).get("tag")
    if isinstance(value, dict | list | tuple):
        return [seen(v) for v in (value.values() if isinstance(value, dict) else value)]
    return value


def played(make, wrap):
    torch.manual_seed(2)
    np.random.seed(2)  # noqa: NPY002
    random.seed(2)
    run, function = make()
    step = wrap(function)
    kept = [run(step, i) for i in range(CALLS)]
    return [seen(k) for k in kept] + [torch.get_rng_state().numpy()], step


def equal(a, b):
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and bool(np.array_equal(a, b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def agrees(make):
    with warnings.catch_warnings(action="ignore"):
        found, step = played(make, torch.compile)
        wanted, _ = played(make, lambda f: f)
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert equal(a, b), i
    return step


def leaves(*shape, seed=0):
    return x(seed, *shape).requires_grad_()


CASES = {}


def case(message):
    def add(make):
        CASES[make.__name__] = make, message
        return make

    return add


@case("it leaves another grad mode")
def grad_mode():
    def run(f, i):
        result = f(x(i))
        on = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        return result, on

    return run, lambda x: (torch.set_grad_enabled(False), x * 2)[1]


@case("it leaves another grad mode, default dtype")
def default_dtype():
    def run(f, i):
        result = f(x(i)), torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        return result

    return run, lambda x: (torch.set_default_dtype(torch.float16), x * 2)[1]


@case("setting of algorithms")
def deterministic_algorithms():
    def run(f, i):
        result = f(x(i)), torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(False)
        return result

    return run, lambda x: (torch.use_deterministic_algorithms(True), x * 2)[1]


@case("it seeds the generator")
def seeds():
    def run(f, i):
        if i < 4:
            torch.manual_seed(0)
        return f(x(i)), torch.rand(2)

    return run, lambda x: (torch.manual_seed(0), x * 2)[1]


@case("it draws random numbers of Python's or NumPy's")
def random_numbers_of_numpy():
    return lambda f, i: f(x(i)), lambda x: x * (2 if np.random.rand() < 0.3 else 3)  # noqa: NPY002


@case("rng has drawn random numbers")
def a_generator_of_numpy():
    rng = np.random.default_rng(3)
    return lambda f, i: f(x(i)), lambda x: x * (2 if rng.random() < 0.3 else 3)


@case("it gives w other memory")
def data_is_assigned():
    w = leaves(3)

    def f(x):
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        w.data = w.data - 0.1 * w.grad
        return loss

    return lambda f, i: (f(x(i)), w.detach().clone()), f


@case("it gives w other memory")
def a_captured_tensor_is_transposed():
    w = x(0, 2, 3)
    return lambda f, i: (f(x(i)), w.shape[0]), lambda x: w.t_().sum() + x


@case("it gives x other memory")
def an_argument_is_resized():
    def run(f, i):
        given = x(i)
        return f(given), given

    return run, lambda x: x.resize_(2) * 2


@case("it gives x other memory")
def an_argument_gets_a_dimension():
    def run(f, i):
        given = x(i)
        return f(given), given

    return run, lambda x: x.unsqueeze_(0) * 2


@case("x gets a graph")
def an_argument_gets_a_graph():
    layer = nn.Linear(3, 3).double()
    w = leaves(3)

    def run(f, i):
        layer.zero_grad()
        f(layer(x(i, 4, 3))).sum().backward()
        return layer.weight.grad

    return run, lambda x: nn.functional.relu_(x) * w


def a_captured_tensor_requires_grad():
    w = x(0)

    def run(f, i):
        if i == 4:
            w.requires_grad_(False)
        return f(x(i)).detach(), w.requires_grad

    return run, lambda x: w.requires_grad_() * x


@case("an attribute of x")
def an_argument_gets_an_attribute():
    def f(x):
        x.tag = "seen"
        return x * 2

    def run(f, i):
        given = x(i)
        return f(given), given

    return run, f


@case("it gives a result an attribute")
def a_result_gets_an_attribute():
    def f(x):
        y = x * 2
        y.tag = "made"
        return y

    return lambda f, i: f(x(i)), f


@case("it gives x a hook")
def the_gradient_of_an_argument_is_retained():
    w = leaves(3)

    def f(h):
        h.retain_grad()
        return (h * 2).sum()

    def run(f, i):
        w.grad, h = None, w * x(i)
        f(h).backward()
        return h.grad, w.grad

    return run, f


@case("it gives w a hook")
def a_parameter_gets_a_hook():
    w = leaves(3)

    def f(x):
        w.register_hook(lambda g: g * 2)
        return (w * x).sum()

    def run(f, i):
        w.grad = None
        f(x(i)).backward()
        return w.grad

    return run, f


@case("it changes a dict among its arguments")
def a_dict_is_written_to():
    def f(batch):
        batch["y"] = batch["x"] * 2
        return batch["y"].sum()

    def run(f, i):
        batch = {"x": x(i)}
        return f(batch), batch

    return run, f


@case("it changes a list among its arguments")
def a_list_grows():
    def run(f, i):
        found = []
        f(x(i), found)
        return found

    return run, lambda x, found: found.append(x * 2)


@case("it returns a dict that outlives the call")
def an_argument_is_returned():
    def run(f, i):
        batch = {"x": x(i)}
        return f(batch) is batch

    return run, lambda batch: batch


@case("it returns a list that outlives the call")
def what_is_captured_is_returned():
    held = [x(0)]
    return lambda f, i: f(x(i))[1] is held, lambda x: (x * 2, held)


@case("it calls warn()")
def warnings_are_given():
    def run(f, i):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f(x(i))
        return len([c for c in caught if str(c.message) == "careful"])

    return run, lambda x: (warnings.warn("careful", stacklevel=1), x * 2)[1]


@case("it reads `_version`")
def a_version_is_read():
    w = x(0)

    def run(f, i):
        w.add_(i > 3)
        return f(x(i))

    return run, lambda x: x * (1 + w._version)


@case("view of it")
def a_result_and_a_view_of_it_that_require_grad():
    w = leaves(4)

    def f(x):
        z = w * x
        return z, z.view(2, 2)

    def run(f, i):
        w.grad = None
        z, v = f(x(i, 4))
        v.mul_(3)
        z.sum().backward()
        return z, v, w.grad

    return run, f


@pytest.mark.parametrize("name", CASES)
def test_it_is_done_at_each_call(name):
    make, message = CASES[name]
    step = agrees(make)
    assert message in step.explain().partition("no more programs: ")[2], step.explain()
    assert not step.kept


@pytest.mark.parametrize("name", CASES)
def test_fullgraph_says_where(name):
    make, message = CASES[name]
    run, function = make()
    step = torch.compile(function, fullgraph=True)
    run(step, 0)
    try:
        with pytest.raises(Unsupported) as caught:
            run(step, 1)
    finally:
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)
    assert message in str(caught.value)


def test_a_captured_tensor_that_requires_grad_from_then_on():
    agrees(a_captured_tensor_requires_grad)


# -- hooks outside --


@pytest.mark.parametrize("part", [lambda t: t, lambda t: t.chunk(2)[0]])
def test_hooks_of_arguments_run_once(part):
    def make():
        w, calls = leaves(4), []

        def run(f, i):
            w.grad, h = None, part(w * x(i, 4))
            h.register_hook(lambda g: (calls.append(1), g * 2)[1])
            h.retain_grad()
            f(h).backward()
            return w.grad, h.grad, len(calls)

        return run, lambda h: (h * h).sum()

    assert agrees(make).kept


def test_hooks_of_parameters_run_if_the_backward_pass_is_outside():
    def make():
        w, v, calls = leaves(3), leaves(3, seed=1), []
        w.register_hook(lambda g: (calls.append(1), g * 2)[1])
        v.register_post_accumulate_grad_hook(lambda p: calls.append(2))

        def run(f, i):
            w.grad = v.grad = None
            if i == 5:
                w.register_hook(lambda g: g * 5)
            f(x(i)).backward()
            return w.grad, v.grad, len(calls)

        return run, lambda x: (w * v * x).sum()

    step = agrees(make)
    assert len(step.kept) == 1 and "missed" not in step.explain(), step.explain()


def test_hooks_of_parameters_end_the_program_if_it_is_inside():
    def make():
        w = leaves(3)
        w.register_hook(lambda g: g * 2)

        def f(x):
            w.grad = None
            (w * x).sum().backward()
            return w.grad.clone()

        return lambda f, i: f(x(i)), f

    step = agrees(make)
    assert not step.kept and "w has hooks" in step.explain() and "test_lasting.py:" in step.explain()


def test_saved_tensor_hooks_inside_of_a_function_whose_graph_goes_on():
    def make():
        w = leaves(3)

        def f(x):
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t * 1):
                return (w * x).pow(2).sum()

        def run(f, i):
            w.grad = None
            f(x(i)).backward()
            return w.grad

        return run, f

    agrees(make)


def test_a_profiler_of_python_runs_the_function():
    import cProfile

    step, profile = torch.compile(lambda x: x * 2), cProfile.Profile()
    profile.enable()
    is_seen = sys.getprofile() is not None  # from Python 3.12 on, it is none that calls go through
    try:
        for i in range(3):
            assert torch.equal(step(x(i)), x(i) * 2)
    finally:
        profile.disable()
    assert bool(step.kept) is not is_seen and ("a profiler" in step.explain()) is is_seen
    for i in range(3):
        step(x(i))
    assert len(step.kept) == 1
