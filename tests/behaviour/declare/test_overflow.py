"""What does not fit into a dtype becomes infinite without a word: warnings of NumPy's are errors in tests."""

from __future__ import annotations

import math

import pytest

BIG = 1e300
TO_INFINITY = {
    "product with a number of float64": lambda torch, x: x * torch.tensor(BIG, dtype=torch.float64),
    "maximum": lambda torch, x: torch.maximum(x, torch.tensor(BIG, dtype=torch.float64)),
    "addcmul": lambda torch, x: torch.addcmul(x, x, torch.tensor(BIG, dtype=torch.float64)),
    "where": lambda torch, x: torch.where(x > 0, x * math.inf, torch.tensor(BIG, dtype=torch.float64)),
    "clamp": lambda torch, x: torch.clamp(x, torch.tensor(BIG, dtype=torch.float64)),
    "tensor of one number": lambda torch, x: torch.tensor(BIG),
    "tensor of a list": lambda torch, x: torch.tensor([BIG, BIG]),
    "power of float16": lambda torch, x: torch.pow(x.half() * 200, 4.0),
    "power of two float16": lambda torch, x: torch.pow(x.half() * 200, x.half() * 4),
    "power of a number": lambda torch, x: 200.0 ** (x.half() * 4),
    "product of float16": lambda torch, x: (x.half() * 60000).prod(),
    "polygamma": lambda torch, x: torch.polygamma(2, x.half() / 50).abs(),
    "running product": lambda torch, x: torch.cumprod(x.half() * 60000, 0)[1:],
    "running sum": lambda torch, x: torch.cumsum(x.half() * 60000, 0)[1:],
    "matrix product": lambda torch, x: (x.half()[:, None] * 60000) @ x.half()[None] * 60000,
    "mse_loss": lambda torch, x: torch.nn.functional.mse_loss(x.half() * 60000, x.half()),
    "multigammaln": lambda torch, x: torch.special.multigammaln(x.half() * 60000, 2),
    "arange": lambda torch, x: torch.arange(1e6, 2e6, 5e5, dtype=torch.float16),
    "logspace": lambda torch, x: torch.logspace(40, 50, 3),
    "half": lambda torch, x: (x * 70000).half(),
    "float": lambda torch, x: (x.double() * BIG).float(),
}


@pytest.mark.parametrize("name", TO_INFINITY)
def test_too_large(torch, name):
    found = TO_INFINITY[name](torch, torch.ones(3))
    assert found.isinf().all()


def test_windows_and_bins(torch):
    assert torch.kaiser_window(5, True, 1000.0).isnan().any()
    counts, _ = torch.histogramdd(torch.zeros(5, 2), [torch.tensor([3.0, 4.0])] * 2, density=True)
    assert counts.isnan().all()
    assert torch.histogram(torch.zeros(0), 2, density=True)[0].isnan().all()


def test_ends_too_large(torch):
    for d, name in ((torch.float16, "c10::Half"), (torch.float32, "float"), (torch.uint8, "uint8_t")):
        for make in (torch.linspace, torch.logspace):
            with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
                make(0, 1e39, 3, dtype=d)
    with pytest.raises(RuntimeError, match=r"c10::complex<float> without overflow"):
        torch.zeros(2, dtype=torch.complex64).fill_(1e300j)
    assert torch.linspace(0, 1e39, 1).tolist() == [0]
    for make in (torch.linspace, torch.logspace):  # counted from both ends
        assert make(0, math.inf, 4).isnan().tolist() == [True, False, True, True]


def test_gradients_too_large(torch):
    x = torch.full((3,), 200.0, dtype=torch.float16, requires_grad=True)
    (x**4.0).sum().backward()
    assert x.grad.isinf().all()
