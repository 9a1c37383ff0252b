"""Programs compute what functions compute, and are not used where anything that matters has changed."""

from __future__ import annotations

import random
import threading
import time
import warnings

import numpy as np
import pytest

import gradpack as torch
from gradpack.compiler import lowering, recording
from gradpack.compiler.compiled import LIMIT, Compiled, Unsupported
from gradpack.nn import functional as F


def numbers(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape))


def compiled(function, **options):
    return torch.compile(function, **options)


def same(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-12)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(4, 6, dtype=torch.float64), torch.nn.BatchNorm1d(6, dtype=torch.float64)
        self.second, self.p, self.scale = torch.nn.Linear(6, 3, dtype=torch.float64), 0.3, 2.0

    def forward(self, x):
        x = F.dropout(torch.tanh(self.norm(self.first(x))), self.p, self.training)
        return self.second(x) * self.scale


OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "Rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
}


def training(make, schedule=False):
    torch.manual_seed(0)
    net = Net()
    optimizer = make(net.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5) if schedule else None

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return net, optimizer, scheduler, step


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("schedule", [False, True])
def test_a_training_step_is_what_the_function_is(name, schedule):
    runs = []
    for wrap in (lambda f: f, torch.compile):
        net, optimizer, scheduler, step = training(OPTIMIZERS[name], schedule)
        run, losses = wrap(step), []
        torch.manual_seed(1)
        for i in range(9):
            losses.append(run(numbers(8, 4, seed=i), torch.arange(8) % 3))
            if scheduler is not None:
                scheduler.step()
        runs.append((net, optimizer, losses, run, torch.get_rng_state()))
    (net, optimizer, losses, _, state), (other, its, found, program, end) = runs
    assert len(program.kept) == 1 and program.stopped is None, program.explain()
    for a, b in zip(losses, found, strict=True):
        same(a, b)
        assert b.requires_grad and b.grad_fn is not None
    for (key, a), b in zip(net.state_dict().items(), other.state_dict().values(), strict=True):
        same(a, b)
        assert a._version == b._version, key
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        same(p.grad, q.grad)
        for a, b in zip(optimizer.state[p].values(), its.state[q].values(), strict=True):
            if isinstance(a, torch.Tensor):
                same(a, b)
    assert (state.numpy() == end.numpy()).all()
    with pytest.raises(RuntimeError, match="second time"):
        found[-1].backward()


def test_results_are_not_written_to_by_later_calls():
    step = compiled(lambda x: (x * 2, x.sum()))
    kept = [step(torch.full((3,), float(i))) for i in range(6)]
    assert [k[0].tolist() for k in kept] == [[2.0 * i] * 3 for i in range(6)]
    kept[3][0].add_(1)
    assert step(torch.full((3,), 3.0))[0].tolist() == [6.0] * 3


def test_a_number_of_the_closure_that_changes_is_noticed():
    scale = 2.0
    f = compiled(lambda x: x * scale)
    x = torch.ones(2)
    for _ in range(4):
        assert f(x).tolist() == [2, 2]
    scale = 3.0
    assert f(x).tolist() == [3, 3]
    scale = 2.0
    assert f(x).tolist() == [2, 2]


HELD = [1.0]


def test_what_is_in_a_global_list_is_noticed():
    f = compiled(lambda x: x * HELD[0])
    x = torch.ones(2)
    for _ in range(4):
        f(x)
    HELD[0] = 5.0
    try:
        assert f(x).tolist() == [5, 5]
    finally:
        HELD[0] = 1.0
    assert f(x).tolist() == [1, 1]


def test_attributes_and_training_of_modules_are_noticed():
    net = Net().eval()
    f = compiled(lambda x: net(x).detach())
    x = numbers(5, 4)
    for _ in range(4):
        same(f(x), net(x))
    net.scale = 7.0
    same(f(x), net(x))
    net.norm.weight = torch.nn.Parameter(torch.full((6,), 3.0, dtype=torch.float64))
    same(f(x), net(x))
    net.first.register_forward_hook(lambda module, args, out: out * 2)
    same(f(x), net(x))
    net.train()
    net.p = 0.0
    same(f(x), net(x))


