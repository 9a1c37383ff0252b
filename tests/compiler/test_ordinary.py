"""Steps as most people write them: each becomes a program, and leaves what the function leaves, to the bit."""

from __future__ import annotations

import copy
import threading
import warnings

import numpy as np
import pytest

import gradpack as torch
from gradpack import nn, saved
from gradpack.nn import functional as F

CALLS = 9


def numbers(i, *shape):
    return torch.tensor(np.random.default_rng(i).standard_normal(shape))


def labels(i, *shape, classes=4):
    return torch.tensor(np.random.default_rng(i).integers(0, classes, shape))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).double()


def everything(net, *optimizers):
    tensors = [t for p in [*net.parameters(), *net.buffers()] for t in (p, p.grad) if t is not None]
    tensors += [v for o in optimizers for own in o.state.values() for v in own.values() if isinstance(v, torch.Tensor)]
    return [t.detach().numpy().copy() for t in tensors]


def played(make, wrap, calls=CALLS):
    """Return what calls of a step gave and left behind, and the compiled function."""
    torch.manual_seed(3)
    step, run, net, *optimizers = make()
    step = wrap(step)
    found = []
    for i in range(calls):
        try:
            result = run(step, i)
        except Exception as error:
            result = str(error)
        leaves = result if isinstance(result, list | tuple) else [result]
        found.append([t.detach().numpy().copy() if isinstance(t, torch.Tensor) else t for t in leaves])
        found.append(everything(net, *optimizers))
    return [*found, [torch.get_rng_state().numpy()]], step


