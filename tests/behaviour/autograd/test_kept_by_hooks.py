"""Writes in place after packing: an error where a hook kept the tensor, however it did; none where it copied."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import weakref

import numpy as np
import pytest

import gradpack as torch
from gradpack import saved

hooks = torch.autograd.graph.saved_tensors_hooks


@dataclasses.dataclass
class Held:
    value: object


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


KEEPS = {  # what of the tensor is kept
    "itself": lambda t: t,
    "detached": lambda t: t.detach(),
    "view": lambda t: t.view(-1),
    "data": lambda t: t.data,
    "array": lambda t: t.detach().numpy(),
    "part of the array": lambda t: t.detach().numpy()[:],
    "buffer": lambda t: memoryview(t.detach().numpy()),
}

PLACES = {  # in what, and how to get it from there
    "as it is": (lambda kept: kept, lambda packed: packed),
    "tuple": (lambda kept: (1, [kept]), lambda packed: packed[1][0]),
    "dict": (lambda kept: {"a": kept}, lambda packed: packed["a"]),
    "dataclass": (Held, lambda packed: packed.value),
    "slots": (Slotted, lambda packed: packed.value),
    "closure": (lambda kept: lambda: kept, lambda packed: packed()),
    "default": (lambda kept: lambda value=kept: value, lambda packed: packed()),
    "partial": (lambda kept: functools.partial(_same, kept), lambda packed: packed()),
    "elsewhere": None,  # under a number, which is what the pack hook returns
}

BACK = {  # what unpack returns
    "itself": lambda kept: kept if isinstance(kept, torch.Tensor) else torch.from_numpy(np.asarray(kept)),
    "clone": lambda kept: _tensor(kept).clone(),
    "product": lambda kept: _tensor(kept) * 1,
    "numbers": lambda kept: torch.tensor(_tensor(kept).tolist()),
    "rounded": lambda kept: _tensor(kept).to(torch.bfloat16).to(torch.float32),
}


def _same(value):
    return value


def _tensor(kept):
    return kept if isinstance(kept, torch.Tensor) else torch.from_numpy(np.asarray(kept))


def _under_a_number(store):
    def put(kept):
        store[len(store)] = kept
        return len(store) - 1

    return put, store.__getitem__


def _without_grad(h):
    with torch.no_grad():
        h.add_(1)


WRITES = {
    "add_": lambda h: h.add_(1),
    "part": lambda h: h[:1].fill_(9),
    "copy_": lambda h: h.copy_(torch.ones(3)),
    "no_grad": _without_grad,
    "increment_version": torch.autograd.graph.increment_version,
}


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def _input(x):
    h = x * 1
    return h, h.sin()


def _result(x):
    y = x.exp()
    return y, y * 1


def _of_a_function(x):
    y = Exp.apply(x)
    return y, y * 1


SAVED = {"input": _input, "result": _result, "result of a Function": _of_a_function}


def leaf():
    return torch.tensor([0.5, 1.5, 2.5], requires_grad=True)


@pytest.mark.parametrize("back", BACK)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("keep", KEEPS)
def test_a_write_to_what_a_hook_kept_is_an_error(keep, place, back):
    put, get = PLACES[place] or _under_a_number({})
    for write in WRITES.values():
        for save in SAVED.values():
            x = leaf()
            with hooks(lambda t: put(KEEPS[keep](t)), lambda packed: BACK[back](get(packed))):
                h, y = save(x)
            write(h)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.sum().backward()


def test_a_write_that_changes_nothing_is_one():
    x = leaf()
    with hooks(lambda t: (t,), lambda packed: packed[0].clone()):
        h, y = _input(x)
    h.add_(0)
    with pytest.raises(RuntimeError, match="expected version 0"):
        y.sum().backward()


def test_as_is_a_write_to_another_part_of_its_memory():
    x = leaf()
    base = x * 1
    with hooks(lambda t: {"a": t.detach().numpy()}, lambda packed: torch.tensor(packed["a"])):
        y = base[:2].sin()
    base[2:].zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


COPIES = {
    "clone": (lambda t: t.detach().clone(), _same),
    "array": (lambda t: t.detach().numpy().copy(), torch.tensor),
    "numbers": (lambda t: t.tolist(), torch.tensor),
    "bytes": (lambda t: pickle.dumps(t.detach().numpy()), lambda packed: torch.tensor(pickle.loads(packed))),
    "rounded": (lambda t: t.to(torch.bfloat16), lambda packed: packed.float()),
    "doubled": (lambda t: t * 2, lambda packed: packed / 2),
    "and the tensor weakly": (lambda t: (weakref.ref(t), t.clone()), lambda packed: packed[1]),
    "and the tensor for its dtype": (lambda t: _later(t.double(), t), lambda packed: packed()),
    "elsewhere": None,
    "rounded, elsewhere": None,
}


def _later(copy, like):
    return lambda: copy.to(like.dtype)


@pytest.mark.parametrize("noted", [False, True], ids=["", "the tensor goes into a list"])
@pytest.mark.parametrize("copy", COPIES)
def test_a_write_after_a_copy_is_none(copy, noted):
    for write in WRITES.values():
        for save, expected in ((_input, torch.cos), (_result, torch.exp), (_of_a_function, torch.exp)):
            put, get = _under_a_number({})
            if copy == "elsewhere":
                pack, unpack = (lambda t, put=put: put(t.clone())), get
            elif copy == "rounded, elsewhere":
                pack, unpack = (lambda t, put=put: put(t.to(torch.bfloat16))), (lambda i, get=get: get(i).float())
            else:
                pack, unpack = COPIES[copy]
            notes, x = [], leaf()
            if noted and write is WRITES["increment_version"]:
                continue  # of a write that nobody was told of, nothing can be known
            with hooks(lambda t, pack=pack, notes=notes: (notes.append(t) if noted else None, pack(t))[1], unpack):
                h, y = save(x)
            if copy == "and the tensor for its dtype" and write is WRITES["increment_version"]:
                continue
            write(h)
            y.sum().backward()
            near = {"rel": 1e-2, "abs": 1e-2} if "rounded" in copy else {"rel": 1e-6}
            assert x.grad.tolist() == pytest.approx(expected(x).tolist(), **near)


def test_who_let_go_of_it_before_the_write_has_kept_nothing():
    queue, files, x = [], {}, leaf()

    def pack(t):
        queue.append(t)
        return len(queue) - 1

    with hooks(pack, lambda i: torch.tensor(files[i])):
        h, y = _input(x)
    files.update((i, t.tolist()) for i, t in enumerate(queue))
    queue.clear()
    h.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(x.cos().tolist())


def test_hooks_registered_on_what_is_saved_already():
    x = leaf()
    h, y = _input(x)
    y.grad_fn._raw_saved_self.register_hooks(lambda t: [t], lambda packed: packed[0].clone())
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_policy_of_the_users():
    class Later(saved.Policy):
        def pack(self, tensor, info=None):
            return (tensor,)

        def unpack(self, packed):
            return packed[0].clone()

    for policy in (Later(), Later().where(min_bytes=1), Later() >> saved.bf16()):
        x = leaf()
        with policy:
            h, y = _input(x)
        h.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_the_same_tensor_saved_often_is_copied_once():
    notes, x = [], leaf()
    h = x * 1
    with hooks(lambda t: (notes.append(t), t.clone())[1], _same):
        made = [h.sin() for _ in range(20)]
    assert len(h._counter) == 2
    h.zero_()
    torch.stack(made).sum().backward()
    assert x.grad.tolist() == pytest.approx((20 * x.cos()).tolist())


def test_a_checkpointed_segment_that_writes_to_what_it_has_saved():
    from gradpack.utils.checkpoint import checkpoint

    def segment(x):
        y = x * 1
        z = y.sin()
        y.add_(1)
        return z.exp()

    for early_stop in (True, False):
        x = leaf()
        y = checkpoint(segment, x, use_reentrant=False, early_stop=early_stop)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
