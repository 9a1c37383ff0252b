"""Special functions against torch: its own sample inputs, and where they have edges."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")
pytest.importorskip("torch.testing._internal.common_methods_invocations")

from tests.oracle.opinfo import report, table  # noqa: E402

OTHERS = (
    "i0 igamma igammac mvlgamma.mvlgamma_p_3 nextafter frexp ldexp gcd lcm hypot copysign digamma lgamma xlogy logit"
)
# torch's are precise to about 1e-7 only, SciPy's to the last digits.
IMPRECISE = {"special.bessel_j0", "special.bessel_y1"}
NAMES = sorted([*(n for n in table() if n.startswith("special.") and n not in IMPRECISE), *OTHERS.split()])
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.5, 30.0, -30.0, 1e-8, float("inf"), -float("inf"), float("nan")]
UNARY = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 entr erfcx i0 i0e i1 i1e log_ndtr modified_bessel_i0 "
    "modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri scaled_modified_bessel_k0 "
    "scaled_modified_bessel_k1 spherical_bessel_j0"
).split()
BINARY = (
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h "
    "hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t "
    "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_torchs_samples(name):
    assert not report(name, table()[name], 8)


@pytest.mark.parametrize("name", UNARY)
def test_edges(name):
    theirs = torch.tensor(EDGES, dtype=torch.float64, requires_grad=True)
    ours = gradpack.core(EDGES, dtype=gradpack.float64, requires_grad=True)
    a, b = getattr(torch.special, name)(theirs), getattr(gradpack.special, name)(ours)
    np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-5, atol=1e-7)
    assert a.requires_grad == b.requires_grad
    if a.requires_grad:
        (g,), (h,) = torch.autograd.grad(a.sum(), theirs), gradpack.autograd.grad(b.sum(), ours)
        kept = slice(None) if name != "log_ndtr" else [x != -np.inf for x in EDGES]  # torch has NaN, the limit is inf
        np.testing.assert_allclose(h.numpy()[kept], g.numpy()[kept], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", BINARY)
def test_polynomials_of_all_degrees(name):
    x = np.array([-1.5, -1, -0.99, -0.3, 0, 0.2, 0.5, 0.97, 1, 1.2])[:, None]
    n = np.arange(-2, 24, dtype=np.float64)
    a = getattr(torch.special, name)(torch.from_numpy(x), torch.from_numpy(n)).numpy()
    b = getattr(gradpack.special, name)(gradpack.from_numpy(x), gradpack.from_numpy(n)).numpy()
    np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-8)


def test_the_names_are_torchs():
    assert not set(torch.special.__all__) - set(gradpack.special.__all__)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_the_gradient_that_torch_does_not_have_either(name):
    for lib in (torch, gradpack):
        a = lib.tensor([2.0], requires_grad=True)
        with pytest.raises(NotImplementedError, match=f"the derivative for '{name}: input' is not implemented"):
            getattr(lib, name)(a, lib.tensor([1.0])).backward()
