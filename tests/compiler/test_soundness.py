"""What a program depends on changes between calls: results are those of the function that runs as it is.

Each case makes all that it needs, wraps a function, and returns what calls of it gave, before and after the change.
"""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import math
import os
import types
import warnings
import weakref

import numpy as np
import pytest

import gradpack as torch
from gradpack import nn
from gradpack.compiler.python import guard, words

CASES = {}
CALLS = 5  # after as many there is a program


def case(function):
    CASES[function.__name__] = function
    return function


def x(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape or (3,)))


def many(f, *args):
    return [f(*(a() if callable(a) else a for a in args)) for _ in range(CALLS)]


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)).double()


def training(wrap, optimizer=lambda p: torch.optim.SGD(p, lr=0.1)):
    net = network()
    made = optimizer(net.parameters())

    def step(x):
        made.zero_grad()
        loss = net(x).pow(2).sum()
        loss.backward()
        made.step()
        return loss

    return net, made, wrap(step)


def state(net):
    return [t.detach().clone() for p in net.parameters() for t in (p, p.grad) if t is not None]


class Thing:
    k = 2.0

    def times(self, x):
        return x * self.k


# -- values of Python --


@case
def keys_of_a_dict(wrap):
    known = {"tanh": True}
    f = wrap(lambda x: x.tanh() if "tanh" in known else x.exp())
    found = many(f, x)
    known.clear()
    known["exp"] = True
    return found + many(f, x)


@case
def the_only_key_of_an_object(wrap):
    thing = types.SimpleNamespace(k=2.0)
    f = wrap(lambda x: x * getattr(thing, "k", 5.0))
    found = many(f, x)
    thing.j = vars(thing).pop("k")
    return found + many(f, x)


@case
def an_attribute_that_was_not_there(wrap):
    thing = types.SimpleNamespace()
    f = wrap(lambda x: x * (2 if hasattr(thing, "k") else 3))
    found = many(f, x)
    thing.k = 1
    return found + many(f, x)


@case
def a_value_that_moves_between_lists(wrap):
    first, second = [x(seed=1), x(seed=2)], [x(seed=3)]

    def f(x):
        for t in first:
            x = x + t
        for t in second:
            x = x * t
        return x

    f = wrap(f)
    found = many(f, x)
    second.insert(0, first.pop())
    return found + many(f, x)


@case
def true_becomes_one_and_zero_gets_a_sign(wrap):
    thing = types.SimpleNamespace(k=True, zero=0.0)
    f = wrap(lambda x: x * (2 if thing.k is True else 3) * math.copysign(1, thing.zero))
    found = many(f, x)
    thing.k = 1
    found += many(f, x)
    thing.zero = -0.0
    return found + many(f, x)


@case
def code_and_defaults_of_a_function(wrap):
    def h(x, k=2.0):
        return x * k

    def other(x, k=2.0):
        return x + k

    f = wrap(lambda x: h(x))
    found = many(f, x)
    h.__defaults__ = (9.0,)
    found += many(f, x)
    h.__code__ = other.__code__
    return found + many(f, x)


@case
def a_method_of_a_class(wrap):
    kind = type("Kind", (Thing,), {"__module__": __name__, "times": lambda self, x: x * 5})
    thing = kind()
    f = wrap(lambda x: thing.times(x))
    found = many(f, x)
    kind.times = lambda self, x: x * 6
    found += many(f, x)
    del kind.times
    found += many(f, x)
    thing.__class__ = type("Other", (), {"__module__": __name__, "times": lambda self, x: x * 7})
    return found + many(f, x)


@case
def forward_of_a_layer(wrap):
    net, before = network(), nn.Tanh.forward
    f = wrap(lambda x: net(x))
    found = many(f, x(5, 4))
    try:
        nn.Tanh.forward = lambda self, x: x * 2
        return found + many(f, x(5, 4))
    finally:
        nn.Tanh.forward = before


@case
def a_global_that_was_not_there(wrap):
    f = wrap(lambda x: abs(x))
    found = many(f, x)
    globals()["abs"] = lambda x: x * 2
    try:
        found += many(f, x)
    finally:
        del globals()["abs"]
    return found + many(f, x)


@case
def all_globals(wrap):
    f = wrap(lambda x: x * (3 if "MAYBE" in globals() else 2))
    found = many(f, x)
    globals()["MAYBE"] = 1
    try:
        return found + many(f, x)
    finally:
        del globals()["MAYBE"]


