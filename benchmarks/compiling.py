"""Time what `compile` costs besides the program: recordings of the demo's training step, and the guards of a call.

    python -m benchmarks.compiling [--rounds N] [--numba]

A recording is timed as the calls from the second one to the first one that a program makes, less as many plain steps:
recording, the passes, the text of the program, and its comparison with the function. Without compiled loops, if
`--numba` does not ask for them, as Numba's compilation counts, too, where it is not on disk yet. Guards are timed with
the last of them failing, so that a call ends before the program. Bars: one second; 5 microseconds plus 20 ns for each
tensor that the function captured.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import harness

_PLAIN = 5  # steps without a program that are timed


def demo_step(torch: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The training step of `gradpack demo`, by its example's text, and a batch."""
    from gradpack.examples.gpt import GPT, loss_of

    torch.manual_seed(0)
    model = GPT(96)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)

    def step(tokens: Any, targets: Any) -> Any:
        loss = loss_of(model(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step, tuple(torch.randint(0, 96, (12, 96)) for _ in range(2))


def forward_pass(torch: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A network of nine linear layers without gradients: a short program, so that guards are most of a call."""
    model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(9)])
    x = torch.randn(4, 8)

    def forward(x: Any) -> Any:
        with torch.no_grad():
            return model(x)

    return forward, (x,)


def recording(torch: Any) -> float:
    """Return the seconds that the first program of the demo's step takes beside plain steps."""
    step, batch = demo_step(torch)
    step(*batch)
    times = []
    for _ in range(_PLAIN):
        begin = perf_counter()
        step(*batch)
        times.append(perf_counter() - begin)
    compiled = torch.compile(step)
    compiled(*batch)
    begin, calls = perf_counter(), 0
    while not compiled.compared and calls < 8:
        compiled(*batch)
        calls += 1
    if not compiled.compared:
        raise SystemExit(f"no program was made: {compiled.explain()}")
    return perf_counter() - begin - calls * median(times)


def guards(function: Callable[..., Any], args: tuple[Any, ...], torch: Any) -> tuple[float, int]:
    """Return the seconds that the guards of a call take, and how many tensors the function captured."""
    compiled = torch.compile(function)
    for _ in range(6):
        compiled(*args)
    (turn,) = compiled._turns
    names = turn.__globals__
    holds = names["unchanged"]
    try:
        names["unchanged"] = lambda: not holds()
        check = lambda: turn(args, {})  # noqa: E731 - a step without arguments
        harness.warm_up(check, 0.05)
        count = harness.repetitions_for(check, 0.02)
        seconds = median(harness.seconds_of(check, count) for _ in range(15)) / count
    finally:
        names["unchanged"] = holds
    return seconds, len(compiled.kept[0].sources) - len(args)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--numba", action="store_true", help="with compiled loops")
    options = parser.parse_args()
    if not options.numba:
        os.environ["GRADPACK_COMPILED"] = "0"
    harness.pin_threads()
    import gradpack as torch

    print(harness.machine(("gradpack", "numpy")))
    times = [recording(torch) for _ in range(options.rounds)]
    print(f"recording the demo's step: {median(times):.2f} s ({min(times):.2f} to {max(times):.2f}; bar 1)")
    for name, (function, args) in {"forward pass": forward_pass(torch), "demo's step": demo_step(torch)}.items():
        seconds, count = min(guards(function, args, torch) for _ in range(options.rounds))
        print(f"guards of a {name}: {seconds * 1e6:.2f} us, {count} captured tensors (bar {5 + 0.02 * count:.2f})")


if __name__ == "__main__":
    main()
