"""Functions below the layers, with numbers and sizes instead of names."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("dim", "expected"), [(0, [[5], [10]]), (-2, [[5], [10]]), (1, [[45**0.5, 80**0.5]])])
def test_the_norm_except_a_dimension(torch, dim, expected):
    v = torch.tensor([[3.0, 4.0], [6.0, 8.0]])
    assert torch.allclose(torch.norm_except_dim(v, 2, dim), torch.tensor(expected, dtype=torch.float32))


def test_the_norm_except_a_dimension_that_is_not_there(torch):
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.norm_except_dim(torch.ones(2, 2), 2, 2)
    assert torch.norm_except_dim(torch.tensor([3.0, 4.0]), 2, -1).item() == 5  # all of them


def test_sizes_of_group_norm_are_those_of_the_input(torch):
    x = torch.tensor([[[1.0, 3.0], [2.0, 6.0]]])
    out, mean, rstd = torch.native_group_norm(x, None, None, 1, 2, 2, 2, 0.0)
    assert out.tolist() == [[[-1, 1], [-1, 1]]] and mean.tolist() == [[2, 4]] and rstd.tolist() == [[1, 0.5]]
    with pytest.raises(RuntimeError, match=r"N \* C \* HxW"):
        torch.native_group_norm(x, None, None, 1, 2, 3, 2, 0.0)


def test_modes_of_grid_sampler_are_numbers(torch, real):
    x = torch.tensor([[[[1.0, 2.0], [3.0, 5.0]]]])
    grid = torch.tensor([[[[0.0, -1.0], [2.0, 1.0]]]])
    found = torch.grid_sampler(x, grid, 0, 0, True), torch.grid_sampler(x, grid, 0, 1, True)
    assert [f.flatten().tolist() for f in found] == [[1.5, 2.5], [1.5, 5]]  # of zeros beyond the edge, and of the edge
    assert torch.grid_sampler(x, grid, 1, 1, True).flatten().tolist()[1] == 5
    if not real:  # which reads beyond its tables
        for modes in ((3, 0), (0, 3), (-1, 0)):
            with pytest.raises(RuntimeError, match="is 0, 1 or 2"):
                torch.grid_sampler(x, grid, *modes, True)


def test_a_start_of_lobpcg_says_how_many_there_are_at_most(torch):
    a = torch.diag(torch.tensor([1.0, 2.0, 3.0]))
    assert torch.lobpcg(a, X=torch.ones(3, 1))[0].tolist() == pytest.approx([3])
    with pytest.raises(ValueError, match="LOBPCG algorithm is not applicable"):
        torch.lobpcg(a, k=1, X=torch.ones(3, 2))
    with pytest.raises(AssertionError, match="A must be square"):
        torch.lobpcg(torch.ones(3, 4), k=1)


def test_probabilities_of_bernoulli_broadcast(torch):
    x = torch.empty(2, 3)
    assert x.bernoulli_(torch.tensor([[0.0], [1.0]])).tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="must match the existing size"):
        x.bernoulli_(torch.ones(3, 2))
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        x.bernoulli_(torch.ones(2, 3, dtype=torch.int64))


def test_a_loss_of_zero_has_no_sign(torch):
    scores, F = torch.tensor([[200.0, 0.0]]), torch.nn.functional
    for weight in (None, torch.ones(2)):
        assert repr(F.cross_entropy(scores, torch.tensor([0]), weight)) == "tensor(0.)"
        assert repr(F.nll_loss(torch.zeros(3, 2), torch.tensor([0, 1, 1]), weight)) == "tensor(0.)"
        assert repr(F.nll_loss(torch.zeros(3, 2), torch.tensor([0, 1, 1]), weight, reduction="sum")) == "tensor(0.)"


def test_the_size_of_repeated_elements_is_checked(torch):
    x = torch.tensor([1, 2])
    assert torch.repeat_interleave(x, x, output_size=3).tolist() == [1, 2, 2]
    for repeats in (2, x):
        with pytest.raises(RuntimeError, match="size"):
            torch.repeat_interleave(x, repeats, output_size=5)
