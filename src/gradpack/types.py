"""`torch.types`: names for annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, SupportsIndex, TypeAlias

from numpy import ndarray

from .base.devices import device
from .base.dtypes import dtype
from .base.size import Size
from .core.storage import UntypedStorage as Storage
from .core.tensor import Tensor

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str]

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_dtype: TypeAlias = dtype
_device: TypeAlias = device
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_bool: TypeAlias = builtins.bool
_complex: TypeAlias = builtins.complex
_Scalar: TypeAlias = int | float | bool | complex
_Index: TypeAlias = (
    SupportsIndex | slice | Tensor | ndarray[Any, Any] | tuple[Any, ...] | list[Any] | range | EllipsisType | None
)

__all__ = ["Device", "FileLike", "Number", "Storage"]
