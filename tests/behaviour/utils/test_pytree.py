"""`torch.utils._pytree`: containers of the user's, paths, and structures as text."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

Point = namedtuple("Point", "x y")
TREE = {"a": [1, (2, Point(3, 4))], "b": OrderedDict(c=deque([5], 7)), "d": defaultdict(list, e=6), "n": None}


class Pair:
    def __init__(self, first, second, note=None):
        self.first, self.second, self.note = first, second, note


@pytest.fixture
def tree(torch):
    module = importlib.import_module(f"{torch.__name__}.utils._pytree")
    yield module
    for kind in (Pair, Data, Constant):
        if kind in module.SUPPORTED_NODES:
            with contextlib.suppress(KeyError):  # torch's, of what has no name in text
                module._deregister_pytree_node(kind)


@dataclasses.dataclass
class Data:
    x: object
    y: object = None
    name: str = "n"


class Constant:
    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return 1


def register_pair(tree, **options):
    tree.register_pytree_node(
        Pair, lambda p: ([p.first, p.second], p.note), lambda items, note: Pair(*items, note), **options
    )


def test_leaves_and_structure(tree):
    leaves, spec = tree.tree_flatten(TREE)
    assert leaves == [1, 2, 3, 4, 5, 6, None] and tree.tree_unflatten(leaves, spec) == TREE
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (7, 14, 4) and spec.child(1).type is OrderedDict
    assert tree.tree_structure([1, (2,)]) == tree.treespec_loads(tree.treespec_dumps(tree.tree_structure([3, (4,)])))
    assert repr(tree.tree_structure({"a": [1, 2], "b": ()})) == (
        "TreeSpec(dict, ['a', 'b'], [TreeSpec(list, None, [*,\n    *]),\n  TreeSpec(tuple, None, [])])"
    )
    assert tree.tree_leaves([(1, 2), 3], is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), 3]
    assert tree.tree_is_leaf(3) and not tree.tree_is_leaf(()) and tree.arg_tree_leaves([1], 2, k={"a": 3}) == [1, 2, 3]
    assert tree.is_namedtuple(Point(1, 2)) and tree.is_namedtuple(Point) and not tree.is_namedtuple((1, 2))


def test_maps(tree):
    assert tree.tree_map(lambda a, b: a + b, {"a": 1, "b": [2]}, {"b": [20], "a": 10}) == {"a": 11, "b": [22]}
    assert tree.tree_map(lambda a, b: (a, b), [1, 2], [(3, 4), 5]) == [(1, (3, 4)), (2, 5)]
    with pytest.raises(ValueError, match="arity mismatch"):
        tree.tree_map(lambda a, b: a, [1, 2], [1])
    with pytest.raises(ValueError, match="mismatch"):
        tree.tree_map(lambda a, b: a, [1, 2], (1, 2))
    assert tree.tree_map_only(int, lambda x: -x, [1, "a", (2.0,)]) == [-1, "a", (2.0,)]
    assert tree.tree_map_only(lambda x: x == 2, str, [1, 2]) == [1, "2"]
    seen = []
    given = [1, {"k": 2}]
    assert tree.tree_map_(seen.append, given) is given and seen == [1, 2]
    assert tree.tree_all(bool, [1, (2,)]) and not tree.tree_any(str.isupper, ["a"])
    assert tree.tree_all_only(int, lambda x: x > 0, [1, "a"]) and tree.tree_any_only(str, str.isupper, [1, "A"])


def test_paths(tree):
    found = {tree.keystr(path): leaf for path, leaf in tree.tree_leaves_with_path(TREE)}
    assert found == {
        "['a'][0]": 1, "['a'][1][0]": 2, "['a'][1][1].x": 3, "['a'][1][1].y": 4, "['b']['c'][0]": 5, "['d']['e']": 6,
        "['n']": None,
    }  # fmt: skip
    for path, leaf in tree.tree_flatten_with_path(TREE)[0]:
        assert tree.key_get(TREE, path) == leaf
    assert tree.tree_map_with_path(lambda path, x: f"{tree.keystr(path)}={x}", [1, {"a": 2}]) == [
        "[0]=1", {"a": "[1]['a']=2"},
    ]  # fmt: skip
    assert tree.SequenceKey(0) != tree.MappingKey(0) and repr(tree.GetAttrKey("x")) == "GetAttrKey(name='x')"


def test_a_container_of_the_user(tree, torch):
    assert tree.tree_leaves(Pair(1, 2)) != [1, 2]
    register_pair(tree, serialized_type_name="Pair")
    with pytest.raises(ValueError, match="already registered as pytree node"):
        register_pair(tree)
    made = tree.tree_map(lambda x: x * 10, [Pair(1, [2, 3], "n")])[0]
    assert (made.first, made.second, made.note) == (10, [20, 30], "n")
    with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn"):
        tree.tree_leaves_with_path(Pair(1, 2))
    spec = tree.tree_structure(Pair(1, [2]))
    assert tree.treespec_loads(tree.treespec_dumps(spec)) == spec
    x = torch.arange(6.0).reshape(3, 2)
    out = torch.vmap(lambda p: Pair(p.first.sum(), p.second * 2))(Pair(x, x))
    assert out.first.tolist() == [1, 5, 9] and out.second.tolist() == (x * 2).tolist()
    out = torch.vmap(lambda p: p.first + p.second, in_dims=(Pair(0, None),))(Pair(x, x[0]))
    assert out.tolist() == (x + x[0]).tolist()
    g = torch.func.grad(lambda p: (p.first * p.second).sum())(Pair(x, x + 1))
    assert g.first.tolist() == (x + 1).tolist() and g.second.tolist() == x.tolist()
    tree._deregister_pytree_node(Pair)
    assert len(tree.tree_leaves(Pair(1, 2))) == 1


def test_dataclasses_and_constants(tree):
    tree.register_dataclass(Data, field_names=["x", "y"], drop_field_names=["name"])
    leaves, spec = tree.tree_flatten(Data(1, [2]))
    assert leaves == [1, 2] and tree.tree_unflatten([3, 4], spec) == Data(3, [4])
    assert tree.tree_leaves(Data(1)) == [1] and tree.keystr(tree.tree_leaves_with_path(Data(1))[0][0]) == ".x"
    tree.register_constant(Constant)
    assert tree.tree_leaves([Constant(), 1]) == [1] and tree.tree_structure(Constant()) == tree.tree_structure(
        Constant()
    )
    with pytest.raises(TypeError, match="__eq__"):
        tree.register_constant(Pair)


@pytest.mark.parametrize(
    "text", ["{}", "[1, (2, {'a': 3})]", "OrderedDict(a=1)", "defaultdict(list, a=1)", "deque([1], 3)"]
)
def test_structures_as_text(tree, text):
    spec = tree.tree_structure(eval(text))
    assert tree.treespec_loads(tree.treespec_dumps(spec)) == spec


def test_text_of_what_has_no_name(tree):
    register_pair(tree)
    with pytest.raises(NotImplementedError, match="serialization name"):
        tree.treespec_dumps(tree.tree_structure(Pair(1, 2)))
    with pytest.raises(ValueError, match="Unknown protocol 7"):
        tree.treespec_dumps(tree.tree_structure(1), 7)
