"""Results of programs: what they share memory with, what is written to them, and which gradients they have."""

from __future__ import annotations

import dataclasses
import enum
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from tests.compiler.test_lasting import agrees, leaves, x

import gradpack as torch
from gradpack import nn


def views_of_an_argument():
    def run(f, i):
        given = x(i, 3, 2)
        row, turned, alone, data, flat = f(given)
        row.zero_()
        flat.add_(1)
        data.mul_(2)
        return row, turned, alone, data, flat, given

    return run, lambda x: (x[0], x.t(), x.detach(), x.data, x.view(-1))


def views_of_captured_tensors():
    w, p = x(0, 3, 2), leaves(3, seed=1)

    def run(f, i):
        row, turned, alone, total = f(x(i))
        row.add_(i)
        if i == 5:
            alone.mul_(2)
        return row, turned, alone, total, w, p

    return run, lambda x: (w[0], w.t(), p.detach(), x.sum())


def views_of_results():
    def f(x):
        h = x * 2
        return h[1], h, {"flat": h.view(-1)[:1], "same": h}

    def run(f, i):
        one, whole, rest = f(x(i))
        one.add_(5)
        rest["flat"].mul_(3)
        return one, whole, rest, rest["same"] is whole

    return run, f


def a_part_of_a_buffer():
    buffer = torch.zeros(4, 3, dtype=torch.float64)

    def f(x, k):
        buffer[k] = x
        return buffer[: k + 1]

    return lambda f, i: (f(x(i), i % 2), buffer), f


def what_is_saved_is_returned():
    w = leaves(3)

    def f(x):
        z = torch.exp(w * x)
        return z.sum(), z.detach(), z, z.detach()[:2]

    def run(f, i):
        w.grad = None
        loss, whole, result, part = f(x(i))
        if i % 3 == 2:
            part.mul_(2)
        try:
            (loss + result.sum()).backward()
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error), whole, part
        return w.grad, whole, part

    return run, f


def versions_of_results_and_gradients():
    w = leaves(3)

    def f(x):
        w.grad = None
        y = torch.zeros(3, dtype=torch.float64)
        y.add_(x).mul_(2)
        (w * y).sum().backward()
        w.grad.mul_(0.5)
        return y

    return lambda f, i: (f(x(i)), w.grad), f


def windows_of_a_result():
    def f(x):
        h = x * 2
        torch.as_strided(h, (2, 2), (3, 1)).copy_(x[:2, :2] + 5)
        return h, torch.as_strided_scatter(x, x[0], (3,), (2,)), torch.as_strided(h, (3,), (1,), 2)

    def run(f, i):
        whole, scattered, part = f(x(i, 3, 3))
        part.mul_(3)
        return whole, scattered, part

    return run, f


def results_turned_in_place():
    w = leaves(3)

    def f(x):
        h, y, z = x * 2, x + w, x - 1
        h.t_()
        h[0] *= 3
        return h, y.unsqueeze_(1), y.sum(), z.squeeze_(0), z.transpose_(0, 1)

    def run(f, i):
        w.grad = None
        found = f(x(i, 4, 3))
        found[0].t_()[1:].add_(1)
        (found[1].sin().sum() + found[2]).backward()
        return *found, w.grad

    return run, f


SHARED = (
    views_of_an_argument, views_of_captured_tensors, views_of_results, a_part_of_a_buffer, what_is_saved_is_returned,
    versions_of_results_and_gradients, windows_of_a_result, results_turned_in_place,
)  # fmt: skip


@pytest.mark.parametrize("make", SHARED)
def test_results_share_memory_and_versions_as_those_of_the_function(make):
    assert agrees(make).kept


# -- data classes --


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    more: object = None
    factor: float = 1.0

    def scaled(self):
        return self.x * self.factor * SCALE


@dataclasses.dataclass(frozen=True, slots=True)
class Output:
    loss: torch.Tensor
    parts: list


SCALE = 1.0


