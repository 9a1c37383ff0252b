"""Optimisers: what they compute, what they leave alone, how state is kept. Against torch: tests/oracle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.optim.common import OPTIMIZERS, every, parameter

import gradpack as torch
from gradpack.optim import adam, kernels, sgd

# --- by hand ---


def test_sgd_by_hand() -> None:
    p = parameter([1.0, 2.0], [8.0, -8.0])
    torch.optim.SGD([p], lr=0.125).step()
    assert p.tolist() == [0.0, 3.0]


def test_momentum_by_hand() -> None:
    p = parameter([1.0], [1.0], torch.float64)
    optimizer = torch.optim.SGD([p], lr=0.5, momentum=0.5, dampening=0.25)
    optimizer.step()
    assert (p.item(), optimizer.state[p]["momentum_buffer"].item()) == (0.5, 1.0)
    optimizer.step()
    assert (p.item(), optimizer.state[p]["momentum_buffer"].item()) == (-0.125, 1.25)


def test_first_adam_step_has_the_length_of_the_rate() -> None:
    p = parameter([1.0, 1.0, 1.0], [1e-3, -5.0, 1e3], torch.float64)
    torch.optim.Adam([p], lr=0.25, eps=0).step()
    np.testing.assert_allclose(p.tolist(), [0.75, 1.25, 0.75], rtol=1e-12)


def test_adamw_decays_without_a_gradient() -> None:
    p = parameter([2.0], [0.0])
    torch.optim.AdamW([p], lr=0.5, weight_decay=0.5).step()
    assert p.item() == 1.5


@every
def test_it_finds_the_minimum(name: str) -> None:
    w = torch.nn.Parameter(torch.tensor([3.0, -2.0], dtype=torch.float64))
    optimizer = OPTIMIZERS[name]([w])
    sign = -1 if name == "adamw" else 1
    for _ in range(500):
        optimizer.zero_grad()
        (sign * ((w - 1) ** 2).sum()).backward()
        optimizer.step()
    assert ((w - 1).abs() < 0.1).all()


# --- the kernels and the formulas say the same ---


def run(name: str, shape: tuple[int, ...], dtype: str, steps: int, direct: bool, monkeypatch: Any) -> list[Any]:
    if not direct:
        monkeypatch.setattr(kernels, "is_ours", lambda spec: False)
    rng = np.random.default_rng(0)
    wanted = getattr(torch, dtype)

    def draw() -> Any:
        values = rng.normal(size=shape)
        return torch.tensor(values + 1j * rng.normal(size=shape) if "complex" in dtype else values).to(wanted)

    p = torch.nn.Parameter(draw())
    optimizer = OPTIMIZERS[name]([p])
    for _ in range(steps):
        p.grad = draw()
        optimizer.step()
    monkeypatch.undo()
    return [p.detach(), *optimizer.state[p].values()]


@every
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "bfloat16", "float16"])
@pytest.mark.parametrize("shape", [(3, 4), (), (0,), (kernels.PIECE // 8, 17)])
def test_kernels_agree_with_the_formulas(name: str, dtype: str, shape: tuple[int, ...], monkeypatch: Any) -> None:
    fast, plain = (run(name, shape, dtype, 3, direct, monkeypatch) for direct in (True, False))
    assert len(fast) == len(plain)
    tolerance = {"float64": 1e-12, "complex128": 1e-12, "bfloat16": 2**-7, "float16": 2**-10}.get(dtype, 1e-5)
    for a, b in zip(fast, plain, strict=True):
        assert a.dtype == b.dtype
        wide = torch.complex128 if a.is_complex() else torch.float64
        np.testing.assert_allclose(a.to(wide).numpy(), b.to(wide).numpy(), rtol=tolerance, atol=tolerance)


def test_steps_may_be_counted_by_a_tensor(monkeypatch: Any) -> None:
    monkeypatch.setattr(kernels, "is_ours", lambda spec: False)
    found = []
    for capturable in (True, False):
        p = parameter([1.0, 2.0], [0.5, -0.5])
        optimizer = torch.optim.Adam([p], lr=0.1, amsgrad=True, capturable=capturable)
        for _ in range(3):
            optimizer.step()
        found.append(p.tolist())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


@every
def test_views_and_transposes_are_updated_in_their_storage(name: str) -> None:
    base = torch.zeros(6, 4)
    for p in (base[::2].detach(), base.T.detach(), base[1].detach()):
        p.requires_grad_()
        p.grad = torch.ones(p.shape)
        before = base.clone()
        OPTIMIZERS[name]([p]).step()
        assert (p.detach() != 0).all()
        assert (base != before).any()
        base.zero_()


@every
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision_is_rounded_once(name: str, dtype: Any) -> None:
    start, grad = [1.0, -0.3, 0.007], [0.1, -0.2, 0.3]
    low = parameter(start, grad, dtype)
    high = torch.nn.Parameter(low.detach().float())
    high.grad = low.grad.float()
    for p in (low, high):
        OPTIMIZERS[name]([p]).step()
    assert low.dtype == dtype
    assert low.tolist() == high.detach().to(dtype).tolist()


@every
def test_a_step_is_seen_by_the_version_counter(name: str) -> None:
    p = torch.nn.Parameter(torch.ones(3))
    y = (p * p).sum()
    optimizer = OPTIMIZERS[name]([p])
    p.grad = torch.ones(3)
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@every
def test_a_step_records_nothing_and_changes_no_gradient(name: str) -> None:
    p = parameter([1.0, 2.0], [0.5, -0.5])
    optimizer = OPTIMIZERS[name]([p])
    optimizer.step()
    assert p.is_leaf
    assert p.requires_grad
    assert p.grad.tolist() == [0.5, -0.5]
    assert all(not value.requires_grad for value in optimizer.state[p].values())


@every
def test_large_and_infinite_gradients_do_not_warn(name: str) -> None:
    p = parameter([1.0, 1.0, 1.0, 1.0], [1e38, float("inf"), float("nan"), 0.0])
    optimizer = OPTIMIZERS[name]([p])
    for _ in range(2):
        optimizer.step()
    assert not math.isfinite(p[2].item())
    assert math.isfinite(p[3].item())


@every
def test_a_long_parameter_needs_few_temporaries(name: str) -> None:
    import tracemalloc

    size = 40 * kernels.PIECE
    p = torch.nn.Parameter(torch.zeros(size))
    p.grad = torch.ones(size)
    optimizer = OPTIMIZERS[name]([p])
    optimizer.step()
    tracemalloc.start()
    try:
        optimizer.step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < p.nbytes / 4


@every
def test_another_array_library(name: str) -> None:
    strict = pytest.importorskip("array_api_strict")
    from gradpack.backends import array_api, backend_of
    from gradpack.core.tensor import wrap

    if backend_of(type(strict.asarray(0.0))) is None:
        array_api.register(strict)
    results = []
    for make in (strict.asarray, np.array):
        rng = np.random.default_rng(0)
        p = torch.nn.Parameter(wrap(make(rng.normal(size=(3, 4)))))
        optimizer = OPTIMIZERS[name]([p])
        for _ in range(3):
            p.grad = wrap(make(rng.normal(size=(3, 4))))
            optimizer.step()
        assert type(p._data) is type(make(0.0)) or isinstance(p._data, np.ndarray)
        results.append([p.detach(), *optimizer.state[p].values()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(np.asarray(a.numpy()), b.numpy(), rtol=1e-12)


# --- through the step ---


@pytest.mark.parametrize(("name", "options"), [("SGD", {"weight_decay": 0.1}), ("Adam", {"amsgrad": True})])
def test_differentiable_steps_against_finite_differences(name: str, options: dict[str, Any]) -> None:
    grads = [[1.0, 2.0], [0.5, -1.0]]

    def final(start: Any) -> Any:
        p = start.clone()
        optimizer = getattr(torch.optim, name)([p], lr=0.1, differentiable=True, **options)
        for g in grads:
            p.grad = p * torch.tensor(g, dtype=torch.float64)
            optimizer.step()
        return (p**3).sum()

    start = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    final(start).backward()
    for i in range(2):
        h = torch.zeros(2, dtype=torch.float64)
        h[i] = 1e-6
        with torch.no_grad():
            slope = (final(start + h) - final(start - h)) / 2e-6
        assert abs(slope - start.grad[i]) < 1e-6


@every
def test_recorded_steps_are_the_same_steps(name: str) -> None:
    plain, leaf = (torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True) for _ in range(2))
    recorded = leaf * 1
    optimizers = [OPTIMIZERS[name]([plain]), OPTIMIZERS[name]([recorded], differentiable=True)]
    for _ in range(3):
        for p, optimizer in zip((plain, recorded), optimizers, strict=True):
            p.grad = torch.tensor([0.3, -0.1], dtype=torch.float64)
            optimizer.step()
    np.testing.assert_allclose(recorded.tolist(), plain.tolist(), rtol=1e-12)
    recorded.sum().backward()
    assert leaf.grad is not None


def test_the_formulas_change_nothing() -> None:
    p, g, m, v = (torch.full((2,), float(i + 1)) for i in range(4))
    sgd.formula(p, g, m, lr=0.1, momentum=0.9, dampening=0, weight_decay=0.1, nesterov=True, maximize=True)
    adam.formula(
        p,
        g,
        m,
        v,
        v,
        step=1,
        lr=0.1,
        betas=(0.9, 0.9),
        eps=0,
        weight_decay=1,
        decoupled_weight_decay=True,
        maximize=True,
    )
    assert [t.tolist() for t in (p, g, m, v)] == [[1, 1], [2, 2], [3, 3], [4, 4]]


def test_closure_is_called_once_with_grad_on() -> None:
    p = torch.nn.Parameter(torch.ones(1))
    calls = []

    def closure() -> Any:
        calls.append(torch.is_grad_enabled())
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        loss = torch.optim.SGD([p], lr=0.25).step(closure)
        assert not torch.is_grad_enabled()
    assert (calls, loss.item(), p.item()) == ([True], 1.0, 0.5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_an_expanded_parameter_of_one_place_for_each_element_is_updated(name):
    x, plain = torch.full((1, 1), 0.5).expand(1, 1).requires_grad_(), torch.full((1, 1), 0.5, requires_grad=True)
    for p in (x, plain):
        optimizer = getattr(torch.optim, name)([p], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()
    assert x.item() == pytest.approx(plain.item())


@pytest.mark.parametrize("options", [{}, {"momentum": 0.9}])
def test_an_expanded_parameter_of_one_place_for_several_elements_is_refused(options):
    x = torch.ones(1).expand(3).requires_grad_()
    optimizer = torch.optim.SGD([x], lr=0.1, **options)
    x.sum().backward()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        optimizer.step()


def test_decoupled_decay_counts_as_a_write() -> None:
    for options, writes in (({}, 2), ({"weight_decay": 0}, 1)):
        p = parameter([1.0], [1.0])
        torch.optim.AdamW([p], **options).step()
        assert p._version == writes
