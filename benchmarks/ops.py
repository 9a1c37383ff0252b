"""Time every operator against torch, forward alone and forward with backward, at three sizes.

    python -m benchmarks.ops [--only NAME]... [--size small|medium|large]... [--rounds N] [--json FILE]

A ratio above 1 means that gradpack takes longer. Both compute on one thread, whose time is measured
(what other processes take of a processor does not count), take turns in one process, and must agree
on the values first. At the end stand the operators that take more than
twice torch's time at the large size. Products, elementwise operations, softmax, layer_norm,
reductions, indexing and 3x3 convolutions should not be among them.
"""

import argparse
import ast
import gc
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import harness

Tensor = Any
Step = Callable[[], object]
SIZES = {"small": 10, "medium": 10_000, "large": 1_000_000}
SLOW = 2.0  # times torch's, at the large size
TOLERANCE = 2e-3  # of the largest value: float32, summed in any order


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    harness.pin_threads()
    from benchmarks.operators import OPERATORS
    from benchmarks.overhead import describe, imported, show

    torch, subject = imported("torch"), imported("gradpack")
    if torch is None or subject is None:
        print("ops: needs torch and gradpack: pip install torch==2.13.0, pip install -e .", file=sys.stderr)
        return 1
    torch.set_num_threads(1)
    subject.set_num_threads(1)
    libraries = {"torch": torch, "gradpack": subject}
    known = {o.name for o in OPERATORS}
    if unknown := set(options.only or []) - known:
        print(f"ops: no operator is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    settle_malloc()
    facts = harness.machine(("gradpack", "numpy", "torch"))
    print(describe(facts))

    rows, records, failed = [], [], []
    for operator in OPERATORS:
        if options.only and operator.name not in options.only:
            continue
        for size in options.size or SIZES:
            try:
                record = measure(operator, size, libraries, options.rounds)
            except Exception as error:  # one operator that fails must not hide the others
                failed.append(f"{operator.name}, {size}: {type(error).__name__}: {error}")
                continue
            records.append(record)
            rows.append(row(record))
        gc.collect()
    show(HEADER, rows)
    slow = [r for r in records if r["size"] == "large" and max(r["ratios"].values()) > SLOW]
    print(f"{len({r['name'] for r in records})} operators")
    print(f"slower than {SLOW:g}x at the large size: {', '.join(described(slow)) or 'none'}")
    for line in failed:
        print(line, file=sys.stderr)
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": facts, "operators": records}, indent=1) + "\n")
    return 1 if failed else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ops", description="Time every operator against torch.")
    parser.add_argument("--only", action="append", metavar="NAME", help="this operator (may be given several times)")
    parser.add_argument("--size", action="append", choices=SIZES, help="this size (may be given several times)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds per operator (default 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the times there")
    return parser.parse_args(arguments)


def settle_malloc() -> None:
    """Let glibc keep freed memory up to 32 MiB, as in any process that has freed as much before.

    Until then, arrays of a few megabytes go back to the system whenever several are freed at once, and what is
    measured is which library frees the next one at the wrong moment.
    """
    import numpy as np

    np.ones(4_000_000)


def operands(expression: str) -> list[str]:
    """The names of an expression that stand for arrays, in order."""
    from benchmarks.operators import ARRAYS

    found = [n.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name) and n.id in ARRAYS]
    return list(dict.fromkeys(found))


def prepared(operator: Any, n: int, torch: ModuleType) -> tuple[Step, Step | None]:
    """Forward, and forward with backward where there is one."""
    import numpy as np

    from benchmarks.operators import ARRAYS, Sizes

    names = operands(operator.expression)
    values = []
    for name in names:
        array = ARRAYS[name](np.random.default_rng(sorted(ARRAYS).index(name)), Sizes(n))
        value = torch.tensor(array)
        values.append(value.requires_grad_() if operator.gradient and array.dtype.kind in "fc" else value)
    function = eval(f"lambda torch, F, {', '.join(names)}: {operator.expression}")

    def forward() -> Any:
        return function(torch, torch.nn.functional, *values)

    inputs = [v for v in values if v.requires_grad]
    ends = differentiable(forward())
    if not ends:
        return forward, None
    seeds = [seed(torch, e) for e in ends]
    grad = torch.autograd.grad

    def both() -> object:
        return grad(differentiable(forward()), inputs, seeds, allow_unused=True)

    return forward, both


