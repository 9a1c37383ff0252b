"""`vmap`: dimensions, nesting, randomness, writes, what is refused, operations of all kinds."""

from __future__ import annotations

import asyncio
import threading

import pytest

REFUSED = "Dimension|in_dim|out_dims"


@pytest.fixture(name="X")
def examples(torch):
    return torch.arange(1.0, 13.0).reshape(4, 3) / 5


def loop(torch, f, *args):
    return torch.stack([f(*row) for row in zip(*args, strict=True)])


class TestDimensions:
    def test_shapes_inside(self, torch, X):
        seen = []
        torch.vmap(lambda x: (seen.append((tuple(x.shape), x.dim(), x.numel(), len(x))), x)[1])(X)
        assert seen == [((3,), 1, 3, 3)]

    def test_in_dims(self, torch, X):
        f = torch.dot
        assert torch.allclose(torch.vmap(f)(X, X), (X * X).sum(1))
        assert torch.allclose(torch.vmap(f, in_dims=1)(X, X), (X * X).sum(0))
        assert torch.allclose(torch.vmap(f, in_dims=(0, None))(X, X[0]), X @ X[0])
        assert torch.allclose(torch.vmap(f, in_dims=(0, -1))(X, X.T), (X * X).sum(1))

    def test_nested_in_dims(self, torch, X):
        def f(d, pair):
            return d["a"] + d["b"] + pair[0]

        found = torch.vmap(f, in_dims=({"a": 0, "b": None}, (1, None)))({"a": X, "b": X[0]}, (X.T, 3))
        assert torch.allclose(found, X + X[0] + X)
        assert torch.allclose(torch.vmap(f, in_dims=(0, 0))({"a": X, "b": X}, (X,)), 3 * X)

    def test_out_dims(self, torch, X):
        f = torch.vmap(lambda x: (x, x * 2), out_dims=(0, 1))
        a, b = f(X)
        assert torch.equal(a, X) and torch.equal(b, 2 * X.T)
        assert torch.equal(torch.vmap(lambda x: x, out_dims=-1)(X), X.T)
        assert torch.equal(torch.vmap(lambda x: x, out_dims=(1,))(X), X.T)
        assert torch.vmap(lambda x: (x, 3), out_dims=(0, None))(X)[1] == 3

    def test_forms_of_outputs(self, torch, X):
        found = torch.vmap(lambda x: {"p": x, "q": (x, [x])})(X)
        assert torch.equal(found["q"][1][0], X) and type(found["q"]) is tuple
        assert torch.equal(torch.vmap(lambda x: torch.ones(2))(X), torch.ones(4, 2))

    def test_keywords_are_the_same_for_all(self, torch, X):
        assert torch.vmap(lambda x, k: x + k)(X, k=X).shape == (4, 4, 3)

    @pytest.mark.parametrize("size", [1, 3, 4, 9])
    def test_chunks(self, torch, X, size):
        assert torch.equal(torch.vmap(lambda x: x * 2, chunk_size=size)(X), 2 * X)
        a, b = torch.vmap(lambda x, y: (x * y, y), in_dims=(0, None), out_dims=(1, 0), chunk_size=size)(X, X[0])
        assert torch.allclose(a, (X * X[0]).T) and torch.equal(b, X[0].expand(4, 3))

    def test_refused(self, torch, X):
        def f(x):
            return x

        for kwargs, args, text in (
            ({"in_dims": "x"}, (X,), "expected `in_dims` to be int or a"),
            ({"in_dims": [0]}, (X,), "expected `in_dims` to be int or a"),
            ({"in_dims": (0, 0)}, (X,), "in_dims is not compatible with the structure of `inputs`"),
            ({"in_dims": 5}, (X,), "Got in_dim=5 for some input, but that input is a Tensor of dimensionality 2"),
            ({"in_dims": (0.5,)}, (X,), "Got in_dim=0.5 for an input but in_dim must be either an integer"),
            ({"in_dims": (None,)}, (X,), "Expected at least one Tensor to vmap over"),
            ({}, (3,), "We cannot vmap over non-Tensor arguments"),
            ({}, (torch.tensor(1.0),), "expected in_dim to satisfy -0 <= in_dim < 0"),
            ({}, (), "got no inputs"),
            ({"out_dims": "x"}, (X,), "`out_dims` must be an int, None or a python collection"),
            ({"out_dims": (0, 0)}, (X,), "out_dims is not compatible with the structure of `outputs`"),
            ({"out_dims": None}, (X,), "can not return a BatchedTensor when out_dim is None"),
        ):
            with pytest.raises(ValueError, match=text):
                torch.vmap(f, **kwargs)(*args)
        with pytest.raises(ValueError, match=r"same size in the mapped dimension, got sizes \[4, 3\]"):
            torch.vmap(lambda x, y: x)(X, X[0])
        with pytest.raises(ValueError, match="must only return Tensors, got type <class 'int'>"):
            torch.vmap(lambda x: 3)(X)
        with pytest.raises(ValueError, match="chunk_size should be None or greater than 0"):
            torch.vmap(f, chunk_size=0)
        with pytest.raises(IndexError, match="Dimension out of range"):
            torch.vmap(f, out_dims=5)(X)

    def test_no_examples(self, torch):
        assert torch.vmap(lambda x: x * 2)(torch.ones(0, 3)).shape == (0, 3)

    def test_name_and_doc(self, torch):
        def double(x):
            """Twice."""
            return 2 * x

        assert torch.vmap(double).__name__ == "double" and torch.vmap(double).__doc__ == "Twice."


