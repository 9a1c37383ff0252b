"""A stage that raises in forward or backward: modes are as before, gradients whole or missing, the next step right."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gradpack as torch
from gradpack import saved
from gradpack.base.modes import _FIELDS, MODE
from gradpack.saved.policies.codec import Stage

F = torch.nn.functional

MAKERS = {
    "disk": lambda: saved.disk(min_bytes=0),
    "bf16": lambda: saved.bf16(min_bytes=0),
    "mask": lambda: saved.mask(),
    "lossless": lambda: saved.lossless("zlib", min_bytes=0),
    "lossless >> disk": lambda: saved.lossless("zlib", min_bytes=0) >> saved.disk(min_bytes=0),
    "recompute >> disk": lambda: saved.recompute() >> saved.disk(min_bytes=0),
    "budget": lambda: saved.budget("60 KiB", disk="1 MiB", min_bytes=0),
}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.narrow = torch.nn.Linear(64, 128), torch.nn.Linear(128, 64)
        self.norm, self.conv = torch.nn.LayerNorm(64), torch.nn.Conv1d(4, 8, 3, padding=1)

    def forward(self, x):
        h = F.dropout(F.gelu(self.wide(x)), 0.1)
        h = self.norm(self.narrow(h) + x).relu()
        return self.conv(h.view(-1, 4, 64)).tanh().exp()


def forward(net, policy):
    torch.manual_seed(1)
    net.zero_grad()
    with policy:
        loss = net(torch.linspace(-1, 1, 4096).view(64, 64)).pow(2).mean()
    if hasattr(policy, "wait"):  # else backward may take what is not stored yet
        policy.wait()
    return loss


def gradients(net):
    return [None if p.grad is None else p.grad.numpy().copy() for p in net.parameters()]


def modes():
    return [getattr(MODE.get(), name) for name in _FIELDS]


def kinds(base):
    return {base}.union(*(kinds(kind) for kind in base.__subclasses__()))


@pytest.mark.parametrize("method", ["encode", "decode"])
@pytest.mark.parametrize("name", MAKERS)
def test_a_stage_that_raises(monkeypatch, name, method):
    torch.manual_seed(0)
    net, policy = Net(), MAKERS[name]()
    for _ in range(3):
        forward(net, policy).backward()
    exact, before, calls = gradients(net), modes(), []

    def failing(inner):
        def run(self, *args):
            calls.append(method)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return inner(self, *args)

        return run

    with monkeypatch.context() as patch:
        for kind in kinds(Stage):
            if method in vars(kind):
                patch.setattr(kind, method, failing(vars(kind)[method]))
        try:
            forward(net, policy).backward()
        except KeyboardInterrupt:
            for found, right in zip(gradients(net), exact, strict=True):
                assert found is None or np.array_equal(found, right)
        else:  # it was not asked for so often, or tried again
            assert all(map(np.array_equal, gradients(net), exact))
    assert calls or name == "budget"
    assert modes() == before
    forward(net, policy).backward()
    assert all(map(np.array_equal, gradients(net), exact))
    if hasattr(policy, "wait"):  # for what was fetched
        policy.wait()
    gc.collect()
    assert getattr(policy, "packed_bytes", 0) == getattr(policy, "bytes_on_disk", 0) == getattr(policy, "held", 0) == 0
