"""The same training steps under several ways of keeping saved tensors, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import gradpack as torch

from ..examples.gpt import GPT, loss_of
from ..saved import Disk, bfloat16, meter
from .problem import Problem

Hooked = Callable[[], AbstractContextManager[Any]]
Step = tuple[torch.Tensor, torch.Tensor]


@dataclass
class Way:
    """One way of keeping saved tensors, and its measurements."""

    name: str
    hooks: Hooked = nullcontext  # entered around the forward pass of the model
    recompute: bool = False
    peak: int = 0  # bytes in memory
    on_disk: int = 0
    curve: list[tuple[float, int]] = field(default_factory=list)  # seconds, bytes
    seconds: list[float] = field(default_factory=list)  # one per round
    error: float = 0.0  # largest relative difference of a gradient from the first way's

    def slower_than(self, other: Way) -> float:
        """The median of the ratios of times taken in the same round."""
        return median(mine / theirs for mine, theirs in zip(self.seconds, other.seconds, strict=True))


@contextmanager
def four_ways(model: GPT) -> Iterator[list[Way]]:
    """keep, bfloat16, disk, recompute each block: the first is what the others are compared with."""
    parameters = list(model.parameters())
    hooks = torch.autograd.graph.saved_tensors_hooks
    low = bfloat16(parameters)
    try:
        disk = Disk(parameters=parameters)
    except OSError as error:
        raise Problem(f"cannot make a temporary file: {error}", code=1) from None
    with disk:
        spill = Way("spill to disk", lambda: hooks(*disk))
        yield [Way("keep"), Way("bfloat16", lambda: hooks(*low)), spill, Way("recompute blocks", recompute=True)]
        spill.on_disk = disk.peak


def compare(
    model: GPT, ways: Sequence[Way], steps: Sequence[Step], seed: int, done: Callable[[int], None] = lambda _: None
) -> None:
    """Measure all ways. The first step of each is metered, the others are timed.

    Every way takes each step from the same weights, with the same random numbers, and in turn:
    whatever else the machine does slows all of them down. The gradient's difference is taken over
    all steps; bytes are not, because each step keeps the same.
    """
    start = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for round_, step in enumerate(steps):
        gradients: dict[str, list[torch.Tensor]] = {}
        turn = round_ % len(ways)
        for way in [*ways[turn:], *ways[:turn]]:
            _restore(model, start)
            torch.manual_seed(seed + round_)
            if round_ == 0:
                with meter(model.parameters()) as measured:
                    take(model, optimizer, step, way)
                way.peak, way.curve = measured.peak, measured.curve
            else:
                begin = perf_counter()
                take(model, optimizer, step, way)
                way.seconds.append(perf_counter() - begin)
            gradients[way.name] = [p.grad.clone() for p in model.parameters() if p.grad is not None]
        for way in ways[1:]:
            pairs = zip(gradients[way.name], gradients[ways[0].name], strict=True)
            way.error = max(way.error, *(difference(mine, exact) for mine, exact in pairs))
        done(round_ + 1)
    _restore(model, start)
    optimizer.zero_grad()


def take(model: GPT, optimizer: Any, step: Step, way: Way) -> None:
    """Run one training step. The loss is outside of the hooks, where lossy ones would hurt most."""
    tokens, targets = step
    model.recompute = way.recompute
    optimizer.zero_grad()
    with way.hooks():
        logits = model(tokens)
    loss = loss_of(logits, targets)
    del logits  # autograd may keep it; this function does not
    loss.backward()
    optimizer.step()
    model.recompute = False


def difference(a: torch.Tensor, exact: torch.Tensor) -> float:
    """Return the norm of a - exact relative to that of exact."""
    size, off = float((exact**2).sum()) ** 0.5, float(((a - exact) ** 2).sum()) ** 0.5
    return off / size if size else float("inf") if off else 0.0


def _restore(model: GPT, start: Sequence[torch.Tensor]) -> None:
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), start, strict=True):
            parameter.copy_(value)
