"""Modules that only answer: constants, functions with a constant result, settings without effect, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from inspect import signature
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from .. import __version__
from ..base.exits import block
from .harmless import answer

_NONE: dict[str, Any] = {}


class Facade(NamedTuple):
    """The contents of such a module.

    Attributes:
        doc: its docstring.
        answers: functions, with what they return: they take any arguments, and show those that are written here.
        values: other attributes.
        settings: attributes that programs set, without effect; `flags(...)` sets them for a block.
        errors: functions that raise.
        blocks: names of context managers and decorators without effect.
    """

    doc: str
    answers: Mapping[str, Any] = _NONE
    values: Mapping[str, Any] = _NONE
    settings: Mapping[str, Any] = _NONE
    errors: Mapping[str, Exception] = _NONE
    blocks: str = ""


def _unavailable(name: str, **others: Any) -> Facade:
    return Facade(f"`torch.backends.{name}`: not there.", {"is_available()": False}, **others)


def _device(kind: str) -> Facade:
    return Facade(
        f"`torch.{kind}`: reported as unavailable.",
        {"is_available()": False, "device_count()": 0, "empty_cache()": None, "manual_seed(seed)": None},
        errors={"synchronize(device=None)": AssertionError(f"Torch not compiled with {kind.upper()} enabled")},
    )


_WAYS = ("flash", "math", "mem_efficient", "cudnn")
_MATMUL = "allow_tf32 allow_fp16_reduced_precision_reduction allow_bf16_reduced_precision_reduction"
FACADES: dict[str, Facade] = {
    "mps": _device("mps"),
    "xpu": _device("xpu"),
    "version": Facade(
        "`torch.version`: which version this is, and what it was built with.",
        values={"__version__": __version__, "debug": False} | dict.fromkeys(("cuda", "hip", "xpu", "git_version")),
    ),
    "backends.cpu": Facade("`torch.backends.cpu`: not there.", {"get_cpu_capability()": "DEFAULT"}),
    "backends.cuda": Facade(
        "`torch.backends.cuda`: not there.",
        {
            "is_built()": False,
            "is_flash_attention_available()": False,
            "flash_sdp_enabled()": False,
            "mem_efficient_sdp_enabled()": False,
            "cudnn_sdp_enabled()": False,
            "math_sdp_enabled()": True,  # attention has only one implementation, the plain one
            "enable_flash_sdp(enabled)": None,
            "enable_mem_efficient_sdp(enabled)": None,
            "enable_cudnn_sdp(enabled)": None,
            "enable_math_sdp(enabled)": None,
            f"sdp_kernel({', '.join(f'enable_{n}=True' for n in _WAYS)})": nullcontext(),
        },
        settings={"matmul": SimpleNamespace(**dict.fromkeys(_MATMUL.split(), False))},
    ),
    "backends.cudnn": Facade(
        "`torch.backends.cudnn`: not there.",
        {"is_available()": False, "version()": None, "is_acceptable(tensor)": False},
        settings={
            "enabled": True,
            "deterministic": False,
            "benchmark": False,
            "benchmark_limit": None,
            "allow_tf32": True,
        },
    ),
    "backends.mkl": _unavailable("mkl"),
    "backends.mkldnn": _unavailable("mkldnn", settings={"enabled": True, "deterministic": False}),
    "backends.mps": Facade("`torch.backends.mps`: not there.", {"is_available": False, "is_built()": False}),
    "backends.nnpack": _unavailable("nnpack"),
    "backends.openmp": _unavailable("openmp"),
}


def fill(module: ModuleType, facade: Facade) -> None:
    """Give a module what its facade lists."""
    blocks = dict.fromkeys(facade.blocks.split())
    kinds: list[tuple[Any, Any]] = [(answer, facade.answers), (_raise, facade.errors), (_block, blocks)]
    held = vars(module)
    for make, listed in kinds:
        for shown, value in listed.items():
            name = shown.partition("(")[0]
            function = held[name] = make(value)
            function.__name__ = function.__qualname__ = name
            function.__module__ = module.__name__
            if name != shown:
                function.__signature__ = signature(eval(f"lambda {shown[len(name) + 1 : -1]}: None"))  # noqa: S307
    held.update(facade.values)
    held.update(__doc__=facade.doc, __all__=sorted(n for n in held if n[:2] != "__" or n in facade.values))
    held.update(facade.settings)
    if facade.settings:
        held["flags"] = _flags(held, frozenset(facade.settings))


def _raise(error: Exception) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise type(error)(*error.args)

    refuse.__doc__ = f"Refuse: {error}.\n\nRaises:\n    {type(error).__name__}: always."
    return refuse


def _block(_: None) -> Callable[..., Any]:
    def enter(*args: Any, **kwargs: Any) -> Iterator[None]:
        """Do nothing."""
        yield

    return block(enter)


def _flags(held: dict[str, Any], settings: frozenset[str]) -> Callable[..., Any]:
    @block
    def flags(**wanted: Any) -> Iterator[None]:
        """Set settings for a block."""
        unknown = set(wanted) - settings
        if unknown:
            raise TypeError(f"flags() got an unexpected keyword argument {min(unknown)!r}")
        before = {n: held[n] for n in wanted}
        try:
            held.update(wanted)
            yield
        finally:
            held.update(before)

    return flags
