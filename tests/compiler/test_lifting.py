"""Tensors that a function replaces, and counts: programs take them from attributes and variables, and set these."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import deque

import pytest

import gradpack as torch
from gradpack import nn
from gradpack.compiler.compiled import Compiled, Unsupported
from gradpack.compiler.python.names_in_code import only_appends, only_counts
from gradpack.optim import lr_scheduler as lr

from .test_lasting import equal, played, x

total = torch.zeros(3, dtype=torch.float64)


class Holder:
    def __init__(self, **values):
        vars(self).update(values)


class Slotted:
    __slots__ = ("h",)


def compiled(function):
    return torch.compile(function, fullgraph=True)


def agrees(make, least=2):
    """Compare a function with its programs, of which so many calls run without a comparison."""
    found, step = played(make, compiled)
    wanted, _ = played(make, lambda f: f)
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert equal(a, b), i
    step = getattr(step, "compiled", step)
    assert step.kept and step.stopped is None and step.hits >= least, step.explain()
    return step


def of(function, *held):
    """Return what `played` calls: it looks at the result and at all that is held, and at what was held before."""

    def run(step, i):
        before = [h() for h in held]
        result = step(x(i))
        return [result, *before, *[h() for h in held], *[h() is result for h in held]]

    return run, function


def attribute():
    s = Holder(h=torch.zeros(3, dtype=torch.float64))

    def step(x):
        s.h = 0.9 * s.h + 0.1 * x
        return s.h

    return of(step, lambda: s.h)


def nonlocal_variable():
    h = torch.zeros(3, dtype=torch.float64)

    def step(x):
        nonlocal h
        h = (h + x).tanh()
        return h * 2

    return of(step, lambda: h)


def global_variable():
    global total
    total = torch.zeros(3, dtype=torch.float64)

    def step(x):
        global total
        total = total + x
        return total.sum()

    return of(step, lambda: total)


def slot():
    s = Slotted()
    s.h = torch.zeros(3, dtype=torch.float64)

    def step(x):
        s.h = s.h - x
        return s.h

    return of(step, lambda: s.h)


def items_of_a_list():
    ps, ms = [x(i).requires_grad_() for i in range(3)], [torch.zeros(3, dtype=torch.float64) for _ in range(3)]

    def step(x):
        loss = sum((x * p).tanh().square().sum() for p in ps)
        loss.backward()
        with torch.no_grad():
            for i, p in enumerate(ps):
                ms[i] = 0.9 * ms[i] + 0.1 * p.grad
                p -= 0.1 * ms[i]
                p.grad = None
        return loss

    return of(step, lambda: ps, lambda: ms)


def items_of_a_dict():
    weights = {"a": x(1), "b": x(2)}

    def step(x):
        for key, value in weights.items():
            weights[key] = value * 0.5 + x
        return weights["a"] - weights["b"]

    return of(step, lambda: weights)


class Averaged(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2).double()
        self.register_buffer("mean", torch.zeros(2, dtype=torch.float64))

    def forward(self, x):
        y = self.linear(x)
        self.mean = 0.9 * self.mean + 0.1 * y.detach()
        return y - self.mean


def buffer_in_a_step():
    net = Averaged()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    return of(step, lambda: net.mean, lambda: net.linear.weight)


def buffer_of_the_module():
    net = Averaged()

    def run(step, i):
        step(x(i)).sum().backward()
        return [net.mean, net.linear.weight.grad, *net.state_dict()]

    return run, net


def state_with_a_graph():
    w, s = x(1).requires_grad_(), Holder(h=x(2))

    def step(x):
        w.grad = None
        s.h = (s.h.detach() * 0.5 + w * x).tanh()
        loss = s.h.sum()
        loss.backward()
        return loss

    return of(step, lambda: s.h, lambda: w.grad)


def number_that_is_returned():
    s = Holder(h=x(1), n=0)

    def step(x):
        s.h = s.h + x
        s.n += 1
        return s.h.sum().item()

    return of(step, lambda: s.h)


def leaf():
    w = x(5).requires_grad_()

    def step(x):
        nonlocal w
        loss = (x * w - 1).square().sum()
        (g,) = torch.autograd.grad(loss, w)
        w = (w - 0.05 * g).detach().requires_grad_()
        return loss

    return of(step, lambda: w)


def leaf_with_a_gradient():
    w = x(5).requires_grad_()

    def step(x):
        nonlocal w
        loss = (x * w - 1).square().sum()
        loss.backward()
        w = (w - 0.05 * w.grad).detach().requires_grad_()
        return loss

    return of(step, lambda: w)


def two_that_change_places():
    s = Holder(a=x(1), b=x(2))

    def step(x):
        s.a, s.b = s.b, s.a + x
        return s.a

    return of(step, lambda: s.a, lambda: s.b)


def one_in_two_places():
    s, d = Holder(a=x(1)), {"b": x(2)}

    def step(x):
        s.a = d["b"] = s.a * x
        return d["b"] + 1

    return of(step, lambda: s.a, lambda: d["b"], lambda: s.a is d["b"])


def a_view_of_an_argument():
    s = Holder(last=x(1))

    def step(x):
        y = x - s.last
        s.last = x[:]
        return y

    return of(step, lambda: s.last)


def counts():
    s, calls, odd = Holder(n=300, h=x(1)), 0, 0

    def step(x):
        nonlocal calls, odd
        calls += 1
        s.n = s.n - 2
        for _ in range(3):
            s.n += 1
        s.h = s.h * x
        if x.shape[0] % 2:
            odd -= 1
        return s.h + 1

    return of(step, lambda: s.h, lambda: s.n, lambda: calls, lambda: odd)


class Counting(nn.Linear):
    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x)


def counts_of_a_module():
    net = Counting(3, 2).double()

    def run(step, i):
        step(x(i)).sum().backward()
        return [net.calls, net.weight.grad]

    return run, net


SCHEDULES = {
    "StepLR": lambda o: lr.StepLR(o, 2, 0.5),
    "OneCycleLR": lambda o: lr.OneCycleLR(o, 0.3, total_steps=30),
    "SequentialLR": lambda o: lr.SequentialLR(o, [lr.LinearLR(o, 0.1, total_iters=4), lr.CosineAnnealingLR(o, 9)], [3]),
    "ChainedScheduler": lambda o: lr.ChainedScheduler([lr.ExponentialLR(o, 0.9), lr.StepLR(o, 3, 0.5)]),
    "LambdaLR": lambda o: lr.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "CosineAnnealingWarmRestarts": lambda o: lr.CosineAnnealingWarmRestarts(o, 3),
}


def scheduled(name, kind=torch.optim.AdamW, rate=0.1):
    """Return a maker of a step with a scheduler."""

    def make():
        w = x(3).requires_grad_()
        optimizer = kind([w], lr=rate)
        schedule = SCHEDULES[name](optimizer)

        def step(x):
            optimizer.zero_grad()
            loss = (w * x).tanh().sum()
            loss.backward()
            optimizer.step()
            schedule.step()
            return loss

        def run(step, i):
            return [step(x(i)), w, optimizer.param_groups[0]["lr"], schedule.get_last_lr(), repr(schedule.state_dict())]

        return run, step

    return make


def items_that_are_appended():
    losses, s, h = [], Holder(rows=[], last=deque(maxlen=3)), {"loss": [], "pairs": []}
    w = x(0).requires_grad_()

    def log(value):
        number = value.item()
        losses.append(number)
        return number

    def step(x):
        loss = (w * x).square().sum()
        loss.backward()
        log(loss)
        s.rows.append(loss)
        s.last.append([x, float(loss.detach())])
        h["loss"].append((1, {"loss": loss.detach().item()}))
        for row in x.unbind():
            h["pairs"].append(row * w.detach()[0])
        with torch.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None
        return log(loss * 2)

    def run(step, i):
        if i == 4:
            s.rows = []
        result = step(x(i))
        return [result, list(losses), list(s.rows), list(s.last), *h.values(), w, s.rows[-1].requires_grad]

    return run, step


MAKERS = [
    *[scheduled(name) for name in SCHEDULES], scheduled("StepLR", torch.optim.RMSprop),
    counts, counts_of_a_module, number_that_is_returned, state_with_a_graph, items_that_are_appended,
    attribute, nonlocal_variable, global_variable, slot, items_of_a_list, items_of_a_dict, buffer_in_a_step,
    buffer_of_the_module, leaf, leaf_with_a_gradient, two_that_change_places, one_in_two_places, a_view_of_an_argument,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_programs_do_what_the_function_does(make):
    agrees(make)


@pytest.mark.parametrize("which", ["order", "read", "plateau", "a tensor", "groups"])
def test_schedulers_that_do_more_end_the_program(which):
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=torch.tensor(0.5) if which == "a tensor" else 0.5)
    schedule = lr.ReduceLROnPlateau(optimizer) if which == "plateau" else lr.ExponentialLR(optimizer, 0.5)
    optimizer.step()

    def step(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        if which == "plateau":
            optimizer.step()
            schedule.step(1.0)
        else:
            first, last = (schedule, optimizer) if which == "order" else (optimizer, schedule)
            first.step()
            last.step()
        return schedule.get_last_lr()[0] if which == "read" else loss

    def read_groups(x):
        step_ = schedule.step
        step_()
        return x * optimizer.param_groups[0]["lr"]

    strict = Compiled(read_groups if which == "groups" else step, fullgraph=True)
    strict(torch.ones(2))
    with pytest.raises(Unsupported, match="behind one of its scheduler" if which == "order" else "values of Python"):
        strict(torch.ones(2))
    assert schedule.last_epoch == 2


def n_is_read(s):
    s.n += 1
    return s.n


def n_is_tested(s):
    s.n += 1
    if s.n % 10 == 0:
        s.h = 1


def n_is_set(s):
    s.n = 0


def n_is_doubled(s):
    s.n *= 2


def n_of_another_one(s):
    s.other.n = s.n + 1


def n_plus_a_variable(s):
    s.n += s.m


def n_plus_a_float(s):
    s.n += 0.5


def n_in_two_steps(s):
    m = s.n + 1
    s.n = m


def n_with_another_target(s):
    s.m, s.n = 1, s.n + 1


def n_inside(s):
    return [s.n for _ in range(2)]


def n_in_a_pattern(s):
    s.n += 1
    match s:
        case Holder(n=3):
            s.h = 1


def n_is_a_method(s):
    s.n += 1
    s.n()


@pytest.mark.parametrize(
    "function",
    [n_is_read, n_is_tested, n_is_set, n_is_doubled, n_of_another_one, n_plus_a_variable, n_plus_a_float,
     n_in_two_steps, n_with_another_target, n_inside, n_in_a_pattern, n_is_a_method],
)  # fmt: skip
def test_code_that_does_more_than_to_count(function):
    assert not only_counts(function.__code__, "n")


def test_code_that_counts():
    def function(s):
        s.n += 1
        s.n = s.n - 3
        s.other.n -= 2
        return s.m

    assert only_counts(function.__code__, "n") and only_counts(function.__code__, "absent")


def test_items_and_attributes_with_setters_are_no_counts():
    class Doubling:
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value * 2)

    d, s = {"n": 1}, Doubling()
    vars(s)["n"] = 1

    def item(x):
        d["n"] *= 2
        return x * 2

    def attribute(x):
        s.n += 1
        return x * 2

    for function in (item, attribute):
        strict = Compiled(function, fullgraph=True)
        strict(torch.ones(3))
        with pytest.raises(Unsupported, match="changes values of Python"):
            strict(torch.ones(3))
    assert d["n"] == 4 and s.n == 10


def test_a_count_that_is_no_integer_any_more_is_the_functions():
    s = Holder(n=0)

    @compiled
    def step(x):
        s.n += 1
        return x * 2

    for _ in range(6):
        step(torch.ones(3))
    s.n = 0.5
    assert step(torch.ones(3)).tolist() == [2, 2, 2] and s.n == 1.5
    s.n = None
    with pytest.raises(TypeError):
        step(torch.ones(3))
    s.n = 4
    assert step(torch.ones(3)).tolist() == [2, 2, 2] and s.n == 5


def test_a_count_that_other_code_looks_at_ends_the_programs():
    """Where all that code could reach is too much, the code of calls is known when it has run."""
    s, many = Holder(n=0), dict.fromkeys(range(30_000), 1)

    def reads(x):
        return x * s.n

    def calls(x):
        return reads(x)

    def too_much():
        return len(many)

    def function(x):
        s.n += 1
        if x.shape[0] == 2:
            return calls(x)
        return x + (too_much() if x.shape[0] == 1 else 1)

    step = torch.compile(function)
    for _ in range(8):
        step(torch.ones(3))
    assert step.executed is not None and step.hits
    with pytest.warns(UserWarning, match="looks at s.n, which it had only added to"):
        found = [step(torch.ones(2)).tolist() for _ in range(6)]
    assert found == [[i, i] for i in range(9, 15)]
    assert step(torch.ones(3)).tolist() == [2, 2, 2] and s.n == 15


def test_a_variable_that_is_deleted():
    h = torch.zeros(3)

    @torch.compile
    def step(x):
        nonlocal h
        h = h + x
        if x.shape[0] == 1:
            del h
        return x * 2

    for _ in range(6):
        step(torch.ones(3))
    with pytest.warns(UserWarning, match="may be another one at each call"):
        step(torch.ones(1))
    with pytest.raises(NameError):
        step(torch.ones(3))
    h = torch.ones(3)
    assert step(torch.ones(3)).tolist() == [2, 2, 2] and h.tolist() == [2, 2, 2]


def test_explain_names_them_and_they_are_arguments():
    step = agrees(attribute)
    assert "set behind it, as the function does: s.h" in step.explain()
    assert "def program(x0, x1)" in step.source


def test_what_was_set_in_between_is_read():
    def make():
        s = Holder(h=None)

        def step(x):
            if s.h is None:
                s.h = torch.zeros(3, dtype=torch.float64)
            s.h = s.h * 0.5 + x
            return s.h.sum()

        def run(step, i):
            if i % 7 == 5:
                s.h = None
            elif i % 7 == 3:
                s.h = x(100 + i)
            return [*[step(x(i + k)) for k in range(2)], s.h]

        return run, step

    step = agrees(make)
    assert len(step.kept) == 2


def test_another_shape_is_another_program():
    s = Holder(h=torch.zeros(3))

    @compiled
    def step(x):
        s.h = s.h + x
        return s.h * 2

    for shape in ((3,), (2, 3), (1,), (3,)):
        s.h = torch.zeros(shape)
        for i in range(6):
            assert step(torch.ones(())).shape == shape and s.h.tolist() == torch.full(shape, 1.0 + i).tolist()
    assert len(step.kept) == 3 and step.stopped is None


def test_it_is_left_as_it_was_where_the_function_raises():
    s = Holder(h=torch.zeros(3))

    @torch.compile
    def step(x):
        y = s.h @ x
        s.h = s.h + x
        return y

    for _ in range(6):
        step(torch.ones(3))
    held = s.h
    with pytest.raises(RuntimeError, match="3"):
        step(torch.ones(4))
    assert s.h is held and held.tolist() == [6, 6, 6]


def test_calls_go_on_where_no_program_fits():
    s = Holder(h=torch.zeros(()))

    @torch.compile
    def step(x):
        s.h = s.h + x.sum()
        return x * s.h

    step.limit = 2
    lengths = [3, 3, 3, 3, 4, 4, 4, 5, 5, 3, 5]
    with pytest.warns(UserWarning, match="2 programs were made, and none fits"):
        found = [step(torch.ones(i)).tolist() for i in lengths]
    assert found == [[sum(lengths[: k + 1])] * i for k, i in enumerate(lengths)] and step.stopped is not None


def test_a_tensor_that_is_replaced_in_between_becomes_an_argument():
    s = Holder(h=torch.zeros(3))

    @compiled
    def step(x):
        return s.h * x

    for i in range(20):
        s.h = torch.full((3,), float(i))
        assert step(torch.ones(3)).tolist() == [i] * 3
    assert len(step.kept) == 1 and step.stopped is None and step.hits > 3


def test_others_that_change_end_the_program_as_before():
    s = Holder(h=torch.zeros(3), n=0)

    def step(x):
        s.h, s.n = s.h + x, s.n + 1
        return s.h * s.n

    strict = Compiled(step, fullgraph=True)
    strict(torch.ones(3))
    with pytest.raises(Unsupported, match="n 1 became 2"):
        strict(torch.ones(3))
    assert s.h.tolist() == [2, 2, 2] and s.n == 2


def test_parameters_that_are_replaced_are_the_functions():
    net = nn.Linear(2, 1)

    @torch.compile
    def step(x):
        net.weight = nn.Parameter(net.weight * 0.5)
        return net(x).detach()

    first = net.weight.detach().clone()
    with pytest.warns(UserWarning, match="runs without a program"):
        [step(torch.ones(2)) for _ in range(5)]
    assert torch.allclose(net.weight, first / 32) and isinstance(net.weight, nn.Parameter)


def test_a_compiled_function_inside_of_another_one():
    s = Holder(h=torch.zeros(3))

    @torch.compile
    def inner(x):
        s.h = s.h + x
        return s.h

    @compiled
    def outer(x):
        return inner(x) * 2

    for i in range(8):
        inner(torch.ones(3))
        assert outer(torch.ones(3)).tolist() == [4.0 * (i + 1)] * 3
    assert outer.kept and inner.kept and outer.hits and inner.hits


def test_copies_and_resets_have_no_programs():
    net = Averaged()
    step = torch.compile(net)
    for i in range(6):
        step(x(i))
    other = copy.deepcopy(step)
    mean = net.mean
    for i in range(6):
        other(x(i))
    assert net.mean is mean and not torch.equal(other.mean, mean)
    step.compiled.reset()
    assert step.compiled.function is net and not step.compiled.kept
    assert type(pickle.loads(pickle.dumps(step)).compiled) is Compiled


def test_what_runs_as_fast_without_a_program_does_so():
    s = Holder(h=torch.zeros(3))

    @compiled
    def step(x):
        s.h = x * 2

    for i in range(150):
        step(torch.full((3,), float(i)))
        assert s.h.tolist() == [2.0 * i] * 3
    assert step.trial is not None and not step.trial._times


def list_is_read(s, x):
    s.n.append(x)
    return s.n[-1]


def list_is_extended(s, x):
    s.n.extend([x])


def list_gets_another_name(s, x):
    n = s.n
    n.append(x)


def list_is_replaced(s, x):
    s.n = []
    s.n.append(x)


def list_is_read_inside(s, x):
    s.n.append(x)
    return lambda: len(s.n)


def list_by_a_string(s, x):
    s.n.append(x)
    return getattr(s, "n")  # noqa: B009


@pytest.mark.parametrize(
    "function",
    [list_is_read, list_is_extended, list_gets_another_name, list_is_replaced, list_is_read_inside, list_by_a_string],
)
def test_code_that_does_more_than_to_append(function):
    assert not only_appends(function.__code__, "n", 0)
    s = Holder(n=[])
    step = torch.compile(lambda x: function(s, x * 2))
    with warnings.catch_warnings(action="ignore"):
        for i in range(5):
            step(x(i))
    assert torch.equal(s.n[-1], x(4) * 2) and len(s.n) == (1 if function is list_is_replaced else 5)


def test_code_that_appends():
    def function(s):
        s.n.append(1)
        s.of["n"].append(2)
        s.of["m"].append(3)
        return s.m

    assert only_appends(function.__code__, "n", 0) is False  # the string may name it
    assert only_appends(function.__code__, "of", 1) and not only_appends(function.__code__, "of", 0)
    assert only_appends(function.__code__, "absent", 0)


def test_one_list_in_two_places_keeps_the_order_of_its_items():
    s, other = Holder(a=[], b=[]), []

    def step(x):
        s.a.append(x.sum().item())
        s.b.append(x.mean().item())
        s.a.append(x.max().item())

    step = compiled(step)
    for i in range(8):
        if i == 5:
            s.a = s.b = other
        step(x(i))
    given = [x(i) for i in range(5, 8)]
    assert other == [v.item() for g in given for v in (g.sum(), g.mean(), g.max())] and step.kept


def test_an_exception_leaves_what_was_appended():
    s = Holder(items=[], n=0)

    def step(x, fails):
        s.n += 1
        s.items.append(x.sum().item())
        if fails:
            raise ValueError("fails")
        s.items.append("end")

    step = torch.compile(step)
    for i in range(12):
        fails = i % 3 == 2
        try:
            step(x(i), fails)
        except ValueError:
            assert fails
    wanted = [v for i in range(12) for v in ([x(i).sum().item()] if i % 3 == 2 else [x(i).sum().item(), "end"])]
    assert s.items == wanted and s.n == 12 and step.hits


def test_what_a_place_that_does_not_fit_raises_is_raised_once():
    s = Holder(n=0, calls=0)

    def step(x):
        s.n += 1
        return x * 2

    def failing(x):
        vars(s)["calls"] += 1
        raise IndexError("of the function")

    compiled_step = torch.compile(step)
    for i in range(5):
        compiled_step(x(i))
    s.n = "text"
    with pytest.raises(TypeError):
        compiled_step(x(0))
    compiled_step.function.function = failing
    compiled_step.call_instead(None)
    with pytest.raises(IndexError, match="of the function"):
        compiled_step(x(0))
    assert s.calls == 1


def test_a_number_that_code_finds_among_its_local_variables_is_one():
    def step(x):
        number = x.sum().item()
        return [repr(value) for name, value in locals().items() if name == "number"] + [bool(x.sum() < 0)]

    step = torch.compile(step)
    with warnings.catch_warnings(action="ignore"):
        for i in range(6):
            assert step(x(i))[0] == repr(x(i).sum().item())
