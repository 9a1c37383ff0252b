"""Names of parameters for `functional_call`, `rearrange`, batch normalisation in transforms, and how batches print."""

from __future__ import annotations

import pytest


@pytest.fixture
def layer(torch):
    made = torch.nn.Linear(1, 1)
    with torch.no_grad():
        made.weight.fill_(0.5)
        made.bias.fill_(0.5)
    return made


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        ("", KeyError, "be empty string"),
        (".", KeyError, "be empty string"),
        ("weight.", TypeError, "submodule `weight`: Parameter containing"),
        ("weight.x", TypeError, "submodule `weight`"),
        ("weight.x.y", TypeError, "submodule `weight`"),
        ("a.b.c", AttributeError, "Linear has no attribute `a`"),
        ("in_features", TypeError, "attribute `in_features`: 1 is not an instance of torch.Tensor"),
        (1, AttributeError, "'int' object has no attribute 'rpartition'"),
    ],
)
def test_names_that_are_no_tensors(torch, layer, key, error, text):
    before = dict(vars(layer))
    with pytest.raises(error, match=text):
        torch.func.functional_call(layer, {"bias": torch.zeros(1), key: torch.ones(1, 1)}, torch.ones(1, 1))
    assert dict(vars(layer)) == before and layer.bias.item() == 0.5


def test_names_below_a_child(torch, layer):
    model = torch.nn.Sequential(layer, torch.nn.ReLU())
    one = torch.ones(1, 1)
    assert torch.func.functional_call(model, {"0.weight": one}, one).item() == 1.5
    with pytest.raises(KeyError, match="empty"):
        torch.func.functional_call(model, {"0.": one}, one)
    with pytest.raises(TypeError, match="attribute `0`: Linear"):
        torch.func.functional_call(model, {"0": one}, one)
    with pytest.raises(TypeError, match=r"submodule `0\.weight`"):
        torch.func.functional_call(model, {"0.weight.x": one}, one)
    with pytest.raises(AttributeError, match="Sequential has no attribute `2`"):
        torch.func.functional_call(model, {"2.weight": one}, one)


def test_names_that_are_new_are_gone_afterwards(torch, layer):
    one = torch.ones(1, 1)
    for value in (one, torch.nn.Parameter(one), None):
        assert torch.func.functional_call(layer, {"new": value, ".weight": one}, one).item() == 1.5
        assert not hasattr(layer, "new") and sorted(layer.state_dict()) == ["bias", "weight"]


@pytest.mark.parametrize(
    ("pattern", "lengths", "shape"),
    [
        ("a b c -> c b a", {}, (4, 3, 2)),
        ("a b c -> (a b) c", {}, (6, 4)),
        ("a b c->a 1 b c ()", {}, (2, 1, 3, 4, 1)),
        ("a ... -> ... a", {}, (3, 4, 2)),
        ("a ... c -> (a ...) c", {}, (6, 4)),
        ("... -> (...)", {}, (24,)),
        ("a b (c d) -> d (a b) c", {"d": 2}, (2, 6, 2)),
        ("(x a) b c -> x a b c", {"x": 1, "a": 2}, (1, 2, 3, 4)),
    ],
)
def test_rearrange(torch, pattern, lengths, shape):
    x = torch.arange(24.0).reshape(2, 3, 4)
    made = torch.func.rearrange(x, pattern, **lengths)
    assert tuple(made.shape) == shape and sorted(made.reshape(-1).tolist()) == x.reshape(-1).tolist()