def data_classes():
    w = leaves(3)

    def f(batch, more):
        h = batch.scaled() * w + more["z"].x
        return Output(h.sum(), [batch.factor, Batch(h), batch.more])

    def run(f, i):
        global SCALE
        SCALE, w.grad, kept = 1.0 + i // 6, None, x(1)
        found = f(Batch(x(i), kept, 1.0 if i < 4 else 2.0), {"z": Batch(x(2), [1, x(3)])})
        found.loss.backward()
        assert type(found) is Output and type(found.parts[1]) is Batch and found.parts[2] is kept
        return found.loss, found.parts[0], found.parts[1].x, w.grad

    return run, f


def test_data_classes_are_arguments_and_results():
    step = agrees(data_classes)
    assert len(step.kept) == 3 and "no more programs" not in step.explain()


def test_a_data_class_that_is_written_to():
    def make():
        def f(batch):
            batch.more = batch.x * 2
            return batch.more.sum()

        def run(f, i):
            batch = Batch(x(i))
            return f(batch), batch.more

        return run, f

    step = agrees(make)
    assert not step.kept and "it changes a Batch among its arguments" in step.explain()


# -- constants are new arrays at each call --


def constants():
    def f(x):
        rows = torch.zeros(2, 3, dtype=torch.float64)
        return torch.ones(3), torch.tensor([1.0, 2.0]), torch.arange(4).view(2, 2).t(), rows[1], rows, x

    def run(f, i):
        *found, _ = f(x(i))
        for each in found:
            each.add_(1)
        return found

    return run, f


def gradients_that_are_constants():
    w = leaves(3)

    def f():
        w.grad = None
        w.sum().backward()

    def run(f, i):
        f()
        w.grad.add_(1)
        return w.grad

    return run, f


@pytest.mark.parametrize("make", [constants, gradients_that_are_constants])
def test_constants_are_new_at_each_call(make):
    assert agrees(make).kept


# -- gradients --


def gradients_of_some_results():
    w, v = leaves(3), leaves(3, seed=1)

    def run(f, i):
        w.grad = v.grad = None
        first, second, both = f(x(i))
        (first, second, both, first + both)[i % 4].backward()
        return w.grad, v.grad

    return run, lambda x: ((x * w).sum(), (x * v).sum(), (w * v).sum())


def gradients_that_are_asked_for():
    w, v = leaves(3), leaves(3, seed=1)

    def run(f, i):
        first, _ = f(x(i))
        return torch.autograd.grad(first, [w, v], allow_unused=True)

    return run, lambda x: ((x * w).sum(), (x * v).sum())


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, most):
        ctx.save_for_backward(x)
        ctx.most = most
        return x.clamp(-most, most)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x.abs() < ctx.most, g, g * 0.1), None


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h if ctx.needs_input_grad[1] else None


def functions_of_the_user():
    layer, v = nn.Linear(3, 3).double(), leaves(3)

    def f(x, most):
        h = Clamp.apply(layer(x), most)
        return Both.apply(h, v)

    def run(f, i):
        layer.zero_grad()
        v.grad = None
        product, total = f(x(i, 4, 3), 0.5 if i < 5 else 0.7)
        (product, total, product + total)[i % 3].sum().backward()
        return product, total, layer.weight.grad, v.grad

    return run, f


def parameters_as_arguments():
    w = nn.Parameter(x(0))

    def run(f, i):
        w.grad = None
        loss = f(w, x(i))
        loss.backward()
        return loss, w.grad

    return run, lambda w, x: (w * x).pow(2).sum()


def an_argument_that_requires_grad_inside():
    w = leaves(3)

    def f(x):
        x.requires_grad_()
        return (w * x * x).sum()

    def run(f, i):
        given, w.grad = x(i), None
        f(given).backward()
        return given, given.grad, w.grad

    return run, f


GRADIENTS = (
    gradients_of_some_results, gradients_that_are_asked_for, functions_of_the_user, parameters_as_arguments,
    an_argument_that_requires_grad_inside,
)  # fmt: skip


