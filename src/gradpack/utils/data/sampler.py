"""Orders in which a dataset is read, and how they are cut into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from ...base.dtypes import float64
from ...ops.create.create import as_tensor
from ...ops.random.floats import multinomial
from ...ops.random.generator import Generator
from ...ops.random.integers import randint, randperm

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """An order: subclasses define `__iter__`, which gives indices or lists of them, and `__len__` where it is known.

    Example::

        >>> from gradpack.utils.data import Sampler
        >>> class Even(Sampler):
        ...     def __iter__(self):
        ...         return iter(range(0, 6, 2))
        >>> list(Even())
        [0, 2, 4]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """Yields all indices in order.

    Args:
        data_source: the data set, whose length counts.

    Example::

        >>> from gradpack.utils.data import SequentialSampler
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Yields indices in a random order, drawn anew in each epoch.

    Args:
        data_source: the data set, whose length counts.
        replacement: whether an example may come again before all have come.
        num_samples: how many to draw; all, if None.
        generator: draws the order. If None, the default generator draws a seed for one of its own.

    Raises:
        TypeError: for a `replacement` that is no bool.
        ValueError: for a `num_samples` that is no positive int.

    Example::

        >>> from gradpack.utils.data import RandomSampler
        >>> sorted(RandomSampler("abc"))
        [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """The number of indices in one epoch."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(int(randint(2**63 - 1, ()).item()))
        left, n = self.num_samples, len(self.data_source)
        while left > 0:
            if self.replacement:
                drawn = randint(n, (min(left, 32),), generator=generator).tolist()
            else:
                drawn = randperm(n, generator=generator).tolist()[:left]
            left -= len(drawn)
            yield from drawn

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Yields the given indices in a random order, drawn anew in each epoch.

    Args:
        indices: a sequence of ints.

    Example::

        >>> from gradpack.utils.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([4, 8]))
        [4, 8]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with probabilities proportional to weights.

    Args:
        weights: a weight for each index: a sequence of numbers, which need not sum to one.
        num_samples: how many to draw.
        replacement: whether one index can be drawn several times.
        generator: draws them; None for the default generator.

    Raises:
        ValueError: for a number of samples that is not positive, and weights that are no sequence of numbers.

    Example::

        >>> from gradpack.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 1.0], 3))
        [1, 1, 1]
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _check_count("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        yield from multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another order in lists of `batch_size`; the last may be shorter, and is left out on request.

    Args:
        sampler: the other order: anything that gives indices.
        drop_last: whether to leave out a last batch that is shorter.

    Raises:
        ValueError: for a `batch_size` that is no positive int, and a `drop_last` that is no bool.

    Example::

        >>> from gradpack.utils.data import BatchSampler
        >>> list(BatchSampler(range(5), 2, False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_count("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]
