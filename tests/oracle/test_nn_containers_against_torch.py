"""Containers of modules and parameters against those of torch."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from tests.oracle.both import LIBRARIES, changed, outcome

torch = pytest.importorskip("torch")


def sequence(lib: Any) -> Any:
    return lib.nn.Sequential(OrderedDict(a=lib.nn.Linear(1, 1), b=lib.nn.ReLU(), c=lib.nn.Tanh()))


def modules(lib: Any) -> Any:
    return lib.nn.ModuleList([lib.nn.Linear(1, 1), lib.nn.ReLU()])


def named(lib: Any) -> Any:
    return lib.nn.ModuleDict([("b", lib.nn.Linear(1, 1)), ("a", lib.nn.ReLU())])


def parameters(lib: Any) -> Any:
    return lib.nn.ParameterList([lib.ones(2), 7])


def values(lib: Any) -> Any:
    return lib.nn.ParameterDict({"b": lib.ones(2), "a": 7})


CONTAINERS = {
    "index": lambda lib: sequence(lib)[-1],
    "slice": lambda lib: sequence(lib)[:2],
    "index beyond": lambda lib: sequence(lib)[10],
    "del": lambda lib: changed(sequence(lib), lambda s: s.__delitem__(1)),
    "del slice": lambda lib: changed(sequence(lib), lambda s: s.__delitem__(slice(0, 2))),
    "set": lambda lib: changed(sequence(lib), lambda s: s.__setitem__(1, lib.nn.Sigmoid())),
    "set a number": lambda lib: changed(sequence(lib), lambda s: s.__setitem__(1, 3)),
    "plain dict": lambda lib: lib.nn.Sequential({"a": lib.nn.ReLU()}),
    "add": lambda lib: sequence(lib) + sequence(lib),
    "add a number": lambda lib: sequence(lib) + 3,
    "times": lambda lib: 2 * sequence(lib),
    "times zero": lambda lib: sequence(lib) * 0,
    "times a float": lambda lib: sequence(lib) * 1.5,
    "append": lambda lib: sequence(lib).append(lib.nn.ReLU()),
    "append a number": lambda lib: sequence(lib).append(3),
    "extend": lambda lib: sequence(lib).extend([lib.nn.ReLU()]),
    "extend with a number": lambda lib: sequence(lib).extend(3),
    "insert": lambda lib: lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Tanh()).insert(-1, lib.nn.Sigmoid()),
    "insert beyond": lambda lib: sequence(lib).insert(9, lib.nn.ReLU()),
    "insert a number": lambda lib: sequence(lib).insert(0, 3),
    "pop": lambda lib: sequence(lib).pop(0),
    "names": lambda lib: list(sequence(lib).state_dict()),
    "list index": lambda lib: modules(lib)[1],
    "list index beyond": lambda lib: modules(lib)[2],
    "list slice": lambda lib: modules(lib)[1:],
    "list set": lambda lib: changed(modules(lib), lambda m: m.__setitem__(-1, lib.nn.Tanh())),
    "list del": lambda lib: changed(modules(lib), lambda m: m.__delitem__(0)),
    "list add": lambda lib: modules(lib) + lib.nn.ModuleList([lib.nn.Tanh()]),
    "list extend": lambda lib: modules(lib).extend(modules(lib)),
    "list extend with a number": lambda lib: modules(lib).extend(3),
    "list insert": lambda lib: changed(modules(lib), lambda m: m.insert(1, lib.nn.Tanh())),
    "list append none": lambda lib: modules(lib).append(None),
    "list pop": lambda lib: modules(lib).pop(-1),
    "list pop slice": lambda lib: modules(lib).pop(slice(0, 1)),
    "list call": lambda lib: modules(lib)(1),
    "list length": lambda lib: len(modules(lib)),
    "dict keys": lambda lib: list(named(lib).keys()),
    "dict values": lambda lib: list(named(lib).values()),
    "dict items": lambda lib: list(named(lib).items()),
    "dict in": lambda lib: ["a" in named(lib), "z" in named(lib)],
    "dict pop": lambda lib: named(lib).pop("a"),
    "dict missing": lambda lib: named(lib)["z"],
    "dict update": lambda lib: changed(named(lib), lambda m: m.update({"c": lib.nn.Tanh()})),
    "dict update with a dict of modules": lambda lib: changed(named(lib), lambda m: m.update(named(lib))),
    "dict update with a number": lambda lib: named(lib).update(3),
    "dict update with numbers": lambda lib: named(lib).update([3]),
    "dict update with triples": lambda lib: named(lib).update([(1, 2, 3)]),
    "dict with a method's name": lambda lib: lib.nn.ModuleDict({"keys": lib.nn.ReLU()}),
    "dict clear": lambda lib: changed(named(lib), lambda m: m.clear()),
    "parameters": lambda lib: list(parameters(lib)),
    "parameters slice": lambda lib: list(parameters(lib)[:1]),
    "parameters beyond": lambda lib: parameters(lib)[5],
    "parameters append": lambda lib: list(parameters(lib).append(lib.zeros(1))),
    "parameters extend": lambda lib: list(parameters(lib).extend(parameters(lib))),
    "parameters extend with a tensor": lambda lib: parameters(lib).extend(lib.ones(2)),
    "parameters set": lambda lib: list(changed(parameters(lib), lambda p: p.__setitem__(0, lib.zeros(1)))),
    "parameters call": lambda lib: parameters(lib)(1),
    "parameters kinds": lambda lib: [type(p).__name__ for p in parameters(lib)],
    "parameters state": lambda lib: parameters(lib).state_dict(),
    "values keys": lambda lib: list(values(lib).keys()),
    "values items": lambda lib: list(values(lib).items()),
    "values missing": lambda lib: values(lib)["z"],
    "values pop": lambda lib: values(lib).pop("b"),
    "values pop missing": lambda lib: values(lib).pop("z"),
    "values popitem": lambda lib: values(lib).popitem(),
    "values popitem of nothing": lambda lib: lib.nn.ParameterDict().popitem(),
    "values get": lambda lib: values(lib).get("z", 4),
    "values setdefault": lambda lib: values(lib).setdefault("z", 4),
    "values fromkeys": lambda lib: dict(values(lib).fromkeys(["x"], 3).items()),
    "values or": lambda lib: dict((values(lib) | {"a": 3}).items()),
    "values of an int": lambda lib: changed(values(lib), lambda v: v.__setitem__(1, 2)),
    "values call": lambda lib: values(lib)(1),
    "values reversed": lambda lib: list(reversed(values(lib))),
    "values copy": lambda lib: dict(values(lib).copy().items()),
    "values clear": lambda lib: len(changed(values(lib), lambda v: v.clear())),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers(name: str) -> None:
    ours, theirs = (outcome(CONTAINERS[name], lib) for lib in LIBRARIES)
    assert ours == theirs
