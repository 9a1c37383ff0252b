"""Error messages for parts of torch that gradpack does not have."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

from .names import LIBRARY, name_of, reason

_FOLDER = os.path.dirname(os.path.dirname(__file__)) + os.sep
_IMPORTLIB = "<frozen importlib._bootstrap"  # the import system itself, with `_external` and without


def _callers() -> FrameType | None:
    """The frames from the one that is below `compat` on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    return frame


def importing() -> str:
    """Return how the finder was called: "import" for `import torch.x`, "from" for `from torch import x`, else ""."""
    frame = _callers()
    found = ""
    while frame is not None and frame.f_code.co_filename.startswith(_IMPORTLIB):
        if frame.f_code.co_name == "_find_and_load_unlocked":
            found = found or "import"
        elif frame.f_code.co_name == "_handle_fromlist":
            return "from"
        frame = frame.f_back
    return found


def sentence(path: str) -> str:
    """`gradpack has no torch.x (line 3 of train.py): why`."""
    frame = _callers()
    while frame is not None and frame.f_code.co_filename.startswith(_IMPORTLIB):
        frame = frame.f_back
    where = "" if frame is None else f" (line {frame.f_lineno} of {frame.f_code.co_filename})"
    why = reason(path)
    return f"{LIBRARY} has no {name_of(path)}{where}" + (f": {why}" if why else "")


def attribute(path: str, module: Any) -> AttributeError:
    return AttributeError(sentence(path), name=path.rpartition(".")[2], obj=module)


def module(path: str) -> ImportError:
    """Return the exception for a missing module; for `from torch import x`, one that Python does not replace."""
    if importing() == "from":
        return ImportError(sentence(path), name=name_of(path).rpartition(".")[0])
    return ModuleNotFoundError(sentence(path), name=name_of(path))
