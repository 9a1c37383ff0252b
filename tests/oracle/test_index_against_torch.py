"""Subscripts, gather, scatter and their kin against torch's: values, dtypes, nodes, errors, gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")

# `x` (2, 3, 4), `i` two indices, `m` a mask of three.
SUBSCRIPTS = """
x[0] | x[:] | x[...] | x[None] | x[:, None] | x[0:2] | x[1:2] | x[1:2, 0] | x[0, 1:2] | x[0, 0] | x[0, 0, 0]
x[0, 0, 0, 0] | x[5] | x[-3] | x[:, 5] | x[::-1] | x[::0] | x[True] | x[False] | x[True, 0] | x[0, True]
x[torch.tensor(True)] | x[torch.tensor(1)] | x[[0, 1]] | x[[[0, 1], [1, 0]]] | x[[0, slice(None)]]
x[[slice(0, 1)]] | x[[None]] | x[[True, False]] | x[range(2)] | x[()] | x[[]] | x[:, []] | x[0, 1]
x[np.array([0, 1])] | x[np.int64(1)] | x[np.array(1)] | x[np.array([0, 1], dtype=np.int32)]
x[np.array([0, 1], dtype=np.int8)] | x[torch.tensor([0, 1], dtype=torch.int16)] | x[torch.tensor([0.0, 1])] | x[1.0]
x['a'] | x[0.5:2] | x[:, m] | x[m] | x[:, i] | x[:, :, i] | x[0, :, i] | x[i, :, i] | x[i, i] | x[i, None, i]
x[i, torch.tensor([0, 1, 2])] | x[torch.tensor([5])] | x[:, torch.tensor([5])] | x[torch.tensor([-3])] | x[..., 0]
x[..., None] | x[..., ...] | x[i, ..., i] | x[None, i] | x[torch.tensor([[True, False, True], [False] * 3])]
x[torch.tensor([[True, False, True], [False] * 3]), 0] | x[np.True_] | x[{}] | x[torch.tensor([[0]])]
x[torch.tensor(1):] | x[np.int64(1):] | x[i[0]:2, i] | x[m, m] | x[:, m, [0, 1]]
x[[torch.tensor(0), torch.tensor(1)]] | x[[torch.tensor([0]), torch.tensor([1])]] | x[(0, 1),] | x[(0, 1), (0, 1)]
x[[0, 1],] | x[-1:] | x[5:] | x[2:1] | torch.tensor(3.0)[0] | torch.tensor(3.0)[...] | torch.tensor(3.0)[None]
torch.tensor(3.0)[True] | torch.tensor(3.0)[torch.tensor(False)] | torch.tensor(3.0)[torch.tensor([0])]
x[np.array([True, False])] | x[torch.zeros(0, dtype=torch.long)] | x[torch.zeros(0)]
torch.zeros(0, 3)[torch.zeros(0, dtype=torch.long)] | torch.zeros(0, 3)[torch.tensor([0])] | torch.zeros(0, 3)[0]
x[2 ** 70] | x[[1.0]] | x[[0, [1]]] | torch.zeros(3, 0)[:, torch.tensor([0])] | x[:2 ** 40] | x[:, :, :, 0]
x[i, i, i, i] | x[0, 0, 0, None] | x[[0, None]] | x[None, None, 0]
"""

# `x` and `z` (2, 3), `y` (2, 1), `s0` 0-dim, all with gradients; `once` and `twice` index along dimension 1.
CALLS = """
torch.select(x, 2, 0) | torch.select(x, 0, 5) | torch.select(x, -1, -1) | torch.select(s0, 0, 0)
torch.narrow(x, 1, 1, 2) | torch.narrow(x, 1, T(1), 2) | torch.narrow(x, 1, 2, 2) | torch.narrow(x, 1, -2, 2)
torch.narrow(x, 1, 0, -1) | torch.narrow(s0, 0, 0, 1) | torch.narrow(x, 1, -5, 1) | torch.take(x, T([0, 5, -1]))
torch.take(x, T([0, 0, -1])) | torch.take(x, T([6])) | torch.take(x, T([0], dtype=torch.int32))
torch.take(x, T(3)) | torch.take(T([]), T([0])) | torch.take_along_dim(x, T([[0], [1]]), 1)
torch.take_along_dim(x, T([5, 0])) | torch.take_along_dim(x, T([[0]]), 1) | torch.take_along_dim(x, T([[0.0]]), 1)
torch.take_along_dim(x, T([0]), 1) | torch.take_along_dim(x, T([[3], [0]]), 1)
torch.take_along_dim(x, T([[-1], [0]]), 1) | torch.gather(x, 1, once)
torch.gather(x, 1, T([[0, 0, 1], [2, 2, 2]])) | torch.gather(x, 1, T([[0], [3]])) | torch.gather(x, 1, T([[-1]]))
torch.gather(x, 0, T([[0]])) | torch.gather(x, 0, T([0])) | torch.gather(x, 0, T([[0, 0, 0, 0]]))
torch.gather(x, 0, T([[0, 0, 0], [0, 0, 0], [1, 1, 1]])) | torch.gather(x, 2, T([[0]]))
torch.gather(x, 1, T([[0]], dtype=torch.int32)) | torch.gather(x, 1, T([[0]], dtype=torch.int16))
torch.gather(x, 1, T([[0.0]])) | torch.gather(s0, 0, T([0])) | torch.gather(s0, 0, T(0))
torch.gather(x, 1, torch.zeros(0, dtype=torch.long)) | torch.gather(x, 1, torch.zeros(2, 0, dtype=torch.long))
torch.gather(T([1.0, 2]), 0, T(1)) | torch.scatter(x, 1, once, 5.0) | torch.scatter(x, 1, once, y)
torch.scatter(x, 1, once, value=5) | torch.scatter(x, 1, T([[0, 0], [2, 2]]), T([[1.0], [2.0]]))
torch.scatter(x, 1, once, T([[1.0, 9], [2.0, 9]])) | torch.scatter(x, 1, T([[0], [3]]), 5.0)
torch.scatter(x, 1, T([[0], [-1]]), 5.0) | torch.scatter(x.detach(), 1, once, 5.0, reduce='add')
torch.scatter(x.detach(), 1, once, 5.0, reduce='multiply')
torch.scatter(x.detach(), 1, once, T([[1.0], [2.0]]), reduce='add')
torch.scatter(x.detach(), 1, once, T([[1.0], [2.0]]), reduce='multiply')
torch.scatter(x.detach(), 1, once, T([[1.0], [2.0]]), reduce='mean')
torch.scatter(x, 1, once, T([[1.0], [2.0]], dtype=torch.float64))
torch.scatter(x, 1, T([[0], [2]], dtype=torch.int32), 1.0) | torch.scatter(s0, 0, T([0]), 1.0)
torch.scatter(s0, 0, T(0), 1.0) | torch.scatter(x, 0, T([[0, 0, 0], [0, 0, 0], [1, 1, 1]]), 1.0)
torch.scatter(x, 1, T([0]), 1.0) | torch.scatter(x, 1, torch.zeros(0, dtype=torch.long), 1.0)
torch.scatter(x.detach().long(), 1, T([[0]]), 1.5) | torch.scatter(x, 1, twice, z)
torch.scatter_add(x, 1, twice, z) | torch.scatter_add(x, 1, twice, 1.0)
torch.scatter_add(x, 1, T([[0, 0, 1], [1, 1, 3]]), T([[1.0, 2, 3], [4, 5, 6]]))
torch.scatter_add(x, 1, T([[0]]), T([[1, 2]])) | torch.scatter_reduce(x, 1, twice, z, 'sum')
torch.scatter_reduce(x, 1, twice, z, 'sum', include_self=False) | torch.scatter_reduce(x, 1, twice, z, 'prod')
torch.scatter_reduce(x, 1, twice, z, 'mean') | torch.scatter_reduce(x, 1, twice, z, 'mean', include_self=False)
torch.scatter_reduce(x, 1, twice, z, 'prod', include_self=False)
torch.scatter_reduce(x, 1, twice, z - 1, 'prod', include_self=False) | torch.scatter_reduce(x, 1, twice, z, 'amax')
torch.scatter_reduce(x, 1, twice, x, 'amax') | torch.scatter_reduce(x, 1, twice, z * float('nan'), 'amax')
torch.scatter_reduce(x, 1, twice, z, 'foo')
torch.scatter_reduce(x.detach().long(), 1, twice, T([[1, 2, 3], [4, 5, 6]]), 'mean')
torch.scatter_reduce(x.detach().long() - 9, 1, twice, T([[1, 2, 3], [4, 5, 6]]), 'mean')
torch.scatter_reduce(x.detach().long(), 1, twice, T([[1, 2, 3], [4, 5, 6]]), 'amin')
torch.index_select(x, 1, T([0, 2, 0])) | torch.index_select(x, 0, T([0, 1, 0])) | torch.index_select(x, 1, T([3]))
torch.index_select(x, 1, T([-1])) | torch.index_select(x, 1, T(2)) | torch.index_select(x, 1, T([[0]]))
torch.index_select(x, 1, T([0], dtype=torch.int32)) | torch.index_select(x, 1, T([0.0]))
torch.index_select(x, 1, T([0], dtype=torch.int16)) | torch.index_select(x, 1, [0])
torch.index_select(s0, 0, T([0])) | torch.index_select(s0, 0, T([0, 0])) | torch.index_select(s0, 0, T(0))
torch.index_select(x, 5, T([0])) | torch.index_add(x, 1, T([0, 0]), z[:, 1:])
torch.index_add(x, 1, T([0, 0]), z[:, 1:], alpha=2) | torch.index_add(x, 0, T([0, 0]), z, alpha=2.5)
torch.index_add(x, 1, T([0, 3]), torch.ones(2, 2)) | torch.index_add(x, 1, T([0, -1]), torch.ones(2, 2))
torch.index_add(x, 1, T([0, 1]), torch.ones(2, 3)) | torch.index_add(x, 1, T([0, 1]), torch.ones(1, 2))
torch.index_add(x, 1, T([0, 1]), torch.ones(2, 2).long())
torch.index_add(x, 1, T([0, 1], dtype=torch.int32), torch.ones(2, 2))
torch.index_add(x, 1, T([[0, 1]]), torch.ones(2, 2)) | torch.index_add(s0, 0, T([0]), torch.ones(()))
torch.index_add(s0, 0, T([0, 0]), torch.ones(2)) | torch.index_add(s0, 0, T(0), torch.ones(()))
torch.index_add(x.detach().long(), 1, T([0, 0]), torch.ones((2, 2)).long(), alpha=2)
torch.index_copy(x, 1, T([0, 2]), z[:, 1:]) | torch.index_copy(x, 1, T([0, 3]), torch.ones(2, 2))
torch.index_copy(x, 1, T([0, 2]), torch.ones(2, 2).double()) | torch.index_copy(x, 1, T([0, -1]), torch.ones(2, 2))
torch.index_copy(x, 1, T([0, 1]), torch.ones(2, 3)) | torch.index_copy(x, 1, T([0]), torch.ones(()))
torch.index_copy(x, 1, T([0, 1], dtype=torch.int32), torch.ones(2, 2))
torch.index_copy(s0, 0, T([0]), torch.ones(())) | torch.index_copy(s0, 0, T(0), torch.ones(()))
torch.index_fill(x, 1, T([0, 2]), 9) | torch.index_fill(x, 1, T([0, 3]), 9) | torch.index_fill(x, 1, T([0, -1]), 9)
torch.index_fill(x, 1, T([0, 0, 1]), s0) | torch.index_fill(x, 1, T([0]), torch.ones(2))
torch.index_fill(x, 1, T([[0]]), 1) | torch.index_fill(x, 1, T([0], dtype=torch.int32), 1)
torch.index_fill(s0, 0, T([0]), 1) | torch.index_fill(s0, 0, T(0), 1)
torch.index_fill(x.detach().long(), 0, T([0]), 1.5) | torch.masked_fill(x, T([True, False, True]), 9)
torch.masked_fill(x, T([[True], [False]]), s0) | torch.masked_fill(x, T([True]), torch.ones(2))
torch.masked_fill(x, T([1, 0, 1]), 9) | torch.masked_fill(x, T([True, False]), 9)
torch.masked_fill(torch.ones(3), torch.ones(2, 3) > 0, 9) | torch.masked_fill(z[0], torch.ones(2, 3) > 0, 9)
torch.masked_fill(z[0], T([[True, False, False], [False, True, False]]), s0)
torch.masked_fill(x.detach().long(), T([True, False, True]), 1.5)
torch.masked_fill(x.detach().long(), T([True, False, True]), T(1.5))
torch.masked_fill(x, T([1, 0, 1], dtype=torch.uint8), 9)
torch.masked_fill(x, T([True, False, True]), T(1.5, dtype=torch.float64))
torch.masked_fill(x, T([True, False, True]), 1j) | torch.masked_fill(x.half(), T([True, False, True]), -1e+30)
torch.masked_fill(x.bfloat16(), T([True, False, True]), -1e+30)
x.detach().clone().masked_fill_(torch.ones(4, 2, 3) > 0, 1) | torch.masked_select(x, T([True, False, True]))
torch.masked_select(x, T([1, 0, 1])) | torch.masked_select(torch.ones(3, requires_grad=True), torch.ones(2, 3) > 0)
torch.masked_select(z[0], torch.ones(2, 3) > 0) | torch.masked_select(s0, T(True))
torch.masked_select(x, T([True, False])) | torch.masked_scatter(x, T([True, False, True]), T([9.0, 8, 7, 6, 5]))
torch.masked_scatter(x, T([True, False, True]), T([9.0, 8, 7]))
torch.masked_scatter(x, T([True, False, True]), T([9, 8, 7, 6]))
torch.masked_scatter(x, T([1, 0, 1]), T([9.0, 8, 7, 6]))
torch.masked_scatter(torch.ones(3), torch.ones(2, 3) > 0, torch.arange(6.0))
torch.masked_scatter(x, T([True, False, True]), z) | torch.nonzero(x) | torch.nonzero(s0) | torch.nonzero(T(0.0))
torch.nonzero(x, as_tuple=True) | torch.nonzero(s0, as_tuple=True) | torch.argwhere(x) | torch.argwhere(s0)
torch.unbind(x) | torch.unbind(x, 1) | torch.unbind(s0) | torch.unbind(x, 2) | torch.unbind(torch.zeros(0, 3))
torch.select_scatter(x, torch.ones(2), 1, 0) | torch.select_scatter(x, torch.ones(3), 1, 0)
torch.select_scatter(x, torch.ones(2).double(), 1, 0) | torch.select_scatter(x, torch.ones(2), 1, 5)
torch.select_scatter(x, z[:, 0], dim=1, index=-1) | torch.slice_scatter(x, torch.ones(2, 1), 1, 1, 2)
torch.slice_scatter(x, z[:, 1:], 1, 0, None, 2) | torch.slice_scatter(x, torch.ones(2, 1), 1, 0, 2)
torch.slice_scatter(x, torch.ones(1, 3)) | torch.slice_scatter(x, z)
torch.slice_scatter(x, torch.ones(2, 1), 1, -1) | torch.slice_scatter(x, torch.ones(2, 1), 1, 0, 3, 0)
torch.diagonal_scatter(x, torch.ones(2)) | torch.diagonal_scatter(x, z[:, 0], 1)
torch.diagonal_scatter(x, torch.ones(3)) | torch.diagonal_scatter(x, torch.ones(2), dim1=1, dim2=0)
torch.index_put(x, (i, i), T(5.0)) | torch.index_put(x, (i, i), s0) | torch.index_put(x, (i,), torch.ones(3))
torch.index_put(x, (i,), z[0]) | torch.index_put(x, [i, None], torch.ones(3))
torch.index_put(x, (None, i), torch.ones(2)) | torch.index_put(x, (i,), torch.ones(3).double())
torch.index_put(x, (T([0, 0]),), z, accumulate=True) | torch.index_put(x, (T([0, 0]), T([1, 1])), z[:, 0], True)
torch.index_put(x, (T([True, False]),), torch.ones(3), accumulate=True)
torch.index_put(x, (T([5]),), torch.ones(3)) | torch.index_put(x, (i,), torch.ones(4))
torch.index_put(x, (i,), 5.0) | torch.index_put(x, (i, i, i), T(5.0)) | torch.index_put(x, i, T(5.0))
x.index_put_((i,), torch.ones(3)) | (x * 1).index_put_((i,), z[0])
(x * 1).index_put_((T([0, 0]),), z, accumulate=True) | (x * 1).masked_fill_(T([True, False, True]), 9)
(x * 1).masked_fill_(T([True, False, True]), s0) | (x * 1).masked_scatter_(T([True, False, True]), z)
(x * 1).index_add_(1, T([0, 0]), z[:, 1:], alpha=2) | (x * 1).index_copy_(1, T([0, 2]), z[:, 1:])
(x * 1).index_fill_(1, T([0, 2]), s0) | (x * 1).index_fill_(1, T([0, 2]), 4) | (x * 1).scatter_(1, once, y)
(x * 1).scatter_(1, once, 5) | (x * 1).scatter_add_(1, once, y) | (x * 1).scatter_reduce_(1, twice, z, 'prod')
(x * 1)[0].index_fill_(0, T([0, 2]), 4) | (x * 1).t().scatter_(1, T([[0], [1], [0]]), 5)
(x * 1).t().index_add_(0, T([0, 1, 0]), z.t()) | x.half()[T([0, 0, 1])] | x.bfloat16()[:, T([0, 0, 1])]
x.bfloat16()[T([0, 0, 1]), T([0, 0, 1])] | torch.index_select(x.bfloat16(), 0, T([0, 0, 1]))
torch.gather(x.half(), 1, once) | torch.index_add(x.bfloat16(), 1, T([0, 0]), z[:, 1:].bfloat16(), alpha=2)
torch.scatter_add(x.bfloat16(), 1, twice, z.bfloat16())
torch.scatter_reduce(x.bfloat16(), 1, twice, z.bfloat16(), 'mean')
torch.scatter_reduce(x.bfloat16(), 1, twice, z.bfloat16(), 'prod')
torch.scatter_reduce(x.half(), 1, twice, z.half(), 'amax') | torch.cat([x.bfloat16(), x.bfloat16()])
torch.cat([x.half(), x]) | torch.stack([x.half(), x], 1)
"""

# The tensor after `x[index] = value`: `x` (2, 3), `v` three values, `m` a mask of two.
ASSIGNMENTS = """
put(x * 1, 0, 1.0) | put(x * 1, 0, v) | put(x * 1, i, v) | put(x * 1, (i, i), 1.0) | put(x * 1, 0, [1, 2, 3])
put(x * 1, 0, np.zeros(3)) | put(x * 1, 0, None) | put(x * 1, 0, 'a') | put(x * 1, i, [1.0, 2.0])
put(x * 1, i, np.zeros(3)) | put(x * 1, m, 5) | put(x * 1, 0, torch.zeros(3, dtype=torch.float64))
put(x * 1, i, torch.zeros(3, dtype=torch.float64)) | put(x * 1, i, torch.tensor(1.0, dtype=torch.float64))
put(x * 1, i, torch.zeros(3, dtype=torch.int64)) | put(x * 1, i, torch.zeros(1, 1, 2, 3))
put(x * 1, 0, torch.zeros(1, 1, 3)) | put(x * 1, 0, torch.zeros(2, 3)) | put(x * 1, i, torch.zeros(4))
put(x * 1, m, torch.zeros(2, 3)) | put(x * 1, 0, 1j) | put(torch.zeros(2, 3, dtype=torch.long), 0, 1.5)
put(torch.zeros(2, 3, dtype=torch.long), 0, torch.tensor([1.5, 2, 3]))
put(torch.zeros(2, 3, dtype=torch.long), i, 1.5) | put(torch.zeros(2, 3, dtype=torch.long), i, torch.tensor(1.5))
put(torch.zeros(2, 3, dtype=torch.bool), 0, 1) | put(x * 1, True, 1.0) | put(x * 1, False, 1.0)
put(x * 1, (0, True), v) | put(x * 1, ..., 1.0) | put(x * 1, (), 1.0) | put(x * 1, S(None), v)
put(x * 1, (S(None), S(None, None, -1)), v) | put(x * 1, 5, 1.0) | put(x * 1, torch.tensor([5]), 1.0)
put(torch.tensor(1.0), 0, 1.0) | put(torch.tensor(1.0), ..., 2.0) | put(torch.tensor(1.0), True, 2.0)
put(torch.zeros(2, 3, requires_grad=True), 0, 1.0) | put(torch.zeros(2, 3, requires_grad=True), i, 1.0)
put(x * 1, 0, np.float32(1.0)) | put(x * 1, 0, np.float64(1.0)) | put(x * 1, 0, True) | put(x * 1, (0, i), v[0])
put(x * 1, (0, i), v) | put(x * 1, (S(0, 1), i), v[:2]) | put(x * 1, torch.tensor([], dtype=torch.long), 1.0)
put(x * 1, torch.tensor([], dtype=torch.long), torch.zeros(5)) | put(torch.zeros(2, 3, dtype=torch.int8), 0, 300)
put(torch.zeros(2, 3, dtype=torch.int8), i, 300) | put(torch.zeros(2, 3, dtype=torch.uint8), 0, -1)
put(torch.zeros(2, 3, dtype=torch.uint8), 0, float('nan')) | put(x * 1, 0, 2 ** 70)
put(torch.zeros(2, 3, dtype=torch.long), 0, 2 ** 63) | put(x * 1, 0, (1, 2, 3)) | put(x * 1, 0, torch.zeros(0))
put(x * 1, 0, torch.tensor([1.0, 2.0])) | put(torch.zeros(2, 3), [0, 1], v) | put(torch.zeros(2, 3), [0, 1], 2)
put(x * 1, S(1, 1), v)
"""

# Programs that leave their result in `y`, at first `x * 1`; `v` (3), `w` (2, 3), `i` row 0 twice, `j` both rows, `m`
# a mask.
PROGRAM_TEXT = """
y[0] = v
y[0][1] = v[0]
y[0] += v
y[0] += 1
y[i] += v
y[j] += v
y[:, 1] *= 2
y[m] = 0.0
y[m] = v
y[m] += 1
y[0, j] = v[:2]
y[:, 1:][:, 0] = v[0]
z = y[0]; y[1] = v; z.add_(1)
z = y[0]; z[1] = v[0]; y = y * z[1]
z = y * y; y[0] = 0.0; y = z
z = y * 2; y[0] = 0.0; y = z + y
y[...] = v
y[:] = v
y[0:1] = v
y[None, 0] = v
y[0, True] = v
x[0] = 1.0
x[i] = 1.0
x[m] = 1.0
a, b = y.unbind(0); a[0] = 1.0
a, b = y.split(1); a.mul_(2)
a, b, c = y.chunk(3, 1); a[0] = v[0]
y = torch.zeros(2, 3); y[0] = v; y[1] = x[1]
y = torch.zeros(2, 3); y[i] = x
y = torch.zeros(2, 3); y[:, j] = x[:, :2]
y = torch.zeros(2, 3); y[j] = x; y[0] = v
y = torch.zeros(2, 3); y[0][0] = v[1]; y[1, 2] = v[0] * 2
y.index_put_((i,), w, accumulate=True)
y.index_put_((i, j), v[:2])
y.masked_fill_(m, v[0])
y[0].masked_fill_(m[0], v[0])
y.t().index_add_(0, j, x[:, :2].t())
y.t()[0] = v[:2]
y.index_fill_(1, j, v[2])
y.scatter_(1, torch.tensor([[0], [2]]), w[:, :1])
y.scatter_add_(1, torch.tensor([[0, 0], [2, 2]]), w[:, :2])
y.diagonal()[0] = v[0]
y.diagonal().mul_(2)
torch.diagonal(y, 1)[:] = v[:2]
y = y[j]; y[0] = v
y = torch.cat([x, x]); y[0] = v; y = y[:2]
y = y[:, None][:, 0]; y[0] = v
y[0, 1] = v[0]; y[0, 1] = v[1]
q = torch.tensor([0, 1]); z = y[q]; q[0] = 1; y = z
q = torch.tensor([0, 1]); z = y[q, q]; q[0] = 1; y = z[:, None]
q = torch.tensor([0, 1]); z = y[:, q]; q[0] = 1; y = z
y[5] = 1.0
y[0] = torch.zeros(2)
y[i] = torch.zeros(4)
y[torch.tensor([7])] = 1.0
y[0] = [1, 2, 3]
y = y.detach(); y[0] = v
y = y.detach(); z = y[0]; z[0] = v[0]
y = y.detach(); z = y[0]; y[0] = v; y = z * 1
y[0] = y[1]
y[0] = y[0]
y[:, 0] = y[:, 1]
y[1:] = y[:1]
"""
PROGRAMS = [
    *PROGRAM_TEXT.strip().splitlines(),
    "with torch.no_grad(): x[0] = 1.0; y = x * 1",
    "with torch.no_grad(): z = y[0]\nz[0] = 1.0",
]

# What torch names after a way of its own: the history of a view it makes again with as_strided, fill_ for a number.
OWN_NAMES = ("AsStridedBackward0", "FillBackward3", "CopyBackwards", "MulBackward0")


def listed(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def put(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


def tensors(lib: Any, names: str) -> dict[str, Any]:
    t = lib.tensor
    made: dict[str, Any] = {"torch": lib, "np": np, "T": t, "put": put, "S": slice, "i": t([0, 1])}
    if names == "subscripts":
        return {**made, "x": lib.arange(24.0).reshape(2, 3, 4).requires_grad_(), "m": t([True, False, True])}
    x = lib.arange(6.0).reshape(2, 3).requires_grad_()
    if names == "calls":
        y, z = t([[1.0], [2.0]], requires_grad=True), t([[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]], requires_grad=True)
        places = {"once": t([[0], [2]]), "twice": t([[0, 0, 1], [1, 1, 0]])}
        return {**made, **places, "x": x, "y": y, "z": z, "s0": t(3.0, requires_grad=True)}
    v = t([7.0, 8.0, 9.0], requires_grad=True)
    if names == "assignments":
        return {**made, "x": x, "v": v, "m": t([True, False])}
    w = t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    m = t([[True, False, True], [False, True, False]])
    return {**made, "x": x, "v": v, "w": w, "y": x * 1, "i": t([0, 0]), "j": t([1, 0]), "m": m}


def outcome(lib: Any, names: str, text: str) -> tuple[Any, int, list[Any]]:
    """What the text gives or raises, whether it warned, and the leaves it was computed from."""
    where = tensors(lib, names)
    leaves = [where[n] for n in ("x", "y", "z", "s0", "v", "w") if n in where and where[n].is_leaf]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if names == "programs":
                exec(text, where)
                result = (where["y"] * where["w"]).sum()
            else:
                result = eval(text, where)
        except Exception as error:
            return error, len(caught), leaves
    return result, len(caught), leaves


def flat(result: Any) -> list[Any]:
    return [t for part in result for t in flat(part)] if isinstance(result, tuple | list) else [result]


def array(t: Any) -> Any:
    return np.array(t.detach().tolist(), dtype=np.complex128).reshape(tuple(t.shape))


def described(t: Any) -> tuple[Any, ...]:
    return tuple(t.shape), str(t.dtype).split(".")[1], t.requires_grad


def gradients(lib: Any, outs: list[Any], leaves: list[Any], seeds: list[Any]) -> Any:
    """The gradients of the leaves, or what is raised."""
    given = [lib.tensor(seed.numpy(), dtype=out.dtype) for seed, out in zip(seeds, outs, strict=True)]
    try:
        return lib.autograd.grad(outs, leaves, given, allow_unused=True)
    except RuntimeError as error:
        return error


def assert_same(names: str, text: str) -> None:
    expected, warned, their_leaves = outcome(torch, names, text)
    found, warned_too, our_leaves = outcome(gradpack, names, text)
    if isinstance(expected, Exception):
        assert type(found) is type(expected), f"torch: {expected!r}, gradpack: {found!r}"
        return
    if isinstance(found, Exception):
        raise found
    assert not warned or warned_too, "torch warns and gradpack does not"
    theirs, ours = flat(expected), flat(found)
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours, strict=True):
        assert described(a) == described(b)
        assert np.allclose(array(a), array(b), rtol=1e-5, equal_nan=True)
        if a.grad_fn is not None and not a.grad_fn.name().endswith("_copy"):
            name = a.grad_fn.name()
            assert name == b.grad_fn.name() or name.removeprefix("torch::autograd::") in OWN_NAMES
    pairs = [(a, b) for a, b in zip(theirs, ours, strict=True) if a.requires_grad]
    if not pairs:
        return
    rng = np.random.default_rng(0)
    seeds = [rng.normal(size=tuple(a.shape)).tolist() for a, _ in pairs]
    shaped = [torch.tensor(s, dtype=torch.float64).reshape(a.shape) for s, (a, _) in zip(seeds, pairs, strict=True)]
    g_theirs = gradients(torch, [a for a, _ in pairs], their_leaves, shaped)
    g_ours = gradients(gradpack, [b for _, b in pairs], our_leaves, shaped)
    if isinstance(g_theirs, Exception) or isinstance(g_ours, Exception):
        assert type(g_ours) is type(g_theirs), f"torch: {g_theirs!r}, gradpack: {g_ours!r}"
        return
    for a, b in zip(g_theirs, g_ours, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert described(a) == described(b)
            assert np.allclose(array(a), array(b), rtol=1e-4, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("text", listed(SUBSCRIPTS))
def test_subscript(text):
    assert_same("subscripts", text)


@pytest.mark.parametrize("text", listed(CALLS))
def test_call(text):
    assert_same("calls", text)


@pytest.mark.parametrize("text", listed(ASSIGNMENTS))
def test_assignment(text):
    assert_same("assignments", text)


@pytest.mark.parametrize("text", PROGRAMS)
def test_program(text):
    assert_same("programs", text)


def test_where_torch_is_wrong_or_fails():
    # The extreme without `input` happens to be what `input` holds there: torch gives a part of the gradient away.
    x, src = gradpack.core([4.0], requires_grad=True), gradpack.core([4.0, 5.0], requires_grad=True)
    index = gradpack.core([0, 0])
    out = gradpack.scatter_reduce(x, 0, index, src, "amin", include_self=False)
    assert [g.tolist() for g in gradpack.autograd.grad(out, [x, src], gradpack.ones(1))] == [[0.0], [1.0, 0.0]]
    # A source larger than the index: torch computes the result, and no gradient of the right shape.
    src = gradpack.ones(3, requires_grad=True)
    (g,) = gradpack.autograd.grad(gradpack.zeros(2).scatter_add(0, index, src).sum(), src)
    assert g.tolist() == [1.0, 1.0, 0.0]
    # `scatter` with reduce= has no gradient in torch.
    x = gradpack.core([2.0, 3.0], requires_grad=True)
    (g,) = gradpack.autograd.grad(gradpack.scatter(x, 0, gradpack.core([0]), 5.0, reduce="multiply").sum(), x)
    assert g.tolist() == [5.0, 1.0]