@case
def a_module_that_is_imported_inside(wrap):
    import sys

    module = sys.modules["gradpack_test_of_imports"] = types.ModuleType("gradpack_test_of_imports")
    module.K = 2.0

    def f(x):
        from gradpack_test_of_imports import K

        return x * K

    f = wrap(f)
    found = many(f, x)
    module.K = 7.0
    found += many(f, x)
    del sys.modules["gradpack_test_of_imports"]
    return found


@case
def the_environment(wrap):
    f = wrap(lambda x: x * float(os.environ.get("GRADPACK_TEST_OF_COMPILE", "1")))
    found = many(f, x)
    os.environ["GRADPACK_TEST_OF_COMPILE"] = "4"
    try:
        return found + many(f, x)
    finally:
        del os.environ["GRADPACK_TEST_OF_COMPILE"]


@case
def arrays_of_numpy(wrap):
    small, large = np.ones(3), np.ones(20_000)
    f = wrap(lambda x: x * (torch.from_numpy(small) * 2 + 1))
    g = wrap(lambda x: x * torch.from_numpy(large).sum())
    h = wrap(lambda x, a: x * torch.as_tensor(a))
    found = many(f, x) + many(g, x) + many(h, x, small)
    small[0] = large[0] = 5
    return found + many(f, x) + many(g, x) + many(h, x, small)


@case
def modules_in_modules_and_containers(wrap):
    outer, inner = types.ModuleType("gradpack_test_outer"), types.ModuleType("gradpack_test_inner")
    outer.inner, inner.K = inner, 2.0
    held = {"module": inner}
    f, g = wrap(lambda x: x * outer.inner.K), wrap(lambda x: x * held["module"].K)
    found = many(f, x) + many(g, x)
    inner.K = 5.0
    return found + many(f, x) + many(g, x)


@case
def what_references_lead_to(wrap):
    thing, variable = Thing(), contextvars.ContextVar("variable", default=2.0)
    reference, proxy = weakref.ref(thing), weakref.proxy(thing)
    f = wrap(lambda x: x * reference().k * variable.get())
    g = wrap(lambda x: x * proxy.k)
    found = many(f, x) + many(g, x)
    thing.k = 3.0
    found += many(f, x) + many(g, x)
    variable.set(7.0)
    return found + many(f, x)


@case
def results_that_are_cached(wrap):
    w = x(seed=1)

    def table(n):
        return w * n

    for cache in (functools.lru_cache(maxsize=4), functools.cache):
        cached = cache(table)
        f = wrap(lambda x, cached=cached: x * cached(3))
        found = many(f, x)
        cached(3).mul_(4)
        found += many(f, x)
        w.add_(1)
        cached.cache_clear()
        found += many(f, x)
    return found


@case
def tensors_as_keys(wrap):
    a, b = x(seed=1), x(seed=2)
    factors = {a: 2.0, b: 3.0}
    f = wrap(lambda x: x * factors[x])
    return many(f, a) + many(f, b)


@case
def attributes_of_functions_and_metaclasses(wrap):
    class Meta(type):
        k = 2.0

        @property
        def twice(cls):
            return 2 * cls.k

    kind = Meta("Kind", (), {"__module__": __name__})

    def h(x):
        return x * h.k

    h.k = 2.0
    f, g = wrap(lambda x: h(x)), wrap(lambda x: x * kind.twice)
    found = many(f, x) + many(g, x)
    h.k = Meta.k = 3.0
    return found + many(f, x) + many(g, x)


@case
def bytes_that_change(wrap):
    held, numbers = bytearray(b"abc"), array.array("d", [1.0, 2.0])
    f = wrap(lambda x: x * held[0] * numbers[1])
    found = many(f, x)
    held[0] = 3
    found += many(f, x)
    numbers[1] = 5.0
    return found + many(f, x)


# -- modules and optimizers --


@case
def hooks_of_a_parameter(wrap):
    net, _, f = training(wrap)
    found, seen = many(f, x(5, 4)), []
    handle = net[0].weight.register_hook(lambda g: g * 2)
    found += many(f, x(5, 4)) + state(net)
    handle.remove()
    handle = net[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.sum().item()))
    found += many(f, x(5, 4))
    handle.remove()
    return [*found, *state(net), torch.tensor(seen)]