@pytest.mark.parametrize("make", GRADIENTS)
def test_gradients_are_those_of_the_function(make):
    step = agrees(make)
    assert step.kept and "no more programs" not in step.explain()


class Counting(torch.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Counting.calls += 1
        return g * 2


def test_a_backward_that_does_more_than_to_compute_runs_as_it_is():
    def make():
        w = leaves(3)
        Counting.calls = 0

        def run(f, i):
            w.grad = None
            f(x(i)).sum().backward()
            return w.grad, Counting.calls

        return run, lambda x: Counting.apply(w * x)

    step = agrees(make)
    assert not step.kept and "CountingBackward looks at more than its ctx" in step.explain()


def test_steps_of_an_optimizer_that_is_formulas():
    def make():
        w = leaves(3)
        optimizer = torch.optim.ASGD([w], lr=0.1)

        def f(x):
            optimizer.zero_grad()
            loss = (w * x).pow(2).sum()
            loss.backward()
            optimizer.step()
            return loss

        return lambda f, i: (f(x(i)), w.detach().clone(), w.grad._version), f

    assert agrees(make).kept


def test_the_sentences_name_the_function_and_the_line():
    calls = {
        "`tolist` takes the numbers": lambda x: x * x.tolist()[0],
        "`numpy` takes the numbers": lambda x: x * float(x.numpy()[0]),
        "`embedding_bag` takes the numbers": lambda x: nn.functional.embedding_bag(
            torch.arange(3).repeat(400), x.view(3, 1), torch.tensor([0, 2])
        ),
    }
    for message, function in calls.items():
        step = torch.compile(function, fullgraph=True)
        step(x(0))
        with pytest.raises(RuntimeError, match=message) as caught:
            step(x(0))
        assert "test_results_of_programs.py:" in str(caught.value)


def test_reasons_of_misses_name_what_differs():
    step = torch.compile(lambda x, k, **more: x * k)
    kept = x(0)
    for args, message in (
        ((kept, 2), None),
        ((kept, 2.0), "an argument was 2 and is 2.0"),
        ((x(0, 4), 2.0), "x has shape [4], and had [3]"),
        ((kept.float(), 2.0), "x is of gradpack.float32, and was of gradpack.float64"),
        ((kept.clone().requires_grad_(), 2.0), "another `requires_grad`"),
    ):
        for _ in range(3):
            np.testing.assert_array_equal(step(*args).detach().numpy(), (args[0] * args[1]).detach().numpy())
        if message is not None:
            assert any(message in miss for miss in step.misses), step.misses


def the_loss(net, optimizer, x, in_dict):
    optimizer.zero_grad()
    loss = (net(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "output": net(x).detach()} if in_dict else loss.item()


@pytest.mark.parametrize("in_dict", [False, True])
def test_numbers_of_single_precision_are_compared_in_it(in_dict):
    """Their last digits depend on how sums are computed: that is no reason to drop a program."""
    for seed in range(16):
        torch.manual_seed(seed)
        net = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
        compiled = torch.compile(lambda x, net=net, optimizer=optimizer: the_loss(net, optimizer, x, in_dict))
        with np.errstate(all="raise"):
            found = [compiled(torch.randn(5, 4)) for _ in range(5)]
        assert len(compiled.kept) == 1, compiled.explain()
        assert all(type(f["loss"] if in_dict else f) is float for f in found)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "Rprop"])
