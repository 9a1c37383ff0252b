"""Products of groups of rows with a matrix each."""

from __future__ import annotations

import pytest

import gradpack as torch
from gradpack.nn.functional import grouped_mm


def matrix(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), requires_grad=True)


def offsets(*ends):
    return torch.tensor(ends, dtype=torch.int32)


def test_rows_of_a_group_are_multiplied_by_its_matrix():
    a, b = matrix(6, 4), matrix(3, 4, 5, seed=1)
    out = grouped_mm(a, b, offs=offsets(2, 2, 6))
    torch.testing.assert_close(out, torch.cat([a[:2] @ b[0], a[2:] @ b[2]]))
    out.pow(2).sum().backward()
    assert a.grad.shape == (6, 4) and not b.grad[1].any() and b.grad[0].any()


def test_columns_and_inner_dimensions_are_divided():
    a, b = matrix(2, 3, 4), matrix(4, 5, seed=1)
    out = grouped_mm(a, b, offs=offsets(1, 5))
    torch.testing.assert_close(out, torch.cat([a[0] @ b[:, :1], a[1] @ b[:, 1:]], 1))
    c, d = matrix(3, 6), matrix(6, 2, seed=1)
    out = grouped_mm(c, d, offs=offsets(4, 6))
    torch.testing.assert_close(out, torch.stack([c[:, :4] @ d[:4], c[:, 4:] @ d[4:]]))
    e = matrix(2, 4, 5)
    torch.testing.assert_close(grouped_mm(a, e), torch.bmm(a, e))


def test_rows_and_columns_after_the_last_group_are_zero():
    a, b = matrix(6, 4), matrix(2, 4, 5, seed=1)
    out = grouped_mm(a, b, offs=offsets(1, 4))
    assert out.shape == (6, 5) and not out[4:].any() and out[:4].all()
    out = grouped_mm(b.transpose(1, 2), a.T, offs=offsets(1, 4))
    assert out.shape == (5, 6) and not out[:, 4:].any() and out[:, :4].all()


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ((6, 4), (3, 4, 5), {}, "Have to provide offsets if there is a 2d matrix"),
        ((3, 6, 4), (3, 4, 5), {"offs": offsets(1, 2, 3)}, "or no offset if both matrices are 3d"),
        ((6, 4), (3, 3, 5), {"offs": offsets(1, 2, 6)}, "contraction dimension of mat_a and mat_b must match"),
        ((6, 4), (3, 4, 5), {"offs": torch.tensor([1, 2, 6])}, "Offsets have to be int32"),
        ((6, 4), (3, 4, 5), {"offs": offsets(1, 6)}, "matrix batch sizes have to match: there are 3 and 2 groups"),
        ((2, 6, 4), (3, 4, 5), {}, "there are 2 and 3 groups"),
        ((6, 4), (3, 4, 5), {"offs": offsets(1, 2, 7)}, r"offs must rise from 0 to at most 6, and are \[1, 2, 7\]"),
        ((6, 4), (3, 4, 5), {"offs": offsets(3, 2, 6)}, "offs must rise"),
        ((6, 4), (3, 4, 5), {"offs": offsets(1, 2, 6), "bias": torch.ones(5)}, "Bias not supported yet"),
        ((6, 4), (3, 4, 5), {"offs": offsets(1, 2, 6), "out_dtype": torch.float16}, "output dtype must match"),
        ((6,), (3, 4, 5), {"offs": offsets(1, 2, 6)}, "mat_a has to be 2 or 3d"),
        ((6, 4), (3, 4, 5), {"offs": offsets(1)[0]}, "offs has to be 1D"),
    ],
)
def test_what_does_not_fit_is_refused(a, b, options, message):
    with pytest.raises(RuntimeError, match=message):
        grouped_mm(torch.ones(a), torch.ones(b), **options)


def test_other_dtypes_are_refused():
    ends = offsets(1, 2, 6)
    with pytest.raises(RuntimeError, match="Expected mat_a to be Float32, BFloat16 or Float16 matrix, got Double"):
        grouped_mm(torch.ones(6, 4).double(), torch.ones(3, 4, 5).double(), offs=ends)
    with pytest.raises(RuntimeError, match="must have one dtype"):
        grouped_mm(torch.ones(6, 4), torch.ones(3, 4, 5).half(), offs=ends)
