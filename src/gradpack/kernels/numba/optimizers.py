"""Steps of optimizers over all cores, for all parameters at once."""

from __future__ import annotations

from array import array
from itertools import accumulate, chain
from typing import Any

import numpy as np

from ...base.pool import split_compiled
from ..dispatch import HEAVY
from .loops import optimizers as loops

_LEAST = 1 << 12  # elements of a part


def adam_updates(batch: list[Any], given: list[Any], total: int) -> None:
    """As `optim._kernels.adam_updates`."""
    options, *numbers = given
    decay = loops.NO_DECAY
    if options["weight_decay"]:
        decay = loops.DECOUPLED if options["decoupled_weight_decay"] else loops.COUPLED
    flags = decay, options["maximize"], options["betas"][0] > 0.5, batch[4] is not None
    _run("adam", batch, 5, numbers, flags, total)


def sgd_updates(batch: list[Any], given: list[Any], total: int) -> None:
    """As `optim._kernels.sgd_updates`."""
    options, *numbers, first = given
    momentum = loops.NONE if batch[2] is None else loops.FIRST if first else loops.KEPT
    flags = options["weight_decay"] != 0, options["maximize"], momentum, options["nesterov"]
    _run("sgd", batch, 3, numbers, flags, total)


def _run(name: str, batch: list[Any], count: int, numbers: list[Any], flags: tuple[Any, ...], total: int) -> None:
    native = batch[0].dtype
    constants = np.array(numbers, native)
    addresses, ends = list(map(id, batch)), list(accumulate([data.size for data in batch[::count]]))
    columns = [addresses[i::count] for i in range(count)]
    columns += columns[:1] * (loops.ARRAYS - count)
    fields = [len(ends), id(constants), *chain.from_iterable(zip(*columns, ends, strict=True))]
    part = max(_LEAST, min(HEAVY, -(-total // 8)))
    split_compiled(loops.function_of(name, native.char, tuple(map(int, flags))), array("q", fields), total, part)
