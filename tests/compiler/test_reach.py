"""How far a program looks: at what the code of its function can reach, and at what it calls where that is too much."""

from __future__ import annotations

import logging
import unittest
import warnings

import pytest

import gradpack as torch
from gradpack.compiler.compiled import Compiled, Unsupported

log = logging.getLogger("gradpack.tests")


def compiled(function):
    return Compiled(function, fullgraph=True)


def programs(function, calls=8):
    """Call a function that has to become a program; return its results, and the compiled function."""
    step = compiled(function)
    found = [step(torch.full((3,), float(i))).tolist() for i in range(calls)]
    assert step.kept and step.hits, step.explain()
    return found, step


class Anything:
    """Answers for any name, as the modules do that are imported when they are used."""

    n = 2

    def __getattr__(self, name):
        if name.startswith("__") and name != "__next__":
            raise AttributeError(name)
        return Anything()


def test_objects_that_answer_for_any_name_are_no_iterators():
    lazy = Anything()
    found, _ = programs(lambda x: x * lazy.n)
    assert found[3] == [6, 6, 6]


def test_iterators_are_refused():
    step = compiled(lambda x: x * next(numbers))
    numbers = iter(range(10))
    step(torch.ones(2))
    with pytest.raises(Unsupported, match="iterator"):
        [step(torch.ones(2)) for _ in range(2)]


def test_loggers_are_not_looked_into():
    handler = logging.StreamHandler(open("/dev/null", "w"))  # noqa: SIM115 - an iterator, as files are
    log.addHandler(handler)

    def step(x):
        if log.disabled:
            x = x + 1
        return x * 2

    try:
        assert programs(step)[0][3] == [6, 6, 6]
    finally:
        log.removeHandler(handler)
        handler.stream.close()


def test_messages_that_are_logged_end_the_program():
    class Kept(logging.Handler):
        def emit(self, record):
            kept.append(record.getMessage())

    kept, handler = [], Kept()
    log.addHandler(handler)

    @torch.compile
    def step(x):
        log.debug("not shown")
        log.warning("shown")
        return x * 2

    try:
        with pytest.warns(UserWarning, match=r"time(_ns)?\(\)"):
            [step(torch.ones(2)) for _ in range(6)]
        assert kept == ["shown"] * 6
        log.setLevel(logging.ERROR)
        assert programs(step.function)[0][2] == [4, 4, 4] and len(kept) == 6
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)


def test_what_is_written_to_a_stream_ends_the_program(capsys):
    import sys

    step = Compiled(lambda x: (sys.stdout.write("."), x * 2)[1])
    with pytest.warns(UserWarning, match=r"write\(\)"):
        [step(torch.ones(2)) for _ in range(5)]
    assert capsys.readouterr().out == "....."


def test_versions_of_others_than_tensors_may_be_read():
    class Package:
        _version = 3

    found, _ = programs(lambda x: x * Package._version)
    assert found[2] == [6, 6, 6]


table = {str(i): [i] for i in range(30_000)}


def of_table(key):
    return table[key][0]


def test_what_is_not_called_may_reach_too_much():
    def step(x, wide=False):
        if wide:
            return x * of_table("7")
        return x * 2

    found, f = programs(step)
    assert found[3] == [6, 6, 6] and f.executed is not None
    with pytest.raises(Unsupported, match="more than 20000 values"):
        [f(torch.ones(2), True) for _ in range(4)]


def test_what_is_called_for_the_first_time_is_looked_into():
    many, few = dict.fromkeys(range(30_000), 1), {"n": 3}

    def of_many(x):
        return x * len(many)

    def of_few(x):
        return x * few["n"]

    def step(x):
        if x.shape[0] == 1:
            return of_many(x)
        return of_few(x) if x.shape[0] == 2 else x + 1

    f = Compiled(step)
    with warnings.catch_warnings(action="error"):
        for i in range(5):
            assert f(torch.ones(3)).tolist() == [2, 2, 2]
            few["n"] = i
        for i in range(8):
            few["n"] = i // 4
            assert f(torch.ones(2)).tolist() == [i // 4] * 2
    assert len(f.kept) == 3 and f.hits
    with pytest.warns(UserWarning, match="more than 20000"):
        assert [f(torch.ones(1)).item() for _ in range(3)] == [30_000] * 3


class OfATestCase(unittest.TestCase):
    factor = 3.0

    def test_attributes_of_a_test_case_are_looked_at_if_code_names_them(self):
        def function(x):
            self.assertEqual(x.dim(), 1)  # noqa: PT009 - code of unittest runs
            return x * self.factor

        compiled = torch.compile(function, fullgraph=True)
        for i in range(10):
            self.factor = 3.0 if i < 5 else 4.0
            assert torch.equal(compiled(torch.ones(3) * i), torch.ones(3) * i * self.factor)
        assert len(compiled.kept) == 2
