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


NEW = {
    "unfold": lambda torch, x: torch.nn.functional.unfold(x.view(1, 1, 2, 2), 1),
    "unfold, one window": lambda torch, x: torch.nn.functional.unfold(x.view(1, 1, 2, 2), 2),
    "masked.prod": lambda torch, x: torch.masked.prod(x[0, 0], 0),
    "chain_matmul": lambda torch, x: torch.chain_matmul(x),
    "rot90": lambda torch, x: torch.rot90(x, 0),
    "rot90, four times": lambda torch, x: torch.rot90(x, 4),
    "bin edges": lambda torch, x: torch.histogram(torch.ones(3), x[0]).bin_edges,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NEW)
def test_results_have_memory_of_their_own(torch, name):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = NEW[name](torch, x)
    assert not y._is_view()
    y.fill_(7)
    assert x.tolist() == [[1, 2], [3, 4]] and x._version == 0


def test_bins_that_were_given_come_back(torch):
    bins = torch.tensor([0.0, 1.0, 2.0])
    found = torch.histogramdd(torch.ones(3, 2), [bins, bins]).bin_edges
    assert found[0] is bins and found[1] is bins


def test_places_of_what_is_not_zero_lie_dimension_by_dimension(torch):
    x = torch.tensor([[0, 1, 2], [3, 0, 4]])
    for found in (x.nonzero(), x.argwhere()):
        assert found.tolist() == [[0, 1], [0, 2], [1, 0], [1, 2]] and found.stride() == (1, 4)
    assert [part.stride() for part in x.nonzero(as_tuple=True)] == [(1,), (1,)]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gradients_of_running_sums_have_no_negative_strides(torch, dim):
    x = torch.ones(3, 4, 5, requires_grad=True)
    (g,) = torch.autograd.grad(x.cumsum(dim).sum(), x)
    assert g.is_contiguous() and g.select(dim, 0).unique().tolist() == [x.shape[dim]]
