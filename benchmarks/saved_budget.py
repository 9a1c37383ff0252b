"""What recompute and a budget in bytes cost on a transformer with dropout: bytes, time, exactness.

    python -m benchmarks.saved_budget [--large] [--levels 20] [--rounds 7]

Every way takes each step from the same weights with the same random numbers, and they take turns:
what counts is the ratio of times within a round; that of processor times tells more where others use the
machine. Bytes are those of distinct storages that are held
for backward when the forward pass is over, without parameters, and for budgets the most at any moment.
The loss stays outside of the block, as in the demo.

"planned" is what the plan says that it costs, "planning" the processor time that making plans took, and "of 100" that
part of a hundred steps. "first" is the first step, which is measured, for the time of one without a budget.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

from benchmarks.harness import pin_threads

Step = Callable[[Any], list[Any]]
MIB = 1 << 20


class Way(NamedTuple):
    """One way of keeping saved tensors."""

    name: str
    policy: Any
    asked: float  # of the bytes without any, 0 for no limit
    seconds: list[float]
    cpu: list[float]
    first: list[float]


def problem(large: bool) -> tuple[Any, Callable[..., list[Any]]]:
    """The demo's transformer, or one of the size that is usual for comparisons; and a step of it."""
    import gradpack as torch
    from gradpack.examples.gpt import GPT, draw, loss_of

    torch.manual_seed(0)
    vocabulary, context, width, heads, layers, batch = (96, 128, 192, 6, 4, 16) if large else (96, 96, 96, 4, 3, 12)
    model = GPT(vocabulary, context, width, heads, layers, dropout=0.1)
    tokens, targets = draw(torch.randint(vocabulary, (5000,)), batch, context)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0)

    def step(policy: Any, between: Callable[[], None] | None = None) -> list[Any]:
        torch.manual_seed(1)
        optimizer.zero_grad()
        with policy:
            logits = model(tokens)
        loss = loss_of(logits, targets)
        del logits
        if between is not None:
            between()
        loss.backward()
        optimizer.step()
        return [parameter.grad.numpy() for parameter in model.parameters()]

    return model, step


def held(model: Any, step: Callable[..., list[Any]], policy: Any) -> int:
    """The bytes that are held for backward when the forward pass is over."""
    from gradpack.saved import meter

    found: list[int] = []
    with meter(model.parameters()) as measured:
        step(policy, lambda: found.append(measured.now))
    return found[0]


def main() -> int:
    parser = ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--large", action="store_true", help="4 layers, width 192, 16 times 128 positions")
    parser.add_argument("--levels", type=int, default=20, help="budgets from 1.0 to 0.1 of the bytes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, choices=(0, 1), help="0: as many as BLAS likes")
    args = parser.parse_args()
    if args.threads:
        pin_threads()
    import numpy as np

    from gradpack import saved

    model, step = problem(args.large)
    plain = Way("keep", nullcontext(), 0.0, [], [], [])
    exact = [g.copy() for g in step(plain.policy)]
    full = held(model, step, plain.policy)
    measure = saved.budget(1 << 50)
    step(measure)
    counted = measure.peak  # within the block; the loss is outside

    ways = [plain, Way("recompute", saved.recompute(), 0.0, [], [], [])]
    for level in range(args.levels):
        part = 1.0 - 0.9 * level / max(args.levels - 1, 1)
        ways.append(Way(f"budget {part:.3f}", saved.budget(int(counted * part), disk=1 << 40), part, [], [], []))

    wrong = 0
    for way in ways[1:]:
        for _ in range(4):  # the first is measured, the second planned, and the third has learned what that cost
            start = perf_counter()
            mine = step(way.policy)
            way.first.append(perf_counter() - start)
            wrong += not all(np.array_equal(a, b) for a, b in zip(exact, mine, strict=True))
    for _ in range(args.rounds):
        for way in ways:
            start, begin = perf_counter(), process_time()
            step(way.policy)
            way.seconds.append(perf_counter() - start)
            way.cpu.append(process_time() - begin)

    titles = ("asked", "most held", "of keep", "on disk", "time", "cpu", "planned", "planning", "of 100", "first")
    print(f"{'MiB, ratios, ms':16}" + "".join(f"{title:>10}" for title in titles))
    over = 0
    each, step_now = median(plain.seconds), median(plain.cpu)
    shares, ratios, planned = [], [], []
    for way in ways:
        ratio = median(a / b for a, b in zip(way.seconds, plain.seconds, strict=True))
        worked = median(a / b for a, b in zip(way.cpu, plain.cpu, strict=True))
        if not way.asked:
            size = full if way is plain else held(model, step, way.policy)
            row: tuple[float, ...] = (full / MIB, size / MIB, size / full, 0.0, ratio, worked)
        else:
            p = way.policy
            over += p.peak > p.limit
            shares.append(p.planning / (100 * step_now))
            planned.append(p.plan.seconds)
            ratios.append(worked)
            row = (
                p.limit / MIB,
                p.peak / MIB,
                p.peak / counted,
                p.disk_peak / MIB,
                ratio,
                worked,
                p.plan.seconds * 1e3,
                p.planning * 1e3,
                shares[-1],
                way.first[0] / each,
            )
        print(f"{way.name:16}" + "".join(f"{number:10.3f}" for number in row))
    falls = [1 - less / more for more, less in pairwise(ratios)]
    print(f"less room takes at most {max(falls, default=0.0):.1%} less processor time than more room")
    rises = [(more - less) / step_now for more, less in pairwise(planned)]
    print(f"and by its plan at most {max(rises, default=0.0):.1%} of a step less")
    print(f"planning took {max(shares, default=0.0):.2%} of a hundred steps at most")
    print(f"keep: {median(plain.seconds) * 1e3:.1f} ms a step, median of {args.rounds} rounds")
    print(f"wrong gradients: {wrong}; budgets passed: {over}")
    return int(bool(wrong or over))


if __name__ == "__main__":
    sys.exit(main())
