"""`autograd.functional`: values, forms, what carries a graph, what strict mode refuses."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # forward mode loads it in torch


@pytest.fixture(name="F")
def functional(torch):
    return torch.autograd.functional


def vectors(torch, rows=2):
    x = torch.arange(1.0, 3 * rows + 1).reshape(rows, 3) / 4
    return x, torch.tensor([0.5, -1.0, 2.0])


def pairs(a, b):
    return (a * b).sum(1)


def cubes(a, b):
    return (a * b).pow(3).sum()


def same(torch, a, b):
    if isinstance(b, tuple | list):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(torch, x, y)
    else:
        assert a.shape == b.shape and torch.allclose(a, b, atol=1e-5)


class TestJacobian:
    @pytest.mark.parametrize("vectorize", [False, True])
    def test_values_and_shapes(self, torch, F, vectorize):
        x, y = vectors(torch)
        found = F.jacobian(pairs, (x, y), vectorize=vectorize)
        assert type(found) is tuple and [tuple(t.shape) for t in found] == [(2, 2, 3), (2, 3)]
        assert torch.equal(found[1], x)
        assert torch.equal(found[0][0, 0], y) and not found[0][0, 1].any()

    @pytest.mark.parametrize("vectorize", [False, True])
    def test_tuples_of_outputs(self, torch, F, vectorize):
        x, y = vectors(torch)
        found = F.jacobian(lambda a, b: (pairs(a, b), b.exp()), (x, y), vectorize=vectorize)
        assert [[tuple(t.shape) for t in row] for row in found] == [[(2, 2, 3), (2, 3)], [(3, 2, 3), (3, 3)]]
        assert not found[1][0].any()
        single = F.jacobian(lambda a: (a, a.sum()), x, vectorize=vectorize)
        assert [tuple(t.shape) for t in single] == [(2, 3, 2, 3), (2, 3)]

    @pytest.mark.parametrize("vectorize", [False, True])
    def test_what_carries_a_graph(self, torch, F, vectorize):
        x, _ = vectors(torch)
        assert not F.jacobian(torch.exp, x.requires_grad_(), vectorize=vectorize).requires_grad
        found = F.jacobian(torch.exp, x, create_graph=True, vectorize=vectorize)
        (slope,) = torch.autograd.grad(found.sum(), x)
        assert torch.allclose(slope, x.exp())
        assert not F.jacobian(torch.exp, x.detach(), create_graph=True).is_leaf
        assert x.grad is None

    def test_a_graph_of_what_was_captured(self, torch, F):
        w = torch.tensor(2.0, requires_grad=True)
        found = F.jacobian(lambda x: x * w, torch.ones(2), create_graph=True)
        found.sum().backward()
        assert w.grad == 2.0
        assert not F.jacobian(lambda x: x * w, torch.ones(2)).requires_grad

    def test_the_function_sees_other_tensors(self, torch, F):
        x = torch.ones(2, requires_grad=True)
        seen = []
        F.jacobian(lambda a: (seen.append(a), a * x)[1], x)
        assert seen[0] is not x and seen[0].requires_grad and seen[0].is_leaf
        assert torch.equal(F.jacobian(lambda a: a * x, x), torch.eye(2))

    def test_forward_mode_gives_lists(self, torch, F):
        x, y = vectors(torch)
        back = F.jacobian(lambda a, b: (pairs(a, b), b.exp()), (x, y))
        ahead = F.jacobian(lambda a, b: (pairs(a, b), b.exp()), (x, y), vectorize=True, strategy="forward-mode")
        assert type(ahead) is list and type(ahead[0]) is list
        same(torch, tuple(map(tuple, ahead)), back)
        same(torch, F.jacobian(torch.sin, x, vectorize=True, strategy="forward-mode"), F.jacobian(torch.sin, x))

    def test_forward_mode_refuses(self, torch, F):
        x, _ = vectors(torch)
        with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
            F.jacobian(torch.sin, x, strategy="forward-mode")
        with pytest.raises(NotImplementedError, match="`create_graph=True` and `strategy"):
            F.jacobian(torch.sin, x, strategy="forward-mode", vectorize=True, create_graph=True)
        with pytest.raises(RuntimeError, match="`strict=True` and `strategy"):
            F.jacobian(torch.sin, x, strategy="forward-mode", vectorize=True, strict=True)
        with pytest.raises(RuntimeError, match="`strict=True` and `vectorized=True`"):
            F.jacobian(torch.sin, x, vectorize=True, strict=True)
        with pytest.raises(AssertionError, match='either "forward-mode" or "reverse-mode"'):
            F.jacobian(torch.sin, x, strategy="sideways")

    def test_types(self, torch, F):
        x, y = vectors(torch)
        with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors but the given inputs has"):
            F.jacobian(pairs, [x, y])
        with pytest.raises(TypeError, match="but the value at index 1 has type <class 'int'>"):
            F.jacobian(pairs, (x, 3))
        with pytest.raises(TypeError, match="The outputs of the user-provided function given to jacobian must be"):
            F.jacobian(lambda a: 3, x)

    def test_scalars_and_nothing(self, torch, F):
        assert F.jacobian(torch.sin, torch.tensor(0.0)) == 1
        assert F.jacobian(lambda x: x.sum(), torch.ones(2)).tolist() == [1, 1]
        assert not F.jacobian(lambda x: torch.ones(2), torch.ones(3)).any()

    def test_hooks_run_for_each_row(self, torch, F):
        count = []

        def f(x):
            y = x * x
            y.register_hook(lambda g: count.append(1))
            return y

        F.jacobian(f, torch.ones(3))
        assert len(count) == 3
        F.jacobian(f, torch.ones(3), vectorize=True)
        assert len(count) == 4

    def test_under_no_grad(self, torch, F):
        with torch.no_grad():
            assert torch.equal(F.jacobian(lambda x: x * x, torch.ones(2)), 2 * torch.eye(2))


class TestStrict:
    def test_outputs_that_do_not_require_grad(self, torch, F):
        for name in ("jacobian", "vjp", "jvp"):
            args = () if name == "jacobian" else (torch.ones(2),)
            with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
                getattr(F, name)(lambda x: torch.ones(2), torch.ones(2), *args, strict=True)

    def test_independent_of_an_input(self, torch, F):
        def f(a, b):
            return a * 2

        x = torch.ones(2)
        with pytest.raises(RuntimeError, match=r"Output 0 of the user-provided function is independent of input 1"):
            F.jacobian(f, (x, x), strict=True)
        with pytest.raises(RuntimeError, match="The output of the user-provided function is independent of input 1"):
            F.vjp(f, (x, x), x, strict=True)
        with pytest.raises(RuntimeError, match=r"independent of input 1\. This is not allowed in strict mode"):
            F.jvp(f, (x, x), (x, x), strict=True)
        assert not F.jacobian(f, (x, x))[1].any()

    def test_a_jacobian_that_is_constant(self, torch, F):
        x = torch.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match="when create_graph=True"):
            F.jacobian(lambda a: a * 2, x, create_graph=True, strict=True)
        with pytest.raises(RuntimeError, match="The jacobian of the user-provided function is independent of input 0"):
            F.vjp(lambda a: a * 2, x, torch.ones(2), create_graph=True, strict=True)

    def test_hessians(self, torch, F):
        x = torch.ones(2)
        with pytest.raises(RuntimeError, match="found that the jacobian of the user-provided function with respect to"):
            F.hessian(lambda a: a.sum(), x, strict=True)
        for name in ("vhp", "hvp"):
            with pytest.raises(RuntimeError, match="found that the jacobian of the user-provided function"):
                getattr(F, name)(lambda a: a.sum(), x, x, strict=True)
        with pytest.raises(RuntimeError, match="The hessian of the user-provided function is independent of input 0"):
            F.hvp(lambda a: (a * a).sum(), x.requires_grad_(), x.detach(), strict=True, create_graph=True)


class TestProducts:
    def test_vjp(self, torch, F):
        x, y = vectors(torch)
        out, found = F.vjp(pairs, (x, y), torch.ones(2))
        assert torch.allclose(out, pairs(x, y)) and not out.requires_grad
        assert torch.allclose(found[0], y.expand(2, 3)) and torch.allclose(found[1], x.sum(0))
        out, found = F.vjp(lambda a: a.sum(), x)
        assert torch.equal(found, torch.ones(2, 3))

    def test_jvp(self, torch, F):
        x, y = vectors(torch)
        out, found = F.jvp(pairs, (x, y), (torch.ones(2, 3), torch.zeros(3)))
        assert torch.allclose(found, y.sum().expand(2)) and torch.allclose(out, pairs(x, y))
        assert F.jvp(torch.sin, torch.tensor(0.0))[1] == 1
        _, product = F.jvp(lambda a: a.exp().sum(), x, torch.ones(2, 3), create_graph=True)
        assert product.grad_fn.name() == "SumBackward0"

    @pytest.mark.parametrize("name", ["vhp", "hvp"])
    def test_with_a_hessian(self, torch, F, name):
        x, y = vectors(torch)
        v = (torch.ones(2, 3), torch.ones(3))
        hessian = F.hessian(cubes, (x, y))
        expected = tuple(sum(torch.tensordot(hessian[i][j], v[j], v[j].dim()) for j in range(2)) for i in range(2))
        out, found = getattr(F, name)(cubes, (x, y), v)
        same(torch, found, expected)
        assert torch.allclose(out, cubes(x, y)) and not out.requires_grad

    @pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
    def test_graphs(self, torch, F, name):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        call = getattr(F, name)

        def f(a):
            return (a**4).sum() if name in ("vhp", "hvp") else a**4

        assert not any(t.requires_grad for t in call(f, x, torch.ones(2)))
        out, found = call(f, x, torch.ones(2), create_graph=True)
        assert out.requires_grad
        (slope,) = torch.autograd.grad(found.sum(), x)
        assert torch.allclose(slope, 24 * x if name in ("vhp", "hvp") else 12 * x.detach() ** 2)

    def test_v_of_another_form(self, torch, F):
        x, y = vectors(torch)
        with pytest.raises(RuntimeError, match="v has invalid size: should be"):
            F.vjp(pairs, (x, y), torch.ones(3))
        with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
            F.jvp(pairs, (x, y), (x,))
        with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
            F.jvp(torch.sin, x, (x, x))
        with pytest.raises(RuntimeError, match="Entry 1 in v has invalid size"):
            F.jvp(pairs, (x, y), (x, x))
        with pytest.raises(RuntimeError, match="v can only be None if the user-provided function returns a single"):
            F.vjp(pairs, (x, y))
        for name in ("jvp", "hvp", "vhp"):
            with pytest.raises(RuntimeError, match="v can only be None if the input to the user-provided function"):
                getattr(F, name)(cubes, (x, y))

    @pytest.mark.parametrize("name", ["vhp", "hvp", "hessian"])
    def test_functions_that_do_not_return_a_number(self, torch, F, name):
        x = torch.ones(2)
        args = () if name == "hessian" else (x,)
        with pytest.raises(RuntimeError, match=f"The function given to {name} should return a single Tensor"):
            getattr(F, name)(lambda a: (a.sum(),), x, *args)
        with pytest.raises(RuntimeError, match="should contain a single element"):
            getattr(F, name)(lambda a: a * 2, x, *args)


class TestHessian:
    @pytest.mark.parametrize("vectorize", [False, True])
    @pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
    def test_values(self, torch, F, vectorize, strategy):
        if strategy == "forward-mode" and not vectorize:
            pytest.skip("columns come all at once")
        x = torch.tensor([1.0, 2.0])
        found = F.hessian(lambda a: (a**3).sum(), x, vectorize=vectorize, outer_jacobian_strategy=strategy)
        assert torch.allclose(found, torch.diag(6 * x))

    def test_of_several_inputs(self, torch, F):
        x, y = vectors(torch)
        found = F.hessian(cubes, (x, y))
        assert [[tuple(t.shape) for t in row] for row in found] == [[(2, 3, 2, 3), (2, 3, 3)], [(3, 2, 3), (3, 3)]]
        for row, column in ((0, 1),):
            assert torch.allclose(found[row][column].permute(2, 0, 1), found[column][row])

    def test_differentiable(self, torch, F):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        F.hessian(lambda a: (a**4).sum(), x, create_graph=True).sum().backward()
        assert torch.allclose(x.grad, 24 * x.detach())

    def test_an_unknown_strategy(self, torch, F):
        with pytest.raises(AssertionError, match='Expected strategy to be either "forward-mode" or "reverse-mode"'):
            F.hessian(lambda a: a.sum(), torch.ones(2), outer_jacobian_strategy="x")

    def test_of_a_network(self, torch, F):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        x = torch.ones(3)
        slow, fast = F.hessian(model, x), F.hessian(model, x, vectorize=True)
        assert torch.allclose(slow, fast, atol=1e-6) and torch.allclose(slow, slow.T, atol=1e-6)
        assert all(p.grad is None for p in model.parameters())
