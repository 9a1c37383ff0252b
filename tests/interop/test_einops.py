"""einops works on tensors, whichever of the two is imported first."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gradpack as torch

einops = pytest.importorskip("einops")


def both(call, shape=(2, 3, 4)):
    """The call on a tensor and on an array give the same; the gradient of the sum of squares is twice the adjoint."""
    array = np.random.default_rng(0).normal(size=shape)
    x = torch.tensor(array, requires_grad=True)
    ours, theirs = call(x), call(array)
    np.testing.assert_allclose(ours.detach().numpy(), theirs)
    ours.square().sum().backward()
    eps = 1e-6
    place = (0,) * len(shape)
    array[place] += eps
    up = (call(array) ** 2).sum()
    array[place] -= 2 * eps
    np.testing.assert_allclose(x.grad[place].item(), (up - (call(array) ** 2).sum()) / (2 * eps), rtol=1e-5)


@pytest.mark.parametrize(
    "pattern", ["a b c -> c (b a)", "a b c -> (a b c)", "(x a) b c -> x a b c", "a b c -> a 1 b c"]
)
def test_rearrange(pattern):
    both(lambda t: einops.rearrange(t, pattern, **({"x": 2} if "x" in pattern else {})))


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min", "prod"])
def test_reduce(how):
    both(lambda t: einops.reduce(t, "a b c -> b", how))
    both(lambda t: einops.reduce(t, "a (b 3) c -> a b 1 c", how))


def test_repeat_and_einsum():
    both(lambda t: einops.repeat(t, "a b c -> a (b 2) c 5"))
    both(lambda t: einops.einsum(t, t, "a b c, a b d -> c d"))


def test_lists_pack_and_unpack():
    both(lambda t: einops.rearrange([t, t], "n a b c -> a (n b) c"))
    both(lambda t: einops.pack([t, t[:, 0]], "a * c")[0])
    x = torch.arange(12).reshape(3, 4)
    packed, shapes = einops.pack([x, x[0]], "* c")
    a, b = einops.unpack(packed, shapes, "* c")
    assert torch.equal(a, x) and torch.equal(b, x[0])


def test_shapes_are_those_of_tensors():
    _, shapes = einops.pack([torch.ones(2, 3), torch.ones(2)], "a *")
    assert [type(s) for s in shapes] == [torch.Size, torch.Size] and shapes == [(3,), ()]


def test_parameters_bool_and_integers():
    assert einops.rearrange(torch.nn.Parameter(torch.ones(2, 3)), "a b -> b a").shape == (3, 2)
    assert einops.reduce(torch.tensor([[True, False]]), "a b -> a", "any").tolist() == [True]
    assert einops.reduce(torch.ones(2, 2, dtype=torch.int64), "a b -> ", "sum").item() == 4


def test_what_does_not_fit_is_einops_own_error():
    with pytest.raises(einops.EinopsError, match="Wrong shape"):
        einops.rearrange(torch.ones(2), "a b -> b a")


@pytest.mark.parametrize("order", ["einops, gradpack", "gradpack, einops"])
def test_the_order_of_imports_does_not_matter(order):
    text = (
        f"import sys, {order.split(', ')[0]}\n"
        + ("assert 'einops' not in sys.modules\n" if order.startswith("g") else "")
        + f"import {order}; print(einops.rearrange(gradpack.ones(2, 3), 'a b -> (b a)').shape)\n"
        "print(einops._backends.__spec__.loader.__class__.__name__, "
        "[type(f).__name__ for f in sys.meta_path if type(f).__name__ == '_Watch' and 'einops._' in f.name])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", text], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["gradpack.Size([6])", "SourceFileLoader []"], done.stderr
