"""`torch.masked`: reductions and normalizations that leave out what a mask does not hold for."""

from .declare.signature.wrapper import wrap_module as _wrap_module
from .ops.reduce.masked_moments import log_softmax, mean, median, norm, normalize, softmax, softmin, std, var
from .ops.reduce.masked_reductions import amax, amin, argmax, argmin, cumprod, cumsum, logaddexp, logsumexp, prod, sum

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

_wrap_module(globals(), __all__, options="")
