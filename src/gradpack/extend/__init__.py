"""Extensions of gradpack: operations, methods, dtypes, devices, array libraries, kernels.

An operation is declared as those of gradpack are, with one formula for each input, and can then do
all that they can: it is differentiated to any order and in forward mode, its saved tensors go through
hooks, it has `out=`, dtype rules, complex numbers, low precision, other array libraries::

    import numpy as np
    from gradpack import extend
    from gradpack import cosh, sinh  # a formula names operations


    @extend.elementwise(input=lambda g, input: g * (input * cosh(input) - sinh(input)) / (input * input), method=True)
    def sinhc(input):
        '''sinh(x) / x.'''
        return np.sinh(input) / input

See docs/extending.md. What is added under a name that exists is refused, and everything can be taken
away again: by `remove(name)`, or all at once at the end of `with extend.registering():`.
"""

from .operators import (
    bilinear,
    elementwise,
    function,
    general,
    kernel,
    linear,
    method,
    nondifferentiable,
    registering,
    remove,
)
from .places import backend, device, dtype
from .report import OpInfo, coverage, get_op_info, has_jvp, has_op, has_vjp, list_ops

__all__ = ["OpInfo", "backend", "bilinear", "coverage", "device", "dtype", "elementwise", "function", "general"]
__all__ += ["get_op_info", "has_jvp", "has_op", "has_vjp", "kernel", "linear", "list_ops", "method"]
__all__ += ["nondifferentiable", "registering", "remove"]
