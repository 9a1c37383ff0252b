"""Annotations of the parameters of declared operations: they say which arguments may be tensors.

A parameter that is annotated `Array`, `Tensor` or `Any`, or not at all, takes a tensor if it has no default, or None
for one. All others are settings, which an operation gets as they are.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

Array: TypeAlias = Any  # an array of any library; array libraries have no common base type
Dim: TypeAlias = Any  # an int; where several dimensions may be given, a tuple of them
Number: TypeAlias = Any  # bool, int, float or complex
Setting: TypeAlias = Any  # any value but a tensor
Sizes: TypeAlias = Any  # an int for each dimension

_OF_ARRAYS = re.compile(r"\b(Any|Array|Tensor)\b")


def may_be_array(annotation: Any) -> bool:
    """Return whether a parameter with this annotation, text or type, may be a tensor."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", None) or str(annotation)
    return annotation is None or _OF_ARRAYS.search(text) is not None
