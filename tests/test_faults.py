"""Bad input: the exception type that torch raises, a sentence that helps, and a clean state."""

from __future__ import annotations

import pytest

import gradpack as torch
import gradpack.nn.functional as F
from gradpack.base.modes import MODE


@pytest.fixture(autouse=True)
def clean_state():
    before = MODE.get()
    yield
    after = MODE.get()
    assert (after.grad, after.hooks, after.forbidden, after.dual) == (
        before.grad,
        before.hooks,
        before.forbidden,
        before.dual,
    )


SHAPES = [
    (lambda: torch.ones(2, 3) + torch.ones(4), r"size of tensor a \(3\) must match the size of tensor b \(4\).*add"),
    (lambda: torch.ones(2, 3) @ torch.ones(4, 5), r"2x3 and 4x5"),
    (lambda: torch.mm(torch.ones(2, 3), torch.ones(2, 3)), r"2x3 and 2x3"),
    (lambda: torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 3, 4)), r"batch2"),
    (lambda: F.linear(torch.ones(2, 3), torch.ones(4, 5)), r"2x3 and 5x4"),
    (lambda: torch.ones(2, 3).reshape(4), r"shape '\[4\]' is invalid for input of size 6"),
    (lambda: torch.ones(2, 3).expand(3, 3), r"must match the existing size \(2\)"),
    (lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]), r"cat|Sizes of tensors must match"),
    (lambda: torch.stack([torch.ones(2), torch.ones(3)]), r"stack"),
    (lambda: F.layer_norm(torch.ones(2, 3), (4,)), r"normalized_shape=\[4\]"),
    (lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0])), r"batch_size"),
    (lambda: torch.where(torch.ones(2) > 0, torch.ones(3), torch.ones(3)), r"size of tensor"),
    (lambda: F.scaled_dot_product_attention(*[torch.ones(2, n, n) for n in (2, 3, 3)]), r"query \[2, 2, 2\]"),
]


@pytest.mark.parametrize(("call", "match"), SHAPES)
def test_wrong_shapes(call, match):
    with pytest.raises((RuntimeError, ValueError), match=match):
        call()


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: torch.ones(2) @ torch.ones(2, dtype=torch.float64), RuntimeError, "same dtype"),
        (lambda: F.embedding(torch.ones(2), torch.ones(3, 2)), RuntimeError, "Long"),
        (lambda: F.nll_loss(torch.ones(2, 3), torch.ones(2)), RuntimeError, "Long"),
        (lambda: torch.ones(2, dtype=torch.int64, requires_grad=True), RuntimeError, "floating point"),
        (lambda: torch.tensor(["a"]), ValueError, "str"),
        (lambda: torch.tensor([[1, 2], [3]]), ValueError, "length 2 at dim 1"),
        (lambda: torch.add(torch.ones(1), "a"), TypeError, "must be Tensor, not str"),
        (lambda: torch.ones(1) + "a", TypeError, "unsupported operand"),
        (lambda: torch.sin(1.0), TypeError, "must be Tensor, not float"),
        (lambda: torch.ones(2).sum(5), IndexError, r"range of \[-1, 0\], but got 5"),
        (lambda: torch.ones(2, 2).transpose(0, 2), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda: torch.device("tpu"), RuntimeError, "tpu"),
        (lambda: torch.ones(1, device="cuda"), AssertionError, "CUDA"),
        (lambda: F.embedding(torch.tensor([5]), torch.ones(3, 2)), IndexError, "5"),
        (lambda: F.cross_entropy(torch.ones(1, 3), torch.tensor([7])), IndexError, "7"),
        (lambda: F.dropout(torch.ones(1), 1.5), ValueError, "1.5"),
        (lambda: torch.ones(3)[5], IndexError, "out of bounds"),
        (lambda: torch.ones(3)[0, 0], IndexError, "too many indices"),
    ],
)
def test_wrong_values(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_modified_saved_tensor_names_op_shape_and_versions():
    x = torch.ones(2, 3, requires_grad=True)
    h = x * 1
    y = (h * x).sum()
    h.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    text = str(caught.value)
    for part in ("MulBackward0", "[2, 3]", "version 1", "expected version 0", "clone()"):
        assert part in text
    assert x.grad is None


def test_failed_backward_leaves_the_graph_usable():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert x.grad is None and torch.is_grad_enabled()
    z = (x * 2).sum()
    z.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_failed_pack_leaves_no_hooks_behind():
    x = torch.ones(2, requires_grad=True)

    def pack(t):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            x.exp()
    x.exp().sum().backward()
    assert x.grad is not None


def test_in_place_that_fails_changes_nothing():
    x = torch.ones(2)
    with pytest.raises(RuntimeError):
        x.add_(torch.ones(3))
    assert x.tolist() == [1.0, 1.0] and x._version == 0
