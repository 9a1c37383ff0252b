"""Special functions under SciPy's names: `scipy.special` asks a namespace for them.

The standard has no such extension. With SCIPY_ARRAY_API=1, SciPy calls these for tensors, and so do its
distributions and tests; for what is not here it takes NumPy's values, which have no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.numpy_api.forms import floating, found
from ..ops.special import gamma_functions
from ._lookup import pairs
from ._promotion import promoted

_UNARY = """
    entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e j0=bessel_j0 j1=bessel_j1 k0=modified_bessel_k0
    k0e=scaled_modified_bessel_k0 k1=modified_bessel_k1 k1e=scaled_modified_bessel_k1 log1p log_ndtr logit ndtr ndtri
    psi y0=bessel_y0 y1=bessel_y1
"""


def _of_several(name: str, inside: Any) -> Callable[..., Tensor]:
    """Return a function of tensors of any dtypes, some of which may be Python numbers."""

    def call(*operands: Any) -> Tensor:
        result: Tensor = inside(*map(floating, promoted(*operands)))
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return `scipy.special.{name}` of tensors, some of which may be numbers."
    return call


betainc = _of_several("betainc", gamma_functions._betainc)
gammainc, gammaincc, xlog1py, xlogy, _hurwitz = (
    _of_several(name, found(f"special.{name}")) for name in "gammainc gammaincc xlog1py xlogy zeta".split()
)


def zeta(x: Tensor, q: Any = 1.0) -> Tensor:
    """Return the Hurwitz zeta function of `x` and `q`: Riemann's, without the second."""
    return _hurwitz(x, q)


_given = {name: found(f"special.{own}") for name, own in pairs(_UNARY).items()}
globals().update(_given)
globals()["__all__"] = sorted([*_given, *"betainc gammainc gammaincc xlog1py xlogy zeta".split()])
