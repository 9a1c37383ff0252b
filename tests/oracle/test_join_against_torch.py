"""cat, stack, split, diagonals and their kin against torch's: values, dtypes, errors, gradients."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tests.oracle.test_index_against_torch import assert_same, listed  # noqa: E402 - needs torch

# `x` and `z` (2, 3), `y` (2, 1), `s0` 0-dim, all with gradients; `i` two indices.
CALLS = """
torch.cat([x, x]) | torch.cat([x, x], 1) | torch.cat([x, x], dim=-1) | torch.cat((x,), 0) | torch.cat([])
torch.cat([x, s0]) | torch.cat([s0]) | torch.cat([x, torch.zeros(0)]) | torch.cat([torch.zeros(0), torch.zeros(0)])
torch.cat([x, torch.zeros(0)], 1) | torch.cat([x, torch.zeros(0)], 5) | torch.cat([x, torch.zeros(2, 2)])
torch.cat([x, torch.zeros(3)]) | torch.cat([x, torch.zeros(2, 3, dtype=torch.float64)])
torch.cat([x.detach().long(), x]) | torch.cat([x.half(), x.bfloat16()])
torch.cat([torch.zeros(1, dtype=torch.bool), torch.ones(1, dtype=torch.int8)]) | torch.cat([x], 2) | torch.cat(x)
torch.cat([x, 1.0]) | torch.cat([x, np.zeros((2, 3))]) | torch.cat(tensors=[x, x]) | torch.cat([x, x], axis=1)
torch.concat([x, x], axis=1) | torch.concatenate([x, x], 1) | torch.cat(5) | torch.stack([x, x])
torch.stack([x, x], -1) | torch.stack([x, x], 2) | torch.stack([x, x], 3) | torch.stack([]) | torch.stack([x, s0])
torch.stack([s0, s0]) | torch.stack([x, x.double()]) | torch.hstack([x, x]) | torch.hstack([s0, s0])
torch.hstack([]) | torch.vstack([x, x]) | torch.vstack([s0, s0]) | torch.vstack([T([1.0, 2]), T([3.0, 4])])
torch.row_stack([x, x]) | torch.dstack([x, x]) | torch.dstack([s0, s0]) | torch.dstack([T([1.0, 2]), T([3.0, 4])])
torch.column_stack([T([1.0, 2]), T([3.0, 4])]) | torch.column_stack([x, T([3.0, 4])]) | torch.column_stack([s0, s0])
torch.split(x, 1) | torch.split(x, 2, 1) | torch.split(x, [1, 2], 1) | torch.split(x, [1, 1], 1)
torch.split(x, [1, -1, 3], 1) | torch.split(x, 0) | torch.split(x, -1) | torch.split(torch.zeros(0, 3), 0)
torch.split(torch.zeros(0, 3), 2) | torch.split(s0, 1) | torch.split(x, split_size_or_sections=1)
torch.split(x, 1, dim=5) | torch.split(x, 1.5) | torch.split(x, 5) | x.split(split_size=1) | x.split([1, 1])
x.split_with_sizes([1, 1]) | torch.split_with_sizes(x, [1, 1]) | torch.chunk(x, 2) | torch.chunk(x, 2, 1)
torch.chunk(x, 5, 1) | torch.chunk(x, 0) | torch.chunk(s0, 2) | torch.chunk(torch.zeros(0, 2), 3)
torch.chunk(torch.zeros(5), 4) | torch.tensor_split(x, 2, 1) | torch.tensor_split(x, (1,), 1)
torch.tensor_split(x, (1, 5, 2), 1) | torch.tensor_split(x, T([1, 2]), 1) | torch.tensor_split(x, T(2), 1)
torch.tensor_split(x, 5, 1) | torch.tensor_split(x, 0) | torch.tensor_split(s0, 2)
torch.tensor_split(x, indices=(1,), dim=1) | torch.tensor_split(x, sections=2) | torch.tensor_split(x, (-1,), 1)
torch.hsplit(x, 3) | torch.hsplit(x, 2) | torch.hsplit(s0, 1) | torch.hsplit(T([1.0, 2]), 2) | torch.hsplit(x, (1,))
torch.hsplit(x, [1]) | torch.vsplit(x, 2) | torch.vsplit(T([1.0, 2]), 2) | torch.dsplit(x, 2)
torch.dsplit(torch.zeros(1, 1, 2), 2) | torch.tril(x) | torch.tril(x, 1) | torch.tril(x, diagonal=-1)
torch.tril(T([1.0, 2])) | torch.tril(s0) | torch.triu(x) | torch.triu(torch.ones(2, 2, 3) > 0, 1)
torch.triu(x, 1.5) | torch.triu(x, 100) | torch.tril(torch.zeros(0, 3)) | torch.tril_indices(3, 2)
torch.tril_indices(3, 2, 1) | torch.tril_indices(3, 2, -1, dtype=torch.int32)
torch.tril_indices(3, 2, -1, dtype=torch.float32) | torch.tril_indices(-3, 2) | torch.tril_indices(0, 0)
torch.triu_indices(2, 3, offset=1) | torch.triu_indices(2, 3, offset=5) | torch.diag(x) | torch.diag(x, 1)
torch.diag(x, -5) | torch.diag(T([1.0, 2]), 1) | torch.diag(T([1.0, 2], requires_grad=True), -1) | torch.diag(s0)
torch.diag(torch.zeros(1, 1, 1)) | torch.diagonal(x) | torch.diagonal(x, 1) | torch.diagonal(x, -5)
torch.diagonal(torch.arange(8.0).reshape(2, 2, 2), 0, 1, 2)
torch.diagonal(torch.arange(8.0).reshape(2, 2, 2), 0, -1, 0) | torch.diagonal(x, 0, 0, 0)
torch.diagonal(x, 0, 0, 2) | torch.diagonal(T([1.0, 2])) | torch.diagonal(s0)
torch.diagonal(x, offset=1, dim1=1, dim2=0) | torch.diag_embed(x) | torch.diag_embed(x, 1)
torch.diag_embed(x, -1, 0, 2) | torch.diag_embed(x, 0, 0, 0) | torch.diag_embed(s0) | torch.diag_embed(x, 0, 0, 5)
torch.diag_embed(T([1.0, 2], requires_grad=True), 1, 1, 0) | torch.block_diag(x, s0)
torch.block_diag(T([1.0, 2]), x) | torch.block_diag() | torch.block_diag(torch.zeros(1, 1, 1))
torch.block_diag(x, T([[1]])) | torch.block_diag([x, x]) | torch.meshgrid(T([1.0, 2]), T([1.0, 2, 3]))
torch.meshgrid(T([1.0, 2]), T([1.0, 2, 3]), indexing='ij')
torch.meshgrid([T([1.0, 2]), T([1.0, 2, 3])], indexing='xy') | torch.meshgrid(s0, T([1.0, 2, 3]), indexing='xy')
torch.meshgrid(s0, indexing='xy') | torch.meshgrid(T([1.0, 2]), T([1, 2]), indexing='ij')
torch.meshgrid(x, indexing='ij') | torch.meshgrid(T([1.0, 2]), indexing='aa') | torch.meshgrid(indexing='ij')
torch.meshgrid([], indexing='ij') | torch.diagflat(x) | x.diagonal_scatter(torch.ones(2))
torch.Tensor.tril_(x.detach().clone())
"""


@pytest.mark.parametrize("text", listed(CALLS))
def test_call(text):
    assert_same("calls", text)
