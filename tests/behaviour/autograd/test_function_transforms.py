"""A user's `Function` under functional transforms: its `vmap`, rules that are generated, what it saves."""

from __future__ import annotations

import importlib

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")


@pytest.fixture(name="X")
def examples(torch):
    return (torch.arange(6.0) + 1).reshape(2, 3) / 7


@pytest.fixture
def double(torch):
    """Makes a `Function` that doubles, with whatever is given instead."""

    def build(**body):
        methods = {
            "forward": lambda x: x * 2,
            "setup_context": lambda ctx, inputs, output: None,
            "backward": lambda ctx, g: g * 2,
        }
        methods.update(body)
        base = torch.autograd.Function
        made = {k: staticmethod(v) if callable(v) else v for k, v in methods.items()}
        return type(base)("Double", (base,), made).apply

    return build


@pytest.fixture(params=["generated", "own"])
def cube(torch, request):
    """The cube, which saves its derivative as a second result."""

    class Cube(torch.autograd.Function):
        generate_vmap_rule = request.param == "generated"

        @staticmethod
        def forward(x):
            return x**3, 3 * x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0], output[1])
            ctx.save_for_forward(inputs[0], output[1])

        @staticmethod
        def backward(ctx, g, g_slope):
            x, slope = ctx.saved_tensors
            return g * slope + g_slope * 6 * x

        @staticmethod
        def jvp(ctx, t):
            x, slope = ctx.saved_tensors
            return t * slope, 6 * x * t

    if request.param == "own":

        class Mapped(Cube):
            @staticmethod
            def vmap(info, in_dims, x):
                return Mapped.apply(x.movedim(in_dims[0], 0)), (0, 0)

        return lambda x: Mapped.apply(x)[0]
    return lambda x: Cube.apply(x)[0]


COMPOSED = {
    "vmap": lambda func, f, X: func.vmap(f)(X),
    "vmap of columns": lambda func, f, X: func.vmap(f, in_dims=1, out_dims=1)(X),
    "grad": lambda func, f, X: func.grad(lambda x: f(x).sum())(X),
    "vmap of grad": lambda func, f, X: func.vmap(func.grad(lambda x: f(x).sum()))(X),
    "grad of vmap": lambda func, f, X: func.grad(lambda x: func.vmap(f)(x).sum())(X),
    "grad of grad": lambda func, f, X: func.grad(func.grad(f))(X[0, 1]),
    "vmaps of grad": lambda func, f, X: func.vmap(func.vmap(func.grad(f)))(X),
    "jacrev": lambda func, f, X: func.jacrev(f)(X[0]),
    "jacfwd": lambda func, f, X: func.jacfwd(f)(X[0]),
    "jacrev of jacrev": lambda func, f, X: func.jacrev(func.jacrev(f))(X[0]),
    "jacfwd of jacrev": lambda func, f, X: func.jacfwd(func.jacrev(f))(X[0]),
    "hessian": lambda func, f, X: func.hessian(lambda x: f(x).sum())(X[0]),
    "jvp": lambda func, f, X: func.jvp(f, (X,), (X,))[1],
    "vmap of jvp": lambda func, f, X: func.vmap(lambda x: func.jvp(f, (x,), (x,))[1])(X),
}


class TestRules:
    @pytest.mark.parametrize("name", COMPOSED)
    def test_like_the_operation(self, torch, func, cube, X, name):
        expected = COMPOSED[name](func, lambda x: x**3, X)
        assert torch.allclose(COMPOSED[name](func, cube, X), expected)

    def test_what_a_rule_is_told(self, torch, double, X):
        seen = []

        def rule(info, in_dims, x, number):
            seen.append((info.batch_size, info.randomness, in_dims))
            return x * number, in_dims[0]

        f = double(forward=lambda x, n: x * n, vmap=rule)
        assert torch.equal(torch.vmap(f, in_dims=(0, None), randomness="same")(X, 3), 3 * X)
        assert seen == [(2, "same", (0, None))]

    def test_a_rule_is_asked_only_for_examples(self, torch, double, X):
        f = double(vmap=lambda info, in_dims, x: pytest.fail("nothing is mapped"))
        assert torch.equal(torch.vmap(lambda x: f(torch.ones(3)) + x)(X), X + 2)

    def test_where_results_have_the_dimension(self, torch, double, X):
        f = double(vmap=lambda info, in_dims, x: (x.movedim(in_dims[0], 1) * 2, 1))
        assert torch.equal(torch.vmap(f)(X), 2 * X)
        f = double(vmap=lambda info, in_dims, x: (torch.ones(3), None))
        assert torch.equal(torch.vmap(f)(X), torch.ones(2, 3))

    def test_several_results(self, torch, double, X):
        f = double(forward=lambda x: (x, x), vmap=lambda info, in_dims, x: ((x * 2, x * 3), (0, 0)))
        a, b = torch.vmap(f)(X)
        assert torch.equal(a, 2 * X) and torch.equal(b, 3 * X)

    @pytest.mark.parametrize("result", ["nothing", "one", "three"])
    def test_refused_results(self, torch, double, X, result):
        made = {"nothing": lambda x: None, "one": lambda x: x, "three": lambda x: (x, x, 0)}[result]
        f = double(vmap=lambda info, in_dims, x: made(x))
        with pytest.raises(RuntimeError, match="Expected the vmap staticmethod to have two returns"):
            torch.vmap(f)(X)


