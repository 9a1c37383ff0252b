"""Calling a module with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from typing import Any

from ...core.tensor import Tensor
from ...func import functional_call as replaced
from ..modules.module import Module


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with the given tensors in the place of its own. Deprecated in torch for `torch.func`'s.

    Args:
        parameters_and_buffers: by name; those not given stay.
        args: a tuple of arguments, or one.
        tie_weights: does a value for one name of a tensor count for its other names?
        strict: must all names be given, and no others?

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> layer = torch.nn.Linear(1, 1)
        >>> own = {"weight": torch.ones(1, 1), "bias": torch.zeros(1)}
        >>> torch.nn.utils.stateless.functional_call(layer, own, torch.ones(1, 1))
        tensor([[1.]])
    """
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return replaced(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


__all__ = ["functional_call"]
