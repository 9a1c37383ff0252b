"""no_grad, enable_grad, set_grad_enabled as contexts and decorators."""

from __future__ import annotations

import asyncio

import pytest


def test_contexts(torch):
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_restored_after_an_exception(torch):
    with pytest.raises(ValueError):
        with torch.no_grad():
            raise ValueError
    assert torch.is_grad_enabled()


def test_set_grad_enabled_acts_at_once(torch):
    torch.set_grad_enabled(False)
    try:
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_decorators(torch):
    @torch.no_grad()
    def off():
        return torch.is_grad_enabled()

    @torch.no_grad
    def bare():
        """doc"""
        return torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def switched():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert not off() and not bare() and not switched()
    assert bare.__name__ == "bare" and bare.__doc__ == "doc"


def test_generator_switches_at_each_step(torch):
    @torch.no_grad()
    def steps():
        got = yield torch.is_grad_enabled()
        try:
            yield (got, torch.is_grad_enabled())
        except KeyError:
            yield ("thrown", torch.is_grad_enabled())

    g = steps()
    assert next(g) is False
    assert torch.is_grad_enabled()
    assert g.send("hi") == ("hi", False)
    assert g.throw(KeyError()) == ("thrown", False)
    assert torch.is_grad_enabled()
    g.close()


def test_coroutine(torch, real):
    if real:
        pytest.skip("torch leaves the mode of coroutines alone")

    @torch.no_grad()
    async def work():
        await asyncio.sleep(0)
        return torch.is_grad_enabled()

    async def main():
        other = asyncio.ensure_future(asyncio.sleep(0))
        result = await work()
        await other
        return result, torch.is_grad_enabled()

    assert asyncio.run(main()) == (False, True)


def test_results_do_not_require_grad(torch):
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        z = torch.ones(1, requires_grad=True)
    assert not y.requires_grad and y.grad_fn is None and z.requires_grad


def test_modes_take_bools_only(torch):
    for bad in (None, 0, "x"):
        with pytest.raises(TypeError, match=r"argument 'enabled' \(position 1\) must be bool"):
            torch.set_grad_enabled(bad)
    assert torch.is_grad_enabled()


def test_what_a_switch_remembers(torch):
    switch = torch.set_grad_enabled(False)
    assert switch.prev is True and switch.mode is False
    assert repr(switch).endswith("autograd.grad_mode.set_grad_enabled(mode=False)")
    torch.set_grad_enabled(True)
    with switch:
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    manager = torch.no_grad()
    with manager:
        assert manager.prev is True
    assert manager.clone() is not manager


def test_decorating_undoes_the_switch(torch):
    @torch.set_grad_enabled(False)
    def inside():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled() and not inside() and torch.is_grad_enabled()


def test_methods_and_recursion(torch):
    class Holder:
        @torch.no_grad()
        def method(self, n):
            return [torch.is_grad_enabled(), *(self.method(n - 1) if n else ())]

        @classmethod
        @torch.no_grad
        def of_class(cls):
            return torch.is_grad_enabled()

        @property
        @torch.no_grad()
        def attribute(self):
            return torch.is_grad_enabled()

    holder = Holder()
    assert holder.method(2) == [False] * 3 and not Holder.of_class() and not holder.attribute
    assert torch.is_grad_enabled()


def test_decorating_a_class_is_deprecated(torch, real):
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Made:
            def __init__(self):
                self.inside = torch.is_grad_enabled()

            def later(self):
                return torch.is_grad_enabled()

    assert Made().inside is False and Made().later()
    assert isinstance(Made, type) is not real  # torch makes a function of it


def test_multithreading_switch(torch):
    on = torch.autograd.is_multithreading_enabled
    assert on()
    with torch.autograd.set_multithreading_enabled(False) as nothing:
        assert nothing is None and not on()
        x = torch.ones(2, requires_grad=True)
        (x * x).sum().backward()
    assert on() and x.grad.tolist() == [2.0, 2.0]
    switch = torch.autograd.set_multithreading_enabled(False)
    assert switch.prev is True and switch.mode is False and not on()
    torch.autograd.set_multithreading_enabled(True)


def test_versions_can_be_preserved(torch):
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    y = (b * b).sum()
    with torch.autograd._unsafe_preserve_version_counter(b), torch.no_grad():
        b.mul_(1)
        assert b._version == 1
    assert b._version == 0
    y.backward()
    assert a.grad.tolist() == [8.0, 8.0]


def test_variable(torch):
    variable = torch.autograd.Variable
    x = torch.ones(2)
    v = variable(x, requires_grad=True)
    assert isinstance(x, variable) and not isinstance(3, variable) and type(v) is torch.Tensor
    assert v.requires_grad and v.data_ptr() == x.data_ptr() and not x.requires_grad
    assert variable(v * 2).is_leaf and variable().shape == (0,)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        variable([1.0])
    with pytest.warns(UserWarning, match="volatile was removed"):
        variable(x, volatile=True)
    assert torch.autograd.variable.Variable is variable and variable.__module__.endswith("autograd.variable")
    with pytest.raises(RuntimeError, match=r"torch\.autograd\.variable\(\.\.\.\) is deprecated"):
        torch.autograd.variable(1.0)


def test_names(torch):
    assert sorted(torch.autograd.grad_mode.__all__) == [
        "enable_grad",
        "enforce_grad_layout_policy",
        "inference_mode",
        "no_grad",
        "set_grad_enabled",
        "set_multithreading_enabled",
    ]
    for name in torch.autograd.grad_mode.__all__:
        assert getattr(torch.autograd, name) is getattr(torch.autograd.grad_mode, name)
    assert torch.no_grad is torch.autograd.no_grad and torch.inference_mode is torch.autograd.inference_mode
    with torch.autograd._force_original_view_tracking(True):
        assert torch.autograd.is_view_replay_enabled()
    assert not torch.autograd.is_view_replay_enabled()
    assert isinstance(torch.autograd.kineto_available(), bool)
