"""In-place methods as functions: `fill_(x, 1)` beside `x.fill_(1)`."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor

FUNCTIONS = "fill_ zero_ detach_ as_strided_ resize_as_"


def _method(name: str) -> Any:
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        changed: Tensor = getattr(input, name)(*args, **kwargs)
        return changed

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`input.{name}(...)` as a function."
    return function


fill_ = _method("fill_")
zero_ = _method("zero_")
detach_ = _method("detach_")
as_strided_ = _method("as_strided_")
resize_as_ = _method("resize_as_")
