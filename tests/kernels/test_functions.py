"""Functions of one float32, against NumPy's in float64: to about one unit in the last place, NaN and infinity too."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from gradpack.kernels.numba.loops import from_text

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, 1e-40, -1e-40, 88.72, 88.73, -104.0, 3e38, 127.9, 128.0]
RANGES = {
    "exp": (-87.0, 88.7), "exp2": (-126.0, 127.9), "expm1": (-20.0, 88.7), "log": (0.0, 4.0), "log1p": (-1.0, 4.0),
    "tanh": (-10.0, 10.0), "sin": (-71476.0, 71476.0), "cos": (-71476.0, 71476.0),
}  # fmt: skip


def loop_of(expression, *params):
    loads = "".join(f"        {p} = a_{p}[i]\n" for p in params)
    return from_text.loop_of(
        f"def {{name}}({', '.join(f'a_{p}' for p in params)}, out):\n    for i in range(out.size):\n{loads}"
        f"        out[i] = {expression}\n"
    )


@pytest.mark.parametrize("name", RANGES)
def test_precision(name):
    low, high = RANGES[name]
    r = np.random.default_rng(0)
    x = np.concatenate([r.uniform(low, high, 20_000), r.uniform(-1e-3, 1e-3, 1_001)]).astype(np.float32)
    x = x[(x > low) & (x < high)]
    out = np.empty_like(x)
    loop_of(f"{name}(x)", "x")(x, out)
    exact = getattr(np, name)(x.astype(np.float64))
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(out - exact) / unit) < 1.6


@pytest.mark.parametrize("name", RANGES)
def test_special_values(name):
    x = np.array(SPECIAL, np.float32)
    out = np.empty_like(x)
    loop_of(f"{name}_of_any(x)" if name in ("sin", "cos") else f"{name}(x)", "x")(x, out)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(out, expected, rtol=3e-7)
    np.testing.assert_array_equal(np.signbit(out)[~np.isnan(expected)], np.signbit(expected)[~np.isnan(expected)])


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_angles_near_the_zeros_of_sines(name):
    x = (np.arange(-45_000, 45_000) * (np.pi / 2)).astype(np.float32)
    x = np.concatenate([x, np.nextafter(x, np.float32(0)), np.nextafter(x, np.float32(np.inf))])
    x = x[np.abs(x) < 71476]
    out = np.empty_like(x)
    loop_of(f"{name}(x)", "x")(x, out)
    np.testing.assert_allclose(out, getattr(np, name)(x.astype(np.float64)), rtol=2e-7)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_limits_let_nan_through(name, dtype):
    x, y = (a.ravel() for a in np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype)))
    out = np.empty_like(x)
    loop_of(f"{name}(x, y)", "x", "y")(x, y, out)
    np.testing.assert_array_equal(out, getattr(np, name)(x, y))
