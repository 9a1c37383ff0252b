"""Programs that XLA runs compute what functions compute."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import gradpack as torch
from gradpack.nn import functional as F

jax = pytest.importorskip("jax")
from gradpack.compiler.compiled import Unsupported  # noqa: E402
from gradpack.compiler.jax.compiled import JaxCompiled  # noqa: E402
from gradpack.compiler.jax.deferred import DeferredParameter, DeferredTensor  # noqa: E402

from .test_draws import DRAWS, draws_by_values_that_require_grad  # noqa: E402
from .test_lasting import played  # noqa: E402
from .test_lifting import MAKERS, a_view_of_an_argument  # noqa: E402


def numbers(*shape, seed=0, dtype="f4"):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def by_jax(function, **options):
    return torch.compile(function, backend="jax", **options)


def same(a, b, tolerance=1e-5):
    a, b = (v.detach().numpy() if isinstance(v, torch.Tensor) else v for v in (a, b))
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


class Net(torch.nn.Module):
    """An image net with everything: convolution, normalization, dropout, pooling, an embedding, attention."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(2, 4, 3, padding=1, bias=False), torch.nn.BatchNorm2d(4)
        self.table, self.attention = (
            torch.nn.Embedding(5, 8),
            torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True),
        )
        self.first, self.last, self.p = torch.nn.Linear(36, 8), torch.nn.Linear(8, 3), 0.3

    def forward(self, x, words):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2).flatten(1)
        x = F.dropout(F.gelu(self.first(x)), self.p, self.training)
        y = self.table(words)
        y, _ = self.attention(y, y, y, need_weights=False)
        return self.last(x + y.mean(1))


OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.01),
}


def step_of(net, optimizer):
    def step(x, words, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x, words), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def batch(seed):
    r = np.random.default_rng(seed)
    return numbers(8, 2, 6, 6, seed=seed), torch.tensor(r.integers(0, 5, (8, 4))), torch.tensor(r.integers(0, 3, 8))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_ten_steps_are_those_of_the_function(name):
    runs = []
    for backend in ("eager", "jax"):
        torch.manual_seed(0)
        net = Net()
        optimizer = OPTIMIZERS[name](net.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        step, losses = torch.compile(step_of(net, optimizer), backend=backend), []
        for i in range(10):
            losses.append(step(*batch(i)))
            scheduler.step()
        runs.append((net, optimizer, losses, step, torch.get_rng_state()))
    (net, optimizer, losses, _, state), (other, its, found, step, end) = runs
    assert len(step.bindings) == 1 and step.stopped is None, step.explain()
    assert len(next(iter(step.bindings.values())).program.traces) <= 2  # a scheduler needs no new one
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


def trained(steps=6):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend="jax")
    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss

    for i in range(steps):
        loss = step(numbers(4, 3, seed=i))
    return model, step, loss


def test_parameters_stay_with_jax_until_they_are_looked_at():
    model, step, loss = trained()
    weight = model._parameters["weight"]
    assert type(weight) is DeferredParameter and type(loss) is DeferredTensor
    assert weight.shape == (2, 3) and weight.requires_grad and weight.grad is not None
    assert type(weight) is DeferredParameter
    assert isinstance(weight, torch.nn.Parameter) and type(weight).__name__ == "Parameter"
    before = weight.detach().clone()
    assert type(weight) is torch.nn.Parameter
    step(numbers(4, 3, seed=9))
    assert not torch.equal(before, weight)
    assert torch.equal(copy.deepcopy(model).weight, weight)


@pytest.mark.parametrize(
    "look",
    [
        lambda w: w - 1,
        lambda w: 1 - w,
        lambda w: torch.stack([w, w]),
        lambda w: w[0],
        lambda w: torch.ones(2, 3).add_(w),
        lambda w: torch.tensor(np.asarray(w.detach())),
        lambda w: pickle.loads(pickle.dumps(w)),
        lambda w: copy.copy(w),
        lambda w: torch.nn.Parameter(w),
        lambda w: torch.tensor(w.tolist()),
        lambda w: torch.equal(w, w),
        lambda w: repr(w),
        lambda w: f"{w}",
        lambda w: w.data,
        lambda w: w.numpy(force=True),
    ],
)
def test_a_deferred_tensor_is_a_tensor(look):
    model, _, _ = trained()
    weight = model._parameters["weight"]
    assert type(weight) is DeferredParameter
    found = look(weight)
    other = torch.nn.Parameter(torch.tensor(weight.detach().numpy()))
    expected = look(other)
    assert type(found) is type(expected)
    if isinstance(found, torch.Tensor | np.ndarray):
        same(found, expected)
    else:
        assert found == expected


