"""Code and values that functions reach through objects of many kinds: programs notice what changes there.

Each case returns a function of a tensor, and events: after each, calls give what those of the function as it is give.
"""

from __future__ import annotations

import abc
import argparse
import builtins
import collections
import functools
import operator
import sys
import threading
import types
import typing
import warnings
import weakref

import numpy as np
import pytest

import gradpack as torch
from gradpack.compiler import compiled
from gradpack.compiler.python import state

SCALE = 2.0
CASES: dict[str, typing.Any] = {}
KEPT: list[typing.Any] = []
RUNS_AS_IT_IS = {"a_weak_reference_alone"}


def case(function):
    CASES[function.__name__] = function
    return function


def scaled(value):
    """Return a function that asks an object for a global number, and events that change it."""

    def change(number):
        global SCALE
        SCALE = number

    return lambda x: x * value(), [lambda: change(3.0), lambda: change(5.0)]


class Scaled:
    """A method of classes of any base that looks at a global name."""

    def scale(self):
        return SCALE


class Thing:
    k = 2.0


def of_base(base, *args, **kwargs):
    def made():
        value = type("Made", (Scaled, base), {})(*args, **kwargs)
        return scaled(lambda: value.scale())

    return made


for _base, *_args in (
    (dict, {"a": 1.0}), (collections.OrderedDict, {"a": 1.0}), (collections.Counter, "aab"), (list, [1.0]),
    (set, [1.0]), (frozenset, [1.0]), (tuple, [1.0]), (collections.deque, [1.0]), (str, "a"), (int, 3), (float, 3.0),
    (bytes, b"a"), (functools.partial, print), (torch.Size, [3]), (types.ModuleType, "a"),
    (collections.UserDict, {"a": 1.0}), (threading.local,), (argparse.Namespace,), (types.SimpleNamespace,),
):  # fmt: skip
    CASES[f"code_of_a_class_of_{_base.__name__}"] = of_base(_base, *_args)


@case
def methods_that_are_decorated():
    class Net(torch.nn.Module):
        @torch.autocast("cpu", enabled=False)
        def forward(self, x):
            return x * SCALE

        @torch.no_grad()
        def shift(self, x):
            return x + SCALE

    net = Net()
    _, events = scaled(None)
    return lambda x: net(x) * net.shift(x), [*events, lambda: setattr(Net.shift, "__wrapped__", None)]


@case
def code_of_a_class_of_arrays():
    value = np.ones(2).view(type("Made", (Scaled, np.ndarray), {}))
    return scaled(lambda: value.scale())


@case
def code_of_a_named_tuple():
    class Pair(typing.NamedTuple):
        a: float

        def scale(self):
            return SCALE

    pair = Pair(1.0)
    return scaled(lambda: pair.scale())


@case
def the_factory_of_a_dict():
    values = collections.defaultdict(lambda: SCALE)
    return scaled(lambda: (values["a"], values.clear())[0])


@case
def what_is_missing_in_a_dict():
    class Missing(dict):
        def __missing__(self, key):
            return SCALE

    values = Missing()
    return scaled(lambda: values["a"])


@case
def getters():
    thing = type("Made", (), {"scale": property(lambda self: SCALE), "method": lambda self: SCALE})()
    attribute, method = operator.attrgetter("scale"), operator.methodcaller("method")
    return scaled(lambda: attribute(thing) + method(thing))


@case
def modules_by_their_names():
    return scaled(lambda: sys.modules[__name__].SCALE)


@case
def subclasses():
    class Base:
        pass

    KEPT.append(type("Made", (Scaled, Base), {}))
    value, events = scaled(lambda: Base.__subclasses__()[-1]().scale())
    return value, [*events, lambda: KEPT.append(type("Other", (Base,), {"scale": lambda self: 7.0}))]


@case
def classes_that_say_nothing_of_their_modules():
    class Meta(type):
        __module__ = 3

    class Made(metaclass=Meta):
        def scale(self):
            return SCALE

    value = Made()
    return scaled(lambda: value.scale())


@case
def classes_and_their_bases():
    class A:
        k = 2.0

    class B:
        k = 3.0

    class C(A):
        pass

    value = C()
    return lambda x: x * value.k, [lambda: setattr(C, "__bases__", (B,)), lambda: setattr(value, "__class__", A)]


@case
def classes_of_containers():
    class A(dict):
        pass

    class B(dict):
        def __getitem__(self, key):
            return 7.0

    value = A(a=2.0)
    return lambda x: x * value["a"], [lambda: setattr(value, "__class__", B)]


@case
def slots():
    class A:
        __slots__ = ("__hidden", "a", "b")

        def __init__(self):
            self.__hidden, self.a = 2.0, 3.0

        def value(self):
            return self.__hidden * self.a * getattr(self, "b", 1.0)

    thing = A()
    return lambda x: x * thing.value(), [
        lambda: setattr(thing, "b", 5.0),
        lambda: setattr(thing, "a", 7.0),
        lambda: setattr(thing, "_A__hidden", 1.0),
        lambda: delattr(thing, "b"),
    ]


