"""`torch.special`: special functions. Most need SciPy (the extra `special`).

Written by `python -m tools.stubs` from declarations and signatures.
"""

from collections.abc import Sequence
from ..core.tensor import Tensor
from ..types import _bool, _dtype, _float, _int, _Scalar

def airy_ai(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Airy function Ai, which solves `y'' = x * y` and vanishes for large x."""
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0."""
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1."""
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0: -inf at 0, NaN below."""
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1: -inf at 0, NaN below."""
def chebyshev_polynomial_t(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the first kind of degree `n`, at `x`: 0 for a negative degree."""
def chebyshev_polynomial_u(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the second kind of degree `n`, at `x`: 0 for a negative degree."""
def chebyshev_polynomial_v(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the third kind of degree `n`, at `x`: 0 for a negative degree."""
def chebyshev_polynomial_w(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the fourth kind of degree `n`, at `x`: 0 for a negative degree."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of `lgamma`. Needs SciPy (the extra `special`)."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The term of an entropy: `-input * log(input)`, 0 at 0 and -inf below."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function: the integral of `2 / sqrt(pi) * exp(-t * t)` from 0 to `input`."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 - erf(input)`, precise where that is tiny."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(input * input) * erfc(input)`, without overflow. Needs SciPy."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `erf`. Needs SciPy (the extra `special`)."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of `input`."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 / (1 + exp(-input))`."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(input) - 1`, precise near 0."""
def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized lower incomplete gamma function P(input, other): from 0 at `other` = 0 to 1 at infinity."""
def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized upper incomplete gamma function: `1 - igamma(input, other)`."""
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function. Needs SciPy (the extra `special`)."""
def hermite_polynomial_h(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The physicist's Hermite polynomial of degree `n`, at `x`: 0 for a negative degree."""
def hermite_polynomial_he(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The probabilist's Hermite polynomial of degree `n`, at `x`: 0 for a negative degree."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(-abs(input)) * i0(input)`."""
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1."""
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(-abs(input)) * i1(input)`."""
def laguerre_polynomial_l(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Laguerre polynomial of degree `n`, at `x`: 0 for a negative degree."""
def legendre_polynomial_p(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Legendre polynomial of degree `n`, at `x`: 0 for a negative degree."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`log(1 + input)`, precise near 0."""
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of `ndtr(input)`, precise where that is tiny. Needs SciPy."""
def log_softmax(
    input: Tensor, dim: _int | None = None, dtype: _dtype | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`log(softmax(input))` along a dimension, computed so that nothing overflows or is lost."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """`log(input / (1 - input))`, the inverse of `sigmoid`."""
def logsumexp(
    input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor:
    """`log(sum(exp(input)))` over one or several dimensions, without overflow."""
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0: `i0` without a derivative."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1: `i1` without a derivative."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 0: inf at 0, NaN below."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 1: inf at 0, NaN below."""
def multigammaln(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function of `p` variables."""
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cumulative distribution function of the standard normal distribution."""
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The quantile function of the standard normal distribution, the inverse of `ndtr`. Needs SciPy."""
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of `digamma`. Needs SciPy (the extra `special`)."""
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of `lgamma`. Needs SciPy (the extra `special`)."""
def round(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest whole number, the even one of two that are equally near."""
def scaled_modified_bessel_k0(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(x) * modified_bessel_k0(x)`."""
def scaled_modified_bessel_k1(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(x) * modified_bessel_k1(x)`."""
def shifted_chebyshev_polynomial_t(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the first kind on [0, 1] of degree `n`, at `x`: 0 for a negative degree."""
def shifted_chebyshev_polynomial_u(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the second kind on [0, 1] of degree `n`, at `x`: 0 for a negative degree."""
def shifted_chebyshev_polynomial_v(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the third kind on [0, 1] of degree `n`, at `x`: 0 for a negative degree."""
def shifted_chebyshev_polynomial_w(
    x: Tensor | _Scalar, n: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """The Chebyshev polynomial of the fourth kind on [0, 1] of degree `n`, at `x`: 0 for a negative degree."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`sin(pi * input) / (pi * input)`, and 1 at 0."""
def softmax(
    input: Tensor, dim: _int | None = None, dtype: _dtype | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`exp(input) / sum(exp(input))` along a dimension: positive numbers that sum to 1."""
def spherical_bessel_j0(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function of the first kind, of order 0: `sin(x) / x`, and 1 at 0."""
def xlog1py(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input * log1p(other)`, and 0 where `input` is 0 unless `other` is NaN."""
def xlogy(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input * log(other)`, and 0 where `input` is 0 unless `other` is NaN."""
def zeta(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of `(k + other) ** -input` over k from 0."""

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]
