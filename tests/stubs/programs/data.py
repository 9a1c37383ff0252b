"""Residual networks, containers, datasets, samplers, settings."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterable

import numpy as np

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import nn
from gradpack.nn.parameter import Parameter
from gradpack.profiler import ProfilerActivity, profile, record_function
from gradpack.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    Sampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
)


class Residual(nn.Module):
    expansion: int = 1

    def __init__(self, cin: int, cout: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or cin != cout:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.bn1(self.conv1(x))
        out += self.shortcut(x)
        return self.relu(out)


class Net(nn.Module):
    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        for a, b in zip(widths, widths[1:]):
            blocks.append(Residual(a, b, stride=2))
        self.body = nn.Sequential(*blocks)
        self.heads = nn.ModuleList([nn.Linear(widths[-1], 2) for _ in range(3)])
        self.named = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.ReLU()})
        self.scale = nn.Parameter(torch.ones(1))
        self.register_parameter("shift", Parameter(torch.zeros(1)))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long), persistent=False)
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(2)])

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        self.steps.add_(1)
        feats = F.adaptive_avg_pool2d(self.body(x), (1, 1)).flatten(1) * self.scale + self.shift
        outs = [head(feats) for head in self.heads]
        return [self.named["b"](self.named["a"](o)) * self.scales[0] for o in outs]


class Stream(IterableDataset[torch.Tensor]):
    def __iter__(self) -> Iterable[torch.Tensor]:  # type: ignore[override]
        yield from torch.arange(6.0).split(1)


net = Net([3, 4, 8])
outs = net(torch.randn(2, 3, 8, 8))
print(
    len(outs),
    net.steps.item(),
    [n for n, _ in net.named_parameters()][:3],
    [type(m).__name__ for m in net.modules()][:3],
    len(net.heads),
    net.heads[0].weight.shape,
)
other = copy.deepcopy(net)
other.load_state_dict(net.state_dict())
net.half().float().double().to(dtype=torch.float32).to("cpu").requires_grad_(False).train(False)
for name, child in net.named_children():
    print(name, child.training)
for p in net.parameters():
    p.requires_grad = True
ds = TensorDataset(torch.randn(10, 2), torch.arange(10))
for xb, yb in DataLoader(ds, batch_size=4, sampler=WeightedRandomSampler([1.0] * 10, 8), drop_last=True):
    print(xb.shape, yb.dtype)
for item in DataLoader(Stream(), batch_size=2):
    print(item)
sub = Subset(ds, range(5))
dl = DataLoader(
    sub,
    batch_sampler=BatchSampler(RandomSampler(sub), 2, False),
    collate_fn=lambda items: items,
    generator=torch.Generator().manual_seed(0),
)
print(len(dl), next(iter(dl)))
seq = nn.Sequential(OrderedDict([("fc", nn.Linear(2, 2)), ("act", nn.ReLU())]))
print(seq[0], seq[-1], len(seq), seq[:1])
arr: np.ndarray = torch.ones(2).numpy()
t = torch.from_numpy(np.zeros((2, 2), dtype=np.float32)) + torch.as_tensor(arr) + torch.tensor(np.ones(2))
print(
    t,
    np.asarray(t),
    t.dtype,
    t.device.type,
    t.size(),
    t.size(0),
    t.dim(),
    t.element_size(),
    t.stride(),
    t.is_contiguous(),
    t.data_ptr() > 0,
)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print((torch.randn(2, 2) @ torch.randn(2, 2)).dtype)
scaler = torch.amp.GradScaler("cpu", enabled=False)
torch.set_printoptions(profile="default", sci_mode=None)
torch.set_default_dtype(torch.float32)
with torch.random.fork_rng():
    torch.manual_seed(1)
with torch.inference_mode():
    print(net(torch.randn(1, 3, 8, 8))[0])
compiled = torch.compile(seq)
print(compiled(torch.randn(1, 2)))


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


print(f(torch.ones(2)))
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof, record_function("x"):
    torch.ones(3) + 1
print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=3)[:10])
with torch.backends.cudnn.flags(enabled=True, deterministic=True, benchmark=False):
    print(torch.backends.cudnn.benchmark, torch.backends.cuda.matmul.allow_tf32)
torch.use_deterministic_algorithms(False)
print(torch.__version__, torch.version.cuda, torch.cuda.device_count())
