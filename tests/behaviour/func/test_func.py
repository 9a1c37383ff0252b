"""`torch.func`: transforms, what they return and refuse, and their composition."""

from __future__ import annotations

import itertools
import threading

import pytest

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*torch.jit.*:DeprecationWarning",
    "ignore:There is a performance drop:UserWarning",  # torch's attention has no rule
    "ignore:Attempted to insert a get_attr Node:UserWarning",
)


@pytest.fixture
def x(torch):
    return torch.tensor([0.3, -1.2, 2.0])


@pytest.fixture
def y(torch):
    return torch.tensor([1.5, 0.5, -0.7])


@pytest.fixture(name="X")
def examples(torch):
    return torch.arange(1.0, 13.0).reshape(4, 3) / 5


def f(x):
    return x.sin() * x


def s(x):
    return (x.sin() * x).sum()


def slope(x):
    return x.cos() * x + x.sin()


def bend(x):
    return 2 * x.cos() - x * x.sin()


def third(x):
    return -3 * x.sin() - x * x.cos()


class TestGrad:
    def test_values(self, torch, func, x):
        found = func.grad(s)(x)
        assert torch.allclose(found, slope(x)) and not found.requires_grad
        assert torch.allclose(func.grad(func.grad(torch.sin))(torch.tensor(1.0)), -torch.tensor(1.0).sin())

    def test_argnums(self, torch, func, x, y):
        def g(a, b):
            return (a * a * b).sum()

        assert torch.allclose(func.grad(g)(x, y), 2 * x * y)
        assert torch.allclose(func.grad(g, argnums=1)(x, y), x * x)
        assert torch.allclose(func.grad(g, argnums=-1)(x, y), x * x)
        pair = func.grad(g, argnums=(1, 0))(x, y)
        assert type(pair) is tuple and torch.allclose(pair[1], 2 * x * y)
        for argnums, text in (
            (5, "Got argnum=5, but only 2 positional inputs"),
            ((0, 0), "argnums elements must be unique"),
            ((), "argnums must be non-empty"),
            ("x", "argnums must be int or Tuple"),
            ((0, "y"), "argnum must be int"),
        ):
            with pytest.raises(RuntimeError, match=text):
                func.grad(g, argnums=argnums)(x, y)

    def test_nested_arguments_and_keywords(self, torch, func, x, y):
        found = func.grad(lambda d, k: (d["a"] * d["b"][0] * k).sum())({"a": x, "b": [y]}, k=2)
        assert torch.allclose(found["a"], 2 * y) and torch.allclose(found["b"][0], 2 * x)

    def test_aux(self, torch, func, x):
        found, aux = func.grad(lambda x: (s(x), x * 2), has_aux=True)(x)
        assert torch.allclose(found, slope(x)) and torch.equal(aux, 2 * x) and not aux.requires_grad
        found, (value, aux) = func.grad_and_value(lambda x: (s(x), {"k": x}), has_aux=True)(x)
        assert torch.allclose(value, s(x)) and torch.equal(aux["k"], x)
        with pytest.raises(RuntimeError, match=r"output of function f should be a tuple: \(output, aux\)"):
            func.grad(s, has_aux=True)(x)

    def test_refused(self, torch, func, x):
        with pytest.raises(RuntimeError, match="to return a scalar Tensor, got tensor with 1 dims"):
            func.grad(f)(x)
        with pytest.raises(RuntimeError, match=r"Expected f\(\*args\) to return a Tensor, got <class 'int'>"):
            func.grad(lambda x: 3)(x)
        with pytest.raises(ValueError, match="Thing passed to transform API must be Tensor, got <class 'float'>"):
            func.grad(s)(3.0)
        with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
            func.grad(lambda x: x.sum())(torch.ones(2, dtype=torch.int64))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            func.grad(lambda x: x.mul_(2).sum())(x)

    def test_zeros_where_nothing_depends(self, torch, func, x):
        assert not func.grad(lambda x: torch.ones(()))(x).any()
        assert not func.vjp(lambda x: torch.ones(2), x)[1](torch.ones(2))[0].any()

    def test_inside(self, torch, func, x):
        seen = []
        func.grad(lambda x: (seen.append((x.requires_grad, x.is_leaf, x.grad_fn)), s(x))[1])(x)
        assert seen == [(True, True, None)] and not x.requires_grad
        for call in (lambda x: x.requires_grad_(), lambda x: x.retain_grad(), lambda x: x.sum().backward()):
            with pytest.raises(RuntimeError, match="functorch transform"):
                func.grad(lambda x, call=call: (call(x), s(x))[1])(x)
        s(x.requires_grad_()).backward()

    def test_grad_modes(self, torch, func, x):
        with torch.no_grad():
            assert torch.allclose(func.grad(s)(x), slope(x))
            assert torch.allclose(func.jacrev(f)(x), torch.diag(slope(x)))

        def partly(x):
            with torch.no_grad():
                c = x**2
            return (x - c).sum()

        assert torch.equal(func.grad(partly)(x), torch.ones(3))

        def constant(x):
            with torch.no_grad():
                c = func.grad(s)(x)
            return (x * c).sum()

        assert torch.allclose(func.grad(constant)(x), slope(x))

    def test_no_confusion_of_levels(self, torch, func):
        one = torch.tensor(1.0)
        assert func.grad(lambda x: x * func.grad(lambda y: x + y)(one))(one) == 1
        assert func.grad(lambda x: x * func.grad(lambda y: x * y)(one))(torch.tensor(3.0)) == 6

    def test_a_graph_of_the_outside(self, torch, func, x):
        w = torch.ones(3, requires_grad=True)
        found = func.grad(lambda x: (x * x * w).sum())(x)
        found.sum().backward()
        assert torch.allclose(w.grad, 2 * x)
        z = x.clone().requires_grad_()
        func.grad(s)(z).sum().backward()
        assert torch.allclose(z.grad, bend(x))
        assert not func.grad(lambda v: (v * w.detach()).sum())(x).requires_grad

    def test_writes_inside(self, torch, func, x):
        def g(x):
            z = torch.zeros(3)
            z.copy_(x * x)
            z[0] = z[1] * 2
            return z.sum()

        assert torch.allclose(func.grad(g)(x), torch.tensor([0.0, 6.0, 2.0]) * x)

    def test_autograd_grad_inside(self, torch, func, x):
        found = func.grad(lambda x: torch.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum())(x)
        assert torch.allclose(found, 6 * x)


