"""`torch.types`: names for annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import TypeAlias

from .base.devices import device
from .base.dtypes import dtype
from .base.size import Size
from .core.storage import UntypedStorage as Storage
from .core.tensor import Tensor

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str]

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_dtype = dtype
_device = device
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex

__all__ = ["Device", "FileLike", "Number", "Storage"]