@case
def hooks_of_all_modules(wrap):
    _, _, f = training(wrap)
    found, seen = many(f, x(5, 4)), []
    handle = nn.modules.module.register_module_forward_hook(lambda module, args, out: out * 2)
    found += many(f, x(5, 4))
    handle.remove()
    handle = nn.modules.module.register_module_full_backward_hook(lambda module, given, out: seen.append(1))
    found += many(f, x(5, 4))
    handle.remove()
    return [*found, *many(f, x(5, 4)), torch.tensor(len(seen))]


@case
def hooks_in_a_new_dict(wrap):
    layer = network()[2]
    f = wrap(lambda x: layer(x))
    given = x(2, 6)
    found = many(f, given)
    layer._forward_hooks = collections.OrderedDict()
    found += many(f, given)
    layer.register_forward_hook(lambda module, args, out: out * 2)
    return found + many(f, given)


@case
def hooks_of_optimizers(wrap):
    _, optimizer, f = training(wrap)
    found, seen = many(f, x(5, 4)), []
    handle = optimizer.register_step_pre_hook(lambda *args: seen.append(1))
    found += many(f, x(5, 4))
    handle.remove()
    handle = torch.optim.optimizer.register_optimizer_step_post_hook(lambda *args: seen.append(1))
    found += many(f, x(5, 4))
    handle.remove()
    return [*found, torch.tensor(len(seen))]


@case
def a_parameter_of_one_number(wrap):
    layer = nn.Module()
    layer.a = nn.Parameter(torch.ones(1))
    f = wrap(lambda x: x * layer.a)
    found = many(f, x)
    layer.a = nn.Parameter(torch.ones(1))
    found += many(f, x)
    with torch.no_grad():
        layer.a.mul_(3)
    return found + many(f, x)


@case
def groups_of_an_optimizer(wrap):
    net, optimizer, f = training(wrap)
    found = many(f, x(5, 4))
    optimizer.param_groups = [{**optimizer.param_groups[0], "params": list(net[0].parameters())}]
    found += many(f, x(5, 4))
    optimizer.param_groups[0]["params"] = list(net[2].parameters())
    found += many(f, x(5, 4))
    optimizer.param_groups[0]["params"].pop()
    return found + many(f, x(5, 4)) + state(net)


@case
def numbers_of_an_optimizer(wrap):
    _, optimizer, _ = training(lambda f: f)
    optimizer.factor = 1.0

    class Holder:
        def __init__(self):
            self.optimizer = optimizer

        def rate(self):
            return self.optimizer.param_groups[0]["lr"]

        def run(self, x):
            return x * self.rate()

    f = wrap(lambda x: x * optimizer.factor * optimizer.defaults["lr"])
    g = wrap(Holder().run)
    found = many(f, x) + many(g, x)
    optimizer.factor = 2.0
    found += many(f, x)
    optimizer.defaults["lr"] = 5.0
    optimizer.param_groups[0]["lr"] = 7.0
    return found + many(f, x) + many(g, x)


@case
def state_of_an_optimizer(wrap):
    net, optimizer, f = training(wrap, lambda p: torch.optim.Adam(p, lr=0.1))
    found = many(f, x(5, 4))
    kept = optimizer.state_dict()
    found += many(f, x(5, 4))
    optimizer.load_state_dict(kept)
    found += many(f, x(5, 4))
    optimizer.state.clear()
    found += many(f, x(5, 4))
    next(iter(optimizer.state.values()))["step"].fill_(7)
    return found + many(f, x(5, 4)) + state(net)


@case
def two_steps_of_an_optimizer(wrap):
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)

    def step(x):
        for _ in range(2):
            optimizer.zero_grad()
            loss = net(x).pow(2).sum()
            loss.backward()
            optimizer.step()
        return loss

    f = wrap(step)
    return many(f, x(5, 4)) + many(f, x(5, 4)) + state(net)


@case
def a_scaled_loss(wrap):
    net = network()
    optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler("cpu")

    def step(x):
        optimizer.zero_grad()
        loss = net(x).pow(2).sum()
        (loss * 128).backward()
        for p in net.parameters():
            p.grad /= 128
        optimizer.step()
        return loss, loss + 1

    def scaled(x):
        optimizer.zero_grad()
        loss = net(x).pow(2).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    f, g = wrap(step), wrap(scaled)
    return [t for pair in many(f, x(5, 4)) for t in pair] + many(g, x(5, 4)) + state(net)


@case
def random_numbers_of_attention(wrap):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True).double()
    f = wrap(lambda x: layer(x))
    torch.manual_seed(1)
    return [*many(f, x(2, 6, 8)), torch.rand(2)]