class TestNesting:
    def test_two_levels(self, torch, X):
        outer = torch.vmap(torch.vmap(torch.mul, in_dims=(None, 0)), in_dims=(0, None))
        assert torch.allclose(outer(X[:, 0], X[:, 1]), torch.outer(X[:, 0], X[:, 1]))
        assert torch.allclose(torch.vmap(torch.vmap(torch.sin))(X), X.sin())

    def test_inner_uses_the_outer(self, torch, X):
        found = torch.vmap(lambda x: torch.vmap(lambda s: s * x)(x))(X)
        assert torch.allclose(found, X[:, :, None] * X[:, None, :])

    def test_three_levels(self, torch):
        x = torch.arange(24.0).reshape(2, 3, 4)
        found = torch.vmap(torch.vmap(torch.vmap(lambda s: s * 2 + 1), in_dims=1), in_dims=2)(x)
        assert found.shape == (4, 3, 2)
        assert torch.equal(found, 2 * x.permute(2, 1, 0) + 1)


class TestWhatIsRefused:
    @pytest.mark.parametrize("name", ["item", "float", "int"])
    def test_numbers(self, torch, X, name):
        call = {"item": lambda t: t.item(), "float": float, "int": int}[name]
        with pytest.raises(RuntimeError, match=r"vmap: It looks like you're calling .item\(\) on a Tensor"):
            torch.vmap(lambda x: x * call(x.sum()))(X)

    def test_branches(self, torch, X):
        with pytest.raises(RuntimeError, match="data-dependent control flow"):
            torch.vmap(lambda x: x if x.sum() > 0 else -x)(X)

    def test_shapes_that_depend_on_values(self, torch, X):
        for f in (lambda x: torch.nonzero(x), lambda x: x[x > 0], lambda x: torch.masked_select(x, x > 0)):
            with pytest.raises(RuntimeError, match="vmap"):
                torch.vmap(f)(X)

    def test_arrays(self, torch, X):
        with pytest.raises(RuntimeError, match="Cannot access data pointer"):
            torch.vmap(lambda x: x.numpy())(X)

    def test_requires_grad_(self, torch, X):
        with pytest.raises(RuntimeError, match=r"You are attempting to call Tensor.requires_grad_\(\)"):
            torch.vmap(lambda x: x.requires_grad_())(X)

    def test_backward(self, torch, X):
        with pytest.raises(RuntimeError, match=r"backward\(\) called inside a functorch transform"):
            torch.vmap(lambda x: x.sum().backward())(X.requires_grad_())

    def test_escaped_tensors(self, torch, X):
        kept = []
        torch.vmap(lambda x: (kept.append(x), x)[1])(X)
        with pytest.raises(RuntimeError, match="may have escaped from inside a function being vmapped"):
            kept[0] + 1
        assert repr(kept[0]).startswith("BatchedTensor(lvl=1, bdim=0, value=")


class TestState:
    def test_levels_end_after_exceptions(self, torch, X):
        def fail(x):
            raise KeyError("stop")

        with pytest.raises(KeyError):
            torch.vmap(torch.vmap(fail))(X)
        assert torch.equal(torch.vmap(lambda x: x)(X), X)
        torch.ones(1, requires_grad=True).sum().backward()

    def test_threads_do_not_share_levels(self, torch, X, real):
        if real:
            pytest.skip("levels are those of the process in torch")
        inside, done = threading.Event(), threading.Event()
        seen = []

        def f(x):
            inside.set()
            done.wait(5)
            return x * 2

        other = threading.Thread(target=lambda: seen.append(torch.vmap(f)(X)))
        other.start()
        inside.wait(5)
        assert bool(torch.ones(1) > 0) and torch.randn(2).shape == (2,)
        done.set()
        other.join()
        assert torch.equal(seen[0], 2 * X)

    def test_tasks_do_not_share_levels(self, torch, X, real):
        if real:
            pytest.skip("levels are those of the thread in torch")

        async def one(delay):
            await asyncio.sleep(delay)
            return torch.vmap(lambda x: x.sum())(X)

        async def both():
            return await asyncio.gather(one(0.01), one(0.0))

        a, b = asyncio.run(both())
        assert torch.equal(a, b)