def test_gradients_that_are_only_rounding_are_no_reason_to_drop_a_program(name):
    """The bias before a normalization has such, which these optimizers scale up: last digits become whole steps."""
    for seed in range(6):
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
        optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.01)

        def step(x, y, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        compiled = torch.compile(step, fullgraph=True)
        for _ in range(5):
            compiled(torch.randn(32, 6), torch.randint(0, 3, (32,)))
        assert len(compiled.kept) == 1, compiled.explain()


def test_other_numbers_of_a_parameter_drop_a_program():
    """What is not rounding is compared: a program that steps elsewhere is none."""
    torch.manual_seed(0)
    net = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    turns = [0]

    def step(x):
        optimizer.zero_grad()
        (net(x) ** 2).mean().backward()
        optimizer.step()

    compiled = torch.compile(step)
    for _ in range(2):
        compiled(torch.ones(3, 4))
    kept = compiled.kept[0]
    bind = kept.turn.built.bind

    def wrong(*arrays):
        run = bind(*arrays)

        def moved(*given):
            found = run(*given)
            net.weight._data[0, 0] += 1
            turns[0] += 1
            return found

        return moved

    kept.turn.built = kept.turn.built._replace(bind=wrong)
    with pytest.warns(UserWarning, match="other numbers"):
        compiled(torch.ones(3, 4))
    assert turns == [1]
    assert not compiled.kept


class Descent(torch.optim.Optimizer):
    """An optimizer of the user's, whose step is one call of a program."""

    def __init__(self, params):
        super().__init__(params, {})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad * 0.1)


def adds_behind_the_step(net, optimizer, x):
    optimizer.zero_grad()
    (net(x) ** 2).mean().backward()
    optimizer.step()
    (net(x) ** 3).mean().backward()


def drops_gradients_in_the_end(net, optimizer, x):
    (net(x) ** 2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def sets_them_to_zero_in_the_end(net, optimizer, x):
    (net(x) ** 2).mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)


def keeps_them(net, optimizer, x):
    (net(x) ** 2).mean().backward()
    optimizer.step()


def steps_twice(net, optimizer, x):
    for _ in range(2):
        optimizer.zero_grad()
        (net(x) ** 2).mean().backward()
        optimizer.step()


STEPS = [adds_behind_the_step, drops_gradients_in_the_end, sets_them_to_zero_in_the_end, keeps_them, steps_twice]
OPTIMIZERS = {
    "of the user's": Descent,
    "SGD": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9),
    "RMSprop": lambda params: torch.optim.RMSprop(params, lr=0.01, momentum=0.5, centered=True),
    "NAdam": torch.optim.NAdam,
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("step", STEPS, ids=lambda f: f.__name__)
def test_gradients_around_a_step_are_those_of_eager(step, name):
    found = []
    for compile_ in (lambda f: f, lambda f: torch.compile(f, fullgraph=True)):
        torch.manual_seed(0)
        net = nn.Linear(3, 2, dtype=torch.float64)
        optimizer = OPTIMIZERS[name](net.parameters())
        run = compile_(lambda x, net=net, optimizer=optimizer: step(net, optimizer, x))
        values = []
        for i in range(8):
            run(x(i, 4, 3))
            values += [t.detach().clone() for p in net.parameters() for t in (p, p.grad) if t is not None]
        found.append(values)
    assert len(run.kept) == 1
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)


def test_views_of_what_stands_for_a_result_are_views_of_it():
    """The mean of one element is that element: views of it, of which one is made twice, keep its memory."""

    def make():
        torch.manual_seed(0)
        net = nn.Conv2d(8, 8, 1).double()
        w = leaves(8)
        optimizer = torch.optim.SGD([*net.parameters(), w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            y = (net(x) + x).mean((2, 3), keepdim=True).permute(0, 2, 3, 1)
            loss = nn.functional.layer_norm(y, (8,), w).tanh().sum()
            loss.backward()
            optimizer.step()
            return loss

        return lambda step, i: [step(x(i, 2, 8, 1, 1)), w.grad, net.weight.grad], step

    step = agrees(make)
    assert step.kept and step.stopped is None and step.hits


class Layer:
    def __init__(self, hidden, size, activation):
        self.hidden, self.size, self.activation = hidden, size, activation
        self.more = {"twice": [hidden * 2]}


class Kind(enum.Enum):
    FIRST = 1


def test_objects_and_constants_are_results():
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh()).double()

    def function(x):
        hidden = net(x)
        return Layer(hidden, hidden.shape, net[1]), Kind.FIRST, slice(0, x.shape[0]), torch.float32, nn.functional.relu

    compiled = torch.compile(function, fullgraph=True)
    for i in range(5):
        (found, *others), (wanted, *more) = compiled(x(i, 4, 3)), function(x(i, 4, 3))
        assert type(found) is Layer and found.size == wanted.size and found.activation is net[1] and others == more
        for a, b in ((found.hidden, wanted.hidden), (found.more["twice"][0], wanted.more["twice"][0])):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12)
        (found.hidden.sum() + found.more["twice"][0].sum()).backward()
    assert len(compiled.kept) == 1


