"""Fused operations whose inputs are one tensor, or computed from one another: gradients are those by each alone."""

from __future__ import annotations

import pytest


def attention(torch, a):
    return torch.nn.functional.scaled_dot_product_attention(a, a, a)


def attention_composed(torch, a):
    return torch.softmax(a @ a.mT / a.shape[-1] ** 0.5, -1) @ a


def layer_norm(torch, a):
    return torch.nn.functional.layer_norm(a, (4,), a[0, 0], a[0, 1])


def layer_norm_composed(torch, a):
    centred = a - a.mean(-1, keepdim=True)
    return centred / ((centred**2).mean(-1, keepdim=True) + 1e-5).sqrt() * a[0, 0] + a[0, 1]


def group_norm(torch, a):
    return torch.nn.functional.group_norm(a, 1, a[0, :, 0], a[1, :, 0])


def group_norm_composed(torch, a):
    centred = a - a.mean((1, 2), keepdim=True)
    scaled = centred / ((centred**2).mean((1, 2), keepdim=True) + 1e-5).sqrt()
    return scaled * a[0, :, :1] + a[1, :, :1]


def batch_norm(torch, a):
    return torch.nn.functional.batch_norm(a, None, None, a[0, :, 0], a[1, :, 0], training=True)


def batch_norm_composed(torch, a):
    centred = a - a.mean((0, 2), keepdim=True)
    scaled = centred / ((centred**2).mean((0, 2), keepdim=True) + 1e-5).sqrt()
    return scaled * a[0, :, :1] + a[1, :, :1]


PAIRS = {
    "attention": (attention, attention_composed), "layer_norm": (layer_norm, layer_norm_composed),
    "group_norm": (group_norm, group_norm_composed), "batch_norm": (batch_norm, batch_norm_composed),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_under_create_graph(torch, name):
    found = []
    for function in PAIRS[name]:
        a = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(2, 3, 4).sin().requires_grad_()
        y = function(torch, a)
        seed = torch.linspace(1, 2, 24, dtype=torch.float64).reshape(2, 3, 4)
        (first,) = torch.autograd.grad(y, a, seed, create_graph=True)
        if name != "attention" or torch.__name__ == "gradpack":  # torch has no second derivatives of attention on CPUs
            found.append((first, *torch.autograd.grad((first**2).sum(), a)))
        else:
            found.append((first,))
    for fused, composed in zip(*found, strict=True):
        torch.testing.assert_close(fused, composed)


def test_a_cell_with_the_same_tensor_for_both_states(torch):
    torch.manual_seed(0)
    cell = torch.nn.LSTMCell(3, 3).double()
    h = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3).requires_grad_()
    x = torch.ones(2, 3, dtype=torch.float64)

    def total(h):
        out, state = cell(x, (h, h))
        return (out * state).sum()

    (plain,) = torch.autograd.grad(total(h), h)
    (first,) = torch.autograd.grad(total(h), h, create_graph=True)
    torch.testing.assert_close(first, plain, check_dtype=True)
    torch.autograd.gradgradcheck(total, (h,))
