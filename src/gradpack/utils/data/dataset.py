"""Map-style and iterable-style datasets."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import floor, isclose
from typing import Any, Generic, TypeVar

from ...base.errors import NotATensorError
from ...core.tensor import Tensor
from ...ops.random.generator import Generator
from ...ops.random.integers import randperm

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Examples by index. Subclasses define `__getitem__`, and `__len__` for samplers.

    A method `__getitems__(indices)`, where there is one, reads a whole batch.

    Example::

        >>> from gradpack.utils.data import Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 3
        ...
        ...     def __getitem__(self, i):
        ...         return i * i
        >>> (Squares() + Squares())[4]
        1
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Examples one after the other. Subclasses define `__iter__`.

    Example::

        >>> from gradpack.utils.data import DataLoader, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(DataLoader(Count(), batch_size=2))
        [tensor([0, 1]), tensor([2])]
    """

    def __add__(self, other: Dataset[T_co]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors of equal first dimension, as tuples.

    Raises:
        AssertionError: if the first dimensions differ.
        TypeError, AttributeError: for an argument that is not a tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.utils.data.TensorDataset(torch.eye(2), torch.tensor([5, 6]))[1]
        (tensor([0., 1.]), tensor(6))
    """

    def __init__(self, *tensors: Tensor) -> None:
        for t in tensors:
            if not hasattr(t, "shape"):
                raise NotATensorError(f"TensorDataset(): arguments must be Tensors, not {type(t).__name__}")
        if any(t.shape[0] != tensors[0].shape[0] for t in tensors):
            raise AssertionError(f"Size mismatch between tensors: the first sizes are {[t.shape[0] for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class StackDataset(Dataset[Any]):
    """Examples of several datasets side by side: tuples, or dicts where the datasets are given by name.

    Args:
        args: the data sets: examples are tuples then.
        kwargs: the data sets by name: examples are dicts then.

    Raises:
        ValueError: for datasets of different lengths, none, or some with and some without a name.

    Example::

        >>> from gradpack.utils.data import StackDataset
        >>> StackDataset(x=[1, 2], y=[3, 4])[0]
        {'x': 1, 'y': 3}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either tuples of datasets, given by position, or dicts of them, given by name: "
                "StackDataset() got both"
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        every = list(args or kwargs.values())
        if len({len(d) for d in every}) > 1:
            raise ValueError("Size mismatch between datasets")
        self.datasets: Any = args or kwargs
        self._length = len(every[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: d[index] for name, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        named = isinstance(self.datasets, dict)
        columns = [_column(d, indices) for d in (self.datasets.values() if named else self.datasets)]
        rows = zip(*columns, strict=True)
        return [dict(zip(self.datasets, row, strict=True)) for row in rows] if named else list(rows)

    def __len__(self) -> int:
        return self._length


def examples_of(dataset: Any, indices: Sequence[Any]) -> Any:
    """Return the examples of these indices, read in one call where the dataset offers it."""
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[i] for i in indices]


def _column(dataset: Any, indices: Sequence[Any]) -> Any:
    found = examples_of(dataset, indices)
    if len(found) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(found)}")
    return found


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other.

    Args:
        datasets: the data sets, each with a length.

    Raises:
        AssertionError: for no dataset, and for one that can only be iterated over.

    Example::

        >>> from gradpack.utils.data import ConcatDataset
        >>> list(ConcatDataset([[1, 2], [3]]))
        [1, 2, 3]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect_right(self.cumulative_sizes, idx)
        before = self.cumulative_sizes[which - 1] if which else 0
        found: T_co = self.datasets[which][idx - before]
        return found


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other.

    Args:
        datasets: the data sets: each an `IterableDataset`.

    Raises:
        AssertionError: when it is read, if one is no `IterableDataset`.

    Example::

        >>> from gradpack.utils.data import ChainDataset, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset


class Subset(Dataset[T_co]):
    """The examples of a dataset that have these indices.

    Args:
        dataset: the data set.
        indices: a sequence of ints.

    Example::

        >>> from gradpack.utils.data import Subset
        >>> list(Subset("abc", [2, 0]))
        ['c', 'a']
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        if type(self).__getitem__ is not Subset.__getitem__:  # a subclass that reads in its own way
            return [self[i] for i in indices]
        found: list[Any] = examples_of(self.dataset, [self.indices[i] for i in indices])
        return found

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[Any], lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Divide a dataset by chance.

    Args:
        lengths: how many examples each part gets; or fractions that add up to 1, rounded down, what is left going
            to the first parts one by one.
        generator: draws the order; the default one if None.

    Raises:
        ValueError: if the lengths do not add up to that of the dataset.

    Example::

        >>> from gradpack.utils.data import random_split
        >>> [len(part) for part in random_split(range(10), [0.5, 0.25, 0.25])]
        [6, 2, 2]
    """
    counts = list(lengths)
    total = sum(counts)
    size = len(dataset)  # type: ignore[arg-type]
    if total <= 1 and isclose(total, 1):
        for i, fraction in enumerate(counts):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        counts = [floor(size * fraction) for fraction in counts]
        for i in range(int(size - sum(counts))):
            counts[i % len(counts)] += 1
        for i, count in enumerate(counts):
            if count == 0:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2
                )
    if sum(counts) != size:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(size, generator=generator).tolist()
    ends = list(accumulate(int(n) for n in counts))
    return [Subset(dataset, order[end - int(n) : end]) for n, end in zip(counts, ends, strict=True)]


__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]
