"""`utils._pytree`: containers that users register, paths, and what `vmap` makes of them."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import gradpack as torch
from gradpack.base import tree
from gradpack.utils import _pytree as pytree

Pair = namedtuple("Pair", "one two")


@pytest.fixture
def registered(monkeypatch):
    """Registrations of a test end with it."""
    monkeypatch.setattr(tree, "REGISTERED", dict(tree.REGISTERED))
    monkeypatch.setattr(tree, "_NODES", tree._NODES)
    monkeypatch.setattr(pytree, "SUPPORTED_NODES", dict(pytree.SUPPORTED_NODES))


class Box:
    def __init__(self, *items, note=""):
        self.items, self.note = items, note


def register_box(**options):
    pytree.register_pytree_node(
        Box, lambda b: (list(b.items), b.note), lambda items, note: Box(*items, note=note), **options
    )


NESTED = {
    "a": [1, (2, Pair(3, None))],
    "b": OrderedDict(x=4),
    "c": defaultdict(list, y=5),
    "d": deque([6, 7], maxlen=3),
}


def test_containers_go_apart_and_together():
    leaves, spec = pytree.tree_flatten(NESTED)
    assert leaves == [1, 2, 3, None, 4, 5, 6, 7] and spec.num_leaves == 8
    again = pytree.tree_unflatten(leaves, spec)
    assert again == NESTED and again["d"].maxlen == 3 and again["c"].default_factory is list
    assert pytree.tree_structure(again) == spec and list(pytree.tree_iter(NESTED)) == leaves
    assert pytree.tree_map(lambda x: x, NESTED, is_leaf=lambda x: isinstance(x, dict)) is NESTED


def test_paths():
    found, spec = pytree.tree_flatten_with_path(NESTED)
    pair = "['a'][1][1]"
    expected = [
        "['a'][0]",
        "['a'][1][0]",
        f"{pair}.one",
        f"{pair}.two",
        "['b']['x']",
        "['c']['y']",
        "['d'][0]",
        "['d'][1]",
    ]
    assert [pytree.keystr(path) for path, _ in found] == expected
    assert all(pytree.key_get(NESTED, path) is leaf for path, leaf in found)
    doubled = pytree.tree_map_with_path(lambda path, x, y: (len(path), x, y), [1, [2]], [3, [4]])
    assert doubled == [(1, 1, 3), [(2, 2, 4)]] and pytree.tree_unflatten([x for _, x in found], spec) == NESTED


def test_leaves_of_some_types():
    values = [1, 2.5, "x"]
    assert pytree.tree_map_only(int, lambda x: -x, values) == [-1, 2.5, "x"]
    assert pytree.tree_map_only((int, float), lambda x: -x, values) == [-1, -2.5, "x"]
    assert pytree.tree_map_only(int | str, str, values) == ["1", 2.5, "x"]
    assert pytree.tree_map_only(lambda x: x == 1, lambda x: 7, values) == [7, 2.5, "x"]
    assert pytree.tree_all_only(int, lambda x: x > 0, values) and not pytree.tree_any_only(str, str.isupper, values)
    assert pytree.tree_any(lambda x: x == "x", values) and not pytree.tree_all(lambda x: x == "x", values)
    seen = []
    assert pytree.tree_map_(seen.append, values) is values and seen == values
    assert pytree.arg_tree_leaves(1, [2], k=(3,)) == [1, 2, 3]


def test_types_of_users_are_containers(registered):
    box = Box(torch.ones(3), [torch.arange(3.0)], note="mine")
    assert pytree.tree_is_leaf(box) and torch.utils._pytree.tree_leaves(box) == [box]
    register_box()
    assert not pytree.tree_is_leaf(box) and len(pytree.tree_leaves({"b": box})) == 2
    mapped = torch.vmap(lambda b: Box(b.items[0] + b.items[1][0], note=b.note))(box)
    assert mapped.note == "mine" and mapped.items[0].tolist() == [1.0, 2.0, 3.0]
    gradient = torch.func.grad(lambda b: (b.items[0] * b.items[1][0]).sum())(box)
    assert gradient.items[0].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="already registered"):
        register_box()
    with pytest.raises(ValueError, match="flatten_with_keys_fn"):
        pytree.tree_flatten_with_path(box)


def test_dataclasses_and_constants(registered):
    @dataclasses.dataclass
    class Point:
        x: float
        y: float | None = None
        kind: str = "p"

    pytree.register_dataclass(Point, field_names=["x", "y"], drop_field_names=["kind"])
    assert pytree.tree_map(lambda v: v + 1, Point(1.0)) == Point(2.0)
    assert [pytree.keystr(p) for p, _ in pytree.tree_leaves_with_path([Point(1.0, 2.0)])] == ["[0].x", "[0].y"]

    class Setting(str):
        __slots__ = ()

    pytree.register_constant(Setting)
    leaves, spec = pytree.tree_flatten([Setting("a"), 1])
    assert leaves == [1] and pytree.tree_unflatten([2], spec) == ["a", 2]


def test_nodes_are_what_packages_read():
    for value in ((1, 2), [1, 2], {"k": 1}, Pair(1, 2), OrderedDict(k=1), defaultdict(int, k=1), deque([1])):
        node = pytree.SUPPORTED_NODES[pytree._get_node_type(value)]
        items, context = node.flatten_fn(value)
        assert node.unflatten_fn(items, context) == value
        assert [key.get(value) for key, _ in node.flatten_with_keys_fn(value)[0]] == list(items) or type(value) is Pair
    spec = pytree.TreeSpec(namedtuple, Pair, [pytree.LeafSpec(), pytree.LeafSpec()])
    assert pytree.tree_unflatten([1, 2], spec) == Pair(1, 2) and pytree.tree_structure(3).is_leaf()
