"""Words of memory differ after each write to a dict, and where an object has another class or other attributes."""

import copy
import sys
from collections import OrderedDict, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradpack.compiler.python import guard, words

tags = pytest.mark.skipif(not words.has_tags(), reason="dicts have no version tags")
readable = pytest.mark.skipif(not words.are_readable(), reason="the interpreter is another one")


EMBEDS = sys.version_info >= (3, 13)  # an object may hold the values of its attributes


class Plain:
    def __init__(self):
        self.value = 1


class Empty:
    pass


class Other(Plain):
    pass


def reader_of(add, value):
    made = words.Words()
    assert getattr(made, add)(value)
    return made.reader()


def check_of(*containers):
    snapshots = [guard.Snapshot(each, "values", each.values, list(each)) for each in containers]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "_FEW", 0)
        return guard.quick_check(snapshots, set(), ())


def set_value(value):
    value.value = object()


def set_new(value):
    value.new = object()


def del_value(value):
    del value.value


WRITES = {
    "item": lambda d: d.__setitem__("a", 5),
    "new item": lambda d: d.__setitem__("b", 5),
    "update": lambda d: d.update(a=5),
    "merge": lambda d: d.__ior__({"b": 5}),
    "default": lambda d: d.setdefault("b", 5),
    "pop": lambda d: d.pop("a"),
    "last": lambda d: d.popitem(),
    "clear": lambda d: d.clear(),
    "code": lambda d: exec("a = 3", d),
}


@tags
@pytest.mark.parametrize("kind", [dict, lambda x: defaultdict(list, x)])
@pytest.mark.parametrize("write", WRITES)
def test_writes_to_dicts(write, kind):
    values = kind({"a": 1})
    read = reader_of("add_container", values)
    before = read()
    assert read() == before
    WRITES[write](values)
    assert read() != before


@tags
@pytest.mark.parametrize("make", [Plain, lambda: copy.copy(Plain())])
@pytest.mark.parametrize("write", [set_value, set_new, del_value])
@pytest.mark.parametrize("times", [1, 3000])  # code that runs often is made for what it meets
def test_writes_to_attributes(write, make, times):
    for _ in range(times):
        write(make())
    for _ in range(times):
        value, other = make(), make()
        other.__dict__ = {"value": 1}
        for each in (value, other):
            made = words.Words()
            if each is value and EMBEDS:
                assert not made.add_container(vars(each))
                continue
            assert made.add_container(vars(each))
            read = made.reader()
            before = read()
            write(each)
            assert read() != before


@readable
def test_dicts_and_classes_of_objects():
    value = Plain()
    for add, write in (
        ("add_class", lambda: setattr(value, "__class__", Other)),
        ("add_attributes", lambda: setattr(value, "__dict__", {"value": 1})),
    ):
        read = reader_of(add, value)
        before = read()
        value.value = 2
        assert read() == before
        write()
        assert read() != before


@readable
@pytest.mark.parametrize("kind", [set, dict, OrderedDict, lambda: defaultdict(int), lambda: vars(Empty())])
def test_values_of_empty_containers(kind):
    values = kind()
    read = reader_of("add_container", values)
    before = read()
    values.update([(1, 2)])
    assert read() != before
    values.clear()
    assert read() == before


@readable
def test_first_attributes():
    for times in (1, 3000):
        for _ in range(times):
            value = Empty()
            read = reader_of("add_container", vars(value))
            before = read()
            set_new(value)
            assert read() != before


@pytest.mark.parametrize("value", [OrderedDict(a=1), [1], [], {1}, frozenset(), (1,), 3])
def test_containers_without_words(value):
    made = words.Words()
    assert not made.add_container(value)
    assert made.reader()() == b""


def test_another_interpreter_has_no_words(monkeypatch):
    monkeypatch.setattr(sys, "implementation", type("", (), {"name": "pypy"}))
    assert not words.are_readable.__wrapped__()
    monkeypatch.setattr(words, "are_readable", lambda: False)
    assert not words.has_tags.__wrapped__()
    made = words.Words()
    assert not made.add_class(Plain())
    assert not made.add_attributes(Plain())
    assert not made.add_container(set())


def test_a_write_that_changes_nothing_is_asked_about_once():
    values = {"a": 1, "b": 2}
    holds = check_of(values)
    assert holds()
    values["a"] = 3
    assert not holds()
    assert not holds()
    values["a"] = 1
    assert holds()
    values["c"] = 4
    assert not holds()
    del values["c"]
    assert holds()
    del values["a"]
    values["a"] = 1
    assert not holds()  # another order


CONTENTS = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0, 1, True, 1.0, "a", (1, 2)]), max_size=4)


@given(st.lists(CONTENTS, min_size=1, max_size=3), st.data())
def test_writes_are_noticed_and_what_is_equal_may_hold(contents, data):
    values = [dict(each) for each in contents]
    holds = check_of(*values)
    wanted = [[*map(repr, each.items())] for each in contents]
    for _ in range(4):
        which = data.draw(st.sampled_from(values))
        now = data.draw(st.one_of(CONTENTS, st.just(contents[next(i for i, v in enumerate(values) if v is which)])))
        which.clear()
        which.update(now)
        assert holds() == ([[*map(repr, each.items())] for each in values] == wanted)
