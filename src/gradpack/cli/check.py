"""`gradpack run --check`: a program on torch and on gradpack, and the first thing in which the two differ."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from math import isclose, isnan
from typing import Any, NamedTuple

from .problem import Problem

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+|nan|inf)(?![\w.])")
_UNSET = re.compile(r"(^|[._])empty(_|$)")  # functions whose results hold anything
_DRAWN = re.compile(r"(^|[._])(rand|randn|randint|randperm|normal|uniform|bernoulli|dropout|multinomial|exponential)")


class Tolerance(NamedTuple):
    """How far numbers may be apart: by `absolute`, or by `relative` times the one of torch."""

    relative: float
    absolute: float

    def allows(self, a: float, b: float) -> bool:
        """Whether a number is near enough to that of torch."""
        return (isnan(a) and isnan(b)) or isclose(a, b, rel_tol=self.relative, abs_tol=self.absolute * (1 + 1e-9))


class Done(NamedTuple):
    """A program that ended: its exit code, what it printed and said of errors, and its operations."""

    code: int
    printed: list[str]
    errors: str
    operations: list[Any]


def check(rest: Sequence[str], tolerance: Tolerance) -> int:
    """Run a program on both libraries, and print the first difference.

    Returns:
        0 if there is none, else 1.

    Raises:
        Problem: if torch is not installed.
    """
    if importlib.util.find_spec("torch") is None:
        raise Problem("run --check: torch is not installed: there is nothing to compare with")
    done = {library: _run(library, rest) for library in ("torch", "gradpack")}
    theirs, ours = done["torch"], done["gradpack"]
    found = _exit(done) or _output(ours.printed, theirs.printed, tolerance)
    operation = _operation(ours.operations, theirs.operations, tolerance)
    if found:
        print(found, operation, sep="\n" if operation else "")
        return 1
    print(f"gradpack run --check: the {len(theirs.printed)} lines that the program printed are equal")
    if operation:
        print(operation)
    return 0


def _run(library: str, rest: Sequence[str]) -> Done:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "operations")
        command = [sys.executable, "-m", f"{__package__}.recorded", library, path, *rest]
        print(f"gradpack run --check: on {library} ...", file=sys.stderr, flush=True)
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - the user's own program
        operations: list[Any] = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                operations = [json.loads(line) for line in file if line.endswith("\n")]
    printed, errors = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Done(done.returncode, printed.splitlines(), errors, operations)


def _exit(done: dict[str, Done]) -> str:
    """Say which of the two failed; empty if both ended alike."""
    codes = {library: one.code for library, one in done.items()}
    if len(set(codes.values())) == 1:
        return ""
    lines = [f"gradpack run --check: exit code {codes['torch']} on torch, {codes['gradpack']} on gradpack"]
    for library, one in done.items():
        if one.code and one.errors:
            lines += [f"  errors on {library}:", *(f"    {line}" for line in one.errors.rstrip().splitlines()[-12:])]
    return "\n".join(lines)


def _output(ours: list[str], theirs: list[str], tolerance: Tolerance) -> str:
    """Describe the first line of the output that differs; empty if none does."""
    for i, (a, b) in enumerate(itertools.zip_longest(ours, theirs), 1):
        if a is not None and b is not None and _same(a, b, tolerance):
            continue
        shown = ("(no more lines)" if line is None else line for line in (b, a))
        return "gradpack run --check: line {} of the output differs\n  torch:    {}\n  gradpack: {}".format(i, *shown)
    return ""


def _same(a: str, b: str, tolerance: Tolerance) -> bool:
    if a == b:
        return True
    if _NUMBER.sub("#", a).split() != _NUMBER.sub("#", b).split():
        return False
    pairs = zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    return all(tolerance.allows(float(x), float(y)) for x, y in pairs)


def _operation(ours: list[Any], theirs: list[Any], tolerance: Tolerance) -> str:
    """Describe the first operation whose result differs; empty if none is known to."""
    mine = dict(_visits(ours))
    for visit, calls in _visits(theirs):
        for a, b in zip(mine.get(visit, ()), calls, strict=False):
            if _name(a) != _name(b):
                break  # what follows at this line is made of other operations
            said = "" if _UNSET.search(a[2]) else _difference(a, b, tolerance)
            if said:
                file, line = visit[0]
                hint = (
                    "\n  It draws random numbers, which are others here from the same seed (docs/differences.md): let "
                    "NumPy draw them."
                    if _DRAWN.search(b[2])
                    else ""
                )
                return f"The first result that differs: {b[2]} at {file}:{line}, {said}{hint}"
    return ""


def _visits(operations: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """The operations of a line of code each time that it runs, with the line and which time it is."""
    seen: dict[Any, int] = {}
    for place, calls in itertools.groupby(operations, lambda call: (call[0], call[1])):
        seen[place] = seen.get(place, 0) + 1
        yield (place, seen[place]), list(calls)


def _name(call: Any) -> str:
    return str(call[2]).rpartition(".")[2].strip("_")


def _difference(a: Any, b: Any, tolerance: Tolerance) -> str:
    """Say in which of dtype, shape and elements two results differ; empty if in none."""
    (kind, shape, values), (expected, expected_shape, expected_values) = a[3:], b[3:]
    if (kind, shape) != (expected, expected_shape):
        return f"{expected} {expected_shape} on torch, {kind} {shape} on gradpack"
    if len(values) != len(expected_values):
        return ""
    worst = max(zip(values, expected_values, strict=True), key=lambda pair: abs(pair[0] - pair[1]), default=(0.0, 0.0))
    for x, y in [worst, *zip(values, expected_values, strict=True)]:
        if not tolerance.allows(x, y):
            return f"{kind} {shape}: {y:.9g} on torch, {x:.9g} on gradpack"
    return ""
