"""Context managers that packages derive from torch's, and tensors made of tensors."""

from __future__ import annotations

import pytest

import gradpack as torch
from gradpack.utils._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager, context_decorator
from gradpack.utils._python_dispatch import is_traceable_wrapper_subclass

entered = []


class Named(_DecoratorContextManager):
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        entered.append(self.name)

    def __exit__(self, *error):
        entered.append(f"-{self.name}")

    def clone(self):
        return Named(self.name)


class Plain(_NoParamDecoratorContextManager):
    def __enter__(self):
        entered.append("plain")

    def __exit__(self, *error):
        pass


def test_managers_decorate_functions_and_generators():
    entered.clear()

    @Named("a")
    def f(x):
        return x + 1

    @Named("b")
    def steps():
        yield 1
        yield 2

    @Plain
    def g():
        return 3

    assert f(1) == 2 and list(steps()) == [1, 2] and g() == 3
    assert entered == ["a", "-a", *["b", "-b"] * 3, "plain"]
    entered.clear()
    with Plain():
        assert entered == ["plain"]


def test_a_manager_or_what_makes_one_decorates():
    entered.clear()
    assert context_decorator(Named("c").clone, lambda: 4)() == 4 and entered == ["c", "-c"]
    with pytest.raises(AssertionError, match="callable and also a valid context manager"):
        context_decorator(Named("c"), lambda: 4)
    with pytest.raises(RuntimeError, match="Cannot decorate classes"):
        context_decorator(Named("c").clone, int)
    with pytest.raises(NotImplementedError):
        _DecoratorContextManager().__enter__()


def test_tensors_that_say_how_they_are_made_of_others():
    class Pair(torch.Tensor):
        def __tensor_flatten__(self):
            return [], None

        @staticmethod
        def __tensor_unflatten__(parts, context, size, stride):
            return None

    assert not is_traceable_wrapper_subclass(torch.ones(1)) and not is_traceable_wrapper_subclass(3)
    assert is_traceable_wrapper_subclass(torch.ones(1).as_subclass(Pair))