def twins(momentum):
    """Return, for eager calls and for programs, a model and functions that train and evaluate it."""
    found = []
    for wrap in (lambda f: f, by_jax):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)

        def step(x, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = model(x).pow(2).sum()
            loss.backward()
            optimizer.step()
            return loss

        def evaluate(x, model=model):
            with torch.no_grad():
                return model(x).sum()

        found.append((model, optimizer, wrap(step), wrap(evaluate)))
    return found


def test_programs_take_turns_on_the_same_parameters():
    eager, fast = twins(0.9)
    held = []
    for i in range(24):
        x = numbers(4 + i // 2 % 2, 3, seed=i)  # two programs of one function
        for model, optimizer, step, evaluate in (eager, fast):
            held.append([step(x), model[2].bias.grad])
            if i % 3 == 0:
                held[-1].append(evaluate(x))  # reads what other programs write
            if i in (14, 18):
                held[-1].append(model[0].weight.detach().clone())
            if i == 16:
                with torch.no_grad():
                    model[0].bias.mul_(0.5)
            if i == 20:
                optimizer.param_groups[0]["lr"] = 0.05
        assert [p._version for p in eager[0].parameters()] == [p._version for p in fast[0].parameters()]
    for a, b in zip(held[::2], held[1::2], strict=True):  # gradients that the caller kept are those of their step
        for x, y in zip(a, b, strict=True):
            same(x, y, 1e-4)
    assert len(fast[2].bindings) == 2 and fast[2].hits > 3 and fast[3].bindings
    for a, b in zip(eager[1].state.values(), fast[1].state.values(), strict=True):
        same(a["momentum_buffer"], b["momentum_buffer"], 1e-4)


def test_a_parameter_that_is_looked_at_while_a_step_runs_gets_its_numbers():
    model, step, _ = trained(8)
    (binding,) = step.bindings.values()
    weight, options = model._parameters["weight"], binding.program.options
    assert type(weight) is DeferredParameter and step.hits
    binding.program.options = lambda: (weight.tolist(), options())[1]
    binding.call = None
    for _ in range(3):
        before = weight.detach().clone()
        step(numbers(4, 3))
        assert not torch.equal(before, weight)


def test_memory_that_others_see_is_written_in_place():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    seen, array, version = model.weight.detach(), model.bias.detach().numpy(), model.weight._version
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend="jax")
    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        step(numbers(4, 3, seed=i))
        same(seen, model.weight, 0)
        same(array, model.bias, 0)
    assert model.weight._version == version + 6 == seen._version
    assert not torch.equal(seen, torch.zeros(2, 3))


def test_a_parameter_that_is_dropped_leaves_its_numbers_to_the_graph():
    model, _, _ = trained()
    loss = (torch.ones(2, 3, requires_grad=True) * model.weight).sum()
    found = model.weight.detach().clone()
    del model
    leaf = loss.grad_fn.next_functions[0][0].next_functions[1][0].variable
    same(leaf, found, 0)


def test_gradients_that_are_dropped_after_the_step_stay_dropped():
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)

    @torch.compile(backend="jax")
    def step(x):
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    for _ in range(6):
        step(torch.ones(3))
        assert w.grad is None
    assert step.bindings
    same(w, np.full(3, 0.4, "f4"), 1e-6)


def test_gradients_add_up_over_calls():
    w = torch.ones(3, requires_grad=True)

    @torch.compile(backend="jax")
    def step(x):
        (w * x).sum().backward()

    for i in range(6):
        step(torch.ones(3))
        same(w.grad, np.full(3, i + 1.0, "f4"))
    assert step.bindings


def test_answers_of_tensors_are_looked_at_after_the_run():
    total = torch.zeros(())

    @torch.compile(backend="jax")
    def step(x):
        total.add_(x.sum())
        if x.sum() > 0:
            return x * 2
        return x * 3

    expected = 0.0
    for i, value in enumerate([1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, 5.0, -4.0, 6.0]):
        x = torch.full((2,), value)
        same(step(x), x * (2 if value > 0 else 3))
        expected += 2 * value
        same(total, expected)
        assert total._version == i + 1
    assert len(step.bindings) == 2


def test_what_bodies_look_at_is_a_guard():
    weight = torch.eye(5)
    step = by_jax(lambda index: F.embedding(index, weight))
    for i in range(5):
        same(step(torch.tensor([i, 4 - i])), weight[[i, 4 - i]])
    assert step.bindings
    with pytest.raises(IndexError, match="index out of range"):
        step(torch.tensor([1, 7]))
    same(step(torch.tensor([1, 2])), weight[[1, 2]])


def test_shapes_that_follow_from_values():
    step = by_jax(lambda x: x[x > 0] * 2)
    for values in ([1.0, -1.0, 2.0], [3.0, 1.0, -2.0], [1.0, 1.0, 1.0], [-1.0, -1.0, 3.0], [5.0, 6.0, -1.0]) * 3:
        x = torch.tensor(values)
        same(step(x), x[x > 0] * 2)
    assert step.stopped is None and step.bindings


def test_dropout_draws_the_numbers_of_the_function():
    function = lambda x: F.dropout(x, 0.4, True)  # noqa: E731
    step, x = by_jax(function), torch.ones(50)
    for i in range(6):
        torch.manual_seed(i)
        found, state = step(x), torch.get_rng_state()
        torch.manual_seed(i)
        same(found, function(x), 0)
        assert torch.equal(torch.get_rng_state(), state)
    assert step.bindings


