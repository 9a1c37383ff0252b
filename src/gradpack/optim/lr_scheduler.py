"""Schedules of the learning rate: `torch.optim.lr_scheduler`."""

from .lr_base import EPOCH_DEPRECATION_WARNING, LRScheduler, _LRScheduler  # noqa: F401 - names that torch has, too
from .lr_cycles import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .lr_factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .lr_plateau import ReduceLROnPlateau
from .lr_together import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
