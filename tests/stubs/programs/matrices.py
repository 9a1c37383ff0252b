"""Linear algebra: named tuples and tuples."""

from __future__ import annotations

import gradpack as torch

a = torch.randn(4, 4, dtype=torch.float64)
symmetric = a @ a.T + 4 * torch.eye(4, dtype=torch.float64)
values, vectors = torch.linalg.eigh(symmetric)
factor = torch.linalg.cholesky(symmetric)
decomposed = torch.linalg.svd(a, full_matrices=False)
rebuilt = decomposed.U @ torch.diag(decomposed.S) @ decomposed.Vh
sign, log = torch.linalg.slogdet(symmetric)
q, r = torch.linalg.qr(a)
best = a.max(dim=0)
top = torch.topk(a.flatten(), k=3, largest=True)
ordered, order = torch.sort(a, dim=-1, descending=True)
largest: torch.Tensor = torch.max(a)
both: torch.Tensor = torch.max(a, -a)
low, high = torch.aminmax(a)
assert torch.allclose(rebuilt, a) and torch.allclose(factor @ factor.mH, symmetric) and torch.allclose(q @ r, a)
assert best.values.shape == best.indices.shape == (4,) and top.values[0] == largest
assert sign.item() == 1 and log.exp().isclose(values.prod()) and bool((vectors.norm(dim=0) - 1).abs().max() < 1e-6)
assert ordered.gather(1, order.argsort()).shape == both.shape and high >= low
print(
    torch.einsum("ij,jk->ik", a, a).trace(), torch.linalg.norm(a, ord="fro", dim=(0, 1)), torch.fft.rfft(a).real.sum()
)