# -- tensors --


@case
def gradients_that_are_kept(wrap):
    net = network()

    def step(x):
        net(x).pow(2).sum().backward()
        return net[0].weight.grad.clone()

    f, found = wrap(step), []
    for i in range(6):
        net.zero_grad()
        found.append(f(x(5, 4, seed=i)))
    return found + [f(x(5, 4, seed=i)) for i in range(5)] + state(net)


@case
def gradients_of_an_argument(wrap):
    f = wrap(lambda x: x.detach() * (2 if x.grad is None else 3))
    given = x().requires_grad_()
    found = many(f, given)
    given.grad = torch.ones(3, dtype=torch.float64)
    return found + many(f, given)


@case
def attributes_of_tensors(wrap):
    kept = x()
    f = wrap(lambda x: x * kept * getattr(kept, "k", 1.0) * getattr(x, "k", 1.0))
    found = many(f, x)
    given = x()
    given.k = 3.0
    found += many(f, given)
    kept.k = 2.0
    return found + many(f, given) + many(f, x)


@case
def leaves_and_others(wrap):
    f = wrap(lambda x: x.detach() * (2 if x.is_leaf else 3))
    given = x().requires_grad_()
    return many(f, given) + many(f, lambda: given * 1) + many(f, given)


@case
def one_tensor_or_two(wrap):
    kept = x()
    f = wrap(lambda x: x * (2 if x is kept else 3))
    g = wrap(lambda x, y: x * (2 if x is y else 3))
    h = wrap(lambda x, y: x * (2 if x.data_ptr() == y.data_ptr() else 3))
    found = many(f, kept) + many(f, x) + many(f, kept) + many(g, kept, kept) + many(g, kept, x)
    return found + many(h, kept, kept.view(3)) + many(h, kept, x)


@case
def memory_that_arguments_share(wrap):
    kept, whole, array = x(seed=4), x(6), np.ones(3)

    def f(x, y):
        a = (y * 2).sum()
        x.add_(1)
        return a + (y * 2).sum()

    def g(x):
        a = (x * 2).sum()
        kept.add_(1)
        return a + (x * 2).sum()

    f, g = wrap(f), wrap(g)
    found = many(f, x, lambda: x(seed=1)) + many(f, whole[:3], whole[1:4])
    found += many(f, lambda: torch.from_numpy(array), lambda: torch.from_numpy(array))
    found += many(g, x) + many(g, kept.view(3)) + many(g, kept.data) + many(g, x)
    return [*found, whole, torch.tensor(array), kept]


@case
def memory_that_gradients_share(wrap):
    a, b = nn.Parameter(x()), nn.Parameter(x(seed=1))

    def f(x):
        ((a * x).sum() + (b * x * 2).sum()).backward()
        return a.grad.clone(), b.grad.clone()

    f = wrap(f)
    found = [t for pair in many(f, x) for t in pair]
    a.grad = b.grad = torch.zeros(3, dtype=torch.float64)
    return found + [t for pair in many(f, x) for t in pair]


@case
def size_and_dtype_of_what_is_captured(wrap):
    kept, layer = x(), nn.Linear(3, 3).double()
    with torch.no_grad():
        layer.weight.copy_(x(3, 3))
        layer.bias.copy_(x(3))
    f = wrap(lambda x: x.sum() * kept)
    g = wrap(lambda x: layer(x.to(layer.weight.dtype)).double())
    found = many(f, x) + many(g, x(2, 3))
    kept.resize_(2)
    layer.float()
    found += many(f, x) + many(g, x(2, 3))
    layer.double()
    return found + many(g, x(2, 3))


def values(found):
    return [(t.dtype, tuple(t.shape), t.detach().numpy().copy()) for t in found]


def compared(name, backend, rtol):
    with warnings.catch_warnings(action="ignore"):  # that a function runs without a program
        wanted = values(CASES[name](lambda f: f))
        found = values(CASES[name](functools.partial(torch.compile, backend=backend)))
    assert len(wanted) == len(found)
    for i, (a, b) in enumerate(zip(wanted, found, strict=True)):
        assert a[:2] == b[:2], i
        np.testing.assert_allclose(b[2], a[2], rtol=rtol, atol=rtol, err_msg=f"number {i}")


@pytest.mark.parametrize("name", CASES)
def test_what_changes_between_calls_is_noticed(name):
    compared(name, "numpy", 1e-6)


