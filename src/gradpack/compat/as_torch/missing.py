"""Error messages for parts of torch that gradpack does not have, and for names that there are nowhere."""

from __future__ import annotations

import os
import sys
from difflib import SequenceMatcher, get_close_matches
from opcode import opmap
from types import FrameType, ModuleType
from typing import Any

from .. import torch_names
from .names import LIBRARY, name_of, path_of, reason

_FOLDERS = tuple(
    os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), part)
    for part in ("compat" + os.sep, "__init__.py", os.path.join("base", "when_imported.py"))
)
_IMPORTLIB = "<frozen importlib._bootstrap"  # the import system itself, with `_external` and without


def _callers() -> FrameType | None:
    """The frames from the one that is below `compat` on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDERS):
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


class Sentence(str):
    """A message, to which a similar name is added when it is read: programs that only ask pay for no search."""

    __slots__ = ("_module", "_name")
    _module: Any
    _name: str

    def __str__(self) -> str:
        near = similar(self._module, self._name)
        return str.__str__(self) + (f". Did you mean: {near!r}?" if near else "")

    __repr__ = __str__


def _suggesting(text: str, module: Any, name: str) -> Sentence:
    said = Sentence(text)
    said._module, said._name = module, name
    return said


def similar(module: Any, name: str) -> str | None:
    """Return the public name in a module that is most like one that it lacks; None if none is."""
    library, _, below = module.__name__.partition(".")
    of_torch = torch_names.names(module.__name__ if library == "functorch" else f"torch.{below}".rstrip("."))
    known = {n for n in {*dir(module), *of_torch} if n[:1] != "_" or name[:1] == "_"}
    written = name.lower()
    low: dict[str, list[str]] = {}
    for n in sorted(known):
        low.setdefault(n.lower(), []).append(n)
    near = get_close_matches(written, low, n=9, cutoff=0.75)
    if not near and len(written) > 3:  # as `xavier` for `xavier_normal_`, and `init` for `init_process_group`
        near = [n for n in low if n.startswith(written.rstrip("_") + "_") and f"{n}_" not in low]
    exported = {*getattr(module, "__all__", known)}

    def likeness(low_name: str, n: str) -> tuple[bool | float, ...]:
        swapped = sorted(low_name) == sorted(written)  # two letters, as in `flaot32`
        ratio = SequenceMatcher(None, low_name, written).ratio()
        if n not in exported:  # as a module `adam` beside the class `Adam`
            ratio -= 0.1
        return swapped, ratio, n in exported, (n.lower() == n) == (written == name)

    # The first of those that are equally like it: `BatchNorm1d` for `BatchNorm`.
    return max(((m, n) for m in sorted(near) for n in low[m]), key=lambda pair: likeness(*pair), default=("", None))[1]


def sentence(path: str) -> str:
    """`gradpack has no torch.x (line 3 of train.py): why`."""
    frame = _callers()
    while frame is not None and frame.f_code.co_filename.startswith(_IMPORTLIB):
        frame = frame.f_back
    where = "" if frame is None else f" (line {frame.f_lineno} of {frame.f_code.co_filename})"
    why = reason(path)
    return f"{LIBRARY} has no {name_of(path)}{where}" + (f": {why}" if why else "")


def refusal(place: str) -> str:
    """The same for the full name of something that is called, or computed with."""
    path = path_of(place)
    return sentence(place if path is None else path)


def attribute(path: str, module: Any) -> Exception:
    """Return the exception for a name that a module lacks: an ImportError where `from` asks for it."""
    name = path.rpartition(".")[2]
    if isinstance(module, ModuleType) and module.__name__.partition(".")[0] == LIBRARY:
        text = f"module {module.__name__!r} has no attribute {name!r}"
    else:
        text = sentence(path)
    frame = _callers()
    if frame is not None and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]:
        return ImportError(_suggesting(text, module, name), name=module.__name__)
    return AttributeError(_suggesting(text, module, name), name=name)


def module(path: str) -> ImportError:
    """Return the exception for a missing module; for `from torch import x`, one that Python does not replace."""
    above, _, name = path.rpartition(".")
    said = _suggesting(sentence(path), sys.modules.get(name_of(above), sys.modules.get("torch")), name)
    if importing() == "from":
        return ImportError(said, name=name_of(path).rpartition(".")[0])
    return ModuleNotFoundError(said, name=name_of(path))
