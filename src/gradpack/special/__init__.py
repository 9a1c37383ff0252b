"""`torch.special`: special functions. Most need SciPy (the extra `special`)."""

from ..declare.signature.wrapper import wrap_module as _wrap_module
from ..ops.pointwise.exponential import erf as erf
from ..ops.pointwise.exponential import erfc as erfc
from ..ops.pointwise.exponential import erfinv as erfinv
from ..ops.pointwise.exponential import exp2 as exp2
from ..ops.pointwise.exponential import expm1 as expm1
from ..ops.pointwise.exponential import log1p as log1p
from ..ops.pointwise.exponential import logit as logit
from ..ops.pointwise.exponential import sigmoid as _sigmoid
from ..ops.pointwise.exponential import xlogy as xlogy
from ..ops.pointwise.rounding import round as round
from ..ops.pointwise.trigonometry import sinc as sinc
from ..ops.reduce.softmax import log_softmax as log_softmax
from ..ops.reduce.softmax import logsumexp as logsumexp
from ..ops.reduce.softmax import softmax as softmax
from ..ops.special.bessel import airy_ai as airy_ai
from ..ops.special.bessel import bessel_j0 as bessel_j0
from ..ops.special.bessel import bessel_j1 as bessel_j1
from ..ops.special.bessel import bessel_y0 as bessel_y0
from ..ops.special.bessel import bessel_y1 as bessel_y1
from ..ops.special.bessel import i0 as i0
from ..ops.special.bessel import i0e as i0e
from ..ops.special.bessel import i1 as i1
from ..ops.special.bessel import i1e as i1e
from ..ops.special.bessel import modified_bessel_i0 as modified_bessel_i0
from ..ops.special.bessel import modified_bessel_i1 as modified_bessel_i1
from ..ops.special.bessel import modified_bessel_k0 as modified_bessel_k0
from ..ops.special.bessel import modified_bessel_k1 as modified_bessel_k1
from ..ops.special.bessel import scaled_modified_bessel_k0 as scaled_modified_bessel_k0
from ..ops.special.bessel import scaled_modified_bessel_k1 as scaled_modified_bessel_k1
from ..ops.special.bessel import spherical_bessel_j0 as spherical_bessel_j0
from ..ops.special.gamma_functions import digamma as digamma
from ..ops.special.gamma_functions import igamma as _igamma
from ..ops.special.gamma_functions import igammac as _igammac
from ..ops.special.gamma_functions import lgamma as _lgamma
from ..ops.special.gamma_functions import mvlgamma as _mvlgamma
from ..ops.special.gamma_functions import polygamma as polygamma
from ..ops.special.gamma_functions import zeta as zeta
from ..ops.special.likelihood import entr as entr
from ..ops.special.likelihood import erfcx as erfcx
from ..ops.special.likelihood import log_ndtr as log_ndtr
from ..ops.special.likelihood import ndtr as ndtr
from ..ops.special.likelihood import ndtri as ndtri
from ..ops.special.likelihood import xlog1py as xlog1py
from ..ops.special.polynomials import chebyshev_polynomial_t as chebyshev_polynomial_t
from ..ops.special.polynomials import chebyshev_polynomial_u as chebyshev_polynomial_u
from ..ops.special.polynomials import chebyshev_polynomial_v as chebyshev_polynomial_v
from ..ops.special.polynomials import chebyshev_polynomial_w as chebyshev_polynomial_w
from ..ops.special.polynomials import hermite_polynomial_h as hermite_polynomial_h
from ..ops.special.polynomials import hermite_polynomial_he as hermite_polynomial_he
from ..ops.special.polynomials import laguerre_polynomial_l as laguerre_polynomial_l
from ..ops.special.polynomials import legendre_polynomial_p as legendre_polynomial_p
from ..ops.special.polynomials import shifted_chebyshev_polynomial_t as shifted_chebyshev_polynomial_t
from ..ops.special.polynomials import shifted_chebyshev_polynomial_u as shifted_chebyshev_polynomial_u
from ..ops.special.polynomials import shifted_chebyshev_polynomial_v as shifted_chebyshev_polynomial_v
from ..ops.special.polynomials import shifted_chebyshev_polynomial_w as shifted_chebyshev_polynomial_w

expit = _sigmoid
gammainc, gammaincc = _igamma, _igammac
gammaln, multigammaln = _lgamma, _mvlgamma
psi = digamma
# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = _exported = sorted(n for n in globals() if n[0] != "_")
_wrap_module(globals(), _exported, "special_")
