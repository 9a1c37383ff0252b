"""Arguments by NumPy's names: `x`, `a` and `x1` for `input`, `x2` for `other`, as torch takes them."""

from __future__ import annotations

import pytest


def test_operands_have_numpys_names_too(torch):
    one, two = torch.ones(2), torch.full((2,), 2.0)
    assert torch.add(x1=one, x2=two).tolist() == [3, 3]
    assert torch.mul(two, x2=two).tolist() == [4, 4]
    assert torch.sum(x=two).item() == 4
    assert torch.sum(a=torch.ones(2, 3), axis=1, keepdims=True).tolist() == [[3], [3]]
    assert torch.sub(x1=two, x2=one, alpha=2).tolist() == [0, 0]


@pytest.mark.parametrize("named", [{"x1": 1, "input": 1}, {"x3": 1}, {"x1": 1, "other": 1, "x2": 1}])
def test_others_are_no_names(torch, named):
    with pytest.raises(TypeError):
        torch.add(**{k: torch.ones(2) for k in named})
