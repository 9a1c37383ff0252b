"""Elementwise steps on large arrays of one shape, and on rows and columns that are broadcast to it, are one loop."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")

SHAPES = {
    "a column": ((400, 130), (400, 1)),
    "a row": ((400, 130), (130,)),
    "a row with ones before": ((400, 130), (1, 130)),
    "last dimensions": ((4, 3, 70, 80), (70, 80)),
    "first dimensions": ((40, 30, 50), (40, 30, 1)),
    "the first dimension": ((40, 30, 50), (40, 1, 1)),
    "a dimension between others": ((40, 30, 50), (30, 1)),
    "one number": ((400, 130), (1, 1)),
    "the same": ((400, 130), (400, 130)),
}
IN_LOOPS = SHAPES.keys() - {"a dimension between others", "one number"}
RECIPES = {
    "product and sum": lambda x, y: (x * y + y).tanh() * 0.5,
    "chosen": lambda x, y: torch.where(y > 0, x, x * 0.5) * 2 + y,
}


def numbers(shape, dtype, seed):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


@pytest.mark.parametrize(
    ("case", "recipe", "dtype"), [*((c, r, "f") for c in SHAPES for r in RECIPES), ("a column", "chosen", "d")]
)
def test_what_is_broadcast_is_read_by_the_loop(case, recipe, dtype):
    (shape, other), run = SHAPES[case], RECIPES[recipe]

    def step(x, y):
        made = run(x, y)
        made.square().mean().backward()
        return made.detach()

    found = []
    for compiled in (torch.compile(step, fullgraph=True), step):
        results = []
        for turn in range(3):
            x, y = (numbers(s, dtype, 2 * turn + i).requires_grad_() for i, s in enumerate((shape, other)))
            results += [compiled(x, y), x.grad, y.grad]
        found.append(results)
        if compiled is not step and case in IN_LOOPS:
            assert "calls in one loop" in compiled.explain()
    for a, b in zip(*found, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=3e-5 if dtype == "f" else 1e-12, atol=1e-9)


def test_rows_of_different_lengths_are_not_in_one_loop():
    x, row, rows = numbers((6, 70, 90), "d", 0), numbers((90,), "d", 1), numbers((70, 90), "d", 2)
    step = torch.compile(lambda: (((x * row + row) * rows - rows) / 2).exp() + row, fullgraph=True)
    expected = (((x * row + row) * rows - rows) / 2).exp() + row
    for _ in range(3):
        np.testing.assert_allclose(step().numpy(), expected.numpy(), rtol=1e-12)
    assert step.explain().count("in one loop") >= 2


def test_a_row_that_is_written_to_between_steps():
    x, row = numbers((500, 80), "d", 0), numbers((80,), "d", 1)

    def step(row):
        y = x * row + 1
        row.add_(1)
        return y * row - row

    compiled, own, other = torch.compile(step, fullgraph=True), row.clone(), row.clone()
    for _ in range(3):
        np.testing.assert_allclose(compiled(own).numpy(), step(other).numpy(), rtol=1e-12)
    np.testing.assert_array_equal(own.numpy(), other.numpy())


def results_of_loops(compiled):
    """How many arrays each loop of a program writes."""
    return [int(n) for n in re.findall(r"calls in one loop, (\d+) results", compiled.explain())]


def run_three_times(step, *shapes):
    """The results and gradients of three calls."""
    found = []
    for turn in range(3):
        given = [numbers(s, "d", 10 * turn + i).requires_grad_() for i, s in enumerate(shapes)]
        made = step(*given)
        found += [*(made if isinstance(made, tuple) else (made,)), *[x.grad for x in given]]
    return [t.detach().numpy() for t in found]


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.04 * x * x * x)))


def between(x):
    """Something that ends a loop."""
    return x @ torch.eye(x.shape[-1], dtype=x.dtype)


def once(x):
    loss = between(gelu(between(x))).sum()
    loss.backward()
    return loss


def wanted(x):
    y = between(x)
    product = y * y
    loss = between(product.tanh()).sum()
    loss.backward()
    return loss, product


def written(x, y):
    z = between(x)
    with torch.no_grad():
        first = z * y  # z changes before the next loop
        out = between(first.sin())
        z.add_(1)
        out = out + first * z
    loss = (x * y).sum()
    loss.backward()
    return loss, out


def doubled(x):
    y = between(x)
    z = y
    for _ in range(40):  # each is twice the one before
        z = z + z
    loss = between((z * 1e-12).sin() * z).sum()
    loss.backward()
    return loss


@pytest.mark.parametrize(("step", "shapes"), [(once, 1), (wanted, 1), (written, 2), (doubled, 1)])
def test_cheap_steps_are_computed_once_more(step, shapes):
    compiled = torch.compile(step, fullgraph=True)
    for a, b in zip(*[run_three_times(f, *[(300, 200)] * shapes) for f in (compiled, step)], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * np.abs(b).max())
    assert results_of_loops(compiled)
    if step is once:  # the result and the tanh
        assert results_of_loops(compiled)[0] == 2


CHAINS = {
    "tanh": (lambda y: torch.tanh(y * 0.9) + 0.1, "f"),
    "sine": (lambda y: torch.sin(y) * 1.1, "f"),
    "division": (lambda y: 1 / (1 + y * y), "d"),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_a_long_chain_is_several_loops(chain):
    change, dtype = CHAINS[chain]

    def step(x):
        for _ in range(30):
            x = change(x)
        x.sum().backward()
        return x.detach()

    compiled, found = torch.compile(step, fullgraph=True), []
    for run in (compiled, step):
        for turn in range(3):
            x = numbers((300, 200), dtype, turn).requires_grad_()
            found += [run(x), x.grad]
    for a, b in zip(found[:6], found[6:], strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=3e-5 if dtype == "f" else 1e-12, atol=1e-9)
    counts = [int(n) for n in re.findall(r"(\d+) calls in one loop", compiled.explain())]
    assert len(counts) > 2
    assert max(counts) <= 256
    assert sum(counts) >= 80


def test_many_results_of_a_chain():
    def many(x):
        found = []
        for _ in range(40):
            x = x * 0.5 + 1
            found.append(x)
        return found

    compiled = torch.compile(many, fullgraph=True)
    for turn in range(3):
        x = numbers((40_000,), "f", turn)
        for a, b in zip(compiled(x), many(x), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)
    assert len(re.findall("calls in one loop", compiled.explain())) > 2


def decided(x, y):
    small = x < y
    found = torch.where(small, torch.tanh(torch.exp(x * -y)), x)
    return torch.where(small, torch.sin(found * 3), torch.log1p(found.abs())) + y


def far(x, y):
    return torch.cos(torch.exp2(torch.floor(x)) * 300000.0) + y


def into_itself(x, y):
    found = x * 2
    found.copy_(torch.tanh(torch.exp(found) * y) + found)
    return torch.exp(torch.sigmoid(found)) - found


STRIPS = [
    ((40, 1300), (40, 1300)),
    ((40, 1300), (1300,)),
    ((40, 1300), (40, 1)),
    ((9000, 4), (4,)),
    ((9000, 4), (9000, 1)),
]


@pytest.mark.parametrize(("shape", "other"), STRIPS)
@pytest.mark.parametrize("change", [decided, far, into_itself])
def test_functions_of_functions_take_turns_on_strips(change, shape, other):
    compiled = torch.compile(change, fullgraph=True)
    with torch.no_grad():
        for turn in range(4):
            x, y = numbers(shape, "f", turn), numbers(other, "f", turn + 9)
            wanted = change(x.double(), y.double())
            np.testing.assert_allclose(compiled(x, y).numpy(), wanted.numpy(), rtol=2e-4, atol=1e-5)
    assert "calls in one loop" in compiled.explain()
    assert "strip()" in compiled.source or shape[1] < 100


@pytest.mark.parametrize("times", [1, 2])
def test_gradients_are_added_up_behind_functions_of_functions(times):
    x = numbers((300, 400), "f", 0).requires_grad_()

    def step():
        for _ in range(times):
            torch.tanh(torch.exp(x)).sum().backward()
        return x.grad * 1

    compiled = torch.compile(step, fullgraph=True)
    x.grad = torch.zeros(300, 400)
    for turn in range(6):
        before = x.grad.clone()
        wanted = step().clone()
        x.grad.copy_(before)
        np.testing.assert_allclose(compiled().numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)
        with torch.no_grad():
            x.copy_(numbers((300, 400), "f", turn))
    assert len(compiled.kept) == 1 and "strip()" in compiled.source
