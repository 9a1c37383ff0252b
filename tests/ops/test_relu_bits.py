"""A relu whose result goes into pooling or dropout keeps one bit for each element, and nobody notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradpack as torch
from gradpack import saved

F = torch.nn.functional


def large() -> Any:
    torch.manual_seed(0)
    return torch.randn(4, 8, 32, 32, requires_grad=True)


def halves(x: Any) -> Any:
    torch.manual_seed(1)
    return F.dropout(x, 0.5)


NEXT: dict[str, Callable[[Any], Any]] = {"pool": lambda x: F.max_pool2d(x, 2), "dropout": halves}


@pytest.mark.parametrize("after", NEXT)
@pytest.mark.parametrize("relu", [F.relu, lambda x: F.relu_(x * 1)], ids=["relu", "relu_"])
def test_gradients_and_bytes(after: str, relu: Callable[[Any], Any]) -> None:
    x = large()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):  # hooks get the result itself
        (expected,) = torch.autograd.grad((NEXT[after](relu(x)) ** 2).sum(), x)
    y = NEXT[after](relu(x))
    (found,) = torch.autograd.grad((y**2).sum(), x)
    assert torch.equal(found, expected)
    with saved.meter() as meter:
        y = NEXT[after](relu(x)).sum()
        assert meter.now <= x.nbytes / 8  # bits of relu, and positions or bits
        y.backward()
    assert meter.now == 0 and y is not None


@pytest.mark.parametrize("policy", [saved.mask, saved.bf16, lambda: saved.lossless("zlib"), saved.disk])
def test_policies_that_store_keep_bits_too(policy: Callable[[], Any]) -> None:
    x = large()
    (expected,) = torch.autograd.grad(F.max_pool2d(F.relu(x), 2).sum(), x)
    made = policy()
    with saved.meter() as meter, made:
        y = F.max_pool2d(F.relu(x), 2).sum()
    made.wait()  # for what is still being written
    assert meter.now <= x.nbytes / 8
    (found,) = torch.autograd.grad(y, x)
    assert torch.equal(found, expected)


def test_twice_and_of_higher_order() -> None:
    x = large()
    y = (F.max_pool2d(F.relu(x), 2) ** 3).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (again,) = torch.autograd.grad(y, x, retain_graph=True)
    assert torch.equal(first, again)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second, torch.where(first > 0, 6 * x, 0.0))


def test_a_result_that_is_used_elsewhere_is_still_there() -> None:
    x = large()
    y = F.relu(x)
    F.max_pool2d(y, 2)
    assert torch.equal(y.grad_fn._saved_result, y)
    node = y.grad_fn
    del y
    assert torch.equal(node._saved_result, (x > 0).float())


def test_a_write_in_place_is_noticed() -> None:
    x = large()
    y = F.relu(x)
    loss = F.max_pool2d(y, 2).sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_small_results_and_other_modes_are_left_alone() -> None:
    x = torch.randn(1, 1, 4, 4, requires_grad=True)
    y = F.relu(x)
    F.max_pool2d(y, 2)
    assert torch.equal(y.grad_fn._saved_result, y)
    pooled = torch.func.vmap(torch.func.grad(lambda t: F.max_pool2d(F.relu(t), 2).sum()))(large().detach())
    assert pooled.shape == (4, 8, 32, 32)


def test_a_record_shows_bits() -> None:
    x = large()
    with saved.record() as r:
        y = F.max_pool2d(F.relu(x), 2).sum()
    assert [row.charged for row in r.rows if row.policy == "bits"] == [x.numel() // 8]
    assert y is not None
