"""Count the Python functions, and the files that they are in, which one warm call passes.

    python -m benchmarks.calls [-v]

Counts calls of gradpack's functions by `sys.setprofile`, after five calls. What a call passes is what a reader of a
traceback, or of a profile, has to understand.
"""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import gradpack as torch
import gradpack.autograd.forward_ad as fwAD

ROOT = str(Path(torch.__file__).parent)
LEAF = torch.ones(4, requires_grad=True)


def write_through_view() -> None:
    y = LEAF * 1.0
    y.view(2, 2).mul_(2.0)
    y.sum().backward()


def gradients_of_examples() -> None:
    torch.func.vmap(torch.func.grad(lambda t: (t * t).sum()))(torch.ones(3, 2))


def dual_numbers() -> None:
    with fwAD.dual_level():
        d = fwAD.make_dual(torch.ones(3), torch.ones(3))
        fwAD.unpack_dual((d * d).sum())


def passed(program: Callable[[], Any]) -> Counter[tuple[str, str, int]]:
    """Return how often each function was called: by file below the package, name and first line."""
    found: Counter[tuple[str, str, int]] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT):
            found[code.co_filename.removeprefix(ROOT + "/"), code.co_name, code.co_firstlineno] += 1

    for _ in range(5):
        program()
    sys.setprofile(count)
    try:
        program()
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    for program in (write_through_view, gradients_of_examples, dual_numbers):
        found = passed(program)
        files = {file for file, _, _ in found}
        print(f"{program.__name__}: {found.total()} calls of {len(found)} functions in {len(files)} files")
        if "-v" in sys.argv:
            for (file, name, line), times in found.items():
                print(f"    {times:3} {file}:{line} {name}")


if __name__ == "__main__":
    main()