def test_a_tensor_that_is_replaced_or_changed_in_shape_is_noticed():
    class Holder:
        h = torch.zeros(2)

    holder = Holder()
    holder.h = torch.ones(2)
    f = compiled(lambda x: x + holder.h)
    for _ in range(4):
        assert f(torch.ones(2)).tolist() == [2, 2]
    holder.h.add_(1)
    assert f(torch.ones(2)).tolist() == [3, 3]
    holder.h = torch.full((2,), 9.0)
    assert f(torch.ones(2)).tolist() == [10, 10]
    holder.h = torch.ones(1, 2)
    assert f(torch.ones(2)).shape == (1, 2)
    holder.h.data = torch.ones(3, 2)
    assert f(torch.ones(2)).shape == (3, 2)


@pytest.mark.parametrize("ask", [lambda x: bool(x.sum() > 0), lambda x: x.sum().item() > 0, lambda x: float(x[0]) > 0])
def test_values_that_python_asks_for_choose_the_program(ask):
    f = compiled(lambda x: x * 2 if ask(x) else x - 1)
    up, down = torch.ones(3), -torch.ones(3)
    for _ in range(5):
        assert f(up).tolist() == [2] * 3
        assert f(down).tolist() == [-2] * 3


def test_a_guard_that_fails_takes_back_what_was_written():
    state = torch.zeros(2)

    def f(x):
        state.add_(x)
        return state * 2 if state.sum() < 10 else state * 0

    g = compiled(f)
    for i in range(8):
        g(torch.ones(2))
        assert state.tolist() == [i + 1.0] * 2
    assert g(torch.ones(2)).tolist() == [0, 0] and state.tolist() == [9, 9]


def test_shapes_dtypes_and_layouts_of_arguments_are_noticed():
    f = compiled(lambda x: x.sum(0) * 2)
    for _ in range(4):
        for x in (torch.ones(2, 3), torch.ones(3, 2), torch.ones(3, 2).double(), torch.ones(3, 2, dtype=torch.int64)):
            same(f(x), x.sum(0) * 2)
            assert f(x).dtype is (x.sum(0) * 2).dtype
        same(f(torch.arange(6.0).reshape(2, 3).T), torch.arange(6.0).reshape(2, 3).T.sum(0) * 2)


def test_shapes_that_follow_from_values_are_noticed():
    f = compiled(lambda x: torch.nonzero(x).shape[0] * x)
    for values in ([1.0, 0.0], [1.0, 1.0], [0.0, 0.0]) * 3:
        x = torch.tensor(values)
        same(f(x), torch.nonzero(x).shape[0] * x)
    g = compiled(lambda x: x[x > 0] * 2)
    for values in ([1.0, 0.0], [1.0, 3.0], [0.0, 0.0]) * 3:
        x = torch.tensor(values)
        same(g(x), x[x > 0] * 2)


def test_arguments_that_are_no_tensors_are_noticed():
    f = compiled(lambda x, n, flag=False: x * n if flag else x + n)
    x = torch.ones(2)
    for _ in range(4):
        assert f(x, 2).tolist() == [3, 3]
        assert f(x, 3).tolist() == [4, 4]
        assert f(x, 2, flag=True).tolist() == [2, 2]
        assert f(x, True).tolist() == [2, 2]
        assert f(x, n=2.5).tolist() == [3.5, 3.5]


def effects(reason, make, calls=5):
    """Call a function that cannot become a program: it does all that it does each time, and warns once."""
    f = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program = compiled(f)
        found = [program(torch.ones(2)) for _ in range(calls)]
    assert program.kept == [] and len(caught) == 1 and reason in str(caught[0].message), [
        str(c.message) for c in caught
    ]
    strict = compiled(f, fullgraph=True)
    strict(torch.ones(2))
    with pytest.raises(Unsupported, match="fullgraph"):
        [strict(torch.ones(2)) for _ in range(2)]  # the second call may find out what it runs
    return found