def agrees(make, programs=1, warned=0):
    """Compare a compiled step with the step, bit for bit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, step = played(make, torch.compile)
    wanted, _ = played(make, lambda f: f)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        assert len(f) == len(w)
        for a, b in zip(f, w, strict=True):
            np.testing.assert_array_equal(a, b)
    told = [str(c.message) for c in caught if "compile:" in str(c.message)]
    assert len(step.kept) == programs and len(told) == warned, step.explain()
    return step


def trained(loss=F.cross_entropy, optimizer=lambda p: torch.optim.SGD(p, lr=0.1), clip=None):
    def make():
        net = network()
        made = optimizer(net.parameters())

        def step(x, y):
            made.zero_grad()
            found = loss(net(x), y)
            found.backward()
            norm = None if clip is None else clip(net.parameters())
            made.step()
            return found, norm

        return step, lambda step, i: step(numbers(i, 16, 8), labels(i, 16)), net, made

    return make


def test_cross_entropy_has_the_bits_of_the_function():
    agrees(trained())


def test_ignored_classes_and_targets_in_another_layout():
    def loss(z, y):
        return F.cross_entropy(z.reshape(4, 4, 4).transpose(1, 2), y.reshape(4, 4), ignore_index=0)

    agrees(trained(loss))


def test_logits_in_columns():
    agrees(trained(lambda z, y: F.cross_entropy(z[:4].t(), torch.arange(4)) + F.cross_entropy(z, y)))


@pytest.mark.parametrize("most", [0.01, 100.0])
def test_clipped_gradients(most):
    agrees(trained(clip=lambda p: nn.utils.clip_grad_norm_(p, most)))


def test_one_hot_asks_whether_classes_fit_only():
    step = agrees(trained(lambda z, y: F.mse_loss(z, F.one_hot(y, 4).double())))
    assert "missed" not in step.explain()


def test_sums_of_tensors_without_dimensions_in_place():
    def make():
        net = network()

        def step(x, y):
            net.zero_grad()
            total = 0.0
            for a, b in zip(x.chunk(4), y.chunk(4), strict=True):
                loss = F.cross_entropy(net(a), b) / 4
                loss.backward()
                total += loss.detach()
            return total

        return step, lambda step, i: step(numbers(i, 16, 8), labels(i, 16)), net

    agrees(make)


def test_a_first_step_that_comes_late():
    def make():
        net = network()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def step(x, y, update):
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            if update:
                optimizer.step()
                optimizer.zero_grad()
            return loss

        return step, lambda step, i: step(numbers(i, 16, 8), labels(i, 16), i % 2 == 1), net, optimizer

    agrees(make, programs=2)


def test_parameters_that_are_frozen_for_a_while():
    def make():
        net = network()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        def run(step, i):
            if i in (4, 7):
                net[0].requires_grad_(i == 7)
            return step(numbers(i, 16, 8), labels(i, 16))

        return step, run, net, optimizer

    agrees(make, programs=3)


def test_compiled_functions_in_compiled_functions():
    def make():
        net = network()
        inner = torch.compile(net)

        def step(x, y):
            net.zero_grad()
            loss = F.cross_entropy(inner(x), y)
            loss.backward()
            return loss

        def run(step, i):
            inner(numbers(i, 2, 8))
            return step(numbers(i, 16, 8), labels(i, 16))

        return step, run, net

    agrees(make)


class Trainer:
    def __init__(self):
        self.net, self.steps, self.losses, self.scale = network(), 0, [], 1.0
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(x), y) * self.scale
        loss.backward()
        self.optimizer.step()
        return loss

    def fit(self, i, step):
        loss = step(self, numbers(i, 16, 8), labels(i, 16))
        self.steps += 1
        self.losses.append(loss.item())
        return loss


def test_attributes_that_the_step_does_not_look_at_may_change():
    def make():
        trainer = Trainer()
        return Trainer.step, lambda step, i: trainer.fit(i, step), trainer.net, trainer.optimizer

    agrees(make)


def test_attributes_that_the_step_looks_at_are_noticed():
    def make():
        trainer = Trainer()

        def run(step, i):
            trainer.scale = 1.0 + i // 5
            return trainer.fit(i, step)

        return Trainer.step, run, trainer.net, trainer.optimizer

    agrees(make, programs=2)


@pytest.mark.parametrize("look", [
    lambda thing: getattr(thing, "st" + "eps"),
    lambda thing: vars(thing)["steps"],
    lambda thing: thing.__dict__["st" + "eps"],
    lambda thing: int("{0.steps}".format(thing)),  # noqa: UP030, UP032
    lambda thing: copy.copy(thing).steps,
])  # fmt: skip
def test_attributes_by_other_ways(look):
    class Thing:
        def __init__(self):
            self.steps = 0

    def make():
        thing, net = Thing(), network()

        def run(step, i):
            thing.steps = i // 5
            return step(numbers(i, 3))

        return lambda x: x * (1 + look(thing)), run, net

    agrees(make, programs=2)


def test_methods_and_properties_by_name():
    class Thing:
        k = 0

        @property
        def twice(self):
            return 2 * self.steps

        def more(self):
            return self.twice + self.k

        def unused(self):
            return self.other

    def make():
        thing, net = Thing(), network()

        def run(step, i):
            thing.steps, thing.other = i // 5, i
            if i == 7:
                thing.k = 3
            return step(numbers(i, 3))

        return lambda x: x * (1 + thing.more()), run, net

    agrees(make, programs=3)


def test_closures_of_optimizers_need_no_state():
    def make():
        net = network()
        optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
        x, y = numbers(0, 16, 8), labels(0, 16)

        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            return loss

        return closure, lambda step, i: optimizer.step(step), net

    agrees(make)


def test_a_step_under_another_name_needs_the_state():
    def make():
        net = network()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        update = optimizer.step

        def step(x, y):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            update()

        return step, lambda step, i: step(numbers(i, 16, 8), labels(i, 16)), net, optimizer

    agrees(make)


def test_errors_in_programs_are_those_of_the_function():
    def make():
        torch.manual_seed(0)
        net = nn.Sequential(nn.Embedding(10, 4), nn.BatchNorm1d(4)).double()

        def step(x, t):
            net.zero_grad()
            loss = (net[1](x) + net[0](t)).pow(2).sum()
            loss.backward()
            return loss

        return step, lambda step, i: step(numbers(i, 5, 4), labels(i, 5, classes=10) + 10 * (i in (4, 6))), net

    agrees(make, programs=2)


def test_a_matrix_that_is_not_positive_definite():
    def make():
        net = network()

        def step(x):
            net[0].bias.data.add_(1)
            return torch.linalg.cholesky(x)

        eye = torch.eye(3, dtype=torch.float64)
        return step, lambda step, i: step(eye * (-1 if i in (4, 6) else 1)), net

    agrees(make)


@pytest.mark.parametrize("make", [lambda: saved.fp16(), lambda: saved.budget("1 MiB", seed=0)])
def test_policies_of_saved_tensors_inside_run_the_function(make):
    def steps():
        net, policy = network(), make()

        def step(x, y):
            net.zero_grad()
            with policy:
                loss = F.cross_entropy(net(x), y)
            loss.backward()
            return loss

        return step, lambda step, i: step(numbers(i, 16, 8), labels(i, 16)), net

    step = agrees(steps, programs=0, warned=1)
    assert "put it around the call" in step.explain()


def test_other_threads_are_no_part_of_a_recording():
    inside, done = threading.Event(), threading.Event()
    mine, others = network(), network()
    optimizer = torch.optim.SGD(others.parameters(), lr=0.1)

    def forward(x):
        if torch.compiler.is_compiling():
            inside.set()
            done.wait(10)
        return mine(x).sum().detach()

    def train():
        inside.wait(10)
        others(torch.randn(2, 8, dtype=torch.float64)).sum().backward()
        optimizer.step()
        done.set()

    step = torch.compile(forward)
    thread = threading.Thread(target=train)
    thread.start()
    x = numbers(0, 3, 8)
    found = [step(x) for _ in range(6)]
    thread.join()
    before, state = everything(others), torch.get_rng_state()
    found.append(step(x))
    assert all(torch.equal(f, mine(x).sum()) for f in found)
    assert torch.equal(state, torch.get_rng_state())
    for a, b in zip(before, everything(others), strict=True):
        np.testing.assert_array_equal(a, b)


DRAWS = {
    "multinomial": lambda x: torch.multinomial(x.softmax(-1), 2),
    "bernoulli": lambda x: torch.bernoulli(x.sigmoid()),
    "normal": lambda x: torch.normal(x, 1.0),
    "categorical": lambda x: torch.distributions.Categorical(logits=x).sample(),
    "feature_dropout": lambda x: F.dropout1d(x[None], 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
def test_numbers_drawn_by_values_of_tensors(draw):
    def make():
        return draw, lambda step, i: step(numbers(i, 4, 5)), network()

    agrees(make)


def _last(net, x, y):
    return F.cross_entropy(net(x), y).item()


def _with_block(net, x, y):
    with torch.no_grad():
        return F.cross_entropy(net(x), y).item()


@torch.no_grad()
def _decorated(net, x, y):
    return F.cross_entropy(net(x), y).item()


def _in_a_dict(net, x, y):
    z = net(x)
    loss = F.cross_entropy(z, y)
    value = loss.item()
    return [value, (z.argmax(1) == y).sum().item(), (z > 0).any().item()]


def _called(net, x, y):
    return [0.5, _last(net, x, y)]


def _written_later(net, x, y):
    total = net[0].bias.detach()[:1]
    value = total.item()
    total.add_(1)
    return value


def _as_floats(net, x, y):
    z = net(x)
    loss = float(F.cross_entropy(z, y).detach())
    return {
        "loss": loss,
        "rate": float((z.argmax(1) == y).double().mean()),
        "largest": [float(z.detach().amax(0, True)[0, 0])],
    }


def _float_written_later(net, x, y):
    total = net[0].bias.detach()[:1]
    value = float(total)
    total.add_(1)
    return value


RETURNED = (_last, _with_block, _decorated, _in_a_dict, _called, _written_later, _as_floats, _float_written_later)


@pytest.mark.parametrize("function", RETURNED)
def test_numbers_that_are_only_returned_are_others_at_each_call(function):
    def make():
        net = network()
        return lambda x, y: function(net, x, y), lambda step, i: step(numbers(i, 16, 8), labels(i, 16)), net

    agrees(make)


@pytest.mark.parametrize("look", [
    lambda v: 2 if v > 1.4 else 1,
    lambda v: (v, v > 1.4)[1],
    lambda v: [v][0] // 1,
    lambda v: round(v),
    lambda v: f"{v:.0f}",
    lambda v: min([v, 1.4]) == v,
])  # fmt: skip
@pytest.mark.parametrize("take", [torch.Tensor.item, float])
def test_numbers_that_code_looks_at_choose_the_program(look, take):
    def make():
        net = network()

        def step(x, y):
            value = take(F.cross_entropy(net(x), y).detach())
            return look(value)

        return step, lambda step, i: step(numbers(i // 5, 16, 8), labels(i // 5, 16)), net

    agrees(make, programs=2)


def test_the_number_of_a_tensor_that_is_written_to_between():
    def make():
        net = network()

        def step(x):
            values = [(x * 2).sum().item()]
            values.append(1.0)
            return values

        return step, lambda step, i: step(numbers(i // 5, 3)), net

    agrees(make, programs=2)


def test_programs_that_never_fit_are_dropped():
    step = torch.compile(lambda x: x + 1 if x.sum().item() > 0 else x - x.sum().item())
    with pytest.warns(UserWarning, match="8 programs were made"):
        found = [step(-numbers(i, 3).abs()) for i in range(40)]
    assert step.kept == []
    for i, each in enumerate(found):
        x = -numbers(i, 3).abs()
        assert torch.equal(each, x - x.sum().item())


@pytest.mark.parametrize("function", [None, torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)])
def test_averages_of_weights(function):
    def make():
        net = network()
        average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=function)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            average.update_parameters(net)
            return loss

        return step, lambda step, i: step(numbers(i, 16, 8), labels(i, 16)), average, optimizer

    agrees(make)


def test_spectral_norm():
    def make():
        net = network()
        nn.utils.parametrizations.spectral_norm(net[0])
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return step, lambda step, i: step(numbers(i, 16, 8), labels(i, 16)), net, optimizer

    agrees(make)


def packed(lengths, kind=nn.LSTM, is_given=False):
    """Return what makes a step on packed sequences, with lengths by the number of the call."""

    def make():
        torch.manual_seed(0)
        net = kind(3, 4, num_layers=2, bidirectional=True, batch_first=True).double()

        def step(x, of):
            net.zero_grad()
            rows = of if is_given else nn.utils.rnn.pack_padded_sequence(x, of, True, enforce_sorted=False)
            out, sizes = nn.utils.rnn.pad_packed_sequence(net(rows)[0], batch_first=True)
            out.square().sum().backward()
            return out.detach(), sizes

        def run(step, i):
            x, of = numbers(i, 3, 5, 3), lengths(i)
            return step(x, nn.utils.rnn.pack_padded_sequence(x, of, True, enforce_sorted=False) if is_given else of)

        return step, run, net

    return make


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("is_given", [False, True])
def test_packed_sequences_have_a_program_for_their_lengths(kind, is_given):
    agrees(packed(lambda i: [2, 5, 4], kind, is_given))
    step = agrees(packed(lambda i: torch.tensor([2, 5 - i // 5, 4]), kind, is_given), programs=2)
    assert "needs values == 'those that were seen'" in step.explain()


def test_ctc_loss_has_a_program_for_its_lengths_and_labels():
    def made(of_call):
        def make():
            net = nn.Linear(4, 5).double()

            def step(x, y, times, sizes):
                net.zero_grad()
                loss = F.ctc_loss(net(x).log_softmax(-1), y, times, sizes)
                loss.backward()
                return loss

            return step, lambda step, i: step(numbers(i, 6, 2, 4), *of_call(i)), net

        return make

    labels = torch.tensor([[1, 2], [3, 3]])
    agrees(made(lambda i: (labels, (6, 5), (2, 1))))
    agrees(made(lambda i: (labels + i // 5, torch.tensor([6, 5]), torch.tensor([2, 1]))), programs=2)


@pytest.mark.parametrize("options", [{}, {"mode": "max"}, {"mode": "sum", "padding_idx": 1}])
def test_bags_of_rows_have_a_program_for_their_numbers(options):
    def made(of_call):
        def make():
            table = nn.EmbeddingBag(6, 3, **options).double()

            def step(rows, starts, y):
                table.zero_grad()
                loss = F.mse_loss(table(rows, starts), y)
                loss.backward()
                return loss

            return step, lambda step, i: step(*of_call(i), numbers(i, 2, 3)), table

        return make

    agrees(made(lambda i: (torch.tensor([1, 2, 3, 4]), torch.tensor([0, 3 - i // 5]))), programs=2)
    agrees(made(lambda i: (labels(0, 2, 3), None)))


def test_values_of_a_tensor_that_is_written_to_are_those_of_the_moment():
    def step(x, n):
        found = [x * v for v in n.tolist()]
        n.add_(1)
        return [*found, x * sum(n.tolist())]

    program, counts, wanted = torch.compile(step), [torch.tensor([1, 2]) for _ in range(5)], torch.tensor([1, 2])
    for n in counts:
        for a, b in zip(program(numbers(0, 2), n), step(numbers(0, 2), wanted.clone()), strict=True):
            assert torch.equal(a, b)
        assert n.tolist() == [2, 3]
    assert len(program.kept) == 1 and program.hits
    found = program(numbers(0, 2), n)
    assert torch.equal(found[0], numbers(0, 2) * 2) and n.tolist() == [3, 4]  # what the program wrote is taken back


def test_an_array_for_numpy_ends_the_recording():
    def step(x, n):
        return x * n.numpy()[0].item()

    program = torch.compile(step)
    program(numbers(0, 2), torch.tensor([1, 2]))
    with pytest.warns(UserWarning, match="`numpy` takes the numbers"):
        program(numbers(0, 2), torch.tensor([1, 2]))
