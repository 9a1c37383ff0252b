"""The networks whose saved tensors are measured: W1 to W11.

Written as one writes PyTorch. `benchmarks.harness.load` runs the same text in torch, with the first import
below renamed. Inputs come from NumPy with a fixed seed; parameters are copied from one library to the other.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gradpack as torch
from benchmarks.harness import load
from benchmarks.workloads import ROOT

nn = torch.nn
F = nn.functional
Tensor = torch.Tensor

gpt: Any = load(ROOT / "src/gradpack/examples/gpt.py", f"gpt_for_{__name__}", {"gradpack": torch.__name__})


class Job(NamedTuple):
    """A network and what one step does with it.

    Attributes:
        model: its parameters do not count as saved.
        losses: one function for each graph of a step. A policy stands around each call.
        blocks: the modules that a user would give to `checkpoint`.
        live: how many graphs there are at a time.
    """

    model: Any
    losses: list[Callable[[], Any]]
    blocks: list[Any]
    live: int = 1


def normal(*shape: int, seed: int = 1) -> Any:
    return torch.tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def numbers(below: int, *shape: int, seed: int = 2) -> Any:
    return torch.tensor(np.random.default_rng(seed).integers(0, below, shape))


def classify(net: Any, x: Any, classes: int, blocks: Any) -> Job:
    target = numbers(classes, len(x))
    return Job(net, [lambda: F.cross_entropy(net(x), target)], list(blocks))


def mlp(dropout: float) -> Job:
    """MLP of 8 x 1024, ReLU, batch 1024"""
    blocks = [nn.Sequential(nn.Linear(1024, 1024), nn.ReLU()) for _ in range(8)]
    return classify(nn.Sequential(*blocks, nn.Linear(1024, 10)), normal(1024, 1024), 10, blocks)


def convolutions(dropout: float) -> Job:
    """convolution, norm, ReLU, pool: 3 times, batch 32"""
    blocks = [
        nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))
        for a, b in ((3, 16), (16, 32), (32, 64))
    ]
    net = nn.Sequential(*blocks, nn.Flatten(), nn.Linear(64 * 16, 10))
    return classify(net, normal(32, 3, 32, 32), 10, blocks)


class Attention(nn.Module):  # type: ignore[misc]
    """Attention spelled out, with dropout on the probabilities."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, c // self.heads).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        a = F.dropout((q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5).softmax(-1), self.dropout)
        return self.out((a @ v).transpose(1, 2).reshape(b, t, c))


def transformer(dropout: float) -> Job:
    """GPT, 4 layers of 192, fused attention, 16 x 128 tokens"""
    net = gpt.GPT(96, context=128, width=192, layers=4, heads=4, dropout=dropout)
    tokens, target = numbers(96, 16, 128), numbers(96, 16, 128, seed=3)
    return Job(net, [lambda: gpt.loss_of(net(tokens), target)], list(net.blocks))


def naive_transformer(dropout: float) -> Job:
    """the same with attention spelled out, and dropout in it"""
    job = transformer(dropout)
    for block in job.blocks:
        block.attention = Attention(192, 4, dropout)
    return job