class TestProducts:
    def test_vjp(self, torch, func, x, y):
        out, pull = func.vjp(f, x)
        assert torch.allclose(out, f(x)) and not out.requires_grad
        for _ in range(2):
            (found,) = pull(y)
            assert torch.allclose(found, slope(x) * y)
        out, pull = func.vjp(lambda a, b: {"k": [a * b, a.sum()]}, x, y)
        first, second = pull({"k": [x, torch.tensor(2.0)]})
        assert torch.allclose(first, x * y + 2) and torch.allclose(second, x * x)
        assert torch.equal(func.vjp(lambda a: (a * 2, a), x, has_aux=True)[2], x)

    def test_vjp_refuses(self, torch, func, x, y):
        with pytest.raises(RuntimeError, match=r"primal output: \(\*, \*\)"):
            func.vjp(lambda a: (a, a), x)[1](y)
        for g in (lambda a: 3, lambda a: None, lambda a: (), lambda a: a.long()):
            with pytest.raises(RuntimeError, match="vjp"):
                func.vjp(g, x)
        with pytest.raises(RuntimeError, match="Mismatch in shape"):
            func.vjp(f, x)[1](torch.ones(2))

    def test_jvp(self, torch, func, x, y):
        out, found = func.jvp(f, (x,), (y,))
        assert torch.allclose(out, f(x)) and torch.allclose(found, slope(x) * y)
        out, found = func.jvp(lambda a: (a, [a * a]), (x,), (y,))
        assert torch.equal(found[0], y) and torch.allclose(found[1][0], 2 * x * y)
        assert torch.equal(func.jvp(lambda a: (a * 2, a), (x,), (y,), has_aux=True)[2], x)
        assert not func.jvp(lambda a: torch.ones(2), (x,), (y,))[1].any()
        assert torch.allclose(func.jvp(lambda d: d["a"] ** 2, ({"a": x},), ({"a": y},))[1], 2 * x * y)

    def test_jvp_refuses(self, torch, func, x, y):
        for args, text in (
            ((x, y), "Expected primals to be a tuple"),
            (((x,), (y, y)), "Expected primals and tangents to have the same python structure"),
            (((), ()), "Expected primals to contain at least one Tensor"),
            (((3,), (3,)), "Expected primals to only contain Tensors"),
            (((x,), (torch.ones(2),)), "has a different size than that of the original Tensor"),
        ):
            with pytest.raises(RuntimeError, match=text):
                func.jvp(f, *args)
        with pytest.raises(RuntimeError, match="This is not allowed with strict=True"):
            func.jvp(lambda a: torch.ones(2), (x,), (y,), strict=True)

    def test_linearize(self, torch, func, x, y):
        count = []
        out, push = func.linearize(lambda a: (count.append(1), f(a))[1], x)
        calls = len(count)
        assert torch.allclose(out, f(x)) and torch.allclose(push(y), slope(x) * y)
        assert torch.allclose(push(x), slope(x) * x) and len(count) == calls
        with pytest.raises(RuntimeError, match="to have the same argspec as the primals"):
            push(y, y)
        with pytest.raises(RuntimeError, match="tangent:0 with shape"):
            push(torch.ones(2))
        with pytest.raises(RuntimeError, match="tangent:0 with dtype"):
            push(y.double())


