"""Tangents through a backward pass: `jvp` of `vjp`, and dual tensors in `autograd.grad`, against differences."""

from __future__ import annotations

import importlib

import pytest

CALLS = {
    "layer_norm": lambda F, x, w, b: F.layer_norm(x, [2, 3], w, b, 0.5),
    "rms_norm": lambda F, x, w, b: F.rms_norm(x, [2, 3], w, 0.5),
    "gelu": lambda F, x, w, b: F.gelu(x) * w + b,
    "attention": lambda F, x, w, b: F.scaled_dot_product_attention(x, w, b),
    "cross_entropy": lambda F, x, w, b: F.cross_entropy(x, (w / w.sum(1, keepdim=True)).abs()),
    "linear": lambda F, x, w, b: F.linear(x, w, b[:, 0]),
    "softmax": lambda F, x, w, b: F.softmax(x * w, -1) + b,
}


@pytest.fixture(params=sorted(CALLS))
def call(torch, request):
    F = importlib.import_module(f"{torch.__name__}.nn.functional")
    return lambda *args: CALLS[request.param](F, *args)


@pytest.fixture
def args(torch):
    torch.manual_seed(0)
    return tuple(torch.randn(2, 3, dtype=torch.float64) + 2 for _ in range(3))


def differences(function, values, along, step=1e-6):
    ahead = function(*[v + step * t for v, t in zip(values, along, strict=True)])
    behind = function(*[v - step * t for v, t in zip(values, along, strict=True)])
    return [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_jvp_of_vjp(torch, call, args):
    seed = torch.cos(call(*args))

    def back(x, w, b, g):
        return torch.func.vjp(call, x, w, b)[1](g)

    along = (*(0.5 * v.sin() for v in args), seed.sin())
    _, found = torch.func.jvp(back, (*args, seed), along)
    for one, expected in zip(found, differences(back, (*args, seed), along), strict=True):
        assert not one.requires_grad
        assert torch.allclose(one, expected, atol=1e-6)


@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_gradients_of_losses_of_examples(torch, in_dims, shape):
    loss = importlib.import_module(f"{torch.__name__}.nn.functional").binary_cross_entropy
    torch.manual_seed(0)
    x, y = (torch.rand(() if d is None else (4,), dtype=torch.float64) for d in in_dims)
    x, y = (v.reshape(v.shape + (1,) * len(shape)).expand(v.shape + shape).clone() for v in (x, y))
    made, back = torch.func.vjp(torch.vmap(loss, in_dims=in_dims), x, y)
    assert made.shape == (4,)
    for value, g in zip((x, y), back(torch.ones(4, dtype=torch.float64)), strict=True):
        assert g.shape == value.shape


@pytest.mark.parametrize("create_graph", [False, True])
def test_dual_tensors_in_grad(torch, call, args, create_graph):
    fw = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    seed = torch.cos(call(*args))
    x, w, b = args

    def back(v, weight):
        v = v.requires_grad_() if v.is_leaf else v
        return torch.autograd.grad(call(v, weight, b), v, seed, create_graph=create_graph)

    along = (x.sin(), w.cos())
    with fw.dual_level():
        (g,) = back(fw.make_dual(x.clone().requires_grad_(), along[0]), fw.make_dual(w, along[1]))
        tangent = fw.unpack_dual(g).tangent
    assert create_graph or not g.requires_grad
    (expected,) = differences(back, (x, w), along)
    assert torch.allclose(tangent, expected, atol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda F, a, v: F.binary_cross_entropy_with_logits(a, v),
        lambda F, a, v: F.binary_cross_entropy_with_logits(v, a),
        lambda F, a, v: F.kl_div(a, v, reduction="sum"),
        lambda F, a, v: F.poisson_nll_loss(a, v),
    ],
)
def test_a_tangent_does_not_go_through_another_operand_that_is_the_primal(torch, call):
    F = importlib.import_module(f"{torch.__name__}.nn.functional")
    jvp = importlib.import_module(f"{torch.__name__}.func").jvp
    v = torch.tensor([[0.25, 1.0]], dtype=torch.float64, requires_grad=True)
    along = torch.tensor([[-1.0, 1.0]], dtype=torch.float64)
    (_, found), (_, expected) = (jvp(lambda a: call(F, a, v).sum(), (x,), (along,)) for x in (v, v.detach().clone()))
    assert found.item() == pytest.approx(expected.item())


@pytest.mark.parametrize(
    ("call", "requires_grad"),
    [
        (lambda d: d * 2, True),
        (lambda d: 3 * d + 1, True),
        (lambda d: d / 3, True),
        (lambda d: d + 1, False),
        (lambda d: -d, False),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_the_tangent_of_a_product_requires_grad_as_its_primal_does(torch, call, requires_grad, dtype):
    fw = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    x = torch.ones(2, requires_grad=True, dtype=getattr(torch, dtype))
    with fw.dual_level():
        tangent = fw.unpack_dual(call(fw.make_dual(x, x.detach().clone()))).tangent
        plain = fw.unpack_dual(call(fw.make_dual(x.detach(), x.detach().clone()))).tangent
    assert tangent.requires_grad is requires_grad
    assert not plain.requires_grad
    if requires_grad:
        assert (torch.autograd.grad(tangent.abs().sum(), x)[0] == 0).all()
