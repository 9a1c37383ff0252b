"""In-place forms that are functions only: `celu_(x)`, and `fill_(x, 1)` beside the method."""

from __future__ import annotations

from typing import Any

from ..declare.inplace import inplace
from ..tensor.tensor import Tensor
from .activation import celu, elu, hardtanh, leaky_relu, selu, threshold
from .convert import _copied
from .dropout import alpha_dropout, dropout, feature_dropout
from .shape import clone

FUNCTIONS = "fill_ zero_ detach_ as_strided_ resize_as_ celu_ selu_ threshold_ dropout_ alpha_dropout_ feature_dropout_"
ONLY_NN = "elu_ hardtanh_ leaky_relu_"


def _method(name: str) -> Any:
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        changed: Tensor = getattr(input, name)(*args, **kwargs)
        return changed

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`input.{name}(...)` as a function."
    return function


def _written(name: str, out_of_place: Any) -> Any:
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        # of a copy, so that what is saved is not what is written to
        return inplace(_copied.op, name, [input, out_of_place(clone(input), *args, **kwargs)])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"In-place form of `{name[:-1]}`: writes the result into `input` and returns it."
    return function


fill_ = _method("fill_")
zero_ = _method("zero_")
detach_ = _method("detach_")
as_strided_ = _method("as_strided_")
resize_as_ = _method("resize_as_")
celu_ = _written("celu_", celu)
selu_ = _written("selu_", selu)
elu_ = _written("elu_", elu)
hardtanh_ = _written("hardtanh_", hardtanh)
leaky_relu_ = _written("leaky_relu_", leaky_relu)
threshold_ = _written("threshold_", threshold)
dropout_ = _written("dropout_", dropout)
alpha_dropout_ = _written("alpha_dropout_", alpha_dropout)
feature_dropout_ = _written("feature_dropout_", feature_dropout)