class Recurrent(nn.Module):  # type: ignore[misc]
    """A cell of an LSTM, called once for each step."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell, self.head = nn.LSTMCell(width, width), nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        h = c = torch.zeros(x.shape[1:])
        for part in x:
            h, c = self.cell(part, (h, c))
        return self.head(h)


def recurrent(dropout: float) -> Job:
    """LSTM of 128, 50 steps, batch 64: many small tensors"""
    net, x, target = Recurrent(128), normal(50, 64, 128), numbers(10, 64)
    return Job(net, [lambda: F.cross_entropy(net(x), target)], [])


def twice(a: int, b: int) -> Any:
    """Two convolutions, each with norm and ReLU."""
    layers = [(nn.Conv2d(i, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()) for i in (a, b)]
    return nn.Sequential(*(layer for group in layers for layer in group))


class UNet(nn.Module):  # type: ignore[misc]
    """What is saved first is asked for in the middle of backward: the order is not the reverse of packing."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([twice(3, 8), twice(8, 16)])
        self.bottom = twice(16, 32)
        self.widen = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)])
        self.up = nn.ModuleList([twice(32, 16), twice(16, 8)])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for stage in self.down:
            x = stage(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for widen, stage in zip(self.widen, self.up, strict=True):
            x = stage(torch.cat([widen(x), kept.pop()], 1))
        return self.head(x)


def unet(dropout: float) -> Job:
    """U-Net of 3 levels, 8 images of 64 x 64"""
    net, x, target = UNet(), normal(8, 3, 64, 64), numbers(2, 8, 64, 64)
    return Job(net, [lambda: F.cross_entropy(net(x), target)], [*net.down, net.bottom, *net.up])


class Experts(nn.Module):  # type: ignore[misc]
    """Each row goes to one of three experts. What a fourth makes of all rows is seen and not used."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, 3)
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(4)]
        )
        self.seen: Any = None

    def forward(self, x: Tensor) -> Tensor:
        gates, choice = self.router(x).softmax(-1).max(-1)
        self.seen = self.experts[3](x)  # its graph stays until the next step, and backward never comes there
        out = x
        for nr in range(3):
            rows = (choice == nr).nonzero()[:, 0]
            out = out.index_add(0, rows, self.experts[nr](x[rows]) * gates[rows, None])
        return out


def experts(dropout: float) -> Job:
    """mixture of 3 experts and one that is not used, width 256, batch 1024"""
    net = nn.Sequential(nn.Linear(256, 256), Experts(256), nn.Linear(256, 10))
    return classify(net, normal(1024, 256), 10, net[1].experts[:3])


class LoRA(nn.Module):  # type: ignore[misc]
    """A frozen layer beside two small ones that learn."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.frozen = nn.Linear(width, width).requires_grad_(False)
        self.down, self.up = nn.Linear(width, 8, bias=False), nn.Linear(8, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.frozen(x) + self.up(self.down(x))


def adapted(dropout: float) -> Job:
    """frozen layers with LoRA, 6 x 512, batch 2048"""
    blocks = [nn.Sequential(LoRA(512), nn.GELU()) for _ in range(6)]
    return classify(nn.Sequential(*blocks, nn.Linear(512, 10)), normal(2048, 512), 10, blocks)


class Views(nn.Module):  # type: ignore[misc]
    """Parts, transposes and expansions of one tensor, and a few rows of a large one."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv, self.scale = nn.Linear(width, 3 * width), nn.Parameter(torch.ones(width))
        self.table = nn.Parameter(torch.zeros(8192, width))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        few = (self.table + self.scale)[:4].sin()  # four rows keep the memory of all
        mixed = (q.transpose(1, 2) @ k) @ v.transpose(1, 2)
        gate = x.mean(-1, keepdim=True).sigmoid().expand_as(x)
        return (mixed.transpose(1, 2) * gate * self.scale).tanh() * few.sum(0)


def views(dropout: float) -> Job:
    """views: chunk, transpose, expand, a slice of a large tensor; 16 x 128 rows of 128"""
    net, x = Views(128), normal(16, 128, 128)
    return Job(net, [lambda: (net(x) ** 2).mean()], [])


def hessian(dropout: float) -> Job:
    """Hessian times vector: backward of a backward, MLP of 3 x 512, GELU, batch 512"""
    net = nn.Sequential(*(m for _ in range(3) for m in (nn.Linear(512, 512), nn.GELU())), nn.Linear(512, 10))
    x, target = normal(512, 512), numbers(10, 512)
    vector = [normal(*p.shape, seed=nr) for nr, p in enumerate(net.parameters())]

    def product() -> Any:
        gradients = torch.autograd.grad(F.cross_entropy(net(x), target), list(net.parameters()), create_graph=True)
        return sum((g * v).sum() for g, v in zip(gradients, vector, strict=True))

    return Job(net, [product], [])


def accumulation(dropout: float) -> Job:
    """GPT, 2 layers of 128: 4 batches of 8 x 64 to a step, two graphs at a time"""
    net = gpt.GPT(96, context=64, width=128, layers=2, heads=4, dropout=dropout)

    def loss(seed: int) -> Callable[[], Any]:
        tokens, target = numbers(96, 8, 64, seed=seed), numbers(96, 8, 64, seed=seed + 4)
        return lambda: gpt.loss_of(net(tokens), target) / 4

    return Job(net, [loss(seed) for seed in range(4)], list(net.blocks), live=2)


WORKLOADS: dict[str, Callable[[float], Job]] = {
    "W1": mlp,
    "W2": convolutions,
    "W3": transformer,
    "W4": naive_transformer,
    "W5": recurrent,
    "W6": unet,
    "W7": experts,
    "W8": adapted,
    "W9": views,
    "W10": hessian,
    "W11": accumulation,
}
