"""A small net of torch's, a step of training it with hooks or without, and policies that change no bit."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from gradpack import saved  # noqa: E402

F = nn.functional


plain_hooks = torch.autograd.graph.saved_tensors_hooks


EXACT = {
    "as it is": lambda: saved.Policy(),
    "keep": lambda: saved.keep(),
    "lossless": lambda: saved.lossless("zlib", min_bytes=1),
    "disk": lambda: saved.disk(min_bytes=1, reserve=0),
    "cpu": lambda: saved.cpu(min_bytes=1),
    "cpu >> disk": lambda: saved.cpu(min_bytes=1) >> saved.disk(min_bytes=1, reserve=0),
    "mask >> lossless": lambda: saved.mask() >> saved.lossless("zlib", min_bytes=1),
}


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out((q @ k.transpose(-1, -2)).softmax(-1) @ v)
        return x + self.mlp(x)


class Net(nn.Module):
    def __init__(self, width=16, again=False):
        super().__init__()
        self.again = again
        self.blocks, self.head = nn.ModuleList([Block(width), Block(width)]), nn.Linear(width, 11)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
        return self.head(x.relu())


def loss_of(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y)


def step(model, hooks=None, seed=1):
    torch.manual_seed(seed)
    x, y = torch.randn(4, 6, 16, requires_grad=True), torch.randint(11, (24,))
    if hooks is None:
        loss = loss_of(model, x, y)
    else:
        with hooks:
            loss = loss_of(model, x, y)
    model.zero_grad()
    loss.backward()
    return torch.cat([x.grad.flatten(), *(p.grad.flatten() for p in model.parameters())])


def net(again=False):
    torch.manual_seed(0)
    return Net(again=again)


class Seen(saved.Policy):
    """Leaves all as it is, and notes what it was told."""

    def __init__(self):
        self.infos = []

    def pack(self, tensor, info=None):
        self.infos.append(info)
        return tensor


def pre_hooks(model):
    return sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in model.modules())
