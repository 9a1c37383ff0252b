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
