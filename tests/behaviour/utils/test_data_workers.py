"""Loaders whose examples are read by worker processes."""

import gc
import importlib
import multiprocessing
import os
import random
import time

import numpy as np
import pytest


class Squares:
    """Examples that say who read them."""

    def __init__(self, torch, size=10, action=None):
        self.torch, self.size, self.action = torch, size, action

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if self.action is not None:
            self.action(i)
        return self.torch.tensor(float(i * i)), self.torch.utils.data.get_worker_info().id, os.getpid()


def refuse(i):
    if i == 3:
        raise ValueError("not three")


class OwnError(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def children():
    gc.collect()
    return len(multiprocessing.active_children())


@pytest.fixture(autouse=True)
def nobody_is_left():
    yield
    until = time.monotonic() + 10
    while children() and time.monotonic() < until:
        time.sleep(0.01)
    assert not children()


def test_batches_come_in_order_and_workers_take_turns(torch):
    loader = torch.utils.data.DataLoader(Squares(torch), batch_size=3, num_workers=2)
    found = list(loader)
    assert [b[0].tolist() for b in found] == [[0, 1, 4], [9, 16, 25], [36, 49, 64], [81]]
    assert [b[1].tolist() for b in found] == [[0] * 3, [1] * 3, [0] * 3, [1]]
    assert os.getpid() not in {pid for b in found for pid in b[2].tolist()}
    assert len(loader) == len(iter(loader)) == 4 and torch.utils.data.get_worker_info() is None


def test_a_slow_worker_does_not_change_the_order(torch):
    slow = Squares(torch, 6, lambda i: time.sleep(0.3 * (i == 0)))
    assert [b[0].item() for b in torch.utils.data.DataLoader(slow, num_workers=2)] == [0, 1, 4, 9, 16, 25]
    found = [b[0].item() for b in torch.utils.data.DataLoader(slow, num_workers=2, in_order=False)]
    assert sorted(found) == [0, 1, 4, 9, 16, 25] and found[0] != 0


def test_iterable_datasets_are_divided_by_their_workers(torch):
    class Numbers(torch.utils.data.IterableDataset):
        def __iter__(self):
            info = torch.utils.data.get_worker_info()
            assert info.dataset is not None and info.num_workers == 2
            return iter(range(info.id, 7 if info.id else 3, 2))

    loader = torch.utils.data.DataLoader
    assert [b.tolist() for b in loader(Numbers(), batch_size=2, num_workers=2)] == [[0, 2], [1, 3], [5]]
    assert [b.tolist() for b in loader(Numbers(), batch_size=2, num_workers=2, drop_last=True)] == [[0, 2], [1, 3]]
    assert [int(b) for b in loader(Numbers(), batch_size=None, num_workers=2)] == [0, 1, 2, 3, 5]


def test_seeds_and_the_function_that_is_called_first(torch):
    def begin(i):
        info = torch.utils.data.get_worker_info()
        assert info.id == i and torch.initial_seed() == info.seed

    class Drawn:
        def __len__(self):
            return 4

        def __getitem__(self, i):
            info = torch.utils.data.get_worker_info()
            drawn = random.random(), np.random.rand(), torch.rand(()).item()  # noqa: NPY002 - seeded by the worker
            return info.seed - info.id, *drawn

    def seeds(seed):
        generator = torch.Generator().manual_seed(seed)
        loader = torch.utils.data.DataLoader(Drawn(), num_workers=2, worker_init_fn=begin, generator=generator)
        return [[float(x) for x in b] for b in loader]

    first = seeds(1)
    assert len({b[0] for b in first}) == 1 and first == seeds(1) != seeds(2)
    assert all(len({b[k] for b in first}) == 4 for k in (1, 2, 3))


def test_workers_that_persist(torch):
    loader = torch.utils.data.DataLoader(Squares(torch), batch_size=5, num_workers=2, persistent_workers=True)
    epochs = [[b[2][0].item() for b in loader] for _ in range(3)]
    assert epochs[0] == epochs[1] == epochs[2] and len(set(epochs[0])) == 2
    rest = iter(loader)
    next(rest)  # what is left of an epoch is forgotten
    assert [b[0][0].item() for b in loader] == [0, 25]
    assert [b[0][0].item() for b in loader] == [0, 25]


@pytest.mark.parametrize("persistent", [False, True])
def test_errors_come_back_with_their_traceback_and_reading_goes_on(torch, persistent):
    data = Squares(torch, 6, refuse)
    loader = torch.utils.data.DataLoader(data, num_workers=2, persistent_workers=persistent)
    rest, found = iter(loader), []
    while True:
        try:
            found.append(next(rest)[0].item())
        except ValueError as error:
            text = str(error)
        except StopIteration:
            break
    assert text.startswith("Caught ValueError in DataLoader worker process 1.\nOriginal Traceback (most recent call")
    assert "in refuse\n" in text and text.rstrip().endswith("ValueError: not three")
    assert found == [0, 1, 4, 16, 25]


def test_errors_that_want_other_arguments_and_errors_at_the_beginning(torch):
    def fail(i):
        raise OwnError(1, 2)

    def key(i):
        raise KeyError("k")

    loader = torch.utils.data.DataLoader
    with pytest.raises(RuntimeError, match="Caught OwnError in DataLoader worker process 0"):
        list(loader(Squares(torch, 2, fail), num_workers=1))
    with pytest.raises(KeyError) as caught:
        list(loader(Squares(torch, 2, key), num_workers=1))
    assert "\nKeyError: 'k'" in str(caught.value)
    with pytest.raises(RuntimeError, match="Caught OwnError in DataLoader worker process 0"):
        list(loader(Squares(torch, 2), num_workers=1, worker_init_fn=fail))


def test_a_worker_that_ends(torch):
    loader = torch.utils.data.DataLoader(Squares(torch, 4, lambda i: os._exit(3)), num_workers=2)
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) .*exited unexpectedly"):
        list(loader)


