"""Datasets, samplers and loaders: `torch.utils.data`."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

Point = namedtuple("Point", "x y")


def loaded(loader):
    return [[t.tolist() for t in batch] if isinstance(batch, list | tuple) else batch.tolist() for batch in loader]


def test_batches_of_tensors(torch):
    data = torch.utils.data
    rows = data.TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
    loader = data.DataLoader(rows, batch_size=2)
    assert len(loader) == 3 and len(rows) == 5
    assert loaded(loader) == [
        [[[0.0, 1.0], [2.0, 3.0]], [0, 1]],
        [[[4.0, 5.0], [6.0, 7.0]], [2, 3]],
        [[[8.0, 9.0]], [4]],
    ]
    assert loaded(loader) == loaded(loader)
    assert len(data.DataLoader(rows, batch_size=2, drop_last=True)) == 2
    assert loaded(data.DataLoader(rows, batch_size=2, drop_last=True)) == loaded(loader)[:2]
    assert loaded(data.DataLoader(rows, batch_size=None))[1] == [[2.0, 3.0], 1]
    assert isinstance(next(iter(loader)), list)
    assert isinstance(next(iter(data.DataLoader(rows, batch_size=None))), list)
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(torch.ones(2), torch.ones(3))


def test_shuffling_covers_everything_and_repeats_with_the_seed(torch):
    data = torch.utils.data
    rows = data.TensorDataset(torch.arange(20))

    def order(**options):
        return [i for (batch,) in data.DataLoader(rows, batch_size=3, shuffle=True, **options) for i in batch.tolist()]

    torch.manual_seed(1)
    first, second = order(), order()
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second != list(range(20))
    torch.manual_seed(1)
    assert order() == first
    one, two = (order(generator=torch.Generator().manual_seed(5)) for _ in range(2))
    assert one == two


def test_loaders_take_any_sequence_and_collate_what_they_get(torch):
    data = torch.utils.data
    batches = [b.tolist() for b in data.DataLoader(range(5), batch_size=2)]
    assert batches == [[0, 1], [2, 3], [4]]
    examples = [
        {"x": np.ones(2, "float32") * i, "n": i, "f": i / 2, "s": str(i), "p": Point(i, (i, -i))} for i in (1, 2)
    ]
    (batch,) = data.DataLoader(examples, batch_size=2)
    assert batch["x"].dtype == torch.float32 and batch["x"].tolist() == [[1, 1], [2, 2]]
    assert batch["n"].dtype == torch.int64 and batch["f"].dtype == torch.float64
    assert batch["s"] == ["1", "2"]
    assert isinstance(batch["p"], Point) and batch["p"].x.tolist() == [1, 2]
    assert [t.tolist() for t in batch["p"].y] == [[1, 2], [-1, -2]]


def test_default_collate(torch):
    collate = torch.utils.data.default_collate
    assert collate([True, False]).dtype == torch.bool
    assert collate([np.float32(1), np.float32(2)]).dtype == torch.float32
    assert collate([np.int64(1), np.int64(2)]).tolist() == [1, 2]
    assert type(collate([OrderedDict(a=1), OrderedDict(a=2)])) is OrderedDict
    assert [t.tolist() for t in collate([[1, 2], [3, 4]])] == [[1, 3], [2, 4]]
    assert type(collate([(1, 2), (3, 4)])) is list
    assert collate([b"a", b"b"]) == [b"a", b"b"]
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="batch must contain tensors, numpy arrays, numbers, dicts or lists"):
        collate([object()])
    with pytest.raises(TypeError, match="batch must contain tensors"):
        collate([np.array(["a"]), np.array(["b"])])
    with pytest.raises(RuntimeError):
        collate([torch.ones(2), torch.ones(3)])


def test_default_convert(torch):
    convert = torch.utils.data.default_convert
    found = convert({"a": [np.zeros(2), 3], "b": "text", "c": (np.float32(1.5),), "d": Point(np.ones(1), 2)})
    assert found["a"][0].tolist() == [0, 0] and found["a"][1] == 3 and found["b"] == "text"
    assert isinstance(found["c"], list) and found["c"][0].item() == 1.5
    assert isinstance(found["d"], Point) and found["d"].x.tolist() == [1.0]
    assert convert(np.array(["a"])).dtype.kind == "U"


def test_samplers(torch):
    data = torch.utils.data
    assert list(data.SequentialSampler("abc")) == [0, 1, 2]
    assert sorted(data.RandomSampler(range(4))) == [0, 1, 2, 3]
    many = list(data.RandomSampler(range(3), num_samples=8))
    assert sorted(many[:3]) == sorted(many[3:6]) == [0, 1, 2] and len(many) == 8
    assert set(data.RandomSampler(range(2), replacement=True, num_samples=100)) == {0, 1}
    assert sorted(data.SubsetRandomSampler([5, 7])) == [5, 7]
    weighted = data.WeightedRandomSampler([0.0, 3.0, 1.0], 50)
    assert set(weighted) <= {1, 2} and len(weighted) == 50
    assert list(data.BatchSampler(data.SequentialSampler(range(5)), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert len(data.BatchSampler(range(5), 2, False)) == 3 and len(data.BatchSampler(range(5), 2, True)) == 2
    with pytest.raises(ValueError, match="num_samples should be a positive integer value, but got num_samples=0"):
        data.RandomSampler([])
    with pytest.raises(TypeError, match="replacement should be a boolean value, but got replacement=1"):
        data.RandomSampler([1], replacement=1)
    with pytest.raises(ValueError, match="weights should be a 1d sequence but given weights have shape"):
        data.WeightedRandomSampler([[1.0]], 1)
    with pytest.raises(ValueError, match="batch_size should be a positive integer value, but got batch_size=0"):
        data.BatchSampler(range(3), 0, False)
    with pytest.raises(ValueError, match="drop_last should be a boolean value"):
        data.BatchSampler(range(3), 1, 1)


def test_own_samplers(torch):
    data = torch.utils.data
    order = data.DataLoader(range(10), sampler=[3, 1, 4], batch_size=2)
    assert loaded(order) == [[3, 1], [4]] and len(order) == 2
    batches = data.DataLoader(range(10), batch_sampler=[[1, 2, 3], [9]])
    assert loaded(batches) == [[1, 2, 3], [9]] and len(batches) == 2 and batches.batch_size is None


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
def test_parts_for_processes(torch, shuffle, drop_last):
    data = torch.utils.data
    parts = [
        data.DistributedSampler(range(7), num_replicas=3, rank=r, shuffle=shuffle, drop_last=drop_last)
        for r in range(3)
    ]
    assert {len(p) for p in parts} == {len(list(p)) for p in parts} == {2 if drop_last else 3}
    every = [i for p in parts for i in p]
    assert set(every) == set(range(7)) if not drop_last else len(set(every)) == 6
    before = list(parts[0])
    parts[0].set_epoch(1)
    assert shuffle or list(parts[0]) == before
    with pytest.raises(ValueError, match=r"Invalid rank 3, rank should be in the interval \[0, 2\]"):
        data.DistributedSampler(range(7), num_replicas=3, rank=3)


def test_random_split(torch):
    data = torch.utils.data
    parts = data.random_split(range(10), [3, 7], generator=torch.Generator().manual_seed(0))
    assert [len(p) for p in parts] == [3, 7] and sorted([*parts[0], *parts[1]]) == list(range(10))
    assert [len(p) for p in data.random_split(range(11), [0.5, 0.25, 0.25])] == [6, 3, 2]
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset!"):
        data.random_split(range(10), [1, 2])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        data.random_split(range(1), [0.9, 0.1])


def test_datasets_of_datasets(torch):
    data = torch.utils.data
    joined = data.ConcatDataset([[1, 2], [3]])
    assert list(joined) == [1, 2, 3] and joined[-1] == 3 and joined.cumulative_sizes == [2, 3]
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        joined[-4]
    rows = data.TensorDataset(torch.arange(3))
    assert len(rows + rows) == 6 and (rows + rows)[4][0].item() == 1
    part = data.Subset(rows, [2, 0])
    assert len(part) == 2 and part[0][0].item() == 2 and loaded(data.DataLoader(part, batch_size=2)) == [[[2, 0]]]
    beside = data.StackDataset(x=[1, 2], y=[3, 4])
    assert beside[1] == {"x": 2, "y": 4} and data.StackDataset([1, 2], [3, 4])[0] == (1, 3)
    assert beside.__getitems__([1, 0]) == [{"x": 2, "y": 4}, {"x": 1, "y": 3}]
    with pytest.raises(ValueError, match="Size mismatch between datasets"):
        data.StackDataset([1], [2, 3])
    with pytest.raises(NotImplementedError):
        data.Dataset()[0]


def test_a_dataset_that_reads_batches(torch):
    class Whole(torch.utils.data.Dataset):
        def __init__(self):
            self.asked = []

        def __len__(self):
            return 4

        def __getitems__(self, indices):
            self.asked.append(list(indices))
            return [i * 10 for i in indices]

    whole = Whole()
    assert loaded(torch.utils.data.DataLoader(whole, batch_size=3)) == [[0, 10, 20], [30]]
    assert whole.asked == [[0, 1, 2], [3]]


def test_iterable_datasets(torch):
    data = torch.utils.data

    class Count(data.IterableDataset):
        def __init__(self, n, length=None):
            self.n, self.length = n, length

        def __iter__(self):
            return iter(range(self.n))

        def __len__(self):
            return self.n if self.length is None else self.length

    assert loaded(data.DataLoader(Count(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert loaded(data.DataLoader(Count(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(data.DataLoader(Count(3), batch_size=None)) == [0, 1, 2]
    assert len(data.DataLoader(Count(5), batch_size=2)) == 3
    assert list(Count(2) + Count(1)) == [0, 1, 0]
    liar = data.DataLoader(Count(3, length=2), batch_size=None)
    assert len(liar) == 2
    with pytest.warns(UserWarning, match="was reported to be 2"):
        list(liar)
    with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified shuffle option"):
        data.DataLoader(Count(3), shuffle=True)
    with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified sampler option"):
        data.DataLoader(Count(3), sampler=[1])


def test_options_that_contradict_one_another(torch):
    loader = torch.utils.data.DataLoader
    for text, options in {
        "sampler option is mutually exclusive with shuffle": {"sampler": [0], "shuffle": True},
        "batch_sampler option is mutually exclusive": {"batch_sampler": [[0]], "batch_size": 2},
        "batch_size=None option disables auto-batching": {"batch_size": None, "drop_last": True},
        "num_workers option should be non-negative": {"num_workers": -1},
        "timeout option should be non-negative": {"timeout": -1},
        "prefetch_factor option could only be specified in multiprocessing": {"prefetch_factor": 2},
        "persistent_workers option needs num_workers > 0": {"persistent_workers": True},
        "multiprocessing_context can only be used with multi-process": {"multiprocessing_context": "fork"},
    }.items():
        with pytest.raises(ValueError, match=text):
            loader([1, 2], **options)
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader([1]).batch_size = 2


def test_loaders_may_be_nested_and_left_early(torch):
    loader = torch.utils.data.DataLoader(range(4), batch_size=2)
    assert [(a.tolist(), b.tolist()) for a in loader for b in loader][1] == ([0, 1], [2, 3])
    rest = iter(loader)
    next(rest)
    assert next(rest).tolist() == [2, 3] and len(rest) == 2
    with pytest.raises(StopIteration):
        next(rest)


def test_own_collate(torch):
    loader = torch.utils.data.DataLoader([1, 2, 3], batch_size=2, collate_fn=lambda batch: batch)
    assert list(loader) == [[1, 2], [3]]
