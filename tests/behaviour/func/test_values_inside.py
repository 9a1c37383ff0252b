"""Values that a program looks at while it is differentiated forwards, or by examples: they are the same for all."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch, the first time

BRANCHES = {
    "a branch": lambda torch, x: x * x if x.sum() > 1 else x,
    "a loop": lambda torch, x: x * sum(1 for v in x if v > 0),
    "item": lambda torch, x: x * x * x.max().item(),
    "float and int": lambda torch, x: float(x.detach()[1]) * x[int(x.detach()[1]) :],
    "a mask": lambda torch, x: x[x > 0] ** 2,
    "masked_select": lambda torch, x: torch.masked_select(x, x > 0) ** 2,
    "nonzero": lambda torch, x: x[x.nonzero()[:, 0]] ** 2,
    "where": lambda torch, x: x[torch.where(x > 0)[0]] ** 2,
    "indices": lambda torch, x: (x * x)[: 1 + int(x.argmax())],
    "tolist": lambda torch, x: x * x * x.tolist()[2],
    "equal": lambda torch, x: x * x if torch.equal(x, x) and torch.allclose(x, x + 0) else x,
    "any and all": lambda torch, x: x * x if (x >= 0).all() and (x > 1).any() else x,
    "NaN": lambda torch, x: x * x if not torch.isnan((x / x).sum() * 0 + x[0] / x[0]) else x,
    "a masked write": lambda torch, x: (y := x * 3, y.__setitem__(y > 3, 7.0))[0] * x,
    "a buffer": lambda torch, x: (y := torch.zeros(3), y.__setitem__(0, x[1]), y * x if y.sum() > 0 else x)[2],
    "a copy of zeros": lambda torch, x: (y := torch.zeros_like(x), y.__setitem__(0, x[1]), y * x if y[0] > 0 else x)[2],
    "in place": lambda torch, x: (y := x * 1, y.gt_(0), y * x if y.sum() > 1 else x)[2],
}


def _by_rows(torch, f, x):
    return torch.autograd.functional.jacobian(lambda x: f(torch, x), x)


@pytest.mark.parametrize("name", BRANCHES)
def test_jacobians_of_programs_that_look_at_values(torch, func, name):
    f = BRANCHES[name]
    x = torch.tensor([0.0, 1.0, 2.0])
    if name == "in place":  # whose mask has no gradient in reverse mode
        expected = torch.diag(torch.tensor([0.0, 1.0, 1.0]))
    else:
        expected = _by_rows(torch, f, x)
    assert torch.equal(func.jacfwd(lambda x: f(torch, x))(x), expected)
    assert torch.equal(
        func.vmap(lambda v: func.jvp(lambda x: f(torch, x), (x,), (v,))[1], out_dims=-1)(torch.eye(3)), expected
    )
    forward = torch.autograd.functional.jacobian(lambda x: f(torch, x), x, vectorize=True, strategy="forward-mode")
    assert torch.equal(forward, expected)


def test_hessians_of_programs_that_look_at_values(torch, func):
    def f(x):
        return (x[x > 0] ** 3).sum() * (2 if x.sum() > 1 else 1)

    x = torch.tensor([0.0, 1.0, 2.0])
    expected = torch.diag(torch.tensor([0.0, 12.0, 24.0]))
    assert torch.equal(func.hessian(f)(x), expected)
    assert torch.equal(func.jacfwd(func.jacfwd(f))(x), expected)
    assert torch.equal(func.jacrev(func.jacfwd(f))(x), expected)

    def g(x):
        slope, value = func.grad_and_value(lambda x: (x**3).sum())(x)
        return slope if value > 0 and slope[1] > 0 else x

    assert torch.equal(func.jacfwd(g)(x), torch.diag(6 * x))


def test_parameters_that_all_examples_share(torch, func):
    x, ys = torch.tensor([0.0, 1.0, 2.0]), torch.arange(6.0).reshape(2, 3)

    def loss(x, y):
        return (x[x > 0] * y[x > 0]).sum() * (x.max().item() if x.sum() > 0 else 0)

    assert func.vmap(func.grad(loss), (None, 0))(x, ys).tolist() == [[0, 2, 4], [0, 8, 10]]


REFUSED = {
    "an example": lambda torch, func: func.vmap(func.jacfwd(lambda x: x * x if x.sum() > 0 else x))(torch.ones(2, 3)),
    "of the shared and an example": lambda torch, func: func.vmap(
        func.grad(lambda x, y: (x * y).sum() * (x * y).max().item()), (None, 0)
    )(torch.ones(3), torch.ones(2, 3)),
    "a tangent": lambda torch, func: func.vmap(
        lambda v: func.jvp(lambda x: x * x if v.sum() > 0 else x, (torch.ones(2),), (v,))
    )(torch.eye(2)),
    "drawn": lambda torch, func: func.jacfwd(lambda x: x * x if torch.rand(()) > 2 else x, randomness="different")(
        torch.ones(2)
    ),
    "made of a tangent": lambda torch, func: func.vmap(
        lambda v: func.jvp(lambda x: x * x if (v * x).sum() > 0 else x, (torch.ones(2),), (v,))
    )(torch.eye(2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_of_examples_are_not_looked_at(torch, func, name):
    with pytest.raises(RuntimeError, match=r"^vmap: It looks like you're either \(1\) calling .item|data-dependent"):
        REFUSED[name](torch, func)


def test_equal_values_of_examples_are_no_shared_value(torch, func):
    for look in (
        lambda x: x.sum().item(),
        lambda x: bool(x.sum() > 0),
        lambda x: x[x > 0],
        lambda x: torch.equal(x, x),
    ):
        with pytest.raises(RuntimeError):
            func.vmap(look)(torch.ones(2, 3))


def test_tensors_of_shape_0_are_followed_through_cat(torch, func):
    """They fit to tensors of all other shapes."""
    a = torch.zeros(0, requires_grad=True)
    for shape, dim in (((3, 2), 0), ((3, 2, 2), 1)):
        a.grad = None
        y = func.vmap(lambda a, b, dim=dim: torch.cat([a, b], dim), (None, 0))(a, torch.ones(shape))
        y.sum().backward()
        assert torch.equal(y, torch.ones(shape)) and a.grad.shape == (0,)