class TestWrites:
    def test_in_place_on_examples(self, torch, X):
        before = X.clone()
        torch.vmap(lambda x: x.add_(1))(X)
        assert torch.equal(X, before + 1)

    def test_parts_and_views(self, torch, X):
        def f(x):
            y = x.clone()
            y[0] = x[1]
            y += 1
            y[1:].mul_(2)
            return y

        assert torch.allclose(torch.vmap(f)(X), loop(torch, f, X))

    def test_tensors_made_like_examples(self, torch, X):
        def f(x):
            a, b = torch.zeros_like(x), x.new_ones(2, 3)
            a[1] = x[0]
            b[0] = x
            return a + b.sum(0)

        assert torch.allclose(torch.vmap(f)(X), loop(torch, f, X))

    def test_what_is_the_same_for_all(self, torch, X):
        for f in (
            lambda x: torch.zeros(3).copy_(x),
            lambda x: torch.zeros(3).add_(x),
            lambda x: torch.zeros(3).__setitem__(0, x[0]),
        ):
            with pytest.raises(RuntimeError):
                torch.vmap(f)(X)
        assert torch.equal(torch.vmap(lambda x: x + torch.zeros(3).add_(1))(X), X + 1)

    def test_gradients_through_writes(self, torch, X):
        def f(x):
            y = x * 2
            y[0] = x[1] * x[2]
            return y.sum()

        X.requires_grad_()
        (a,) = torch.autograd.grad(torch.vmap(f)(X).sum(), X)
        (b,) = torch.autograd.grad(loop(torch, f, X).sum(), X)
        assert torch.allclose(a, b)


class TestRandomness:
    def test_refused_by_default(self, torch, X):
        drop = torch.nn.functional.dropout
        for f in (lambda x: x + torch.randn(3), lambda x: drop(x), lambda x: torch.rand_like(x), lambda x: x.normal_()):
            with pytest.raises(RuntimeError, match="vmap: called random operation while in randomness error mode"):
                torch.vmap(f)(X.clone())
        with pytest.raises(RuntimeError, match="Only allowed values for randomness are"):
            torch.vmap(lambda x: x, randomness="some")(X)

    def test_same(self, torch):
        x = torch.ones(4, 100)
        for f in (lambda x: x * 0 + torch.randn(100), lambda x: torch.nn.functional.dropout(x)):
            found = torch.vmap(f, randomness="same")(x)
            assert all(torch.equal(row, found[0]) for row in found) and not torch.equal(found[0, :50], found[0, 50:])

    def test_different(self, torch):
        x = torch.ones(4, 100)
        for f in (
            lambda x: x * 0 + torch.randn(100),
            lambda x: torch.nn.functional.dropout(x),
            lambda x: torch.rand_like(x),
            lambda x: torch.bernoulli(x / 2),
            lambda x: x.clone().uniform_(),
            lambda x: torch.randperm(100).float(),
        ):
            found = torch.vmap(f, randomness="different")(x)
            assert found.shape == (4, 100) and not torch.equal(found[0], found[1])


