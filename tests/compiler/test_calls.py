"""Calls of programs: how arguments are spelled, which calls take the shortest way, and what they look at."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradpack as torch
from gradpack.utils._pytree import register_pytree_node


def numbers(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape))


def same(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-12)


def hits(compiled, *args, **kwargs):
    """Call a function often enough for a program; return how many of three calls more took the shortest way."""
    for _ in range(4):
        compiled(*args, **kwargs)
    before = compiled.hits
    for _ in range(3):
        compiled(*args, **kwargs)
    return compiled.hits - before


X, Y, Z = numbers(3, 4), numbers(4, seed=1), numbers(4, seed=2)


def scaled(x, y, scale=2.0, shift=0.5):
    return x * y * scale + shift


@pytest.mark.parametrize("call", [lambda f, x, y: f(x, y=y), lambda f, x, y: f(x=x, y=y), lambda f, x, y: f(y=y, x=x)])
def test_calls_that_name_arguments_are_calls_that_do_not(call):
    f = torch.compile(scaled)
    assert hits(f, X, Y) == 3
    before = f.hits
    x, y = numbers(3, 4, seed=2), numbers(4, seed=3)
    same(call(f, x, y), scaled(x, y))
    assert f.hits == before + 1 and len(f.kept) == 1


def test_defaults_that_are_left_out():
    f = torch.compile(scaled)
    calls = [
        lambda g: g(X, Y),
        lambda g: g(X, Y, 3.0),
        lambda g: g(X, Y, scale=3.0),
        lambda g: g(X, Y, shift=1.0),  # a default is between
        lambda g: g(X, Y, shift=1.0, scale=3.0),
        lambda g: g(y=X, x=Y, shift=2.5),
    ]
    for _ in range(2):
        for call in calls:
            for _ in range(4):
                same(call(f), call(scaled))
    assert len(f.kept) == 5  # that of the second is that of the third
    before = f.hits
    for call in calls:
        call(f)
    assert f.hits == before + len(calls)


def test_parameters_of_other_kinds():
    def only(x, *, y, scale=2.0):
        return x * y * scale

    def some(*args, **kwargs):
        return sum(args) * sum((i + 1) * v for i, v in enumerate(kwargs.values()))

    def positions(x, /, y, **others):
        return x * 2 + y + others.get("x", 0.0)

    def first(x, /, y):
        return x * 2 + y

    for function, calls in [
        (only, [lambda g: g(X, y=Y), lambda g: g(X, scale=3.0, y=Y), lambda g: g(x=X, y=Y)]),
        (some, [lambda g: g(X, a=Y, b=Z), lambda g: g(X, b=Y, a=Z), lambda g: g(X, Z, a=Y), lambda g: g(Y, a=X)]),
        (positions, [lambda g: g(X, y=Y), lambda g: g(X, Y), lambda g: g(X, y=Y, x=Z)]),
        (first, [lambda g: g(X, y=Y), lambda g: g(X, Y)]),
    ]:
        f = torch.compile(function)
        for _ in range(2):
            for call in calls:
                for _ in range(4):
                    same(call(f), call(function))
        before = f.hits
        for call in calls:
            call(f)
        assert f.hits == before + len(calls)


@pytest.mark.parametrize("kwargs", [{"x": X}, {"y": Y, "z": Y}, {"y": Y, "scale": 2.0, "z": 1}, {"": Y}])
def test_arguments_that_a_function_does_not_take_are_its_errors(kwargs):
    f = torch.compile(scaled)
    hits(f, X, Y)
    with pytest.raises(TypeError) as wanted:
        scaled(X, **kwargs)
    with pytest.raises(TypeError) as found:
        f(X, **kwargs)
    assert str(found.value) == str(wanted.value)


def test_a_function_whose_parameters_get_other_names():
    def f(x, y):
        return x - y * 2

    def g(y, x):
        return y - x * 2

    made = torch.compile(f)
    hits(made, x=X, y=Y)
    f.__code__ = g.__code__
    with warnings.catch_warnings(action="ignore"):
        for _ in range(4):
            same(made(x=X, y=Y), Y - X * 2)


def test_methods_and_modules_take_the_shortest_way():
    class Model:
        def __init__(self):
            self.w = numbers(4, seed=5)

        def apply(self, x, scale=1.0):
            return x * self.w * scale

        @torch.compile
        def own(self, x, scale=1.0):
            return x * self.w * scale

    model, net = Model(), torch.nn.Linear(4, 2, dtype=torch.float64)
    bound, module = torch.compile(model.apply), torch.compile(net)
    assert hits(bound, X) == 3 and hits(bound, x=X, scale=2.0) == 3
    for _ in range(6):
        same(model.own(X, scale=3.0), model.apply(X, 3.0))
        same(module(X), net(X))
        same(module(input=X), net(X))
    assert Model.own.hits == 2 and module.compiled.hits >= 4


def test_tensors_in_containers_take_the_shortest_way():
    def step(batch, options):
        total = sum(b * (i + 1) for i, b in enumerate(batch["parts"]))
        return (total * batch["last"][0] * options["scale"], [])

    def made(x, y, z, scale):
        return {"parts": [x, y], "last": (z,)}, {"scale": scale, "none": ()}

    f = torch.compile(step)
    assert hits(f, *made(X, Y, Z, 2.0)) == 3
    given = [
        made(Y, X, Z, 2.0),
        made(X, Y, Z, 3.0),
        ({"last": (Z,), "parts": [X, Y]}, {"scale": 2.0, "none": ()}),
        ({"parts": [X, Y, numbers(4)], "last": (Z,)}, {"scale": 2.0, "none": ()}),
        ({"parts": (X, Y), "last": (Z,)}, {"scale": 2.0, "none": ()}),
        ({"parts": [X, Y], "last": (Z,)}, {"scale": 2.0, "none": (1,)}),
        ({"parts": [X, Y], "last": [Z], "more": 1}, {"scale": 2.0}),
    ]
    for _ in range(4):
        for args in given:
            same(f(*args)[0], step(*args)[0])


def test_variables_beside_those_of_a_function_may_change():
    outside = {"w": numbers(4, seed=5), "torch": torch, "MAYBE": None}
    exec("def f(x):\n    return x * w + (0 if MAYBE is None else MAYBE)", outside)
    f = torch.compile(outside["f"])
    hits(f, X)
    walk = f.kept[0].walk
    for i in range(9):  # as a script does whose loop is at the level of its module
        outside["loss"], outside["i"] = f(X), i
        assert walk.check()() is True and walk.check() != walk.holds
    outside["MAYBE"] = 1
    same(f(X), X * outside["w"] + 1)


class Scale(torch.nn.Module):
    def __init__(self, order):
        super().__init__()
        self.order, self.weights = dict(order), {"a": numbers(4), "b": numbers(4, seed=1)}

    def forward(self, x):
        for name, times in self.order.items():
            x = (x + self.weights[name]) * times
        return x


@pytest.mark.parametrize("order", [{"a": 2, "b": 3}, {"a": 2, "b": 2}])
def test_the_order_of_a_dict_counts(order):
    module = Scale(order)
    f = torch.compile(module)
    for _ in range(5):
        same(f(X), module(X))
    assert f.compiled.hits
    module.order["a"] = module.order.pop("a")
    for _ in range(4):
        same(f(X), module(X))
    module.order.update(a=True, b=1)
    same(f(X), module(X))


def test_an_argument_of_another_layout_or_with_a_gradient():
    def f(x):
        return x.stride(), x.grad is None, x * 2

    square = numbers(4, 4)
    made = torch.compile(f)
    assert hits(made, square) == 3
    graded, fixed = numbers(4, 4, seed=1), torch.ones(4, dtype=torch.float64).expand(4, 4)
    graded.grad = numbers(4, 4, seed=2)
    for _ in range(3):
        for each in (square, square.T, numbers(4, 8)[:, ::2], graded, fixed):
            found, wanted = made(each), f(each)
            assert found[:2] == wanted[:2]
            same(found[2], wanted[2])


def product(x, y):
    return x * 2 + y, x is y


def written(x, y):
    x = x.mul_(0.5)
    return y + 1, x is y


@pytest.mark.parametrize("function", [product, written])
def test_a_tensor_that_is_given_twice(function):
    f = torch.compile(function)
    x, y = numbers(4, seed=2), numbers(4, seed=1)
    assert hits(f, x, x) == 3
    for _ in range(3):
        for args in ((x, x), (x, y), (y, x), (y, y)):
            copies = {id(t): t.clone() for t in args}
            wanted = function(*(copies[id(t)] for t in args))
            found = f(*args)
            same(found[0], wanted[0])
            assert found[1] is wanted[1]
            for t in args:
                same(t, copies[id(t)])
    assert len(f.kept) == 2


def test_gradients_of_a_tensor_that_is_given_twice():
    w = numbers(4, seed=1).requires_grad_()
    f = torch.compile(lambda x, y: (x * y * w).sum())
    for i in range(6):
        x = numbers(4, seed=i).requires_grad_()
        f(x, x).backward()
        same(x.grad, 2 * x * w)
    assert f.hits and len(f.kept) == 1
    for i in range(4):
        x, y = numbers(4, seed=i).requires_grad_(), numbers(4, seed=i + 1).requires_grad_()
        f(x, y).backward()
        same(x.grad, y * w)


def test_draws_after_which_a_program_may_end_are_taken_back():
    def early(x):
        return x + torch.rand(4) if torch.rand(()) + x.sum() > 0 else x - torch.rand(4)

    def late(x):
        return torch.rand(4) * (x if x.sum() > 0 else -x)

    for function in (early, late):
        f, states = torch.compile(function), []
        for run in (f, function):
            torch.manual_seed(3)
            results = [run(sign * torch.ones(4)) for sign in (1, 1, 1, 1, -1, -1, 1, 1, -1)]
            states.append((results, torch.get_rng_state()))
        for found, wanted in zip(*[results for results, _ in states], strict=True):
            same(found, wanted)
        assert torch.equal(states[0][1], states[1][1]) and f.hits


def test_a_tensor_behind_one_that_is_given_twice_gets_to_require_grad():
    f = torch.compile(lambda x, y, z: (x * y * z.requires_grad_()).sum())
    x = numbers(4)
    for i in range(6):
        z = numbers(4, seed=i)
        f(x, x, z).backward()
        same(z.grad, x * x)
    assert f.hits


def test_an_index_out_of_range_leaves_what_the_function_leaves():
    def f(x, k):
        return x.add_(1)[k]

    run = torch.compile(f)
    assert hits(run, numbers(3), torch.tensor([0])) == 3
    for each in (run, f):
        x = torch.zeros(3, dtype=torch.float64)
        with pytest.raises(IndexError):
            each(x, torch.tensor([7]))
        same(x, torch.ones(3))


def test_with_the_cpu_as_default_device_calls_take_the_short_way():
    f = torch.compile(lambda x: torch.erfinv(x * 2).sum())
    with torch.device("cpu"):
        assert hits(f, X) == 3
    assert hits(f, X) == 3
    with torch.device("meta"):  # which new tensors are on
        assert hits(f, X) == 0


def test_programs_with_arguments_in_containers_of_users_are_kept():
    class Box:
        def __init__(self, x):
            self.x = x

    register_pytree_node(Box, lambda box: ([box.x], None), lambda children, _: Box(*children))
    f = torch.compile(lambda box, k: box.x * k)
    f.limit = 1
    for _ in range(3):
        f(Box(X), 2)
    with pytest.warns(UserWarning, match="1 programs were made"):
        f(Box(X), 3)
    for _ in range(30):
        f(Box(X), 2), f(Box(X), 2), f(Box(X), 3)
    assert len(f.kept) == 1


def test_programs_that_call_many_functions_have_room_behind_their_frame():
    layers = torch.nn.Sequential(*[torch.nn.Conv1d(1, 1, 3, padding=1) for _ in range(120)])

    @torch.compile(fullgraph=True)
    def many(x):
        with torch.no_grad():
            return layers(x)

    @torch.compile(fullgraph=True)
    def few(x):
        with torch.no_grad():
            return layers[0](x)

    for f in (many, few):
        for _ in range(5):
            assert f(torch.ones(1, 1, 8)).shape == (1, 1, 8)
    sizes = [f.kept[0].turn.call.__globals__["program"].__code__ for f in (many, few)]
    assert [code.co_nlocals + code.co_stacksize >= 2048 for code in sizes] == [True, False]