def test_a_list_that_grows_and_is_read():
    seen = []

    def f(x):
        seen.append(len(seen))
        return x * 2

    effects("changes values of Python", lambda: f)
    assert seen == [*range(7)]


def test_an_attribute_that_counts():
    class Counter:
        n = 0

    counter = Counter()
    counter.n = 0

    def f(x):
        counter.n += 1
        return x * counter.n

    found = effects("changes values of Python", lambda: f)
    assert [y.tolist()[0] for y in found] == [1, 2, 3, 4, 5]


def test_printing(capsys):
    effects("print()", lambda: lambda x: (print("called"), x * 2)[1])
    assert capsys.readouterr().out.count("called") == 7


def test_time_and_random_numbers_of_python():
    effects("perf_counter()", lambda: lambda x: x * time.perf_counter())
    effects("random()", lambda: lambda x: x * random.random())


def test_an_iterator():
    numbers_ = iter(range(100))
    found = effects("iterator", lambda: lambda x: x * next(numbers_))
    assert [y.tolist()[0] for y in found] == [0, 1, 2, 3, 4]


def test_numpy_inside():
    effects("takes the numbers of a tensor", lambda: lambda x: torch.tensor(np.cumsum(x.numpy())))


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.randn(2) + torch.rand(2),
        lambda x: torch.rand_like(x) * torch.randn_like(x),
        lambda x: torch.randint(0, 9, (2,)) + torch.normal(0.0, 2.0, size=(2,)),
        lambda x: x[torch.randperm(2)] * torch.zeros(2).add(3),
    ],
)
def test_factories_that_draw(draw):
    found = []
    for use in (lambda f: f, compiled):
        f = use(lambda x: x + draw(x))
        torch.manual_seed(0)
        found.append([f(torch.tensor([1.0, 2.0])).tolist() for _ in range(6)])
    assert found[0] == found[1] and f.kept


