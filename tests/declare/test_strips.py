"""Loops on strips compute what one loop computes: the text of both, run by Python on lists."""

from __future__ import annotations

import math
import random

import pytest

from gradpack.declare.generate import fusion_text
from gradpack.declare.generate.fusion_text import Steps, Value


class Part:
    """A part of an array."""

    def __init__(self, array, places):
        self.array, self.places = array, places

    def __getitem__(self, i):
        return self.array[self.places[i]]

    def __setitem__(self, i, value):
        self.array[self.places[i]] = value


class Array(list):
    """An array of one dimension, whose slices see it."""

    size = property(len)

    def __getitem__(self, i):
        return Part(self, range(*i.indices(len(self)))) if isinstance(i, slice) else list.__getitem__(self, i)


NAMES = {
    "use_widest_vectors": lambda: None, "strip": lambda: None, "float32": float, "tanh": math.tanh, "exp": math.sin,
    "carray": lambda pointer, shape, kind: Array([math.nan] * shape[0]),
}  # fmt: skip


def texts(seed, monkeypatch):
    """Return the text of random steps, on strips and as one loop, and the names of its arrays."""
    rng, steps = random.Random(seed), Steps({}, True)
    given, targets = [f"a{i}" for i in range(rng.randint(1, 3))], ["_all", *(f"o{i}" for i in range(rng.randint(0, 3)))]
    readable = given + [t for t in targets if rng.random() < 0.5]
    values = [Value("f", f"v{i}") for i in range(len(readable))]
    for _ in range(rng.randint(2, 14)):
        floats, tests = ([v for v in values if v.kind == kind] for kind in "f?")
        name = rng.choice(["exp", "tanh", "exp", "tanh", "add", "multiply", "subtract", "greater", "where"])
        count = 1 if name in ("exp", "tanh") else 2
        if name != "where":
            values.append(steps.add(name, rng.choices(floats, k=count)))
        elif tests:
            values.append(steps.add(name, [rng.choice(tests), *rng.choices(floats, k=2)]))
    read = [f"v{i} = {array}[_i]" for i, array in enumerate(readable)]
    write = [f"{t}[_i] = {rng.choice([v for v in values if v.kind == 'f']).text}" for t in targets]
    on_strips = steps.function([*given, *targets], read, write, None)
    with monkeypatch.context() as patch:
        patch.setattr(fusion_text, "strips", lambda *args: None)
        return on_strips, steps.function([*given, *targets], read, write, None), [*given, *targets]


@pytest.mark.parametrize("seed", range(200))
def test_strips_are_one_loop(seed, monkeypatch):
    *both, arrays = texts(seed, monkeypatch)
    rng, results = random.Random(seed), []
    numbers = [[rng.uniform(-1, 1) for _ in range(rng.choice([5, 512, 700, 1100]))]]
    numbers += [[rng.uniform(-1, 1) for _ in numbers[0]] for _ in arrays[1:]]
    for text in both:
        names = dict(NAMES)
        exec(text.format(name="loop"), names)
        given = [Array(n) for n in numbers]
        names["loop"](*given)
        results.append([list(a) for a in given])
    assert results[0] == results[1]


def test_some_of_these_texts_are_on_strips(monkeypatch):
    assert sum("strip()" in texts(seed, monkeypatch)[0] for seed in range(200)) > 60
