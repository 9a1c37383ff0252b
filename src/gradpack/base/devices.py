"""Devices: where the array of a tensor lives."""

from __future__ import annotations

from typing import Any

KINDS = {"cpu"}  # backends add the kinds that they bring


class device:  # noqa: N801 - torch's name
    """A place for tensors, by kind and index.

    Args:
        type: a kind (`"cpu"`), with or without an index (`"cpu:0"`), or another device.
        index: the index within the kind, or None.

    Raises:
        RuntimeError: for a kind that no installed backend brings.

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

    def __init__(self, type: str | device, index: int | None = None) -> None:
        if isinstance(type, device):
            own = type.index
            type, index = type.type, own if index is None else index
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be a str or a device, not {type.__class__.__name__}")
        kind, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError(f"device(): {type!r} already has an index; leave out index={index}")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}': write a kind and a number, as 'cpu:0'")
            index = int(number)
        if kind not in KINDS:
            raise RuntimeError(
                f"Expected one of {', '.join(sorted(KINDS))} device type at start of device string: {kind}. "
                "No installed array library brings that kind of device."
            )
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


CPU = device("cpu")


def as_device(value: Any) -> device:
    """A device from what users pass as `device=`; None means the CPU."""
    if value is None:
        return CPU
    return value if isinstance(value, device) else device(value)
