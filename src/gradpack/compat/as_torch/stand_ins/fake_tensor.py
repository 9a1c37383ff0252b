"""`torch._subclasses.fake_tensor`: tensors without elements, which a compiler passes around. None is one here."""

from __future__ import annotations

from typing import Any

from .refuse import refusals

_NAMES = "FakeTensor FakeTensorMode"
globals().update(refusals("_subclasses.fake_tensor", _NAMES))


def is_fake(x: Any) -> bool:
    """Whether `x` is such a tensor, or holds one: no."""
    return False


__all__ = [*_NAMES.split(), "is_fake"]  # noqa: PLE0604 - the classes are made above
