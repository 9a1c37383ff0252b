"""Which results are the tensor itself, which have memory of their own, and how they lie in it."""

from __future__ import annotations

import pytest


def test_the_conjugate_of_real_numbers_is_the_tensor_itself(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert x.conj_physical() is x
    assert torch.conj_physical(x) is x
    z = torch.tensor([1 + 2j])
    assert torch.conj_physical(z).tolist() == [1 - 2j]
    assert z.tolist() == [1 + 2j]


def test_broadcasting_leaves_a_tensor_of_that_shape_alone(torch):
    x, y = torch.ones(2, 3, requires_grad=True), torch.ones(3)
    a, b = torch.broadcast_tensors(x, y)
    assert a is x
    assert tuple(b.shape) == (2, 3)
    assert b.stride() == (0, 1)
    a, b = torch.broadcast_tensors(x, x)
    assert a is x
    assert b is x
    assert y.broadcast_to(2, 3).stride() == (0, 1)


@pytest.mark.parametrize("shape", [(2, 3, 4, 4), (3, 4, 4)])
def test_columns_of_single_elements_have_memory_of_their_own(torch, shape):
    x = torch.ones(shape)
    torch.nn.functional.unfold(x, 1).zero_()
    assert x.all()


@pytest.mark.parametrize("name", ["nonzero", "argwhere"])
def test_indices_of_each_dimension_lie_together(torch, name):
    x = torch.tensor([[0.5, 0.0], [1.0, 2.0]])
    found = getattr(torch, name)(x)
    assert found.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert found.stride() == (1, 3)
    assert [i.stride() for i in torch.where(x)] == [(1,), (1,)]