class TestJacobians:
    @pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
    def test_values(self, torch, func, x, y, name):
        jac = getattr(func, name)
        assert torch.allclose(jac(f)(x), torch.diag(slope(x)))
        a, b = jac(lambda a, b: a * b, argnums=(0, 1))(x, y)
        assert torch.allclose(a, torch.diag(y)) and torch.allclose(b, torch.diag(x))
        found = jac(lambda d: {"o": (d["i"] ** 2, d["i"].sum())})({"i": x})
        assert torch.allclose(found["o"][0]["i"], torch.diag(2 * x)) and torch.equal(found["o"][1]["i"], torch.ones(3))
        found, aux = jac(lambda a: (a * 2, a), has_aux=True)(x)
        assert torch.equal(found, 2 * torch.eye(3)) and torch.equal(aux, x)
        assert jac(lambda w: w @ x)(torch.ones(2, 3)).shape == (2, 2, 3)
        assert not jac(lambda a: torch.ones(2))(x).any()
        with pytest.raises(RuntimeError, match=f"{name}: Expected all inputs to be real"):
            jac(f)(x.to(torch.complex64))
        assert jac(f)(x.requires_grad_()).requires_grad

    @pytest.mark.parametrize("size", [1, 2, 5])
    def test_chunks(self, torch, func, x, size):
        assert torch.allclose(func.jacrev(f, chunk_size=size)(x), torch.diag(slope(x)))
        with pytest.raises(ValueError, match="`chunk_size` should be greater than 0"):
            func.jacrev(f, chunk_size=0)

    def test_hessian(self, torch, func, x, y):
        found = func.hessian(s)(x)
        assert torch.allclose(found, torch.diag(bend(x)), atol=1e-6) and not found.requires_grad
        found = func.hessian(lambda a, b: (a * a * b).sum(), argnums=(0, 1))(x, y)
        assert torch.allclose(found[0][1], torch.diag(2 * x)) and not found[1][1].any()


TRANSFORMS = ("jacrev", "jacfwd")


