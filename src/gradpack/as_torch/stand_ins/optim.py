"""Names of `torch.optim.optimizer` for annotations."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from ...core.tensor import Tensor

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
_params_t = ParamsT

__all__ = ["ParamsT"]
