"""Functions and classes of stand-ins that do a little: `table` says where torch has them."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

from ....compiler import compile
from ....core.tensor import Tensor
from ....nn import Module
from ....ops.nn.reduction import legacy, number_of

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
_params_t = ParamsT


class ScriptModule(Module):
    """Base class of modules for `torch.jit.script`; none is compiled."""


class RecursiveScriptModule(ScriptModule):
    """Type of a scripted module, for `isinstance`; here `torch.jit.script` returns the module itself."""


class ScriptFunction:
    """Type of a scripted function, for `isinstance`; here `torch.jit.script` returns the function itself."""


@dataclass(frozen=True)
class Placement:
    """How a tensor would be divided among ranks: packages write plans of these when they are imported."""


@dataclass(frozen=True)
class Replicate(Placement):
    """Every rank has the whole tensor."""


@dataclass(frozen=True)
class Shard(Placement):
    """Every rank has a part of the tensor along a dimension."""

    dim: int


@dataclass(frozen=True)
class Partial(Placement):
    """The tensor is what a reduction of those of all ranks gives."""

    reduce_op: str = "sum"


def optimize(backend: Any = "inductor", *, nopython: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return a function that does what `torch.compile` does, with this backend.

    Args:
        backend: as that of `compile`.
        nopython: the `fullgraph` of `compile`.
        **options: without effect.
    """
    return compile(backend=backend, fullgraph=nopython)


def optimize_assert(backend: Any = "inductor", **options: Any) -> Callable[[Any], Any]:
    """Return `optimize(backend, nopython=True)`."""
    return optimize(backend, nopython=True)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Return the reduction that the old flags of losses mean, with torch's warning unless `emit_warning` is False."""
    with warnings.catch_warnings() if not emit_warning else nullcontext():
        if not emit_warning:
            warnings.simplefilter("ignore")
        return legacy(True if size_average is None else size_average, reduce, "mean")


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Return the number of `legacy_get_string`."""
    return number_of(legacy_get_string(size_average, reduce, emit_warning))


def Attribute(value: Any, type: Any) -> Any:  # noqa: N802 - torch's name
    """Return the value unchanged."""
    return value


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value unchanged."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return whether an object is of a type, which is one of Python's, as Python's own function does."""
    return builtins.isinstance(obj, target_type)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `func` synchronously and return its result in place of a future.

    Args:
        *args, **kwargs: the arguments of `func`.
    """
    return func(*args, **kwargs)


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Any:
    """Return a function that calls one of two, chosen by a boolean argument."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs.get(arg_name, args[arg_index] if len(args) > arg_index else default)
        return (if_true if flag else if_false)(*args, **kwargs)

    return chosen


class DataParallel(Module):
    """Calls the module: there is one device. The module is at `module`, as in torch."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how memory is shared: there is one way, whatever its name."""
    if new_strategy not in ("file_descriptor", "file_system"):
        raise AssertionError(f"unknown sharing strategy {new_strategy!r}")


def _accumulate(iterable: Iterable[Any], fn: Any = lambda x, y: x + y) -> Iterator[Any]:
    """Running totals."""
    return accumulate(iterable, fn)


def _element_size(dtype: Any) -> int:
    """The size of an element in bytes."""
    return int(dtype.itemsize)
