"""Devices on which tensors are allocated."""

from __future__ import annotations

from contextvars import ContextVar
from importlib import import_module
from typing import Any

from .dtypes import DTYPES
from .exits import Exit, inside

KINDS = {"cpu"}  # where tensors can be: backends add the kinds that they bring
# Kinds whose backend is loaded at first use: the module whose `bring` does it, or returns an exception.
_BRINGS = {"cuda": "gradpack.backends.cupy_loading", "meta": "gradpack.backends.meta"}
# Valid names of kinds of device. Those that are not in KINDS are known by name only.
NAMES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, "
    "mtia, privateuseone"
)
_KNOWN = frozenset(NAMES.split(", "))

# The devices of `with device: ...` and `set_default_device`, innermost last.
_DEFAULTS: ContextVar[tuple[device, ...]] = ContextVar("gradpack default device", default=())


class device:  # noqa: N801 - torch's name
    """The device of a tensor, by kind and index.

    Args:
        type: a kind (`"cpu"`), with or without an index (`"cpu:0"`), or another device.
        index: the index within the kind, or None.

    Raises:
        RuntimeError: for a name that is no kind of device.

    `with device: ...` makes it the default for the block. Tensors can be on the CPU, and on kinds that
    `gradpack.extend.device` adds.

    Example::

        >>> import gradpack as torch
        >>> torch.device("cpu")
        device(type='cpu')
        >>> torch.zeros(2).device == torch.device("cpu")
        True
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str | bytes | device | int, index: int | None = None) -> None:
        if isinstance(type, device):
            own = type.index
            type, index = type.type, own if index is None else index
        if not isinstance(type, str):
            if isinstance(type, bytes):
                raise RuntimeError(f"Expected one of {NAMES} device type at start of device string: {type!r}")
            if type.__class__ is not int:
                raise TypeError(f"device(): argument 'type' must be a str or a device, not {type.__class__.__name__}")
            index, type = type, _accelerator()
        kind, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError(f"device(): {type!r} already has an index; leave out index={index}")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}': write a kind and a number, as 'cpu:0'")
            index = int(number)
        if kind not in _KNOWN and kind not in KINDS:
            more = "".join(f", {k}" for k in sorted(KINDS - _KNOWN))
            hint = f" ({kind} is a dtype: give torch.{kind}, not a string)" if kind in DTYPES else ""
            raise RuntimeError(f"Expected one of {NAMES}{more} device type at start of device string: {kind}{hint}")
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, got {index}")
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'device' objects is not writable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        return (
            f"device(type={self.type!r})" if self.index is None else f"device(type={self.type!r}, index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def __enter__(self) -> device:
        before = _DEFAULTS.get()
        try:
            _DEFAULTS.set((*before, self))
        except BaseException:  # an interrupt
            _DEFAULTS.set(before)
            raise
        return self

    __exit__ = Exit(lambda self: _DEFAULTS.get()[:-1], lambda self, before: _DEFAULTS.set(before))

    def __call__(self, function: Any) -> Any:
        return inside(lambda: self, function)


def _accelerator() -> str:
    """The kind of device that an index alone refers to."""
    for kind in ("cuda", "xpu", "mps"):
        if bring(kind) is None:
            return kind
    raise RuntimeError("Cannot access accelerator device when none is available.")


def cuda_device(value: Any) -> device:
    """Return the device for the argument of `cuda()`: an index, a name, or None for the one in use.

    Raises:
        RuntimeError: for an index where there is no accelerator, or for a device of another kind.
    """
    wanted = device("cuda") if value is None else device(value)
    if wanted.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return wanted


CPU = device("cpu")
_device = device  # for functions with a parameter of that name


def as_device(value: Any) -> device:
    """Return the device for an argument `device=`; None means the default device.

    Raises:
        AssertionError: for an accelerator, in torch's words.
        RuntimeError: for any other device that tensors cannot be on.
    """
    if value is None:
        chosen = _DEFAULTS.get()
        return placeable(chosen[-1]) if chosen else CPU
    return placeable(value if isinstance(value, device) else device(value))


def placeable(wanted: device) -> device:
    """Return a device that tensors can be on, with its backend loaded; raise for others."""
    if wanted.type not in KINDS:
        error = bring(wanted.type, str(wanted))
        if error is not None:
            raise error
    return wanted


def bring(kind: str, name: str | None = None) -> Exception | None:
    """Load the backend of a kind of device. Return what to raise if tensors cannot be there, else None."""
    if kind in KINDS:
        return None
    if kind in _BRINGS:
        error: Exception | None = import_module(_BRINGS[kind]).bring()
        return error
    if kind == "xpu":
        return AssertionError("Torch not compiled with XPU enabled")
    return RuntimeError(
        f"no installed array library brings the device {name or kind!r}: tensors are on the CPU. "
        "gradpack.extend.device adds others"
    )


def get_default_device() -> device:
    """The device of new tensors.

    Example::

        >>> import gradpack as torch
        >>> torch.get_default_device()
        device(type='cpu')
    """
    chosen = _DEFAULTS.get()
    return chosen[-1] if chosen else CPU


def set_default_device(device: Any) -> None:
    """Set the device of new tensors; None for the CPU. `with torch.device(...):` does it for a block.

    Example::

        >>> import gradpack as torch
        >>> torch.set_default_device("cpu")
        >>> torch.ones(1).device
        device(type='cpu')
        >>> torch.set_default_device(None)
    """
    _DEFAULTS.set(() if device is None else (_device(device),))