class TestComposition:
    @pytest.mark.parametrize("names", list(itertools.product(TRANSFORMS, repeat=2)))
    def test_second(self, torch, func, x, names):
        outer, inner = (getattr(func, n) for n in names)
        assert torch.allclose(outer(inner(s))(x), torch.diag(bend(x)), atol=1e-5)

    @pytest.mark.parametrize("names", list(itertools.product(TRANSFORMS, repeat=3)))
    def test_third(self, torch, func, x, names):
        a, b, c = (getattr(func, n) for n in names)
        found = a(b(c(s)))(x)
        assert found.shape == (3, 3, 3)
        assert torch.allclose(torch.stack([found[i, i, i] for i in range(3)]), third(x), atol=1e-4)
        assert abs(found.sum() - third(x).sum()) < 1e-3

    def test_products_of_products(self, torch, func, x, y):
        expected = bend(x) * y
        assert torch.allclose(func.jvp(func.grad(s), (x,), (y,))[1], expected, atol=1e-5)
        assert torch.allclose(func.grad(lambda x: func.jvp(s, (x,), (y,))[1])(x), expected, atol=1e-5)
        assert torch.allclose(func.vjp(func.grad(s), x)[1](y)[0], expected, atol=1e-5)
        assert torch.allclose(func.jvp(lambda x: func.jvp(f, (x,), (y,))[1], (x,), (y,))[1], bend(x) * y * y, atol=1e-5)
        found = func.vjp(lambda v: func.vjp(f, x)[1](v)[0], y)[1](x)[0]
        assert torch.allclose(found, slope(x) * x, atol=1e-5) and not found.requires_grad
        third_push = func.jvp(lambda x: func.jvp(lambda x: func.jvp(f, (x,), (y,))[1], (x,), (y,))[1], (x,), (y,))[1]
        assert torch.allclose(third_push, third(x) * y**3, atol=1e-4)

    def test_of_examples(self, torch, func, X):
        assert torch.allclose(func.vmap(func.grad(s))(X), slope(X), atol=1e-5)
        assert torch.allclose(func.grad(lambda X: func.vmap(s)(X).sum())(X), slope(X), atol=1e-5)
        for jac in (func.jacrev, func.jacfwd):
            assert torch.allclose(func.vmap(jac(f))(X), torch.diag_embed(slope(X)), atol=1e-5)
            whole = jac(func.vmap(f))(X)
            assert torch.allclose(whole.reshape(12, 12), torch.diag(slope(X).reshape(-1)), atol=1e-5)
        assert torch.allclose(func.vmap(func.hessian(s))(X), torch.diag_embed(bend(X)), atol=1e-5)
        assert torch.allclose(func.vmap(func.vmap(func.grad(func.grad(f))))(X), bend(X), atol=1e-5)

    def test_of_directions(self, torch, func, x, X):
        (found,) = func.vmap(func.vjp(f, x)[1])(X)
        assert torch.allclose(found, slope(x) * X, atol=1e-5) and not found.requires_grad
        assert torch.allclose(func.vmap(lambda v: func.jvp(f, (x,), (v,))[1])(X), slope(x) * X, atol=1e-5)
        assert torch.allclose(func.vmap(func.linearize(f, x)[1])(X), slope(x) * X, atol=1e-5)
        found = func.vmap(lambda x, v: func.jvp(func.grad(s), (x,), (v,))[1])(X, X)
        assert torch.allclose(found, bend(X) * X, atol=1e-5)

    def test_what_is_the_same_for_all_examples(self, torch, func, x, X):
        def g(w, x):
            return (w * x).sin().sum() + (w**2).sum()

        found = func.vmap(func.grad(g), in_dims=(None, 0))(x, X)
        assert torch.allclose(found, X * (x * X).cos() + 2 * x, atol=1e-5)
        assert torch.equal(
            func.vmap(func.grad(lambda w, x: (w * 2).sum()), in_dims=(None, 0))(x, X), torch.full((4, 3), 2.0)
        )

    def test_mapping_inside_of_a_gradient_inside_of_mapping(self, torch, func, X):
        def g(x):
            return (func.vmap(lambda t: (t * x).sum())(X) ** 2).sum()

        expected = torch.stack([func.grad(g)(row) for row in X])
        assert torch.allclose(func.vmap(func.grad(g))(X), expected, atol=1e-4)

    def test_with_forward_mode_around(self, torch, func, x, y):
        fwd = torch.autograd.forward_ad
        with fwd.dual_level():
            dual = fwd.make_dual(x, y)
            found = func.vmap(lambda s: s.sin())(dual)
            assert torch.allclose(fwd.unpack_dual(found).tangent, x.cos() * y)

    def test_hooks_of_saved_tensors(self, torch, func, x, real):
        if real:
            pytest.skip("torch refuses them")
        packed = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(1), t)[1], lambda t: t):
            assert torch.allclose(func.grad(s)(x), slope(x))
        assert packed
        checkpoint = torch.utils.checkpoint.checkpoint
        assert torch.allclose(func.grad(lambda x: checkpoint(f, x, use_reentrant=False).sum())(x), slope(x))

    def test_levels_end_after_exceptions(self, torch, func, x):
        def fail(x):
            raise KeyError("stop")

        for name in ("grad", "jacrev", "jacfwd", "hessian"):
            with pytest.raises(KeyError):
                getattr(func, name)(fail)(x)
        x.requires_grad_()
        s(x).backward()

    def test_threads(self, torch, func, x):
        found = []
        threads = [threading.Thread(target=lambda: found.append(func.grad(s)(x))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(found) == 4 and all(torch.allclose(g, slope(x)) for g in found)


class TestFunctions:
    @pytest.fixture(name="Generated")
    def function(self, torch):
        class Generated(torch.autograd.Function):
            generate_vmap_rule = True

            @staticmethod
            def forward(x, y):
                return x.sin() * y

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)
                ctx.save_for_forward(*inputs)

            @staticmethod
            def backward(ctx, g):
                x, y = ctx.saved_tensors
                return g * x.cos() * y * 2, g * x.sin()

            @staticmethod
            def jvp(ctx, a, b):
                x, y = ctx.saved_tensors
                return a * x.cos() * y * 2 + b * x.sin()

        return Generated

    def test_generated_rules(self, torch, func, x, X, Generated):
        call = Generated.apply
        assert torch.allclose(func.vmap(call, in_dims=(0, None))(X, x), X.sin() * x)
        a, b = func.vmap(func.grad(lambda x, y: call(x, y).sum(), argnums=(0, 1)), in_dims=(0, None))(X, x)
        assert torch.allclose(a, 2 * X.cos() * x) and torch.allclose(b, X.sin())
        a, b = func.grad(lambda X, y: func.vmap(call, in_dims=(0, None))(X, y).sum(), argnums=(0, 1))(X, x)
        assert torch.allclose(a, 2 * X.cos() * x) and torch.allclose(b, X.sin().sum(0))
        found = func.vmap(lambda v: func.jvp(lambda x: call(x, x.detach()), (x,), (v,))[1])(X)
        assert torch.allclose(found, 2 * X * x.cos() * x, atol=1e-5)
        assert func.vmap(func.vmap(call, in_dims=(0, None)), in_dims=(None, 0))(X, X).shape == (4, 4, 3)
        assert torch.allclose(func.jacrev(lambda x: call(x, x.detach()))(x), torch.diag(2 * x.cos() * x))

    def test_a_rule_of_ones_own(self, torch, func, X):
        told = []

        class Own(torch.autograd.Function):
            @staticmethod
            def forward(x, k):
                return x * k

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.k = inputs[1]

            @staticmethod
            def backward(ctx, g):
                return g * ctx.k, None

            @staticmethod
            def vmap(info, in_dims, x, k):
                told.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
                return Own.apply(x, k), in_dims[0]

        assert torch.equal(func.vmap(lambda x: Own.apply(x, 3))(X), 3 * X)
        assert told == [(4, "error", (0, None), (4, 3))]
        assert torch.equal(func.vmap(func.grad(lambda x: Own.apply(x, 3).sum()))(X), torch.full((4, 3), 3.0))

        class Wrong(Own):
            @staticmethod
            def vmap(info, in_dims, x, k):
                return x

        with pytest.raises(RuntimeError, match="Expected the vmap staticmethod to have two returns"):
            func.vmap(lambda x: Wrong.apply(x, 3))(X)

        class Both(Own):
            generate_vmap_rule = True

        with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and an overridden vmap"):
            func.vmap(lambda x: Both.apply(x, 3))(X)

    def test_without_a_rule(self, torch, func, x, X, make_function):
        class Plain(torch.autograd.Function):
            @staticmethod
            def forward(x):
                return x * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

            @staticmethod
            def backward(ctx, g):
                return g * 2

        assert torch.equal(func.grad(lambda x: Plain.apply(x).sum())(x), torch.full((3,), 2.0))
        with pytest.raises(RuntimeError, match="it does not have vmap support"):
            func.vmap(Plain.apply)(X)
        old = make_function()
        for call in (func.vmap(old.apply), func.grad(lambda x: old.apply(x).sum())):
            with pytest.raises(RuntimeError, match="it must override the setup_context staticmethod"):
                call(X)
