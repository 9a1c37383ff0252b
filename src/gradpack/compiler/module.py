"""A compiled module stays a module."""

from __future__ import annotations

from typing import Any

from ..nn import Module
from .compiled import Compiled


class OptimizedModule(Module):
    """A module whose calls run as programs. Its parameters are those of the module inside, `_orig_mod`.

    Args:
        mod: the module.
        compiled: the module as a function that becomes programs.
    """

    _orig_mod: Any
    compiled: Compiled

    def __init__(self, mod: Module, compiled: Compiled) -> None:
        super().__init__()
        self._orig_mod = mod
        self.training = mod.training
        object.__setattr__(self, "compiled", compiled)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.compiled(*args, **kwargs)

    @property
    def source(self) -> str:
        """The text of the program that was made last."""
        return self.compiled.source

    def explain(self) -> str:
        """Return what was recorded, and why calls run without a program."""
        return self.compiled.explain()

    def train(self, mode: bool = True) -> Any:
        super().train(mode)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._modules["_orig_mod"], name)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __getitem__(self, index: Any) -> Any:
        return self._orig_mod[index]

    def __iter__(self) -> Any:
        return iter(self._orig_mod)
