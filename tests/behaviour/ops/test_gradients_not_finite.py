"""What becomes of incoming gradients that are NaN or infinite where the derivative is 0: as in PyTorch, op by op."""

from __future__ import annotations

import math

import pytest

NAN, INF = math.nan, math.inf

# The operation, its input, and the gradients for an incoming one of NaN and of inf.
CASES = {
    "norm": (lambda t, x: t.linalg.vector_norm(x), [0.0, 0.0], [NAN, NAN], [NAN, NAN]),
    "norm 0.5": (lambda t, x: t.linalg.vector_norm(x, 0.5), [0.0, 0.0], [NAN, NAN], [NAN, NAN]),
    "norm 3": (lambda t, x: t.linalg.vector_norm(x, 3), [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
    "norm inf": (lambda t, x: t.linalg.vector_norm(x, INF), [1.0, 2.0], [NAN, NAN], [NAN, INF]),
    "norm of inf": (lambda t, x: t.linalg.vector_norm(x, -1), [INF, 1.0], [NAN, NAN], [NAN, INF]),
    "amax": (lambda t, x: x.amax(), [1.0, 2.0], [NAN, NAN], [NAN, INF]),
    "amin": (lambda t, x: x.amin(), [1.0, 2.0], [NAN, NAN], [INF, NAN]),
    "nansum": (lambda t, x: x.nansum(), [NAN, 2.0], [NAN, NAN], [NAN, INF]),
    "nan_to_num": (lambda t, x: t.nan_to_num(x), [NAN, 2.0], [NAN, NAN], [NAN, INF]),
    "pow 0": (lambda t, x: x**0, [0.0, 2.0], [0.0, 0.0], [0.0, 0.0]),
    "pow of tensors": (lambda t, x: x ** t.tensor([0.0, 1.0]), [2.0, 2.0], [0.0, NAN], [0.0, INF]),
    "sinc": (lambda t, x: t.sinc(x), [0.0, 1.0], [0.0, NAN], [0.0, -INF]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(torch, name):
    operation, given, of_nan, of_inf = CASES[name]
    for number, expected in ((NAN, of_nan), (INF, of_inf)):
        x = torch.tensor(given, requires_grad=True)
        y = operation(torch, x)
        (g,) = torch.autograd.grad(y, x, torch.full_like(y, number))
        torch.testing.assert_close(g, torch.tensor(expected), equal_nan=True)


def test_the_weight_of_prelu_at_zero(torch):
    x, w = torch.zeros(3), torch.tensor([0.5], requires_grad=True)
    y = torch.nn.functional.prelu(x, w)
    assert math.isnan(torch.autograd.grad(y, w, torch.full_like(y, INF))[0].item())


def test_rows_that_renorm_leaves_alone(torch):
    x = torch.tensor([[NAN, 1.0], [3.0, 4.0]], requires_grad=True)
    (g,) = torch.autograd.grad(torch.renorm(x, 2, 0, 1.0).sum(), x)
    assert g[0].tolist() == [1.0, 1.0]


def test_infinite_differences_of_classes_that_are_no_pair(torch):
    x = torch.tensor([[1.0, 2.0, INF]])
    assert torch.nn.functional.multilabel_margin_loss(x, torch.tensor([[2, -1, 0]])).item() == 0.0