def test_rearrange_orders_elements(torch):
    x = torch.arange(8.0).reshape(4, 2).requires_grad_()
    made = torch.func.rearrange(x, "(a b) c -> b c a", a=2)
    assert made.tolist() == [[[0, 4], [1, 5]], [[2, 6], [3, 7]]]
    (made[0, 0] * torch.tensor([2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [[2, 0], [0, 0], [3, 0], [0, 0]]
    stacked = torch.func.rearrange([x, x + 1], "k a b -> a k b")
    assert tuple(stacked.shape) == (4, 2, 2) and stacked[0].tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a b c", "single '->'"),
        ("a b c -> a b -> c", "single '->'"),
        ("a b c -> a b", r"on one side of rearrange expression \(should be on both\): \{'c'\}"),
        ("a b -> a b", r"in pattern \(2\) must be equal to the number of dimensions in the tensor \(3\)"),
        ("a a c -> a c", "duplicate dimension 'a'"),
        ("a b c -> a (b c", "Imbalanced parentheses"),
        ("a b c -> a b) c", "not balanced"),
        ("a b c -> ((a b) c)", "one-level"),
        ("a 3 c -> a c", "unnamed axes of size 1"),
        ("a_ b c -> a_ b c", "Invalid axis identifier: a_"),
        ("1a b c -> c", "Invalid axis identifier: 1a"),
        ("a b c -> a ... b c", "Ellipsis found in right side"),
        ("a (...) -> ... a", "Ellipsis is parenthesis in the left side"),
        ("a b .c -> a", "only inside ellipsis"),
        ("a b c -> a*b c", r"Unknown character '\*'"),
    ],
)
def test_rearrange_refuses_patterns(torch, pattern, text):
    with pytest.raises(ValueError, match=text):
        torch.func.rearrange(torch.zeros(2, 3, 4), pattern)


def test_rearrange_refuses_lengths(torch):
    with pytest.raises(ValueError, match=r"Identifiers not found in rearrange expression: \{'q'\}"):
        torch.func.rearrange(torch.zeros(2, 3), "a b -> b a", q=2)
    with pytest.raises(TypeError, match="axis lengths must be integers, got: <class 'float'>"):
        torch.func.rearrange(torch.zeros(2, 3), "a (b c) -> a b c", b=1.0)
    for lengths in ({}, {"b": 2}, {"b": 2, "c": 2}):
        with pytest.raises(Exception, match=r"cannot infer|fit|match"):
            torch.func.rearrange(torch.zeros(2, 3), "a (b c) -> a b c", **lengths)


def test_batch_norm_without_running_statistics(torch):
    inner = torch.nn.BatchNorm2d(2)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Sequential(inner))
    assert torch.func.replace_all_batch_norm_modules_(model) is model
    for module in (model[1], inner):
        assert module.running_mean is module.running_var is module.num_batches_tracked is None
        assert not module.track_running_stats
    x = torch.randn(3, 5, 2)
    params = dict(model[1].named_parameters())
    each = torch.vmap(lambda v: torch.func.functional_call(model[1], params, v))(x)
    assert torch.allclose(each[1], model[1](x[1]), atol=1e-6)


def printed(torch, transform, *args):
    texts = []
    transform(lambda t: (texts.append(repr(t).replace("gradpack", "torch")), t.sum())[1])(*args)
    return texts[0]


def test_batches_print_as_they_were_given(torch):
    x = torch.arange(6.0).reshape(2, 3)
    text = "BatchedTensor(lvl=1, bdim=1, value=\n    tensor([[0., 1., 2.],\n            [3., 4., 5.]])\n)"
    assert printed(torch, lambda f: torch.vmap(f, in_dims=1), x) == text
    assert printed(torch, lambda f: torch.vmap(f, in_dims=-1), x) == text
    assert "bdim=0" in printed(torch, lambda f: torch.vmap(lambda t: f(t * 2), in_dims=1), x)
    nested = printed(torch, lambda f: torch.vmap(torch.vmap(f, in_dims=1), in_dims=2), x.reshape(1, 2, 3))
    assert nested.startswith("BatchedTensor(lvl=2, bdim=1, value=\n    BatchedTensor(lvl=1, bdim=2, value=\n")
    both = printed(torch, lambda f: torch.vmap(torch.func.grad(f), in_dims=1), x)
    assert both.startswith("GradTrackingTensor(lvl=2, value=\n    BatchedTensor(lvl=1, bdim=1, value=\n")
    wrapped = printed(torch, lambda f: torch.func.grad(lambda v: torch.vmap(f, in_dims=1)(v).sum()), x)
    assert wrapped.startswith("BatchedTensor(lvl=2, bdim=1, value=\n    GradTrackingTensor(lvl=1, value=\n")


def test_batches_unwrap_as_they_were_given(torch):
    shapes = []
    torch.vmap(lambda t: shapes.append(tuple(torch.func.debug_unwrap(t).shape)) or t, in_dims=1)(torch.zeros(2, 3))
    assert shapes == [(2, 3)]


def test_functions_see_the_dimension_that_was_given(torch):
    seen = []

    class Add(torch.autograd.Function):
        @staticmethod
        def forward(x, y):
            return x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g, g

        @staticmethod
        def vmap(info, in_dims, x, y):
            seen.append((in_dims, tuple(x.shape), tuple(y.shape)))
            x, y = (v if d is None else v.movedim(d, 0) for v, d in zip((x, y), in_dims, strict=True))
            return Add.apply(x, y), 0

    x, y = torch.arange(6.0).reshape(3, 2), torch.ones(2, 3)
    assert torch.equal(torch.vmap(Add.apply, in_dims=(1, 0))(x, y), x.T + y)
    assert torch.equal(torch.vmap(Add.apply, in_dims=(1, None))(x, y[0]), x.T + y[0])
    slope = torch.func.grad(lambda a, b: (Add.apply(a, b) * a).sum())
    assert torch.equal(torch.vmap(slope, in_dims=(1, 0))(x, y), 2 * x.T + y)
    assert seen == [((1, 0), (3, 2), (2, 3)), ((1, None), (3, 2), (3,)), ((1, 0), (3, 2), (2, 3))]
