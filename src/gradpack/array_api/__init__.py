"""The array API standard, version 2024.12, over gradpack's functions: everything differentiates.

    import gradpack.array_api as xp

Libraries ask a tensor for it, by `__array_namespace__`. It differs from `gradpack` where the standard differs from
torch: arrays of no dimensions take part in promotion, `axis` is `dim`, and `sum(x, axis=())` sums over nothing. The
arrays are tensors, whose operators and methods are torch's: `docs/array-api.md` has the differences that follow.
"""

from __future__ import annotations

import sys as _sys
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Any as _Any

from ..base.dtypes import DTYPES as _DTYPES
from ..ops.numpy_api.forms import found as _found
from . import _creation, _elementwise, _manipulation, _promotion, _statistics
from . import fft as fft
from . import linalg as linalg
from . import special as special
from ._lookup import pairs as _pairs
from .linalg import matmul as matmul
from .linalg import tensordot as tensordot
from .linalg import vecdot as vecdot

__array_api_version__ = "2024.12"
_VERSIONS = "2021.12", "2022.12", "2023.12", "2024.12"

newaxis = None
_PLACES: dict[_Any, str] = {
    _promotion: "__array_namespace_info__ astype can_cast finfo iinfo isdtype result_type",
    _elementwise: "clip round sign where",
    _creation: ("arange asarray empty eye from_dlpack full linspace meshgrid ones stack tril triu zeros"),
    _manipulation: (
        "broadcast_arrays broadcast_to concat expand_dims flip matrix_transpose moveaxis permute_dims repeat reshape "
        "roll squeeze take take_along_axis tile unstack"
    ),
    _statistics: (
        "all any argmax argmin argsort count_nonzero cumulative_prod cumulative_sum diff max mean min nonzero prod "
        "searchsorted sort std sum unique_all unique_counts unique_inverse unique_values var"
    ),
}
_given: dict[str, _Any] = {name: _DTYPES[name] for name in _promotion.NAMES.split()}
_given |= {name: getattr(module, name) for module, names in _PLACES.items() for name in names.split()}
_given |= {name: _found(own) for name, own in _pairs(_elementwise.UNARY).items()}
_given |= {name: _elementwise.with_promotion(name, own) for name, own in _pairs(_elementwise.BINARY).items()}
_given |= {name: _found(name) for name in "broadcast_shapes empty_like full_like isin ones_like zeros_like".split()}
globals().update(_given)

_names = {*_given, *"e fft inf linalg matmul nan newaxis pi special tensordot vecdot".split()}
globals()["__all__"] = sorted(name for name in _names if name[0] != "_")


def _namespace_of(api_version: str | None) -> _Any:
    """Return this module, for `Tensor.__array_namespace__`.

    Raises:
        ValueError: if it does not follow that version of the standard.
    """
    if api_version not in (None, *_VERSIONS):
        raise ValueError(
            f"gradpack.array_api follows version {__array_api_version__} of the array API standard, and serves those "
            f"who ask for {', '.join(_VERSIONS[:-1])}: there is no version {api_version!r}"
        )
    return _sys.modules[__name__]
