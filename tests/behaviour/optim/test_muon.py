"""Steps of orthogonal matrices: `torch.optim.Muon`."""

from __future__ import annotations

import math

import pytest


def stepped(torch, start, steps=1, **options):
    w = torch.nn.Parameter(torch.tensor(start))
    optimizer = torch.optim.Muon([w], **options)
    for _ in range(steps):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
    return w, optimizer


def test_a_step_is_nearly_orthogonal(torch):
    start = torch.arange(12.0).reshape(3, 4).sin() + 2 * torch.eye(3, 4)
    for tensor in (start, start.t().contiguous()):
        w, _ = stepped(torch, tensor.tolist(), lr=1.0, weight_decay=0.0)
        lengths = torch.linalg.svdvals((tensor - w.detach()) / math.sqrt(max(1, tensor.shape[0] / tensor.shape[1])))
        assert bool((lengths > 0.6).all()) and bool((lengths < 1.3).all())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.9986, 0.4979, 0.2494, -0.7464, 1.997, 0.0005]),
        ({"adjust_lr_fn": "match_rms_adamw", "lr": 0.1}, [0.9389, 0.4309, 0.2292, -0.6353, 1.8715, 0.0127]),
        (
            {"ns_steps": 2, "ns_coefficients": (2.0, -1.5, 0.5), "eps": 1e-3, "lr": 0.5},
            [0.1028, -0.2224, -0.0144, 0.414, 0.1592, 0.0909],
        ),
    ],
)
def test_the_numbers_of_some_steps(torch, options, expected):
    w, optimizer = stepped(torch, [[1.0, 0.5], [0.25, -0.75], [2.0, 0.0]], steps=3, **options)
    assert w.flatten().tolist() == pytest.approx(expected, abs=2e-2 if "ns_steps" in options else 5e-4)
    (kept,) = optimizer.state_dict()["state"].values()
    assert list(kept) == ["momentum_buffer"] and kept["momentum_buffer"].shape == (3, 2)


def test_state_goes_on(torch):
    w, optimizer = stepped(torch, [[1.0, 2.0], [3.0, -4.0]], steps=2)
    other = torch.nn.Parameter(w.detach().clone())
    resumed = torch.optim.Muon([other], lr=7.0)
    resumed.load_state_dict(optimizer.state_dict())
    for p, o in ((w, optimizer), (other, resumed)):
        p.grad = torch.ones(2, 2)
        o.step()
    assert torch.allclose(w, other, atol=1e-3)


@pytest.mark.parametrize(
    "options", [{"lr": -1.0}, {"weight_decay": -1.0}, {"momentum": -1.0}, {"adjust_lr_fn": "other"}]
)
def test_options_that_are_refused(torch, options):
    with pytest.raises(ValueError):
        torch.optim.Muon([torch.nn.Parameter(torch.ones(2, 2))], **options)


def test_parameters_that_are_refused(torch):
    for shape in ((3,), (), (2, 2, 2)):
        with pytest.raises(ValueError, match="2D"):
            torch.optim.Muon([torch.nn.Parameter(torch.ones(shape))])
    for options, error in (({"ns_steps": 100}, ValueError), ({"ns_coefficients": (1.0, 2.0)}, ValueError)):
        with pytest.raises(error):
            stepped(torch, [[1.0, 2.0]], **options)
    w = torch.nn.Parameter(torch.ones(2, 2, dtype=torch.complex64))
    w.grad = torch.ones(2, 2, dtype=torch.complex64)
    with pytest.raises(RuntimeError, match="complex"):
        torch.optim.Muon([w]).step()
    w = torch.nn.Parameter(torch.ones(2, 2))
    w.grad = torch.eye(2).to_sparse()
    with pytest.raises(RuntimeError, match="sparse"):
        torch.optim.Muon([w]).step()
    assert w.tolist() == [[1, 1], [1, 1]]