def test_arguments_may_change_after_a_call():
    step, x = by_jax(lambda x: (x @ x).sum()), torch.ones(300, 300)
    for _ in range(4):
        found = step(x)
        x.zero_()
        same(found, 300.0**3, 1e-3)
        x.fill_(1.0)


def test_a_written_argument():
    step = by_jax(lambda x: x.mul_(2))
    for _ in range(5):
        x = torch.ones(3)
        found = step(x)
        assert found is x and x._version == 1
        same(x, np.full(3, 2.0, "f4"))


def test_float64_and_integers_stay_what_they_are():
    step = by_jax(lambda x, i: (x / 3, i + 1, x.sum(dtype=torch.float32), i / 2))
    for _ in range(4):
        x, i = numbers(4, dtype="f8"), torch.arange(4)
        for a, b in zip(step(x, i), (x / 3, i + 1, x.sum(dtype=torch.float32), i / 2), strict=True):
            assert a.dtype == b.dtype
            same(a, b, 1e-7 if a.dtype == torch.float32 else 1e-15)
    assert step.bindings and not jax.config.jax_enable_x64


def test_a_module_stays_a_module():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
    fast = by_jax(model)
    with torch.no_grad():
        for i in range(5):
            same(fast(numbers(4, 3, seed=i)), model(numbers(4, 3, seed=i)))
    assert [name for name, _ in fast.named_parameters()] == ["_orig_mod.0.weight", "_orig_mod.0.bias"]


def test_what_jax_cannot_trace_runs_as_it_is():
    function = lambda x: torch.special.bessel_j0(x)  # noqa: E731
    step, x = by_jax(function), numbers(4).abs()
    for _ in range(2):
        step(x)
    with pytest.warns(UserWarning, match="cannot trace special_bessel_j0"):
        same(step(x), function(x))
    same(step(x), function(x))
    whole = by_jax(function, fullgraph=True)
    for _ in range(2):
        whole(x)
    with pytest.raises(Unsupported, match="bessel_j0"):
        whole(x)


def test_numbers_that_xla_rounds_otherwise_end_programs_at_once():
    a, b = (numbers(3, 4, seed=i, dtype="f8").requires_grad_() for i in range(2))
    compiled = by_jax(lambda: torch.autograd.gradcheck(lambda a, b: torch.tanh(a * b).sum(0), (a, b)))
    with pytest.warns(UserWarning, match="XLA computes other numbers than NumPy where code asks for them: number was"):
        assert all(compiled() for _ in range(6))
    assert not compiled.kept and not compiled.bindings


def test_options_are_checked():
    with pytest.raises(TypeError, match="place"):
        by_jax(lambda x: x, options={"place": 3})
    with pytest.raises(TypeError, match="unexpected"):
        by_jax(lambda x: x, options={"where": 3})


def test_without_jax_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("gradpack.compiler.jax.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"gradpack\[jax\]"):
        by_jax(lambda x: x)


def test_nothing_is_imported_before_it_is_needed():
    code = "import sys, gradpack; f = gradpack.compile(lambda x: x); assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_reset_drops_programs():
    step = by_jax(lambda x: x * 2)
    for _ in range(4):
        step(torch.ones(2))
    assert type(step) is JaxCompiled and step.bindings and "mul(input=x, other=2)" in step.source
    torch.compiler.reset()
    assert not step.bindings and not step.kept
    for _ in range(4):
        same(step(torch.ones(2)), np.full(2, 2.0, "f4"))


def test_a_cell_of_an_lstm():
    runs = []
    for backend in ("eager", "jax"):
        torch.manual_seed(0)
        cell = torch.nn.LSTMCell(5, 6)
        optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)

        def step(x, cell=cell, optimizer=optimizer):
            optimizer.zero_grad()
            h = c = torch.zeros(3, 6)
            for each in x:
                h, c = cell(each, (h, c))
            loss = (h * h).mean()
            loss.backward()
            optimizer.step()
            return loss

        compiled = torch.compile(step, backend=backend)
        runs.append([compiled(torch.randn(4, 3, 5)).item() for _ in range(6)])
    np.testing.assert_allclose(*runs, rtol=1e-5)


def alike(a, b):
    if isinstance(b, np.ndarray):
        same(a, b)
    elif isinstance(b, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            alike(x, y)
    elif isinstance(b, float):
        assert a == pytest.approx(b, rel=1e-12)
    else:
        assert a == b


@pytest.mark.parametrize("make", [m for m in MAKERS if m is not a_view_of_an_argument])  # they return no views
def test_tensors_that_a_function_replaces(make):
    found, step = played(make, lambda f: torch.compile(f, backend="jax", fullgraph=True))
    wanted, _ = played(make, lambda f: f)
    alike(found, wanted)
    step = getattr(step, "compiled", step)
    assert step.bindings and step.stopped is None, step.explain()


@pytest.mark.parametrize("make", [m for m in DRAWS if m is not draws_by_values_that_require_grad])
def test_random_numbers_are_those_of_the_function(make):
    found, step = played(make, lambda f: torch.compile(f, backend="jax"))
    wanted, _ = played(make, lambda f: f)
    alike(found, wanted)
    assert step.bindings and step.stopped is None, step.explain()