def test_waiting_ends(torch):
    loader = torch.utils.data.DataLoader(Squares(torch, 4, lambda i: time.sleep(1)), num_workers=1, timeout=0.05)
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.05 seconds"):
        list(loader)


def test_nobody_is_left_behind(torch):
    loader = torch.utils.data.DataLoader(Squares(torch, 100), num_workers=2)
    for _ in loader:
        break
    rest = iter(loader)
    next(rest)
    del rest

    def interrupted():
        for _ in loader:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_large_requests_and_large_answers_do_not_block(torch):
    class Large:
        def __len__(self):
            return 400_000

        def __getitems__(self, indices):
            return [np.zeros(200_000) for _ in range(2)]

    orders = [list(range(60_000))] * 6
    loader = torch.utils.data.DataLoader(Large(), batch_sampler=orders, num_workers=1, prefetch_factor=4)
    assert [tuple(b.shape) for b in loader] == [(2, 200_000)] * 6


def test_contexts(torch):
    loader = torch.utils.data.DataLoader
    for context in ("fork", multiprocessing.get_context("fork")):
        assert len(list(loader(Squares(torch, 3), num_workers=1, multiprocessing_context=context))) == 3
    with pytest.raises(ValueError, match="should specify a valid start method in"):
        loader([1], num_workers=1, multiprocessing_context="thread")
    with pytest.raises(TypeError, match="should be a valid context object or a string"):
        loader([1], num_workers=1, multiprocessing_context=3)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # pytest's may be, which Python 3.12 warns of
def test_more_workers_than_processors(torch, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    with pytest.warns(UserWarning, match="will create 2 worker processes in total. Our suggested max number of worker"):
        list(torch.utils.data.DataLoader(Squares(torch, 2), num_workers=2))


def test_the_classes_of_iterators(torch):
    module = importlib.import_module(f"{torch.__name__}.utils.data.dataloader")
    one, two = torch.utils.data.DataLoader([1, 2]), torch.utils.data.DataLoader([1, 2], num_workers=1)
    assert type(iter(one)) is module._SingleProcessDataLoaderIter
    assert type(iter(two)) is module._MultiProcessingDataLoaderIter
    assert issubclass(type(iter(one)), module._BaseDataLoaderIter)
    assert one._dataset_kind == module._DatasetKind.Map and one._auto_collation is True
    assert one._index_sampler is one.batch_sampler and one._IterableDataset_len_called is None
    with pytest.raises(NotImplementedError):
        iter(one).__getstate__()
