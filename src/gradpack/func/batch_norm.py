"""`replace_all_batch_norm_modules_`: makes batch normalisation work under function transforms."""

from __future__ import annotations

from typing import Any, TypeVar

_M = TypeVar("_M")


def replace_all_batch_norm_modules_(root: _M) -> _M:
    """Make every batch normalisation in a module use batch statistics only, in place.

    Under `vmap`, one buffer cannot have running statistics for each example. So they are dropped:
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