@pytest.mark.parametrize("name", ["momentum", "weight_decay"])
def test_an_option_of_an_optimizer_that_becomes_zero(name):
    found = []
    for use in (lambda f: f, lambda f: compiled(f)):
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.5, weight_decay=0.1)

        def f(x, w=w, optimizer=optimizer):
            optimizer.zero_grad()
            (x * w * w).sum().backward()
            optimizer.step()

        step = use(f)
        for i in range(9):
            optimizer.param_groups[0][name] = 0.0 if 3 < i < 7 else 0.2
            optimizer.param_groups[0]["lr"] = 0.1 / (i + 1)
            step(numbers(3, seed=i))
        found.append(w.tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_steps_of_parameters_that_differ():
    found = []
    for use in (lambda f: f, lambda f: compiled(f)):
        a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        optimizer = torch.optim.Adam([a, b], lr=0.1)

        def f(x, a=a, b=b, optimizer=optimizer):
            optimizer.zero_grad()
            (x * a * b).sum().backward()
            optimizer.step()

        step = use(f)
        for i in range(9):
            if i == 5:
                optimizer.state[b]["step"].fill_(1)
            step(numbers(3, seed=i))
        found.append(a.tolist() + b.tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_hooks_of_tensors():
    w = torch.ones(2, requires_grad=True)
    seen = []
    w.register_hook(lambda g: seen.append(g))

    def f(x):
        (x * w).sum().backward()
        return x * 2

    effects("hooks", lambda: f)
    assert len(seen) == 7  # five calls, and two under `fullgraph=True`, of which the second is recorded


def test_dropout_draws_what_the_function_draws():
    f = compiled(lambda x: F.dropout(x, 0.5))
    x = torch.ones(100)
    torch.manual_seed(3)
    wanted = [F.dropout(x, 0.5) for _ in range(6)]
    torch.manual_seed(3)
    for w in wanted:
        same(f(x), w)
    assert len(f.kept) == 1


def test_modes_are_noticed():
    w = torch.ones(2, requires_grad=True)

    def f(x):
        return (x * w).requires_grad

    g = compiled(f)
    for _ in range(3):
        assert g(torch.ones(2)) is True
        with torch.no_grad():
            assert g(torch.ones(2)) is False
    h = compiled(lambda x: x + torch.ones(2))
    for _ in range(4):
        assert h(torch.ones(2)).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert h(torch.ones(2)).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_transforms_and_recorders_run_the_function():
    f = compiled(lambda x: x * x)
    for _ in range(4):
        f(torch.ones(3))
    assert torch.func.vmap(f)(torch.ones(2, 3)).shape == (2, 3)
    assert torch.func.grad(lambda x: f(x).sum())(torch.ones(3)).tolist() == [2, 2, 2]
    seen = torch.saved.record()
    with seen:
        f(torch.ones(3))


def test_gradients_accumulate_in_place():
    w = torch.ones(2, requires_grad=True)

    def f(x):
        (x * w).sum().backward()
        return w.grad

    g = compiled(f)
    for i in range(6):
        found = g(torch.ones(2))
        assert found is w.grad and w.grad.tolist() == [i + 1.0] * 2
    held = w.grad
    w.grad = None
    g(torch.ones(2))
    assert w.grad is not held and w.grad.tolist() == [1, 1] and held.tolist() == [6, 6]


def test_an_error_of_the_function_is_its_own():
    f = compiled(lambda x, i: F.nll_loss(x, i))
    x = torch.zeros(2, 3)
    for _ in range(4):
        f(x, torch.tensor([0, 1]))
    with pytest.raises(IndexError, match="Target 7 is out of bounds"):
        f(x, torch.tensor([0, 7]))
    assert f(x, torch.tensor([0, 1])).item() == 0


def test_too_many_programs_are_said_once():
    f = compiled(lambda x: x * 2 if x.sum().item() else x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(3 * LIMIT):
            assert f(torch.full((1,), float(i))).tolist() == [2.0 * i]
    assert len(f.kept) == LIMIT and len(caught) == 1 and "programs were made" in str(caught[0].message)


def test_decorator_options_and_modules():
    @torch.compile(fullgraph=True, dynamic=False, mode="default", backend="inductor")
    def f(x):
        """Twice."""
        return x * 2

    assert f.__name__ == "f" and f.__doc__ == "Twice."
    for _ in range(3):
        assert f(torch.ones(2)).tolist() == [2, 2]
    assert "def program(" in f.source and "1 programs" in f.explain()
    assert torch.compile(len, disable=True) is len
    with pytest.raises(RuntimeError, match="Invalid backend"):
        torch.compile(len, backend="nonsense")
    net = Net()
    module = torch.compile(net)
    assert isinstance(module, torch.nn.Module) and module._orig_mod is net
    assert list(module.state_dict()) == [f"_orig_mod.{k}" for k in net.state_dict()]
    assert module.scale == 2.0 and module.training
    module.eval()
    with torch.no_grad():
        for _ in range(4):
            same(module(numbers(5, 4)), net(numbers(5, 4)))
    assert module.source


def test_methods():
    class Step:
        def __init__(self, factor):
            self.factor = factor

        @torch.compile
        def run(self, x):
            return x * self.factor

    a, b = Step(2.0), Step(3.0)
    for _ in range(4):
        assert a.run(torch.ones(1)).tolist() == [2]
        assert b.run(torch.ones(1)).tolist() == [3]
    a.factor = 5.0
    assert a.run(torch.ones(1)).tolist() == [5]


def test_several_threads():
    w = torch.ones(2)
    f = compiled(lambda x: x * w + 1)
    wrong = []

    def work(i):
        x = torch.full((2,), float(i))
        wrong.extend(i for _ in range(200) if f(x).tolist() != [i + 1.0] * 2)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == [] and len(f.kept) == 1


def test_an_exception_while_recording_leaves_tensors_as_they_are():
    w = torch.ones(2, requires_grad=True)
    calls = []

    def f(x):
        y = x * w
        if len(calls) == 1:
            calls.append(1)
            raise ValueError("no")
        calls.append(1)
        return y.detach()

    g = Compiled(f)
    g(torch.ones(2))
    x = torch.ones(2)
    with pytest.raises(ValueError, match="no"):
        g(x)
    assert len(calls) == 2 and type(w._data) is np.ndarray and type(x._data) is np.ndarray
    assert (x * w).tolist() == [1, 1]


def test_disable_and_is_compiling():
    seen = []

    @torch.compiler.disable
    def inner(x):
        return x * 2

    effects("disabled", lambda: lambda x: inner(x))

    def f(x):
        seen.append(torch.compiler.is_compiling())
        return x * 2

    g = Compiled(f)
    with pytest.warns(UserWarning, match="gave other numbers than the function"):
        [g(torch.ones(1)) for _ in range(5)]
    assert seen == [False, False, True, False, False]
    assert not torch.compiler.is_compiling()


def test_second_derivatives_and_functional():
    def f(x):
        x = x.detach().requires_grad_()
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
        return h

    g = compiled(f)
    for i in range(5):
        same(g(numbers(3, seed=i)), 6 * numbers(3, seed=i))
    j = compiled(lambda x: torch.autograd.functional.jacobian(lambda y: y * y, x))
    for i in range(5):
        same(j(numbers(3, seed=i)), torch.diag(2 * numbers(3, seed=i)))
    assert len(g.kept) == len(j.kept) == 1


def test_the_limit_of_programs_is_an_argument():
    def f(x, k):
        return x * k

    one = compiled(f, recompile_limit=1)
    x = torch.ones(2)
    for _ in range(3):
        one(x, 2.0)
    with pytest.warns(UserWarning, match="1 programs were made"):
        assert one(x, 3.0).tolist() == [3, 3]
    assert len(one.kept) == 1 and one(x, 2.0).tolist() == [2, 2]
    whole = torch.compile(recompile_limit=1, fullgraph=True)(f)
    for _ in range(3):
        whole(x, 2.0)
    with pytest.raises(Unsupported, match="1 programs were made"):
        whole(x, 3.0)


@pytest.mark.parametrize("options", [{"mode": "fast"}, {"mode": "default", "options": {"a": 1}}, {"backend": "none"}])
def test_wrong_arguments_are_errors(options):
    with pytest.raises(RuntimeError):
        torch.compile(lambda x: x, **options)


def test_steps_of_a_body_are_tried_once_for_arrays_of_one_kind(monkeypatch):
    trials = []
    agrees = lowering._agrees
    monkeypatch.setattr(lowering, "_agrees", lambda *args: trials.append(args[1]) or agrees(*args))

    def tried(*shapes):
        def function(*given):
            return [F.softplus(x) + F.softplus(F.softplus(x)) for x in given]

        trials.clear()
        compiled = torch.compile(function, fullgraph=True)
        for _ in range(3):
            made = compiled(*map(torch.ones, shapes))
        assert len(compiled.kept) == 1 and [tuple(t.shape) for t in made] == list(shapes)
        return len(trials)

    once = tried((3,))
    assert once and tried((3,), (3,), (3,)) == once and tried((3,), (2, 3)) == 2 * once


def test_long_programs(monkeypatch):
    start = torch.tensor([0.5, -0.25], requires_grad=True)

    def swing(steps):
        start.grad = None
        place, speed = start, torch.zeros(2)
        for _ in range(steps):
            speed = speed - 0.01 * place.sin()
            place = place + 0.01 * speed
        place.square().sum().backward()
        return start.grad

    step = compiled(swing, fullgraph=True)
    wanted = swing(3000).clone()
    for _ in range(4):
        same(step(3000), wanted)
    assert len(step.source.splitlines()) > 20_000
    monkeypatch.setitem(recording.LONGEST, False, 50)
    with pytest.raises(Unsupported, match=r"its program has more than 50 instructions \(.* in swing\)"):
        step(11)
    monkeypatch.setattr(recording, "MOST", 40)
    with pytest.raises(Unsupported, match=r"it takes more than 40 instructions \(.* in swing\)"):
        step(12)
    same(swing(3000), wanted)
