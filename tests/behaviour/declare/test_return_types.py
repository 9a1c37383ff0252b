"""Results with names: tuples that say what is in them."""

from __future__ import annotations

import copy
import pickle

import pytest


def test_items_have_names(torch):
    x = torch.tensor([[1.0, 5.0], [7.0, 3.0]])
    found = torch.max(x, 1)
    assert isinstance(found, tuple) and len(found) == 2
    assert found.values is found[0] and found.indices.tolist() == [1, 0]
    values, indices = found
    assert values is found.values and indices is found.indices
    assert type(found).__name__ == "max" and found.n_fields == 2


def test_how_it_prints(torch, real):
    found = torch.sort(torch.tensor([3.0, 1.0]))
    name = "torch" if real else "gradpack"
    assert repr(found) == f"{name}.return_types.sort(\nvalues=tensor([1., 3.]),\nindices=tensor([1, 0]))"


def test_types_are_public(torch):
    found = torch.topk(torch.tensor([3.0, 1.0]), 1)
    assert type(found) is torch.return_types.topk
    made = torch.return_types.topk((torch.ones(1), torch.zeros(1)))
    assert made.values.item() == 1.0
    with pytest.raises(TypeError):
        torch.return_types.topk((1, 2, 3))
    with pytest.raises(AttributeError):
        torch.return_types.no_such_type


def test_pickle_and_copy(torch):
    found = torch.linalg.eigh(torch.eye(2))
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert type(again) is type(found) and torch.equal(again.eigenvalues, found.eigenvalues)


def test_tuples_without_names_stay_so(torch):
    assert type(torch.var_mean(torch.ones(2))) is tuple and type(torch.split(torch.ones(2), 1)) is tuple
