"""From torch's objects to ours: tensors with their strides, functions with gradpack in the place of torch."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import torch

import gradpack
from gradpack.backends.numpy import PAIR


def array_of(t: Any) -> np.ndarray[Any, Any]:
    """The elements, strides included."""
    t = t.detach().resolve_conj().resolve_neg()
    if t._is_zerotensor():
        t = t.clone()
    if t.dtype == torch.bfloat16:
        return t.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    if t.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        return t.view(torch.uint8).numpy().view(getattr(ml_dtypes, str(t.dtype).removeprefix("torch.")))
    if t.dtype == torch.complex32:
        return torch.view_as_real(t).numpy().view(PAIR)[..., 0]
    return t.numpy()


class Translation:
    """Remembers tensors, so that one that is given twice stays one, and gradients can be asked for."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []
        self.memory: dict[tuple[int, Any], Any] = {}  # storages that were copied whole

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            for theirs, ours in self.pairs:
                if theirs is value:
                    return ours
            if value.layout is torch.sparse_coo:
                entries = value.detach()
                made = gradpack.sparse_coo_tensor(self(entries._indices()), self(entries._values()), tuple(value.shape))
            else:
                made = gradpack.from_numpy(self.copied(value))
            if value.requires_grad:
                made.requires_grad_()
            self.pairs.append((value, made))
            return made
        if isinstance(value, torch.Size):
            return gradpack.Size(value)
        if isinstance(value, torch.device):
            return gradpack.device(str(value))
        if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
            return getattr(gradpack, str(value).removeprefix("torch."))
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if type(value) in (list, tuple):
            return type(value)(map(self, value))
        if type(value) is dict:
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, types.FunctionType):
            return ours_from(value)
        if isinstance(value, torch.nn.Module):
            made = getattr(gradpack.nn, type(value).__name__)()
            made.__dict__.update({k: v for k, v in vars(value).items() if not k.startswith("_")})
            return made
        if dataclasses.is_dataclass(value) and type(value).__module__.startswith("torch.nn"):
            fields = {f.name: self(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return getattr(gradpack.nn, type(value).__name__)(**fields)
        return value

    def copied(self, t: Any) -> Any:
        """The elements in the same layout; tensors that share memory share it here."""
        if t._is_zerotensor() or not t.numel() or t.is_conj() or t.is_neg():
            return array_of(t).copy(order="K")
        key = (t.untyped_storage().data_ptr(), t.dtype)
        flat = self.memory.get(key)
        size = t.element_size()
        if flat is None:
            count = t.untyped_storage().nbytes() // size
            whole = array_of(torch.as_strided(t.detach(), (count,), (1,), 0)).copy()
            self.memory[key] = whole
            if t.is_contiguous() and t.numel() == count:
                return whole.reshape(tuple(t.shape))
            flat = whole
        strides = tuple(s * size for s in t.stride())
        return np.ndarray(tuple(t.shape), flat.dtype, flat, t.storage_offset() * size, strides)


def ours_from(function: Any, depth: int = 0) -> Any:
    """The same function with gradpack in the place of torch."""
    if isinstance(function, types.ModuleType) and function.__name__.split(".")[0] == "torch":
        return resolve(function.__name__.removeprefix("torch").lstrip("."))
    if not isinstance(function, types.FunctionType):
        path = path_of(function)
        return function if path is None else resolve(path)
    if function.__name__ == "wrapper_set_seed":
        return lambda op, *args, **kwargs: op(*args, **kwargs)
    if function.__module__.startswith("torch.") and "_internal" not in function.__module__:
        path = path_of(function)
        if path is not None:
            return resolve(path)
    names = {}
    if depth < 4:
        for name in names_in(function.__code__):
            if name in function.__globals__:
                value = function.__globals__[name]
                if name == "torch":
                    names[name] = gradpack
                elif isinstance(value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType):
                    try:
                        names[name] = ours_from(value, depth + 1)
                    except AttributeError:
                        continue
    cells = tuple(
        types.CellType(ours_from(c.cell_contents, depth + 1) if callable(c.cell_contents) else c.cell_contents)
        for c in function.__closure__ or ()
    )
    made = types.FunctionType(
        function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def names_in(code: types.CodeType) -> set[str]:
    """The names that a function uses, or functions within it."""
    return set(code.co_names).union(*(names_in(c) for c in code.co_consts if isinstance(c, types.CodeType)))


_PLACES = ("", "nn.functional", "linalg", "fft", "special", "Tensor", "_C._nn", "_C._special", "_C._linalg", "_C._fft")


def path_of(function: Any) -> str | None:
    """Where torch keeps a function."""
    name = getattr(function, "__name__", "")
    for place in _PLACES:
        owner: Any = torch
        for part in place.split(".") if place else ():
            owner = getattr(owner, part, None)
        if name and getattr(owner, name, None) is function:
            return f"{place}.{name}".lstrip(".")
    return None


def resolve(path: str) -> Any:
    found: Any = gradpack
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found


def our_function(info: Any) -> Callable[..., Any] | None:
    """What OpInfo calls, by gradpack; None where the name does not exist."""
    op = info.op
    try:
        if type(op).__module__ == "torch._ops":
            return resolve(f"ops.{op}") if str(op).startswith("aten.") else None
        if isinstance(op, types.FunctionType) and "_internal" in op.__module__:
            function = ours_from(op)
            for name in (
                info.name,
                f"nn.functional.{info.name}",
                f"Tensor.{info.name}",
                f"Tensor.{info.name}_",
                f"ops.aten.{info.name}",
            ):
                if exists(name):
                    return function
            return None
        theirs: Any = torch
        for part in info.name.split("."):
            theirs = getattr(theirs, part, None)
        if theirs is op or inspect.ismethoddescriptor(op):
            return _there(resolve(info.name if theirs is op else f"Tensor.{info.name}"))
        path = path_of(op)
        return _there(resolve(path or info.name))
    except AttributeError:
        return None


def _there(found: Any) -> Any:
    """The function, or None for a stand-in."""
    return None if type(found).__name__ == "Absent" else found


def exists(path: str) -> bool:
    try:
        resolve(path)
    except AttributeError:
        return False
    return True


def our_variant(variant: Any) -> Any:
    """The same of a method, an in-place method, or an operator; AttributeError where it does not exist."""
    if isinstance(variant, partial):
        return partial(ours_from(variant.func), *map(ours_from, variant.args), **variant.keywords)
    if isinstance(variant, types.BuiltinFunctionType):
        return variant
    if isinstance(variant, types.FunctionType) and "_internal" in variant.__module__:
        return ours_from(variant)
    return getattr(gradpack.Tensor, variant.__name__)
