"""`torch.nn.modules`: layers and their bases under the modules in which torch keeps them.

They hold nothing of their own: names are looked up in the modules of `gradpack.nn` when they are asked for. Only
`utils` is a file.

Example::

    >>> from gradpack.nn.modules.conv import _ConvNd
    >>> from gradpack.nn import Conv2d
    >>> issubclass(Conv2d, _ConvNd)
    True
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ...base.filled import Filled, raw_dict
from . import utils as utils  # the one that is a file

_LIBRARY = __name__.partition(".")[0]

# What is asked for the names of each module, in this order, after `gradpack.nn` itself.
_SOURCES = {
    "activation": "activations more_activations attention",
    "adaptive": "adaptive",
    "batchnorm": "batch_norm sync_batch_norm lazy_layers",
    "channelshuffle": "resizing",
    "container": "containers parameter_containers",
    "conv": "convolution lazy_layers",
    "distance": "more_losses",
    "dropout": "normalize",
    "flatten": "layers",
    "fold": "resizing",
    "instancenorm": "batch_norm",
    "lazy": "lazy",
    "linear": "layers lazy_layers attention",
    "linear_cross_entropy": "linear_cross_entropy",
    "linear_cross_entropy_options": "functional_linear_loss",
    "loss": "losses margin_losses more_losses",
    "module": "module global_hooks registration_hooks hooks state",
    "normalization": "normalize batch_norm",
    "padding": "padding",
    "pixelshuffle": "resizing",
    "pooling": "pooling adaptive_pooling",
    "rnn": "rnn rnn_cells",
    "sparse": "embedding_bag layers",
    "transformer": "transformer transformer_layers",
    "upsampling": "resizing",
}


class Names(Filled):
    """One of torch's modules: a place for names that are defined elsewhere."""

    def __init__(self, name: str, sources: Iterable[str]) -> None:
        super().__init__(f"{__name__}.{name}", f"`torch.nn.modules.{name}`.")
        self._sources = tuple(f"{_LIBRARY}.nn{source}" for source in ("", *(f".{s}" for s in sources)))
        self.__spec__ = ModuleSpec(self.__name__, None)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            of_these = {n: getattr(getattr(self, n, None), "__module__", "") in self._sources[1:] for n in dir(self)}
            return [n for n, is_one in of_these.items() if is_one and n[0] != "_"]
        if name[:2] != "__":
            for source in self._sources:
                found = getattr(import_module(source), name, _NONE)
                if found is not _NONE and not isinstance(found, ModuleType):
                    return found
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_global_"):
            import_module(f"{_LIBRARY}.nn.global_hooks").replace(name, value)
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({n for s in self._sources[1:] for n in dir(import_module(s))} | set(raw_dict(self)))


_NONE = object()

for _name, _words in _SOURCES.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = Names(_name, _words.split())


def __getattr__(name: str) -> Any:
    """The layers themselves."""
    if name[:2] != "__":
        nn = import_module(f"{_LIBRARY}.nn")
        if name in nn.__all__:
            return getattr(nn, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
