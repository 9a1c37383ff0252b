"""`replace_all_batch_norm_modules_`: batch normalisation that a function transform can go through."""

from __future__ import annotations

from typing import Any, TypeVar

_M = TypeVar("_M")


def replace_all_batch_norm_modules_(root: _M) -> _M:
    """Let every batch normalisation in a module use the statistics of its batch alone, in place.

    Running statistics are written to, which `vmap` cannot do for each example in one buffer. So they are dropped:
    `running_mean`, `running_var` and `num_batches_tracked` become None, and `track_running_stats` False.

    Returns:
        The module.

    Example::

        >>> import gradpack as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        >>> torch.func.replace_all_batch_norm_modules_(model)[1].running_mean is None
        True
    """
    whole: Any = root
    for module in whole.modules():
        if any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__):  # layers are above this module
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
