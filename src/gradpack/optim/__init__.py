"""Optimisers, and schedules of their learning rate."""

from importlib import import_module
from typing import Any

from ..base.filled import fill_when_asked
from . import lr_scheduler
from .adafactor import Adafactor
from .adam import Adam, AdamW
from .adaptive import Adadelta, Adagrad, RMSprop, Rprop
from .averaging import ASGD, Adamax, NAdam, RAdam
from .lbfgs import LBFGS
from .muon import Muon
from .optimizer import Optimizer
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]


def __getattr__(name: str) -> Any:
    """Import `swa_utils` at first access."""
    if name == "swa_utils":
        return import_module(".swa_utils", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


fill_when_asked(__name__)
