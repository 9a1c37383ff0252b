"""Making a module without initializing its parameters."""

from __future__ import annotations

import inspect
from typing import Any

from ..modules.module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Return a module whose parameters and buffers are not initialized: for what is loaded or filled anyway.

    It is made on the meta device, which draws no random numbers, and moved.

    Args:
        module_cls: the class of the module.
        args: its arguments.
        kwargs: its arguments, by name; `device` is where the parameters are, by default the CPU.

    Raises:
        RuntimeError: for what is no module class, or takes no `device`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.skip_init(torch.nn.Linear, 2, 3).weight.shape
        gradpack.Size([3, 2])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)


__all__ = ["skip_init"]