@case
def what_a_partial_calls():
    call = functools.partial(lambda x, k: x * k, k=2.0)
    return lambda x: call(x), [
        lambda: call.keywords.update(k=5.0),
        lambda: call.__setstate__((torch.add, (9.0,), {}, None)),
    ]


@case
def values_of_a_thread():
    values = threading.local()
    values.k = 2.0
    return lambda x: x * values.k, [lambda: setattr(values, "k", 3.0)]


@case
def names_and_annotations():
    def named(x) -> float:
        return x * len(named.__name__) * named.__annotations__.get("k", 1.0)

    return lambda x: named(x), [lambda: setattr(named, "__name__", "abc"), lambda: named.__annotations__.update(k=4.0)]


@case
def registered_classes():
    class Base(abc.ABC):  # noqa: B024 - a class that others are registered at
        pass

    class A:
        pass

    value = A()
    return lambda x: x * (2.0 if isinstance(value, Base) else 1.0), [lambda: Base.register(A)]


@case
def functions_by_the_class_of_an_argument():
    class A:
        pass

    value, scale = A(), functools.singledispatch(lambda value: 2.0)
    return lambda x: x * scale(value), [lambda: scale.register(A, lambda value: 5.0)]


@case
def attributes_that_a_module_had_not():
    module, names = types.ModuleType("a_module"), ["fl" + "ag"]
    module.__getattr__ = lambda name: 2.0
    return lambda x: x * getattr(module, "k", 1.0) * getattr(module, names[0]), [
        lambda: setattr(module, "k", 3.0),
        lambda: setattr(module, "flag", 5.0),
        lambda: delattr(module, "k"),
        lambda: setattr(module, "__getattr__", lambda name: 7.0),
    ]


@case
def another_module_of_a_name():
    def put(number):
        sys.modules["a_module_of_tests"] = module = types.ModuleType("a_module_of_tests")
        module.k = number

    def imports(x):
        import a_module_of_tests

        return x * a_module_of_tests.k

    put(2.0)
    return imports, [lambda: put(3.0)]


@case
def names_of_the_users_among_builtins():
    def looks(x):
        try:
            return x * a_number_of_tests
        except NameError:
            return x

    return looks, [
        lambda: setattr(builtins, "a_number_of_tests", 3.0),
        lambda: setattr(builtins, "a_number_of_tests", 5.0),
        lambda: delattr(builtins, "a_number_of_tests"),
    ]


@case
def attributes_that_an_optimizer_had_not():
    class Mine(torch.optim.SGD):
        k = 2.0

        def scale(self):
            return self.k

    optimizer = Mine([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    return lambda x: x * optimizer.scale(), [lambda: setattr(Mine, "k", 3.0), lambda: setattr(optimizer, "k", 4.0)]


@case
def a_weak_reference_alone():
    things = [Thing()]
    reference = weakref.ref(things[0])
    return lambda x: x * (reference().k if reference() else 9.0), [
        lambda: setattr(things[0], "k", 3.0),
        lambda: things.clear(),
    ]


@case
def a_weak_reference():
    thing = Thing()
    others = weakref.WeakKeyDictionary({Scaled: 3.0})
    reference = weakref.ref(thing)
    return lambda x: x * reference().k * thing.k * others[Scaled], [
        lambda: setattr(thing, "k", 3.0),
        lambda: others.update({Scaled: 5.0}),
    ]


def calls(name, wrap):
    global SCALE
    SCALE = 2.0
    function, events = CASES[name]()
    function = wrap(function)
    found = []
    for event in (lambda: None, *events):
        event()
        found += [function(torch.arange(1.0, 4.0)).tolist() for _ in range(5)]
    return found, getattr(function, "kept", ())


def compared(name):
    with warnings.catch_warnings(action="ignore"):  # that a function runs without a program
        wanted, _ = calls(name, lambda f: f)
        found, kept = calls(name, torch.compile)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert bool(kept) == (name not in RUNS_AS_IT_IS)


@pytest.mark.parametrize("name", CASES)
def test_what_changes_is_noticed(name):
    compared(name)


@pytest.mark.parametrize("name", CASES)
def test_what_changes_is_noticed_where_calls_are_watched(name, monkeypatch):
    class Watched(state.Walk):
        def finish(self):
            if self.executed is None:
                raise state.Unreachable("too much")
            super().finish()

    monkeypatch.setattr(compiled, "Walk", Watched)
    compared(name)


def test_objects_that_cannot_be_read():
    class Odd:
        def __getattribute__(self, name):
            raise RuntimeError("not now")

    odd = Odd()
    compiled = torch.compile(lambda x: x * 2 if odd is not None else x)
    with pytest.warns(UserWarning, match=r"what it can reach cannot be read \(RuntimeError: not now\)"):
        found = [compiled(torch.ones(2)) for _ in range(4)]
    assert all(torch.equal(each, 2 * torch.ones(2)) for each in found)


def test_attributes_that_are_gone():
    class Net(torch.nn.ReLU):
        def forward(self, x):
            return super().forward(x) * 2

    net = Net()
    compiled = torch.compile(lambda x: net(x))
    assert [compiled(torch.ones(1)).item() for _ in range(5)] == [2.0] * 5
    del Net.forward
    assert [compiled(torch.ones(1)).item() for _ in range(5)] == [1.0] * 5