OPERATIONS = {
    "mean": lambda x: x.mean(),
    "var": lambda x: x.var(-1),
    "softmax": lambda x: x.softmax(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "max": lambda x: x.max(0).values,
    "argmax": lambda x: x.argmax(),
    "sort": lambda x: x.sort(descending=True).values,
    "cumsum": lambda x: x.cumsum(0),
    "flip": lambda x: x.flip(0),
    "cat": lambda x: torch_of(x).cat([x, x * 2]),
    "stack": lambda x: torch_of(x).stack([x, torch_of(x).ones(3)], 1),
    "reshape": lambda x: x.reshape(3, 1).view(-1),
    "expand": lambda x: x.expand(2, 3).sum(0),
    "where": lambda x: torch_of(x).where(x > 1, x, 0.0),
    "outer": lambda x: torch_of(x).outer(x, x),
    "matmul": lambda x: x @ torch_of(x).ones(3, 2),
    "vector by matrix": lambda x: torch_of(x).ones(2, 3) @ x,
    "einsum": lambda x: torch_of(x).einsum("i,j->ij", x, x),
    "norm": lambda x: x.norm(),
    "pow": lambda x: x**2 + 2**x,
    "clamp": lambda x: x.clamp(0.5, 1.0),
    "take": lambda x: x[torch_of(x).tensor([2, 0])],
    "gather": lambda x: x.gather(0, x.argsort(0)),
    "index by example": lambda x: torch_of(x).arange(3.0)[x.argsort(0)],
    "slices": lambda x: x[None, ::2],
    "unbind": lambda x: x.unbind()[1],
    "diag": lambda x: torch_of(x).diag(x),
    "layer norm": lambda x: torch_of(x).nn.functional.layer_norm(x, (3,)),
    "cross entropy": lambda x: torch_of(x).nn.functional.cross_entropy(x, torch_of(x).tensor(1)),
    "inverse": lambda x: torch_of(x).linalg.inv(torch_of(x).diag(x)),
    "det": lambda x: torch_of(x).linalg.det(torch_of(x).outer(x, x) + torch_of(x).eye(3)),
    "fft": lambda x: torch_of(x).fft.rfft(x).abs(),
    "integers": lambda x: x.long() + 1,
    "promotion": lambda x: x.sum().double() * x,
    "all": lambda x: (x > 0).all(),
}


def test_an_index_for_each_example(torch, X):
    i = torch.tensor([0, 2, 1, 0])

    def write(x, i):
        y = x.clone()
        y[i] = 0.0
        return y

    rows = torch.arange(4)
    assert torch.equal(torch.vmap(lambda x, i: x[i])(X, i), X[rows, i])
    assert torch.equal(torch.vmap(lambda i: X[i])(i), X[i])
    found = torch.vmap(write)(X, i)
    assert not found[rows, i].any() and found.count_nonzero() == 8
    one_hot = torch.nn.functional.one_hot
    assert torch.equal(torch.vmap(lambda i: one_hot(i, 3))(i), one_hot(i, 3))
    with pytest.raises(RuntimeError, match="please provide an explicit positive num_classes argument"):
        torch.vmap(one_hot)(i)


def test_grids(torch):
    x, grid = torch.arange(18.0).reshape(2, 1, 1, 3, 3), torch.linspace(-1, 1, 16).reshape(2, 1, 2, 2, 2)

    def f(x, grid):
        return torch.nn.functional.grid_sample(x, grid, align_corners=False)

    assert torch.allclose(torch.vmap(f)(x, grid), loop(torch, f, x, grid))
    assert torch.allclose(torch.vmap(f, in_dims=(None, 0))(x[0], grid), loop(torch, lambda g: f(x[0], g), grid))


def torch_of(x):
    import sys

    return sys.modules[type(x).__module__.partition(".")[0]]


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(torch, X, name):
    f = OPERATIONS[name]
    found, expected = torch.vmap(f)(X), loop(torch, f, X)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert torch.allclose(found, expected, atol=1e-5) if found.is_floating_point() else torch.equal(found, expected)


LAYERS = {
    "linear": (lambda nn: nn.Linear(4, 2), (3, 4)),
    "conv2d": (lambda nn: nn.Conv2d(2, 4, 3, padding=1, groups=2), (1, 2, 5, 5)),
    "conv1d": (lambda nn: nn.Conv1d(2, 3, 2), (2, 2, 5)),
    "conv transpose": (lambda nn: nn.ConvTranspose2d(2, 3, 2, stride=2), (1, 2, 3, 3)),
    "pool": (lambda nn: nn.Sequential(nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1)), (1, 2, 4, 4)),
    "average": (lambda nn: nn.AvgPool2d(2), (1, 2, 4, 4)),
    "layer norm": (lambda nn: nn.LayerNorm(4), (3, 4)),
    "group norm": (lambda nn: nn.GroupNorm(2, 4), (2, 4, 3)),
    "batch norm": (lambda nn: nn.BatchNorm1d(4).eval(), (3, 4)),
    "mlp": (lambda nn: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)), (4,)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(torch, name):
    torch.manual_seed(0)
    make, shape = LAYERS[name]
    model, x = make(torch.nn), torch.randn(3, *shape)
    assert torch.allclose(torch.vmap(model)(x), loop(torch, model, x), atol=1e-5)
    params = {k: v.detach() for k, v in model.named_parameters()}
    if not params:
        return

    def loss(params, x):
        return torch.func.functional_call(model, params, (x,)).pow(2).sum()

    found = torch.vmap(torch.func.grad(loss), in_dims=(None, 0))(params, x)
    for i in range(3):
        model.zero_grad()
        loss(dict(model.named_parameters()), x[i]).backward()
        for key, p in model.named_parameters():
            assert torch.allclose(found[key][i], p.grad, atol=1e-4), key


