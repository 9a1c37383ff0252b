"""Blocks of policies that end in any order, elsewhere, or by an interrupt."""

import asyncio
import threading
from itertools import product

import pytest
from tests.interrupts import at_each_moment

import gradpack as torch
from gradpack import saved
from gradpack.base.modes import MODE, Mode

MAKE = {
    "keep": saved.keep,
    "recompute": saved.recompute,
    "budget": lambda: saved.budget("1 MiB"),
    "chain": lambda: saved.recompute() >> saved.bf16(),
    "bypass": saved.bypass,
}


@pytest.fixture(autouse=True)
def clean():
    yield
    left = MODE.get()
    MODE.set(Mode())
    assert (left.hooks, left.ops, left.blocks) == (None, (), ())


def hooks():
    """Whose hooks apply, and how many look on."""
    mode = MODE.get()
    return None if mode.hooks is None else mode.hooks[0].__self__, len(mode.ops)


def alone(name):
    policy = MAKE[name]()
    with policy:
        found = hooks()
    return (policy if found[0] is not None else None), found[1], policy


@pytest.mark.parametrize(("first", "second"), [*product(MAKE, MAKE)])
def test_blocks_end_in_any_order(first, second):
    _, outer_ops, a = alone(first)
    inner, inner_ops, b = alone(second)
    a.__enter__()
    b.__enter__()
    assert hooks() == (inner, outer_ops + inner_ops)
    a.__exit__(None, None, None)
    assert hooks() == (inner, inner_ops)
    b.__exit__(None, None, None)
    assert hooks() == (None, 0)


def test_of_three_the_middle_one_ends_first():
    a, b, c = saved.keep(), saved.recompute(), saved.Policy()
    for policy in (a, b, c, b):
        policy.__enter__()
    c.__exit__()
    assert hooks() == (b, 2)
    b.__exit__()
    assert hooks() == (b, 1)
    a.__exit__()
    assert hooks() == (b, 1)
    b.__exit__()


def test_generators_that_take_turns():
    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    seen = []

    def work(policy, leaf):
        with policy:
            for _ in range(2):
                yield leaf.exp()
                seen.append(hooks()[0])

    a, b = saved.keep(), saved.Policy()
    first, second = work(a, x), work(b, y)
    outs = [next(first), next(second), next(first)]
    outs += [*first, *second]
    assert hooks() == (None, 0)
    for out in outs:
        out.sum().backward()
    assert x.grad.tolist() == pytest.approx([2 * 2.718281828] * 3)


def test_leaving_where_nobody_has_entered():
    policy, errors = saved.keep(), []
    with pytest.raises(RuntimeError, match=r"keep\(\) cannot be left here"):
        policy.__exit__(None, None, None)

    def work():
        with pytest.raises(RuntimeError, match="has not entered it"):
            policy.__exit__(None, None, None)
        errors.append(hooks())

    with policy:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert hooks() == (policy, 0)
    assert errors == [(None, 0)]


def test_tasks_that_end_within_each_other():
    async def one(policy, before, after):
        await asyncio.sleep(before)
        with policy:
            await asyncio.sleep(after)
            assert hooks()[0] is policy

    async def both():
        await asyncio.gather(one(saved.keep(), 0, 0.02), one(saved.recompute(), 0.01, 0.02))

    asyncio.run(both())


@pytest.mark.parametrize("name", MAKE)
def test_an_interrupt_at_any_moment_leaves_nothing_entered(name):
    around, policy = saved.Policy(), MAKE[name]()

    def step():
        with policy, policy:
            pass

    with around:
        for _ in at_each_moment(step):
            assert hooks() == (around, 0)
            assert len(MODE.get().blocks) == 1


@pytest.mark.parametrize("name", ["keep", "recompute"])
def test_an_interrupt_while_blocks_end_in_another_order(name):
    a, b = MAKE[name](), saved.Policy()

    def both():
        MODE.set(Mode())
        a.__enter__()
        b.__enter__()

    left = set()
    for where in at_each_moment(lambda: a.__exit__(), both):
        left.add(len(MODE.get().blocks))
        assert hooks()[0] is b, where
        b.__exit__()
        if 2 in left:
            MODE.set(Mode())
    assert left == {1, 2}


def test_an_interrupted_plan_leaves_nothing_entered(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    policy = saved.budget("1 MiB")
    monkeypatch.setattr(policy, "_begin", interrupted)
    with pytest.raises(KeyboardInterrupt), policy:
        pytest.fail("was entered")
    assert hooks() == (None, 0)
