"""The text of each stub file."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import gradpack
from gradpack.base import dtypes
from gradpack.base.memory_formats import FORMATS
from gradpack.base.return_types import TYPES
from gradpack.compat import torch_names
from gradpack.compat.facades import FACADES, Facade
from gradpack.core.properties import TensorBase
from gradpack.ops import methods

from .signatures import described, function_text, written_by_hand

SOURCE = Path(gradpack.__file__).parent
_PACKAGE = vars(gradpack)
_STAND_INS = "export functional fx jit multiprocessing nested storage".split()  # modules that answer by a table
_NOTE = "Written by `python -m tools.stubs` from declarations and signatures."

# Where names of stubs come from: module, from the top of the package, and names.
_IMPORTS = (
    ("contextlib", "AbstractContextManager"),
    ("collections.abc", "Callable Iterable Iterator Sequence"),
    ("types", "ModuleType"),
    ("typing", "Any Literal NamedTuple NoReturn Self SupportsInt Type TypeVar overload"),
    ("numpy", "ndarray"),
    ("<package>", "return_types"),
    ("<package>.array_api._types", "Axes FloatLimits IntLimits Shape UniqueAll UniqueCounts UniqueInverse Where"),
    ("<package>.base.layouts", "layout:_layout"),
    ("<package>.base.memory_formats", "memory_format:_memory_format"),
    ("<package>.base.size", "Size"),
    ("<package>.core.storage", "UntypedStorage"),
    ("<package>.core.tensor", "Tensor"),
    ("<package>.nn.modules.linear_cross_entropy_options", "LinearCrossEntropyOptions"),
    ("<package>.ops.attributes", "TypedStorage"),
    ("<package>.ops.create.exchange", "DLDeviceType"),
    ("<package>.ops.random.generator", "Generator"),
    ("<package>.types", "Device:_Device _bool _complex _device _dtype _float _Index _int _Scalar"),
    ("<package>.utils.hooks", "RemovableHandle"),
)


def files() -> dict[str, str]:
    """Return the text of each stub file, by its path below the package."""
    methods.load_all()
    found = {"__init__.pyi": _top(), "core/tensor_methods.pyi": _tensor_methods(), "return_types.pyi": _return_types()}
    for name in ("nn.functional", "linalg", "fft", "special", "array_api"):
        module = importlib.import_module(f"gradpack.{name}")
        place = Path(str(module.__file__)).relative_to(SOURCE).with_suffix(".pyi")
        found[place.as_posix()] = _functions(module, len(place.parts))
    shared = sorted(gradpack.distributions._SHARED.items())
    lines = "\n".join(f"from . import {name} as {name}" for name, _ in shared)
    found["distributions/_shared.pyi"] = f'"""The modules that share a file.\n\n{_NOTE}\n"""\n\n{lines}\n'
    for name, (file, classes) in shared:
        body = "\n".join(f"from .{file} import {kind} as {kind}" for kind in classes.split())
        found[f"distributions/{name}.pyi"] = f'"""`torch.distributions.{name}`.\n\n{_NOTE}\n"""\n\n{body}\n'
    for name in _STAND_INS:
        entries = torch_names.names(f"torch.{name}").items()
        names = sorted(n for n, entry in entries if n[0] != "_" and entry.kind not in ("/", "~"))
        doc = f"`torch.{name}`: stand-ins for names that are not in gradpack."
        found[f"{name}.pyi"] = _stub(doc, 1, "\n".join(f"{n}: Any" for n in names), taken=names)
    for name, facade in FACADES.items():
        found[f"{name.replace('.', '/')}.pyi"] = _facade(facade)
    return found


def _stub(doc: str, depth: int, body: str, taken: Iterable[str] = ()) -> str:
    """Return a stub file: its documentation, the imports that `body` needs, and that."""
    lines = []
    words = set(re.findall(r"\w+", re.sub(r'""".*?"""', "", body)))
    dots = "." * depth
    for module, names in _IMPORTS:
        place = dots if module == "<package>" else module.replace("<package>.", dots)
        pairs = [n.partition(":") for n in names.split() if n not in taken]
        used = [f"{n} as {short}" if short else n for n, _, short in pairs if (short or n) in words]
        if used:
            lines.append(f"from {place} import {', '.join(used)}")
    return f'"""{doc}\n\n{_NOTE}\n"""\n\n' + "\n".join(lines) + "\n\n" + body.rstrip() + "\n"


def _facade(facade: Facade) -> str:
    """Return the stub of a module that only answers."""
    parts = [f"def {_shown(n)} -> {_kind_of(v)}: ..." for n, v in facade.answers.items()]
    parts += [f"def {_shown(n)} -> NoReturn: ..." for n in facade.errors]
    parts += [f"{n}: {_kind_of(v)}" for n, v in {**facade.values, **facade.settings}.items()]
    if facade.settings:
        flags = ", ".join(f"{n}: {_kind_of(v)} = ..." for n, v in facade.settings.items())
        parts.append(f"def flags(*, {flags}) -> AbstractContextManager[None]: ...")
    return _stub(facade.doc, 2, "\n".join(parts))


def _shown(text: str) -> str:
    """Return the name and the parameters of an answer, with a type for each."""
    name, _, parameters = text.rstrip(")").partition("(")
    parts = [
        f"{n}: {_kind_of(ast.literal_eval(d)) if d else 'Any'}{' = ' if d else ''}{d}"
        for n, _, d in (p.strip().partition("=") for p in parameters.split(",") if p)
    ]
    return f"{name}({', '.join(parts)})"


def _kind_of(value: Any) -> str:
    return type(value).__name__ if isinstance(value, bool | int | str) else "Any"


def _named() -> set[str]:
    return {name for name in TYPES if name[0] != "_"}


def _return_types() -> str:
    parts = []
    for name in sorted(_named()):
        kinds = {"bin_edges": "tuple[Tensor, ...]"} if name == "histogramdd" else {}
        fields = "".join(f"    {field}: {kinds.get(field, 'Tensor')}\n" for field in TYPES[name]._fields)
        each = "    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields\n"
        parts.append(f"class {name}(NamedTuple):\n{fields}{'' if kinds else each}")
    return _stub(str(gradpack.return_types.__doc__).partition("\n")[0], 1, "\n".join(parts))


# -- modules of functions --


def _functions(module: ModuleType, depth: int) -> str:
    """Return the stub of a module whose functions are operations of other modules."""
    parts: list[str] = []
    for name in sorted(module.__all__):
        found = getattr(module, name)
        if isinstance(found, ModuleType):
            parts.insert(0, f"from . import {name} as {name}")
        elif isinstance(found, type):
            parts.append(f"from {'.' * depth}base.errors import {name} as {name}")
        elif found is None or isinstance(found, dtypes.dtype | float):
            parts.append(f"{name}: {'_dtype' if isinstance(found, dtypes.dtype) else found and 'float'}")
        else:
            parts.append(function_text(name, found, _named(), own=str(module.__name__).rpartition(".")[2]))
    if module is gradpack.nn.functional:
        parts.insert(0, "from . import grad as grad")
    body = (
        "\n".join(parts)
        + f"\n\n__all__ = [\n{''.join(f'    {chr(34)}{n}{chr(34)},{chr(10)}' for n in sorted(module.__all__))}]"
    )
    return _stub(str(module.__doc__).partition("\n")[0], depth, body)


# -- gradpack itself --


def _top() -> str:
    names = [n for n in sorted(gradpack.__all__) if not isinstance(getattr(gradpack, n), ModuleType)]
    own = _imported_in(gradpack.__file__)
    parts = [f"from {module} import {name} as {name}" for name, module in sorted(own.items()) if name in names]
    parts += _modules()
    for name in names:
        if name not in own:
            parts.append(_top_name(name, getattr(gradpack, name)))
    public = "".join(f'    "{n}",\n' for n in sorted(set(gradpack.__all__)))
    parts += ["__version__: str", f"__all__ = [\n{public}]"]
    return _stub(str(gradpack.__doc__).partition("\n")[0], 1, "\n".join(parts), taken={"Tensor", "Size", "Generator"})


def _top_name(name: str, value: Any) -> str:
    place = _PACKAGE["_FROM"].get(name)
    if name in dtypes.DTYPES or name in dtypes.ALIASES:
        return f"{name}: _dtype"
    if name in FORMATS:
        return f"{name}: _memory_format"
    if place is not None:
        if name in _defined_in(f"gradpack.{place}"):
            return f"from .{place} import {name} as {name}"
        if isinstance(value, type):
            return f"{name}: type[Tensor]"
    if not isinstance(value, FunctionType) and name in methods.MODULE_OF:
        return f"from .ops.{methods.MODULE_OF[name]} import {name} as {name}"
    if name == "newaxis":
        return "newaxis: None"
    return function_text(name, value, _named(), own="functions")


def _modules() -> list[str]:
    """Return the lines that import the modules which are found when they are asked for."""
    found = []
    for name in sorted({*_PACKAGE["_LAZY"], *_STAND_INS, "autograd", "futures", "hub", "ops"}):
        if (SOURCE / name).is_dir() or any((SOURCE / name).with_suffix(s).exists() for s in (".py", ".pyi")):
            found.append(f"from . import {name} as {name}")
        elif name[0] != "_":
            found.append(f"{name}: ModuleType")
    return found


def _defined_in(module: str) -> set[str]:
    """Return the names that the text of a module or package defines or imports."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return set()
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    found |= {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    return found | _imported_in(spec.origin).keys()


def _imported_in(file: str | None) -> dict[str, str]:
    """Return the names that a module imports at its top, and from where."""
    tree = ast.parse(Path(str(file)).read_text(encoding="utf-8"))
    return {
        a.asname or a.name: "." * n.level + (n.module or "")
        for n in tree.body
        if isinstance(n, ast.ImportFrom) and n.module != "__future__"
        for a in n.names
    }


# -- methods --


# What is written to tensors by assignment, and is typed where they are defined.
_INNER = frozenset("_backward_hooks _post_accumulate_grad_hooks".split())


def _tensor_methods() -> str:
    """Return the class of all that operations attach to tensors."""
    static = _written_members("core/properties.py", "TensorBase") | _written_members("core/tensor.py", "Tensor")
    by_hand = written_by_hand()["methods"]
    parts = []
    for name in sorted(dir(TensorBase)):
        found = vars(TensorBase).get(name)
        if name in static or found is None or name in _INNER:
            continue
        if isinstance(found, property):
            parts.append(_property(name, found))
        elif callable(found) and (name[:2] != "__" or _is_operator(name) or name in by_hand):
            parts.append(function_text(name, found, _named(), method=True, own="methods"))
    body = "\n".join(parts).replace("\n", "\n    ")
    return _stub(
        "The methods that operations attach to tensors, as type checkers see them.",
        2,
        f'_Kind = TypeVar("_Kind")\n\nclass TensorMethods:\n    {body}',
    )


def _is_operator(name: str) -> bool:
    found = getattr(TensorBase, name)
    return getattr(found, "__module__", "") != "builtins" and name not in ("__init__", "__new__", "__class__")


def _property(name: str, found: property) -> str:
    kind = (
        "Any"
        if name[0] == "_"
        else "_bool"
        if name.startswith("is_")
        else "_dtype | None"
        if "dtype" in name
        else "Tensor"
    )
    doc = described(found.fget)
    text = f"@property\ndef {name}(self) -> {kind}:" + (f'\n    """{doc}"""' if doc else " ...")
    return text if found.fset is None else f"{text}\n@{name}.setter\ndef {name}(self, value: {kind}) -> None: ..."


def _written_members(path: str, name: str) -> set[str]:
    """Return the members that the text of a class defines."""
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    body = next(n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    found = {n.name for n in body if isinstance(n, ast.FunctionDef)}
    for n in body:
        found |= {t.id for t in getattr(n, "targets", []) if isinstance(t, ast.Name)}
    return found
