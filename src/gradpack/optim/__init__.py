"""Optimisers, and schedules of their learning rate."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.filled import fill_when_asked
from ..declare.signature.constructors import explain_constructors as _explain_constructors
from . import lr_scheduler as lr_scheduler
from ._adafactor import Adafactor as Adafactor
from ._muon import Muon as Muon
from .adadelta import Adadelta as Adadelta
from .adagrad import Adagrad as Adagrad
from .adam import Adam as Adam
from .adamax import Adamax as Adamax
from .adamw import AdamW as AdamW
from .asgd import ASGD as ASGD
from .lbfgs import LBFGS as LBFGS
from .nadam import NAdam as NAdam
from .optimizer import Optimizer as Optimizer
from .radam import RAdam as RAdam
from .rmsprop import RMSprop as RMSprop
from .rprop import Rprop as Rprop
from .sgd import SGD as SGD
from .sparse_adam import SparseAdam as SparseAdam

if TYPE_CHECKING:  # imported when it is first asked for
    from . import swa_utils as swa_utils

_optimizers = [n for n, value in globals().items() if isinstance(value, type) and issubclass(value, Optimizer)]
globals()["__all__"] = [*_optimizers, "lr_scheduler", "swa_utils"]  # as in `nn`


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        """Import `swa_utils` at first access."""
        if name == "swa_utils":
            return import_module(".swa_utils", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_explain_constructors([*globals().values()])
fill_when_asked(__name__)
