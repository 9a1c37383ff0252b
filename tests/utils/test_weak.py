"""Dictionaries whose keys are told apart by identity and go with their last holder."""

from __future__ import annotations

import copy
import gc

import pytest

import gradpack as torch
from gradpack.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary, _WeakHashRef


def test_keys_are_told_apart_by_identity_and_go_with_their_holder():
    a, b = torch.ones(2), torch.ones(2)
    held = WeakTensorKeyDictionary({a: 1})
    held[b] = 2
    assert (held[a], held[b], len(held), a.clone() in held, 3 in held) == (1, 2, 2, False, False)
    assert [k is a for k in held] == [True, False] and all(ref() is not None for ref in held.keyrefs())
    with pytest.raises(KeyError):
        held[torch.ones(2)]
    del b
    gc.collect()
    assert len(held) == 1 and next(iter(held)) is a
    held.setdefault(a, 5)
    assert held.pop(a) == 1 and not held


def test_entries_may_go_during_iteration():
    keys = [torch.ones(1) for _ in range(4)]
    held = WeakIdKeyDictionary({k: i for i, k in enumerate(keys)})
    seen = 0
    for key in held:
        seen += 1
        keys[:] = []
        del key
    assert seen == 1 and len(held) == 0


def test_copies_and_unions():
    a, b = torch.ones(1), torch.ones(1)
    one, two = WeakIdKeyDictionary({a: [1]}), WeakIdKeyDictionary({b: [2]})
    both = one | two
    assert len(both) == 2 and both == {**dict(one), **dict(two)} and len(dict(one) | two) == 2
    shallow, deep = copy.copy(one), copy.deepcopy(one)
    assert shallow[a] is one[a] and deep[a] == [1] and deep[a] is not one[a]
    one |= two
    assert one == both and one.__or__(3) is NotImplemented and one.__eq__(3) is NotImplemented
    with pytest.raises(TypeError):
        hash(one)


def test_references_compare_by_object_until_it_is_gone():
    a = torch.ones(1)
    first, second = WeakIdRef(a), WeakIdRef(a)
    assert first == second and hash(first) == hash(second) and first != 3
    assert TensorWeakRef(a)() is a
    del a
    assert first != second and first() is None
    with pytest.raises(TypeError, match=r"TensorWeakRef\(\) takes a Tensor, not int"):
        TensorWeakRef(3)


def test_references_by_hash_compare_values():
    class Key:
        def __hash__(self):
            return 7

        def __eq__(self, other):
            return isinstance(other, Key)

    a, b = Key(), Key()
    held = WeakIdKeyDictionary({a: 1}, ref_type=_WeakHashRef)
    assert held[b] == 1 and _WeakHashRef(a) == _WeakHashRef(b)