def seed(torch: ModuleType, end: Tensor) -> Tensor:
    """A cotangent: not all ones, because the gradient of a softmax would be zero."""
    import numpy as np

    values = np.random.default_rng(7).normal(size=tuple(end.shape))
    return torch.tensor(values).to(end.dtype)


def differentiable(result: Any) -> list[Tensor]:
    return [t for t in listed(result) if t.requires_grad]


def listed(result: Any) -> list[Tensor]:
    if isinstance(result, tuple | list):
        return [t for part in result for t in listed(part)]
    return [result] if hasattr(result, "requires_grad") else []


def agree(name: str, found: list[Any], expected: list[Any]) -> None:
    """Refuse to time what differs: indices may where values are equal, so only numbers count."""
    from benchmarks.overhead import array, difference

    pairs = [
        (array(e.detach().resolve_conj()), array(f.detach().resolve_conj()))
        for e, f in zip(expected, found, strict=True)
        if e is not None and str(e.dtype) in ("torch.float32", "torch.float64", "torch.complex64") and e.numel()
    ]
    if pairs:
        error = difference([p[0] for p in pairs], [p[1] for p in pairs])
        if not error <= TOLERANCE:
            raise ArithmeticError(f"{name}: values differ by {error:.2g} of the largest")


def measure(operator: Any, size: str, libraries: dict[str, ModuleType], rounds: int) -> dict[str, Any]:
    """The microseconds and ratios of one operator at one size."""
    steps = {label: prepared(operator, SIZES[size], library) for label, library in libraries.items()}
    record: dict[str, Any] = {"name": operator.name, "size": size, "microseconds": {}, "ratios": {}}
    for nr, what in enumerate(("forward", "both")):
        jobs = {label: pair[nr] for label, pair in steps.items()}
        if any(job is None for job in jobs.values()):
            if any(job is not None for job in jobs.values()):
                raise ArithmeticError("only one library gives a gradient")
            continue
        if operator.checked:
            agree(what, listed(jobs["gradpack"]()), listed(jobs["torch"]()))
        gc.freeze()  # what is alive now is not looked at again by every collection between the blocks
        timings = harness.compare(
            jobs, rounds, block=0.004, warm=0.004, calls=3 if size == "large" else 16, clock=harness.CPU_TIME
        )
        gc.unfreeze()
        record["microseconds"][what] = {label: 1e6 * t.median for label, t in timings.items()}
        pairs = zip(timings["gradpack"].seconds, timings["torch"].seconds, strict=True)
        record["ratios"][what] = median(a / b for a, b in pairs)
    return record


HEADER = ["operator", "size", "torch µs", "gradpack µs", "ratio", "both: torch µs", "both: gradpack µs", "both: ratio"]


def row(record: dict[str, Any]) -> list[str]:
    from benchmarks.overhead import number

    cells = [record["name"], record["size"]]
    for what in ("forward", "both"):
        times = record["microseconds"].get(what)
        if times is None:
            cells += ["", "", ""]
        else:
            cells += [number(times["torch"]), number(times["gradpack"]), f"{record['ratios'][what]:.2f}"]
    return cells


def described(records: list[dict[str, Any]]) -> list[str]:
    worst = sorted(records, key=lambda r: -max(r["ratios"].values()))
    return [f"{r['name']} {' / '.join(f'{v:.1f}' for v in r['ratios'].values())}" for r in worst]


if __name__ == "__main__":
    sys.exit(main())