class TestRefused:
    @pytest.mark.parametrize("name", ["vmap", "grad", "jacrev", "jacfwd", "hessian", "grad_and_value", "jvp", "vjp"])
    def test_without_setup_context(self, torch, func, make_function, name):
        f, x = make_function().apply, torch.ones(2)
        call = {"jvp": lambda: func.jvp(f, (x,), (x,)), "vjp": lambda: func.vjp(f, x)}.get(
            name, lambda: getattr(func, name)(lambda x: f(x).sum())(x)
        )
        with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
            call()

    def test_without_a_rule(self, torch, double, X):
        with pytest.raises(RuntimeError, match="does not have vmap support"):
            torch.vmap(double())(X)

    def test_with_two_rules(self, torch, double, X):
        f = double(generate_vmap_rule=True, vmap=lambda info, in_dims, x: (x, 0))
        with pytest.raises(RuntimeError, match="has both generate_vmap_rule=True and an overridden vmap"):
            torch.vmap(f)(X)

    def test_no_jvp(self, torch, func, double):
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            func.jvp(double(), (torch.ones(2),), (torch.ones(2),))


class TestContext:
    def test_no_gradient(self, torch, func, double, X):
        f = double(generate_vmap_rule=True, backward=lambda ctx, g: None)
        assert torch.equal(torch.vmap(func.grad(lambda x: f(x).sum()))(X), torch.zeros(2, 3))

    def test_which_inputs_need_a_gradient(self, torch, func, double):
        seen = []

        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            x, y = ctx.saved_tensors
            return g * y, g * x

        f = double(forward=lambda x, y: x * y, setup_context=setup_context, backward=backward)
        assert func.grad(f)(torch.tensor(2.0), torch.tensor(3.0)) == 3
        assert func.grad(f, argnums=(0, 1))(torch.tensor(2.0), torch.tensor(3.0)) == (3, 2)
        assert seen == [(True, False), (True, True)]

    def test_saved_tensors_have_tangents(self, torch, cube):
        forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
        with forward_ad.dual_level():
            x = forward_ad.make_dual(torch.tensor([1.0, 2.0]).requires_grad_(), torch.ones(2))
            (g,) = torch.autograd.grad(cube(x).sum(), x)
            assert torch.allclose(forward_ad.unpack_dual(g).tangent, torch.tensor([6.0, 12.0]))


class TestNamedArguments:
    @pytest.fixture
    def scale(self, make_function):
        """A number that goes by name only, and rules for it."""

        def setup_context(ctx, inputs, output):
            pass

        return make_function(
            lambda x, *, by: x * by,
            setup_context=staticmethod(setup_context),
            vmap=staticmethod(lambda info, in_dims, x, *, by: (x * by, in_dims[0])),
        ).apply

    def test_numbers(self, torch, scale, X):
        assert torch.equal(torch.vmap(lambda x: scale(x, by=3))(X), X * 3)
        assert torch.equal(torch.vmap(scale)(X, by=3), X * 3)

    @pytest.mark.parametrize("batched", [True, False])
    def test_tensors_are_refused(self, torch, scale, X, batched):
        with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
            torch.vmap(lambda x: scale(x, by=x if batched else torch.ones(3)))(X)

    def test_not_without_vmap(self, torch, func, scale):
        for call in (
            lambda: scale(torch.ones(2), by=3),
            lambda: func.grad(lambda x: scale(x, by=3).sum())(torch.ones(2)),
        ):
            with pytest.raises(TypeError, match="unexpected keyword argument 'by'"):
                call()


class TestNames:
    def test_of_nodes(self, torch, func, make_function):
        seen = []
        cls = make_function(
            lambda x: x * 2,
            name="Twice",
            setup_context=staticmethod(lambda ctx, inputs, output: None),
            generate_vmap_rule=True,
        )

        def f(x):
            y = cls.apply(x)
            seen.append(y.grad_fn.name())
            assert isinstance(y.grad_fn, torch.autograd.function.BackwardCFunction)
            return y.sum()

        f(torch.ones(2, requires_grad=True))
        func.grad(f)(torch.ones(2))
        torch.vmap(func.grad(f))(torch.ones(2, 2))
        assert seen == ["TwiceBackward", "TwiceGeneratedBackward", "TwiceGeneratedBackward"]
