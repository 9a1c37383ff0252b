"""Where hooks apply: blocks, threads, tasks."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from threading import Thread
from typing import Any

from .gate import Gates, hooks, leaf, near, noting, raises

gate = GATES = Gates()


@gate
def nested(torch: Any) -> None:
    """Of nested hooks the innermost apply, and the outer ones again after the inner block."""
    seen: list[str] = []
    x = leaf(torch)
    with hooks(torch, noting(seen, mark="outer")):
        with hooks(torch, noting(seen, mark="inner")):
            x.sin()
        x.cos()
    x.sin()
    assert seen == ["inner", "outer"], f"called: {seen}"


@gate
def composed(torch: Any) -> None:
    """Nested hooks can be composed on request: the outer ones pack what the inner ones made."""
    seen: list[str] = []

    def outer(t: Any) -> Any:
        seen.append(str(t.dtype).rpartition(".")[2])
        return [t.clone()]

    x = leaf(torch)
    with hooks(torch, outer, lambda packed: packed[0]):
        with hooks(torch, lambda t: t.double() * 2, lambda t: (t / 2).float(), compose=True):
            y = x.sin().sum()
    y.backward()
    assert seen == ["float64"], f"the outer hook was given {seen}"
    near(x.grad, x.cos())


@gate
def bypass(torch: Any) -> None:
    """Code inside of a block of hooks can be run without hooks."""
    seen: list[Any] = []
    x = leaf(torch)
    with hooks(torch, noting(seen)):
        y = torch.autograd.graph.disable_saved_tensors_hooks(x.sin)
        assert hasattr(y, "grad_fn"), "there is no function for it: disable_saved_tensors_hooks takes a message only"
        assert not seen, "the hooks were called"
        x.cos()
    assert len(seen) == 1, "the hooks were not back after it"
    y.sum().backward()
    near(x.grad, x.cos())


@gate
def forbid(torch: Any) -> None:
    """Hooks can be forbidden in a block, with a message that whoever tries is given."""
    with torch.autograd.graph.disable_saved_tensors_hooks("not in here"):
        with raises(RuntimeError, "hooks were accepted") as found, hooks(torch):
            pass
        assert "not in here" in str(found[0]), str(found[0])
    with hooks(torch):
        pass


@gate
def threads_apart(torch: Any) -> None:
    """Hooks of one thread do not reach another by themselves."""
    seen: list[Any] = []
    x = leaf(torch)
    with hooks(torch, noting(seen)):
        thread = Thread(target=x.sin)
        thread.start()
        thread.join()
        assert not seen, "another thread's operation was packed"
        x.sin()
    assert len(seen) == 1


@gate
def threads_with_a_context(torch: Any) -> None:
    """A thread that is given a copy of the context, as asyncio.to_thread gives, has the hooks of whoever gave it."""
    seen: list[Any] = []
    x = leaf(torch)
    with hooks(torch, noting(seen)):
        thread = Thread(target=copy_context().run, args=(x.sin,))
        thread.start()
        thread.join()
    assert len(seen) == 1, f"{len(seen)} tensors were packed, and there was one"


@gate
def tasks(torch: Any) -> None:
    """Tasks of asyncio that take turns each have their own hooks."""
    seen: dict[str, list[str]] = {"a": [], "b": []}

    def note(own: str, tensor: Any) -> Any:
        seen[own].append(running[0])
        return tensor.clone()

    async def task(own: str) -> None:
        with hooks(torch, lambda t: note(own, t)):
            for _ in range(2):
                await asyncio.sleep(0)
                running[0] = own
                leaf(torch).sin()

    async def both() -> None:
        await asyncio.gather(task("a"), task("b"))

    running = [""]
    asyncio.run(both())
    assert seen == {"a": ["a", "a"], "b": ["b", "b"]}, f"which task's tensors each task's hooks were given: {seen}"
