"""Reading the examples of a batch from a dataset."""

from __future__ import annotations

from itertools import islice
from typing import Any

from ..dataset import examples_of


class _BaseDatasetFetcher:
    """Reads what indices stand for.

    Args:
        dataset: the dataset.
        auto_collation: whether it is asked for lists of indices.
        collate_fn: makes a batch of what was read.
        drop_last: whether a last batch that is not full is left out.
    """

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return a batch, or an example."""
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads from an iterator: of indices only the number counts."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        size = len(possibly_batched_index)
        found = list(islice(self.dataset_iter, size))
        self.ended = len(found) < size
        if not found or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(found)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads by index."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        return self.collate_fn(examples_of(self.dataset, possibly_batched_index))
