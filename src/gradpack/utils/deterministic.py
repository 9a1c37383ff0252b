"""Settings of `use_deterministic_algorithms`.

`fill_uninitialized_memory`: whether `empty` and its kin fill their tensors, with NaN, the largest integer or True,
while deterministic algorithms are asked for. True at first.

Example::

    >>> import gradpack as torch
    >>> torch.use_deterministic_algorithms(True)
    >>> torch.empty(2), torch.utils.deterministic.fill_uninitialized_memory
    (tensor([nan, nan]), True)
    >>> torch.use_deterministic_algorithms(False)
"""

import sys
from types import ModuleType

from ..base.settings import fill_memory, is_memory_filled


class _Deterministic(ModuleType):
    """The module, with a setting that reads as a variable of it."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether memory is filled while deterministic algorithms are asked for."""
        return is_memory_filled()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        fill_memory(mode)


sys.modules[__name__].__class__ = _Deterministic

fill_uninitialized_memory: bool