def test_embeddings(torch):
    torch.manual_seed(0)
    model, tokens = torch.nn.Embedding(5, 3, padding_idx=0), torch.tensor([[0, 1, 1], [4, 2, 0]])
    assert torch.equal(torch.vmap(model)(tokens), model(tokens))

    def loss(weight, row):
        return torch.nn.functional.embedding(row, weight, padding_idx=0).pow(2).sum()

    found = torch.vmap(torch.func.grad(loss), in_dims=(None, 0))(model.weight.detach(), tokens)
    assert not found[:, 0].any()
    assert torch.allclose(found[0, 1], 4 * model.weight[1]) and torch.allclose(found[1, 4], 2 * model.weight[4])


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
class TestGradientsOutside:
    def test_of_examples_and_captured(self, torch, X):
        w = torch.ones(3, requires_grad=True)
        X.requires_grad_()
        torch.vmap(lambda x: (x * w).sin().sum())(X).sum().backward()
        assert torch.allclose(X.grad, X.cos()) and torch.allclose(w.grad, (X.cos() * X).sum(0))

    def test_batched_gradients(self, torch):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x**3
        (rows,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True, create_graph=True)
        assert torch.allclose(rows, torch.diag(3 * x.detach() ** 2)) and rows.requires_grad
        found = torch.vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(torch.eye(2))
        assert torch.allclose(found, rows)

    def test_gradcheck_of_batches(self, torch):
        x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
        check = torch.autograd.gradcheck
        assert check(lambda x: x.sin() @ x, x, check_batched_grad=True)
        assert check(lambda x: x.sin() @ x, x, check_forward_ad=True, check_batched_forward_grad=True)
        assert torch.autograd.gradgradcheck(lambda x: x.sin() @ x, x, check_batched_grad=True)
        y = torch.ones(2, dtype=torch.float64, requires_grad=True)
        assert check(lambda x, y: (x @ y).exp(), (x, y), check_forward_ad=True, check_batched_forward_grad=True)

    def test_gradcheck_of_what_cannot_be_batched(self, torch):
        class Branches(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * (g * 0 + 2).max().item()

        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(Branches.apply, x)
        with pytest.raises(RuntimeError, match="While computing batched gradients, got: "):
            torch.autograd.gradcheck(Branches.apply, x, check_batched_grad=True)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
class TestClassWeights:
    """The loss is one of weights and elements, and weights have gradients, where `vmap` is inside."""

    @pytest.fixture(name="loss")
    def of(self, torch, name, reduction):
        return lambda x, i, w: getattr(torch.nn.functional, name)(x, i, w, reduction=reduction)

    @pytest.fixture
    def written_out(self, torch, name, reduction):
        def call(x, i, w):
            log_p = torch.log_softmax(x, 1) if name == "cross_entropy" else x
            losses = -log_p.gather(1, i[:, None])[:, 0] * w[i]
            return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / w[i].sum()}[reduction]

        return call

    @pytest.fixture
    def given(self, torch):
        x = torch.arange(18, dtype=torch.float64).reshape(3, 2, 3).sin()
        return x, torch.tensor([[0, 1], [2, 1], [2, 0]]), torch.arange(1, 10, dtype=torch.float64).reshape(3, 3)

    def test_of_each_example(self, torch, loss, written_out, given):
        x, i, w = given
        found = torch.func.jacrev(lambda w: torch.vmap(loss)(x, i, w))(w)
        expected = torch.func.jacrev(lambda w: torch.stack([written_out(x[k], i[k], w[k]) for k in range(3)]))(w)
        assert torch.allclose(found, expected)

    @pytest.mark.parametrize("alike", [True, False])
    def test_of_all(self, torch, loss, written_out, given, alike):
        x, i, w = given
        i, w = (i[:1].expand(3, 2) if alike else i), w[0]
        mapped = torch.vmap(loss, in_dims=(0, None, None) if alike else (0, 0, None))
        found = torch.func.jacrev(lambda w: mapped(x, i[0] if alike else i, w))(w)
        expected = torch.func.jacrev(lambda w: torch.stack([written_out(x[k], i[k], w) for k in range(3)]))(w)
        assert torch.allclose(found, expected)

    def test_wrong_weights(self, torch, loss, given):
        x, i, w = given
        with pytest.raises((RuntimeError, AssertionError), match="weight tensor should be defined either for all"):
            torch.vmap(loss)(x, i, w[:, :2])
