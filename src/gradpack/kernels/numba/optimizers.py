"""Steps of optimizers over all cores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dispatch import HEAVY
from .loops import optimizers as loops
from .ranges import Whole, over


def adam_update(data: Any, grad: Any, mean: Any, square: Any, largest: Any, given: list[Any]) -> None:
    """As `optim._kernels.adam_update`."""
    options, *numbers = given
    decay = loops.NO_DECAY
    if options["weight_decay"]:
        decay = loops.DECOUPLED if options["decoupled_weight_decay"] else loops.COUPLED
    near = options["betas"][0] > 0.5
    constants = np.array(numbers, data.dtype)
    flat = [a.reshape(-1) for a in (data, grad, mean, square, mean if largest is None else largest)]
    over(HEAVY, loops.adam, *flat, Whole(constants), decay, bool(options["maximize"]), near, largest is not None)
