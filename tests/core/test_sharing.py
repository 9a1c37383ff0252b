"""Memory that processes share: `share_memory_`, forked children, queues."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import sys

import numpy as np
import pytest

import gradpack as torch

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork"),
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
]
LINUX = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="memory has no name to give to others")


def in_a_child(action):
    """Run `action` in a forked child, and wait for it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_forked_child_writes_to_the_same_memory():
    x = torch.zeros(4).share_memory_()
    in_a_child(lambda: x.add_(3))
    assert x.tolist() == [3.0] * 4
    y = torch.zeros(4)
    in_a_child(lambda: y.add_(3))
    assert y.tolist() == [0.0] * 4 and not y.is_shared() and x.is_shared()


def test_views_go_where_the_memory_goes():
    x = torch.arange(6.0).reshape(2, 3)
    row, turned, alone = x[1], x.T, x.detach()
    storage, place = x.untyped_storage(), x.data_ptr()
    assert row.share_memory_() is row
    assert all(t.is_shared() for t in (x, row, turned, alone, storage, x.storage(), x[0], x.data))
    assert x.data_ptr() != place and storage.data_ptr() == x.data_ptr() == turned.data_ptr()
    assert storage == row.untyped_storage() and row.storage_offset() == 3 and turned.stride() == (1, 3)
    row[0] = 7.0
    assert x.tolist() == [[0.0, 1.0, 2.0], [7.0, 4.0, 5.0]] and turned[0].tolist() == [0.0, 7.0] == alone[:, 0].tolist()
    in_a_child(lambda: turned.fill_(9))
    assert x.tolist() == [[9.0] * 3] * 2
    place = x.data_ptr()
    assert x.share_memory_().data_ptr() == place


def test_copies_are_not_shared():
    x = torch.ones(3).share_memory_()
    for made in (x + 1, x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert not made.is_shared()
    assert x.tolist() == pickle.loads(pickle.dumps(x)).tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(0),
        lambda: torch.zeros(()),
        lambda: torch.ones(3).expand(4, 3),
        lambda: torch.from_numpy(np.ones(3)[::2]),
        lambda: torch.ones(3, dtype=torch.bfloat16),
        lambda: torch.zeros(2, dtype=torch.complex64).real,
        lambda: torch.ones(2, 3).T[1:],
    ],
)
def test_any_layout_can_be_shared(make):
    x = make()
    values, stride = x.tolist(), x.stride()
    x.share_memory_()
    assert x.is_shared() and x.tolist() == values and x.stride() == stride


def test_history_and_the_check_of_writes_stay():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = (y * x).sum()
    for t in (x, y):
        t.share_memory_()
    assert x._version == 0 and x.is_leaf
    z.backward(retain_graph=True)
    assert torch.allclose(x.grad, (x.exp() * (x + 1)).detach())
    y.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_parameters_of_a_module_and_sums_of_adagrad():
    layer = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    optimiser = torch.optim.Adagrad(layer.parameters(), lr=0.5)
    layer.share_memory()
    optimiser.share_memory()
    state = [*layer.parameters(), *layer.buffers(), *(s["sum"] for s in optimiser.state.values())]
    assert all(t.is_shared() for t in state)
    before = [t.detach().clone() for t in state]

    def step():
        layer(torch.tensor([[1.0, 2.0], [3.0, -4.0]])).pow(2).sum().backward()
        optimiser.step()

    in_a_child(step)
    assert sum(not torch.equal(t, old) for t, old in zip(state, before, strict=True)) > 5
    assert all(p.grad is None for p in layer.parameters())


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(NotImplementedError, match="Cannot access storage of SparseTensorImpl"):
        torch.ones(3).to_sparse().share_memory_()
    with pytest.raises(RuntimeError, match="only available on CPU"):
        torch.ones(3, device="meta").share_memory_()
    with pytest.raises(NotImplementedError, match="Cannot access storage of BatchedTensorImpl"):
        torch.func.vmap(lambda x: x.share_memory_())(torch.ones(2, 2))


def _answer(asked, answers):
    x, weight = asked.get(timeout=60)
    x.mul_(2)
    assert isinstance(weight, torch.nn.Parameter) and weight.requires_grad and weight.is_shared()
    with torch.no_grad():
        weight[0] = 5.0
    answers.put(bool(x.is_shared()))


@LINUX
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_queues_share_memory_that_is_shared(way):
    if way == "spawn" and not getattr(sys.modules["__main__"], "__spec__", None):
        pytest.skip("the main module cannot be imported in a new process")
    context = multiprocessing.get_context(way)
    asked, answers = context.Queue(), context.Queue()
    child = context.Process(target=_answer, args=(asked, answers))
    child.start()
    try:
        whole = torch.arange(6.0).reshape(3, 2)
        weight = torch.nn.Parameter(torch.ones(2))
        weight.share_memory_()
        asked.put((whole[1:].T.share_memory_(), weight))
        assert answers.get(timeout=60) is True
    finally:
        child.join(timeout=60)
        child.kill()
    assert child.exitcode == 0
    assert whole.tolist() == [[0.0, 1.0], [4.0, 6.0], [8.0, 10.0]] and weight.tolist() == [5.0, 1.0]
