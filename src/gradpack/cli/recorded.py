"""Run a program on torch or on gradpack, and write down what each operation gave: a process that `run --check` starts.

Arguments: the library, the file to write, then what `gradpack run` takes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TextIO

from . import run

MOST = 100_000  # operations that are written down
_SAMPLES = 16  # elements of a result
_LIBRARIES = ("torch", str(__package__).partition(".")[0])


def main(argv: Sequence[str]) -> None:
    """Run a program. Its exceptions are left to Python."""
    library, path, *rest = argv

    def prepare() -> None:
        if library != "torch":
            run.install()

    program = run.found(rest, prepare)
    with open(path, "w", encoding="utf-8", buffering=1) as file:
        recorder = _recorder(import_module("torch"), file)
        with recorder:
            run.start(program)


def _recorder(torch: Any, file: TextIO) -> Any:
    overrides = import_module("torch.overrides")
    mode: Any = overrides.TorchFunctionMode

    class Recorder(mode):  # type: ignore[misc]
        """Writes a line for each result that is a tensor."""

        left = MOST

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            if self.left and isinstance(out, torch.Tensor):
                self.left -= 1
                name = str(overrides.resolve_name(func) or getattr(func, "__name__", func))
                file.write(json.dumps([*_place(), name, *_content(torch, out)]) + "\n")
            return out

    return Recorder()


def _place() -> tuple[str, int]:
    """The file and the line of the innermost frame that is none of the libraries'."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name, file = str(frame.f_globals.get("__name__")), frame.f_code.co_filename
        if name.partition(".")[0] not in _LIBRARIES and file != __file__:
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0


def _content(torch: Any, out: Any) -> tuple[str, list[int], list[float]]:
    """The dtype, the shape, and some elements, from the first to the last."""
    kind = str(out.dtype).rpartition(".")[2]
    shape = list(out.shape)
    if out.device.type == "meta" or out.layout is not torch.strided or not out.numel() or not kind.startswith("float"):
        return kind, shape, []
    flat = out.detach().reshape(-1)
    places = torch.linspace(0, flat.numel() - 1, min(_SAMPLES, flat.numel())).long()
    return kind, shape, flat[places].double().tolist()


if __name__ == "__main__":
    main(sys.argv[1:])
