"""The von Mises distribution: normal numbers of the circle."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.dtypes import bool_, float64
from ..core.tensor import Tensor
from ..ops.create.fill import zeros
from ..ops.pointwise.rounding import where
from ..ops.random.floats import rand
from ..ops.special.bessel import i0e, i1e
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles about `loc`: density `exp(concentration cos(x - loc)) / (2π I0(concentration))`.

    Values and `loc` are in radians; samples lie between -π and π.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.VonMises(torch.tensor(0.0), torch.tensor(4.0))
        >>> d.log_prob(torch.tensor(0.0))
        tensor(-0.2628)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _parameters: ClassVar[dict[str, int]] = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        k = self.concentration
        # log I0(k) = k + log(exp(-k) I0(k)), which does not overflow.
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - i0e(k).log()

    def _envelope(self) -> tuple[Tensor, Tensor]:
        """The concentration in double precision, and the parameter of the wrapped Cauchy numbers that are proposed."""
        k = self.concentration.to(float64)
        tau = 1 + (1 + 4 * k * k).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return k, where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Angles, by rejection of wrapped Cauchy numbers. Source: Best and Fisher, 1979."""
        shape = self._extended_shape(sample_shape)
        device = self.loc.device
        with no_grad():
            k, r = self._envelope()
            angle = zeros(shape, dtype=float64, device=device)
            done = zeros(shape, dtype=bool_, device=device)
            while not done.all():
                u1, u2, u3 = rand((3, *shape), dtype=float64, device=device).unbind()
                z = (math.pi * u1).cos()
                f = ((1 + r * z) / (r + z)).clamp(min=-1, max=1)
                c = k * (r - f)
                accepted = (c * (2 - c) > u2) | ((c / u2).log() + 1 >= c)
                angle = where(~done & accepted, (u3 - 0.5).sign() * f.acos(), angle)
                done = done | accepted
            return ((angle + math.pi + self.loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance: 1 less the expected cosine of the distance from the mean."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)
