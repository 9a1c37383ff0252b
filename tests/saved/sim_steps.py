"""Steps on the simulated device, and what they leave there."""

from __future__ import annotations

from contextlib import nullcontext

import gradpack as torch
from gradpack.saved.policies.background import drain_all

SIZE = 1 << 16  # bytes of each tensor of `chain`
COUNT = 12  # that it saves


def chain(x, count=COUNT):
    """Saves `count` tensors: x, and one result after the other."""
    for _ in range(count):
        x = x.sin()
    return x.sum()


def masked(x, count=COUNT):
    """Saves `count` masks, of a byte for each element."""
    for _ in range(count):
        x = torch.where(x > -0.5, x, x * 0.5)
    return x.sum()


def leaf():
    torch.manual_seed(0)
    return torch.randn(SIZE // 4, device="sim:0", requires_grad=True)


def measured(device, policy, step=chain, wait=True):
    """The gradient of a step, and figures of it beyond what was there before: counts of copies and bytes."""
    x = leaf()
    device.synchronize()
    device.reset_counts()
    before = device.arena.used
    with nullcontext() if policy is None else policy:
        y = step(x)
    if wait and hasattr(policy, "wait"):
        policy.wait()
    found = {"held": device.arena.used - before}
    y.backward()
    found["peak"] = device.arena.peak - before
    found.update({name: device.counts[name] for name in ("d2h", "h2d", "d2h_bytes", "h2d_bytes")})
    grad, x.grad = x.grad.cpu(), None
    del y
    device.synchronize()
    found["left"] = device.arena.used - before
    found["pinned"] = pinned_in_use(device)
    return grad, found


def pinned_in_use(device):
    """Bytes of pinned memory in use, once background threads have finished what they had begun."""
    drain_all()
    staging = None if device.copies is None else device.copies.staging
    return 0 if staging is None else staging.pool.in_use


def error(found, exact):
    return float(((found - exact).norm() / exact.norm()).item())
