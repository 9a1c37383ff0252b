"""Mistakes of those who begin: the type of the exception is torch's, and the text says what to do."""

from __future__ import annotations

import io
import pickle

import pytest

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import nn

X = torch.ones(2, 2)

MISTAKES = [
    (lambda: torch.arange("a"), TypeError, r"arange\(\): argument 'end' must be Number, not str"),
    (lambda: torch.arange(0, 5, [1]), TypeError, r"arange\(\): argument 'step' must be Number, not list"),
    (lambda: X.view("a"), TypeError, r"view\(\): a shape must be a tuple of ints, but found element of type str"),
    (lambda: X.reshape(2, 2.0), TypeError, r"reshape\(\): a shape must be .* found element of type float"),
    (lambda: X.expand(2, None), TypeError, r"expand\(\): a shape must be .* found element of type NoneType"),
    (lambda: X.set_("a"), TypeError, r"set_\(\): argument 'source' must be a Tensor or a storage, not str"),
    (lambda: X.clone().copy_(torch.ones(3)), RuntimeError, r"dimension 1: copy_\(\) got shapes \[2, 2\] and \[3\]"),
    (lambda: X.to("float32"), RuntimeError, r"float32 is a dtype: give torch\.float32, not a string"),
    (lambda: torch.einsum("ij->i"), ValueError, r"einsum\(\): must specify the equation string and at least one"),
    (
        lambda: torch.einsum(X, "ij"),
        TypeError,
        r"einsum\(\): the subscripts of an operand must be a list of ints, not str",
    ),
    (lambda: nn.Sequential(nn.Linear(2, 2), nn.ReLU), TypeError, r"ReLU is not a Module .*: write ReLU\(\.\.\.\)"),
    (lambda: nn.Sequential(torch.relu), TypeError, "relu is not a Module subclass, but a function"),
    (lambda: nn.ModuleList([3]), TypeError, "int is not a Module subclass"),
    (lambda: F.kl_div(X[0], torch.ones(3), reduction="sum"), RuntimeError, r"kl_div\(\) got shapes \[3\] and \[2\]"),
    (lambda: F.poisson_nll_loss(X[0], torch.ones(3)), RuntimeError, r"poisson_nll_loss\(\) got shapes \[3\] and \[2\]"),
    (lambda: F.hinge_embedding_loss(X[0], torch.ones(3)), RuntimeError, r"hinge_embedding_loss\(\) got shapes"),
    (
        lambda: torch.utils.data.TensorDataset([1, 2]),
        AttributeError,
        r"TensorDataset\(\): .* must be Tensors, not list",
    ),
    (lambda: torch.utils.data.TensorDataset(X, X[0, :1]), AssertionError, r"first sizes are \[2, 1\]"),
    (lambda: torch.load(io.BytesIO(b"import os, sys")), pickle.UnpicklingError, "neither a file that save"),
]


@pytest.mark.parametrize(("call", "kind", "text"), MISTAKES)
def test_a_mistake_is_told_and_leaves_everything_as_it_was(call, kind, text):
    before = torch.is_grad_enabled(), torch.get_default_dtype(), X._version
    with pytest.raises(kind, match=text):
        call()
    assert (torch.is_grad_enabled(), torch.get_default_dtype(), X._version) == before
    assert X.tolist() == [[1, 1], [1, 1]] and X.grad_fn is None
