"""Results and gradients of single operators, where only torch's own samples had told."""

from __future__ import annotations

import pytest

NUMBER_OF_ELEMENTS = {
    "linalg.norm": lambda torch, x: torch.linalg.norm(x, 0),
    "linalg.vector_norm": lambda torch, x: torch.linalg.vector_norm(x, 0, 0, True),
    "norm": lambda torch, x: torch.norm(x, 0),
    "norm of a tensor": lambda torch, x: x.norm(0, 0),
}


@pytest.mark.parametrize("name", NUMBER_OF_ELEMENTS)
def test_how_many_are_not_zero_has_no_gradient(torch, name):
    x = torch.tensor([1.0, 0.0, 2.0], requires_grad=True)
    y = NUMBER_OF_ELEMENTS[name](torch, x)
    assert y.requires_grad and y.sum().item() == 2
    assert torch.autograd.grad(y.sum(), x, allow_unused=True, retain_graph=True) == (None,)
    y.sum().backward()
    assert x.grad is None
    (x.sum() + NUMBER_OF_ELEMENTS[name](torch, x).sum()).backward()
    assert x.grad.tolist() == [1, 1, 1]


@pytest.mark.parametrize(("shape", "scales"), [((0, 0), 0), ((3, 0), 0), ((3, 2), 0)])
def test_no_reflections_have_no_gradient(torch, shape, scales):
    a, tau = torch.ones(shape, requires_grad=True), torch.ones(scales, requires_grad=True)
    y = torch.linalg.householder_product(a, tau)
    assert y.requires_grad and y.shape == shape
    assert torch.autograd.grad(y.sum(), (a, tau), allow_unused=True) == (None, None)


def test_lu_of_a_tensor_is_a_plain_tuple(torch):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert type(torch.eye(2).lu(get_infos=True)) is tuple and len(torch.eye(2).lu(get_infos=True)) == 3
