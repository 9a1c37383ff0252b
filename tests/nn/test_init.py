"""Starting values: distributions, structure, and that they go around autograd."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradpack as torch

init = torch.nn.init

FILL = {
    "uniform": lambda t: init.uniform_(t, -2, 3),
    "normal": lambda t: init.normal_(t, 1, 2),
    "trunc_normal": lambda t: init.trunc_normal_(t, 0.5, 2, -1, 3),
    "constant": lambda t: init.constant_(t, 0.3),
    "ones": init.ones_,
    "zeros": init.zeros_,
    "eye": init.eye_,
    "xavier_uniform": lambda t: init.xavier_uniform_(t, 2),
    "xavier_normal": lambda t: init.xavier_normal_(t, 2),
    "kaiming_uniform": lambda t: init.kaiming_uniform_(t, math.sqrt(5)),
    "kaiming_normal": lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"),
    "orthogonal": init.orthogonal_,
    "sparse": lambda t: init.sparse_(t, 0.3),
}
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("name", FILL)
@pytest.mark.parametrize("dtype", FLOATS)
def test_fills_in_place_without_a_graph(name: str, dtype: Any) -> None:
    p = torch.nn.Parameter(torch.full((6, 4), 77.0, dtype=dtype))
    version = p._version
    assert FILL[name](p) is p
    assert (p.dtype, p.requires_grad, p.is_leaf) == (dtype, True, True)
    assert (p != 77).all()
    assert p._version > version


@pytest.mark.parametrize("name", ["uniform", "normal", "trunc_normal", "xavier_normal", "orthogonal", "sparse"])
def test_the_seed_decides(name: str) -> None:
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append(FILL[name](torch.empty(5, 4)).tolist())
    assert draws[0] == draws[1] != draws[2]


def test_a_generator_decides_and_leaves_the_default_one_alone() -> None:
    functions = [
        init.uniform_,
        init.normal_,
        init.trunc_normal_,
        init.xavier_uniform_,
        init.kaiming_normal_,
        init.orthogonal_,
    ]
    for function in functions:
        torch.manual_seed(0)
        expected = torch.rand(1).item()
        torch.manual_seed(0)
        a, b = (function(torch.empty(5, 4), generator=torch.Generator().manual_seed(7)).tolist() for _ in range(2))
        assert a == b
        assert torch.rand(1).item() == expected


MOMENTS = {  # mean, standard deviation, bounds; for a (200, 300) tensor
    "uniform": (0.5, 5 / math.sqrt(12), (-2, 3)),
    "normal": (1, 2, None),
    "xavier_uniform": (0, 2 * math.sqrt(2 / 500), (-2 * math.sqrt(6 / 500), 2 * math.sqrt(6 / 500))),
    "xavier_normal": (0, 2 * math.sqrt(2 / 500), None),
    "kaiming_uniform": (0, math.sqrt(1 / 3 / 300), (-1 / math.sqrt(300), 1 / math.sqrt(300))),
    "kaiming_normal": (0, math.sqrt(2 / 200), None),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name: str) -> None:
    torch.manual_seed(0)
    mean, std, bounds = MOMENTS[name]
    drawn = FILL[name](torch.empty(200, 300)).numpy()
    assert abs(drawn.mean() - mean) < 5 * std / math.sqrt(drawn.size)
    assert abs(drawn.std() / std - 1) < 0.01
    if bounds:
        low, high = bounds
        assert low <= drawn.min() < low + 0.001 * (high - low)
        assert high - 0.001 * (high - low) < drawn.max() <= high


def test_distribution_of_a_truncated_normal() -> None:
    special = pytest.importorskip("scipy.special")
    torch.manual_seed(0)
    for mean, std, a, b in ((0.0, 1.0, -2.0, 2.0), (0.5, 2.0, -1.0, 3.0), (0.0, 0.02, 0.03, 0.1)):
        drawn = np.sort(init.trunc_normal_(torch.empty(20_000, dtype=torch.float64), mean, std, a, b).numpy())
        low, high = special.ndtr((a - mean) / std), special.ndtr((b - mean) / std)
        probability = (special.ndtr((drawn - mean) / std) - low) / (high - low)
        assert np.abs(probability - np.linspace(0, 1, drawn.size)).max() < 1.95 / math.sqrt(
            drawn.size
        )  # Kolmogorov, 0.1 %
        assert a <= drawn[0]
        assert drawn[-1] <= b


def test_truncation_far_from_the_mean_warns_but_stays_within_the_bounds() -> None:
    with pytest.warns(UserWarning, match="more than 2 std"):
        drawn = init.trunc_normal_(torch.empty(100), 0, 1, 5, 6)
    assert ((drawn >= 5) & (drawn <= 6)).all()


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (2, 3, 4), (1, 1)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    w = init.orthogonal_(torch.empty(shape, dtype=torch.float64), gain=2).numpy().reshape(shape[0], -1)
    product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-12)


def test_orthogonal_of_nothing() -> None:
    assert init.orthogonal_(torch.empty(0, 3)).shape == (0, 3)


def test_sparse() -> None:
    w = init.sparse_(torch.empty(10, 7), 0.25)
    assert (w == 0).sum(0).tolist() == [3] * 7


def test_eye_and_dirac() -> None:
    assert init.eye_(torch.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert init.dirac_(torch.empty(2, 2, 3)).tolist() == [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]]


def test_nothing_to_fill_warns() -> None:
    for function in (init.kaiming_uniform_, init.kaiming_normal_):
        with pytest.warns(UserWarning, match="zero-element"):
            function(torch.empty(0, 3))


@pytest.mark.parametrize("name", ["xavier_uniform", "kaiming_normal", "constant"])
def test_names_of_before_warn_and_do_the_same(name):
    x, y = torch.empty(3, 4), torch.empty(3, 4)
    args = (2.0,) if name == "constant" else ()
    torch.manual_seed(0)
    with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`"):
        assert getattr(torch.nn.init, name)(x, *args) is x
    torch.manual_seed(0)
    getattr(torch.nn.init, name + "_")(y, *args)
    assert torch.equal(x, y) and not hasattr(torch.nn.init, "nonsense")


def test_the_private_names_that_packages_import():
    w = torch.empty(6, 4, 3)
    assert init._calculate_fan_in_and_fan_out(w) == (12, 18) and init._calculate_correct_fan(w, "FAN_OUT") == 18
    assert init._no_grad_fill_(w, 2.0) is w and (w == 2).all() and not init._no_grad_zero_(w).any()
    init._no_grad_uniform_(w, 1.0, 2.0)
    assert ((w >= 1) & (w <= 2)).all()
    assert (init._no_grad_trunc_normal_(w, 0.0, 1.0, -0.5, 0.5).abs() <= 0.5).all()
    assert init._no_grad_normal_(w, 100.0, 1.0).mean() > 90
