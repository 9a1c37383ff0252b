"""The part of a dataset that one of several processes reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any

from ...ops.random.generator import Generator
from ...ops.random.integers import randperm
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index, from `rank` on. All parts are equally long: indices come again, or are left out.

    Args:
        num_replicas, rank: how many parts there are, and which one this is: as in the default process group, unless
            they are given.
        shuffle: in an order that `seed` and the number of the epoch say.
        drop_last: leave indices out, instead of giving some again, to make the parts equal.

    Raises:
        ValueError: if one is not given and there is no process group, or for a rank outside of `0 .. num_replicas - 1`.

    Example::

        >>> from gradpack.utils.data import DistributedSampler
        >>> list(DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            from ... import distributed as dist

            num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
            rank = dist.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        drawn = Generator().manual_seed(self.seed + self.epoch)
        order = randperm(n, generator=drawn).tolist() if self.shuffle else list(range(n))
        return islice(cycle(order), self.rank, self.total_size, self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Draw another order, the same in all processes."""
        self.epoch = epoch


__all__ = ["DistributedSampler"]
