"""Operations of `torch.ops.aten` that other modules of gradpack have, and gradients by their names."""

from __future__ import annotations

import pytest

import gradpack as torch
from gradpack.ops import aten

F = torch.nn.functional
X = torch.randn(2, 4, 6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
Y = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
ROWS = X[0, :, 0]
CLASSES = torch.tensor([0, 5, 2, -100])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: aten.avg_pool2d(X, [3, 2], [2, 2], [1, 1]), lambda: F.avg_pool2d(X, (3, 2), 2, 1)),
        (lambda: aten.max_pool2d_with_indices(X, [2, 2])[1], lambda: F.max_pool2d(X, 2, 2, 0, 1, False, True)[1]),
        (lambda: aten.upsample_nearest1d(Y, [9], 1.4), lambda: Y[..., [0, 0, 1, 2, 2, 3, 4, 5, 5]]),
        (
            lambda: aten.upsample_bilinear2d.vec(X, None, True, [2.0, 1.5]),
            lambda: F.interpolate(X, scale_factor=(2.0, 1.5), mode="bilinear", align_corners=True),
        ),
        (lambda: aten.fill_.Scalar(X.clone(), 2), lambda: torch.full_like(X, 2)),
        (lambda: aten.index.Tensor(X, [None, CLASSES[::2]]), lambda: X[:, [0, 2]]),
        (lambda: aten.hardswish_(X.clone()), lambda: F.hardswish(X)),
        (lambda: aten._softmax.default(X, 1, False), lambda: X.softmax(1)),
        (lambda: aten.embedding(ROWS, CLASSES[::2], -1, False, False), lambda: ROWS[[0, 2]]),
        (lambda: aten.linalg_inv(X[:, 0]), lambda: torch.linalg.inv(X[:, 0])),
        (lambda: aten._foreach_mul.Scalar([X], 2)[0], lambda: X * 2),
        (lambda: aten.arange.start_step(0, 9, 4), lambda: torch.arange(0, 9, 4)),
        (lambda: aten._convolution(X, X[:, :, :3, :3], None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, *[False] * 4),
         lambda: F.conv2d(X, X[:, :, :3, :3])),
        (lambda: aten.nll_loss_forward(ROWS, CLASSES, None, 1, -100)[1], lambda: torch.ones(3).double().sum()),
        (lambda: aten._embedding_bag(ROWS, CLASSES[:3] % 4, torch.tensor([0]), False, 0, False, None, False, 1)[0],
         lambda: ROWS[[0, 2]].sum(0, keepdim=True)),
    ],
)  # fmt: skip
def test_operations_that_have_other_names_or_arguments_here(found, expected):
    torch.testing.assert_close(found(), expected())


@pytest.mark.parametrize("accumulate", [False, True])
def test_indices_to_write_to_may_be_none(accumulate):
    index, values = torch.tensor([1, 3]), torch.ones(2, 2, 6, 6, dtype=torch.float64)
    expected = X.clone()
    expected[:, index] = values + X[:, index] * accumulate
    torch.testing.assert_close(aten.index_put(X, [None, index], values, accumulate), expected)
    torch.testing.assert_close(aten.index_put_(X.clone(), [None, index], values, accumulate), expected)
    torch.testing.assert_close(aten.index_put_(X[0].clone(), [index], values[0], accumulate), expected[0])


def gradient(function, *inputs):
    """Return random numbers in the shape of the result, and the gradients of the inputs for them."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    result = function(*inputs)
    g = torch.randn(result.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    found = torch.autograd.grad(result, inputs, g)
    return g, found if len(found) > 1 else found[0]


WEIGHT = X[:, :, :3, :3]
STATISTICS = X.mean(-1, True), (X.var(-1, correction=0, keepdim=True) + 1e-5).rsqrt()
RESIZED = [9, 13], [2, 4, 6, 6]


@pytest.mark.parametrize(
    ("backward", "forward", "inputs"),
    [
        (lambda g: aten.avg_pool2d_backward(g, X, [2, 2], [2, 2], [0, 0], False, True, None),
         lambda x: F.avg_pool2d(x, 2), [X]),
        (lambda g: aten.upsample_nearest2d_backward(g, *RESIZED), lambda x: F.interpolate(x, RESIZED[0]), [X]),
        (lambda g: aten.reflection_pad2d_backward(g, X, [2, 2, 1, 1]),
         lambda x: F.pad(x, (2, 2, 1, 1), "reflect"), [X]),
        (lambda g: aten.nll_loss_backward(g, ROWS, CLASSES, None, 2, -100, g),
         lambda x: F.nll_loss(x, CLASSES, reduction="sum"), [ROWS]),
        (lambda g: aten.sigmoid_backward(g, X.sigmoid()), torch.sigmoid, [X]),
        (lambda g: aten.tanh_backward(g, X.tanh()), torch.tanh, [X]),
        (lambda g: aten.threshold_backward(g, X, 0), torch.relu, [X]),
        (lambda g: aten.gelu_backward(g, X), F.gelu, [X]),
        (lambda g: aten.silu_backward(g, X), F.silu, [X]),
        (lambda g: aten.mse_loss_backward(g, X, X * 2, 1), lambda x: F.mse_loss(x, X * 2), [X]),
        (lambda g: aten.select_backward(g, X.shape, 1, 2), lambda x: x.select(1, 2), [X]),
        (lambda g: aten.slice_backward(g, X.shape, 1, 0, 3, 2), lambda x: x[:, 0:3:2], [X]),
        (lambda g: aten._adaptive_avg_pool2d_backward(g, X), lambda x: F.adaptive_avg_pool2d(x, 4), [X]),
        (
            lambda g: aten.convolution_backward(
                g, X, WEIGHT, [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False]
            )[:2],
            F.conv2d, [X, WEIGHT],
        ),
        (
            lambda g: aten.native_layer_norm_backward(g, X, [6], *STATISTICS, ROWS[0], ROWS[1], [True] * 3),
            lambda x, w, b: F.layer_norm(x, (6,), w, b), [X, ROWS[0], ROWS[1]],
        ),
        (
            lambda g: aten.grid_sampler_2d_backward(g, X, WEIGHT[:, :3, :3, :2], 0, 0, False, [True, True]),
            lambda x, y: F.grid_sample(x, y, align_corners=False), [X, WEIGHT[:, :3, :3, :2]],
        ),
    ],
)  # fmt: skip
def test_gradients_by_name(backward, forward, inputs):
    g, expected = gradient(forward, *inputs)
    torch.testing.assert_close(backward(g), expected)


def test_overloads_are_those_of_torch():
    assert aten.bernoulli.overloads() == ["default", "p", "Tensor", "out"]
    assert aten.bernoulli_.overloads() == ["float", "Tensor"]
    assert aten.add.overloads() == ["Tensor", "Scalar", "out"]
    with pytest.raises(AttributeError, match="has no overload name 'missing'"):
        aten.add.missing
    with pytest.raises(AttributeError, match="no attribute 'avg_pool9d'"):
        aten.avg_pool9d