@pytest.mark.parametrize("name", CASES)
def test_words_of_memory_tell_what_changes_between_calls(name, monkeypatch):
    monkeypatch.setattr(guard, "_FEW", 0)
    compared(name, "numpy", 1e-6)


@pytest.mark.parametrize("name", CASES)
def test_what_changes_between_calls_is_noticed_without_words_of_memory(name, monkeypatch):
    monkeypatch.setattr(words, "are_readable", lambda: False)
    monkeypatch.setattr(words, "has_tags", lambda: False)
    compared(name, "numpy", 1e-6)


@pytest.mark.parametrize("name", CASES)
def test_what_changes_between_calls_is_noticed_by_programs_of_xla(name):
    pytest.importorskip("jax")
    compared(name, "jax", 1e-5)


@case
def containers_that_were_empty(wrap):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scales, self.names, self.more = [], set(), collections.defaultdict(int)

        def forward(self, x):
            for scale in self.scales:
                x = x * scale
            return x + len(self.names) + sum(self.more.values())

    net = Net()
    f = wrap(lambda x: net(x))
    found = many(f, x(3, 2))
    net.scales.append(2.0)
    found += many(f, x(3, 2))
    net.names.add("a")
    found += many(f, x(3, 2))
    net.more["b"] = 3
    found += many(f, x(3, 2))
    net.scales.clear()
    return found + many(f, x(3, 2))


@case
def attributes_in_another_dict(wrap):
    class Net(nn.Module):
        k = 1.0

        def forward(self, x):
            return x * self.k * thing.k * getattr(weight, "factor", 1.0)

    net, thing, weight = Net(), Thing(), nn.Parameter(x())
    f = wrap(lambda x: net(x))
    found = many(f, x)
    thing.__dict__ = {"k": 5.0}
    found += many(f, x)
    net.__dict__ = {**vars(net), "k": 7.0}
    found += many(f, x)
    weight.__dict__ = {**vars(weight), "factor": 3.0}
    found += many(f, x)
    vars(thing)["k"] = 4.0
    return found + many(f, x)


@case
def attributes_of_functions(wrap):
    def scaled(x):
        return x * getattr(scaled, "factor", 1.0)

    f = wrap(lambda x: scaled(x))
    found = many(f, x)
    scaled.factor = 2.0
    found += many(f, x)
    scaled.__dict__ = {"factor": 3.0}
    found += many(f, x)
    del scaled.factor
    return found + many(f, x)


@pytest.mark.parametrize("pick", [lambda x, rows: nn.functional.embedding(rows, x), lambda x, rows: x[rows]])
def test_kernels_that_write_to_their_arguments(pick):
    x = torch.tensor(np.random.default_rng(0).standard_normal((1000, 1000)).astype("f"), requires_grad=True)
    rows = torch.tensor(np.random.default_rng(1).integers(0, 1000, 1000))

    def step():
        x.grad = None
        pick(x, rows).square().sum().backward()
        return x.grad

    compiled, wanted = torch.compile(step, fullgraph=True), step().clone()
    for _ in range(6):
        np.testing.assert_allclose(compiled().numpy(), wanted.numpy(), rtol=1e-6)
    assert compiled.kept


def test_many_steps_of_a_body_are_one_call():
    x = torch.tensor(np.random.default_rng(0).standard_normal((300, 5)).astype("f"), requires_grad=True)

    def step():
        x.grad = None
        (x.sort(0).values * x + x.max(0).values).sum().backward()
        return x.grad

    compiled, wanted = torch.compile(step, fullgraph=True), step().clone()
    for _ in range(4):
        np.testing.assert_allclose(compiled().numpy(), wanted.numpy(), rtol=1e-6)
    assert len(compiled.source.splitlines()) < 40


def test_gradients_take_over_results_and_copies_of_parts_stay():
    x, y = (torch.tensor(np.random.default_rng(i).standard_normal((3, 4)), requires_grad=True) for i in range(2))

    def step():
        x.grad = y.grad = None
        torch.cat([x, y]).square().sum().backward()
        return x.grad, y.grad

    compiled = torch.compile(step, fullgraph=True)
    for _ in range(4):
        for made, given in zip(compiled(), (x, y), strict=True):
            np.testing.assert_allclose(made.numpy(), 2 * given.detach().numpy())
        x.grad.add_(1)
        np.testing.assert_allclose(y.grad.numpy(), 2 * y.detach().numpy())
    assert x.grad.data_ptr() != y.grad.data_ptr()