def held_twice(make):
    def function(x):
        made = make(x)
        return made, {"again": made}

    return function


def holds_itself(x):
    made = Layer(x, 1, 2)
    made.more["self"] = made
    return made


@pytest.mark.parametrize("make", [lambda x: [x + 1], lambda x: Layer(x + 1, 1, 2)], ids=["list", "object"])
def test_a_container_at_two_places_of_a_result_stays_one(make):
    compiled = torch.compile(held_twice(make))
    with warnings.catch_warnings(action="ignore"):
        results = [compiled(x(0, 2)) for _ in range(4)]
    assert all(first is others["again"] for first, others in results)
    assert "or one at two places" in compiled.stopped


def test_a_result_that_holds_itself_runs_as_it_is():
    compiled = torch.compile(holds_itself)
    with warnings.catch_warnings(action="ignore"):
        results = [compiled(x(0, 2)) for _ in range(4)]
    assert all(found.more["self"] is found for found in results) and not compiled.kept


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


class NamedPair(Pair):
    """A named tuple whose class lets it have attributes."""


def test_attributes_of_named_tuples_are_kept():
    def named(x):
        made = NamedPair(x, x + 1)
        made.name = x * 2
        return made

    def scaled(pair):
        return pair.first * getattr(pair, "scale", 1.0)

    functions = named, scaled
    compiled = [torch.compile(f) for f in functions]
    with warnings.catch_warnings(action="ignore"):
        for i in range(5):
            given = NamedPair(x(i, 2), x(i, 2))
            assert torch.equal(compiled[0](x(i, 2)).name, x(i, 2) * 2)
            assert torch.equal(compiled[1](given), x(i, 2))
            given.scale = float(i)
            assert torch.equal(compiled[1](given), x(i, 2) * i)


def test_strides_of_new_tensors_are_seen_as_they_are():
    def function(x):
        made = torch.empty_strided((3, 4), (1, 3), dtype=x.dtype).copy_(x)
        return made.stride(), made

    compiled = torch.compile(function, fullgraph=True)
    for i in range(5):
        strides, made = compiled(x(i, 3, 4))
        assert strides == made.stride() == (1, 3) and torch.equal(made, x(i, 3, 4))
    overlapping = torch.compile(lambda x: torch.empty_strided((2, 2), (2, 3), dtype=x.dtype).stride())
    with warnings.catch_warnings(action="ignore"):
        assert [overlapping(x(0, 1)) for _ in range(4)] == [(2, 3)] * 4


def test_results_that_were_turned_in_place_have_an_attribute():
    def function(x):
        made = (x * 2).view(3, 2).t_()
        made.tag = "turned"
        return made

    compiled = torch.compile(function)
    with warnings.catch_warnings(action="ignore"):
        results = [compiled(x(i, 6)) for i in range(5)]
    assert all(made.tag == "turned" and made.stride() == (1, 2) for made in results)
    whole = torch.compile(lambda x: (x * 2).view(3, 2).t_(), fullgraph=True)
    for i in range(5):
        assert torch.equal(whole(x(i, 6)), (x(i, 6) * 2).view(3, 2).t())


class Hidden:
    def __init__(self, value):
        vars(self)["value"] = value

    @property
    def value(self):
        return vars(self)["value"] + 1


def test_objects_whose_properties_hide_what_they_hold_are_results():
    compiled = torch.compile(lambda x: Hidden(x * 2), fullgraph=True)
    for i in range(5):
        hidden = compiled(x(i, 2))
        assert torch.equal(hidden.value, x(i, 2) * 2 + 1) and torch.equal(vars(hidden)["value"], x(i, 2) * 2)
