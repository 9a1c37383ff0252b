"""Programs of bfloat16, of which NumPy knows less than of its own dtypes."""

from __future__ import annotations

import pytest
from tests.compiler.test_lasting import agrees, x

import gradpack as torch
from gradpack import nn

pytest.importorskip("ml_dtypes")


def steps_of_adam():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)).bfloat16()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return lambda step, i: [torch.tensor(step(x(i, 6, 4).bfloat16()))], step


def new_tensors():
    def f(x):
        hashed = torch.hash_tensor(x)  # of uint64
        return torch.zeros_like(x) + x, hashed, torch.full((2,), 3, dtype=torch.bfloat16), torch.rand_like(x)

    return lambda f, i: [(t.dtype, t.float()) for t in f(x(i, 3).bfloat16())], f


def results_that_are_no_numbers():
    return lambda f, i: [t.float().nan_to_num(7) for t in f(x(i, 40).bfloat16())], lambda x: (x.log1p(), x / 0)


def windows_of_windows():
    def run(f, i):
        given = torch.as_strided(x(i, 12).bfloat16(), (4, 3), (3, 1)).detach()
        return [t.float() for t in f(given)]

    return run, lambda x: (torch.as_strided(x, (6, 2), (2, 1)), x.sum())


def test_a_number_that_is_only_returned_may_be_another_one():
    for dtype in (torch.bfloat16, torch.float16, torch.complex32):
        for f in (lambda x: (x * 2).abs().item(), lambda x: float((x * 2).abs())):
            compiled = torch.compile(f)
            for i in range(5):
                found = compiled(torch.tensor(i, dtype=dtype))
                assert found == 2 * i and type(found) is float
            assert len(compiled.kept) == 1


@pytest.mark.parametrize("make", [steps_of_adam, new_tensors, results_that_are_no_numbers, windows_of_windows])
def test_programs_are_those_of_the_function(make):
    assert agrees(make).kept
