"""Jacobians of functions that fill tensors in place, forward and backward."""

from __future__ import annotations

import gc
import weakref

import pytest

pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit.script` is deprecated",  # torch, the first time
    "ignore:There is a performance drop.*scatter_.src",  # torch again
)


@pytest.fixture
def x(torch):
    return torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def filled(torch, a):
    out = torch.zeros(3, dtype=a.dtype)
    out[0] = a[0] ** 2
    out[1:] = a[1:] * a[0]
    return out


def matrix(torch, a):
    out = torch.zeros(2, 3, dtype=a.dtype)
    out[0] = a
    out[1, 1] = a.prod()
    out[:, 2] *= a[1]
    return out.sum(0)


def through_a_view(torch, a):
    out = torch.zeros(3, dtype=a.dtype)
    tail = out[1:]
    tail.copy_(a[1:] * a[0])
    return out * a + out.reshape(3)


def accumulated(torch, a):
    total = torch.zeros((), dtype=a.dtype)
    for i in range(2):
        total += 100 * (a[i + 1] - a[i] ** 2) ** 2 + (1 - a[i]) ** 2
    return total.reshape(1)


def by_index(torch, a):
    out = torch.zeros(3, dtype=a.dtype)
    out.index_put_((torch.tensor([0, 2]),), a[:2])
    out.scatter_(0, torch.tensor([1]), a[2:] * a[:1])
    return out**2


def scaled(torch, a):
    out = torch.ones(3, dtype=a.dtype)
    out.mul_(a).add_(a).div_(a + 1)
    return out


def beside_a_view(torch, a):
    out = torch.zeros(3, dtype=a.dtype)
    head, first = out[:2], out[0]
    out[:2] = a[:2] ** 2
    out[2] = a[1] * a[0]
    return torch.stack([head[1], first * 2, out[2]]) * a


def beside_views_of_views(torch, a):
    out = torch.zeros(3, dtype=a.dtype)
    column = out[:, None]
    inner = column[1:]
    out.index_put_((torch.tensor([0, 2]),), a[1:] * a[0])
    return column[:, 0] + inner[1] * a


FUNCTIONS = (filled, matrix, through_a_view, accumulated, by_index, scaled, beside_a_view, beside_views_of_views)


@pytest.fixture(params=FUNCTIONS, ids=lambda f: f.__name__)
def f(request, torch):
    return lambda a: request.param(torch, a)


class TestJacobians:
    def test_both_modes_agree(self, torch, func, f, x):
        backward = func.jacrev(f)(x)
        assert torch.allclose(func.jacfwd(f)(x), backward)
        assert torch.allclose(torch.autograd.functional.jacobian(f, x), backward)
        both = torch.autograd.functional.jacobian(f, x, strategy="forward-mode", vectorize=True)
        assert torch.allclose(both, backward)
        assert torch.allclose(torch.vmap(lambda t: func.jvp(f, (x,), (t,))[1])(torch.eye(3, dtype=x.dtype)).T, backward)

    def test_second_derivatives(self, torch, func, f, x, real):
        expected = func.jacrev(func.jacrev(f))(x)
        assert torch.allclose(func.jacfwd(func.jacrev(f))(x), expected)
        assert torch.allclose(func.jacrev(func.jacfwd(f))(x), expected)
        assert torch.allclose(func.hessian(lambda a: f(a).sum())(x), expected.sum(0))
        if not real:  # in torch tangents that are zero cannot be written to
            assert torch.allclose(func.jacfwd(func.jacfwd(f))(x), expected)

    def test_gradients_of_examples(self, torch, func, x):
        def f(a):
            out = torch.zeros_like(a) + 1
            out.mul_(a)
            out.mul_(a)
            return out.div_(a + 1).sum()

        X = torch.stack([x, x + 1])
        expected = torch.stack([func.grad(f)(row) for row in X])
        assert torch.allclose(torch.vmap(func.grad(f))(X), expected)
        assert torch.allclose(func.grad(lambda X: torch.vmap(f)(X).sum())(X), expected)
        leaf = X.clone().requires_grad_()
        assert torch.allclose(torch.autograd.grad(torch.vmap(f)(leaf).sum(), leaf)[0], expected)


def test_views_that_were_taken_before(torch, func, x):
    def f(a):
        out = torch.zeros(2, 3, dtype=a.dtype)
        first, second = out[0], out[1]
        first.add_(a * a)
        second.copy_(first)
        out[1, 2] = 0.0
        return out, second

    whole, row = func.jacfwd(f)(x)
    assert whole[0].tolist() == torch.diag(2 * x).tolist()
    assert whole[1].tolist() == row.tolist() == torch.diag(2 * x * torch.tensor([1.0, 1.0, 0.0])).tolist()


class TestArguments:
    """Arguments that are written to have the values afterwards, and no tangents."""

    def test_written_to(self, torch, func, x):
        y = torch.zeros(3, dtype=x.dtype)
        found = func.jacfwd(lambda a, y: y.copy_(a**2))(x, y)
        assert torch.equal(found, torch.diag(2 * x)) and torch.equal(y, x**2)
        assert (y + 1).tolist() == [2.0, 5.0, 10.0] and not y.requires_grad

    def test_a_part_written_to(self, torch, func, x):
        y = torch.zeros(3, dtype=x.dtype)
        part = y[1:]

        def f(a, part):
            part.copy_(a[1:])
            return part * 2

        assert func.jacfwd(f)(x, part).tolist() == [[0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
        assert y.tolist() == [0.0, 2.0, 3.0] and part.tolist() == [2.0, 3.0]
        part.zero_()
        assert y.tolist() == [0.0, 0.0, 0.0]

    def test_another_view_outside(self, torch, func, x):
        y = torch.zeros(4, dtype=x.dtype)
        part, beside = y[1:], y[:2]
        found = func.jacfwd(lambda a, part: part.copy_(a * 2).clone())(x, part)
        assert torch.equal(found, torch.diag(torch.full((3,), 2.0, dtype=x.dtype)))
        assert beside.tolist() == [0.0, 2.0] and y.tolist() == [0.0, 2.0, 4.0, 6.0]
        beside.zero_()
        assert y.tolist() == [0.0, 0.0, 4.0, 6.0] and part.tolist() == [0.0, 4.0, 6.0]

    def test_by_several_arguments(self, torch, func, x):
        def f(a, b, c):
            a[:2] = b
            return torch.stack([(a**2).sum(), (c**3).sum()])

        by_b, by_c = func.jacfwd(f, argnums=(1, 2))(x.clone(), x[:2], x[1:])
        assert by_b.tolist() == [[2.0, 4.0], [0.0, 0.0]] and by_c.tolist() == [[0.0, 0.0], [12.0, 27.0]]

    def test_as_they_were_after_an_error(self, torch, func, x):
        y = torch.zeros(3, dtype=x.dtype)

        def f(a, y):
            y.copy_(a)
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            func.jacfwd(f)(x, y)
        assert torch.equal(y + 1, x + 1)


class TestRefused:
    def test_captured(self, torch, func, x):
        kept = torch.zeros(3, dtype=x.dtype)
        with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
            func.jacfwd(lambda a: kept.copy_(a))(x)
        assert kept.tolist() == [0.0, 0.0, 0.0]

    @pytest.mark.parametrize("name", ["grad", "jacfwd"])
    def test_captured_from_the_module(self, torch, func, x, name):
        space = {"kept": torch.zeros(3, dtype=x.dtype)}
        exec("def f(a):\n    kept.copy_(a)\n    return a.sum()", space)
        with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
            getattr(func, name)(space["f"])(x)
        assert space["kept"].tolist() == [0.0, 0.0, 0.0] and not space["kept"].requires_grad

    def test_leaves(self, torch, func, x):
        leaf = torch.zeros(3, dtype=x.dtype, requires_grad=True)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            func.jacfwd(lambda a, y: y.copy_(a))(x, leaf)
        assert leaf.tolist() == [0.0, 0.0, 0.0]


def test_nothing_is_held(torch, func, x):
    seen = []

    def f(a):
        out = torch.zeros(3, dtype=a.dtype)
        out[0] = a[0]
        seen.append(weakref.ref(out))
        return out * 2

    gc.disable()
    try:
        func.jacfwd(f)(x)
        assert [r() for r in seen] == [None]
    finally:
        gc.enable()
