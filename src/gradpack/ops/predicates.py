"""Questions about one tensor as a whole: its size, its value, how it is kept."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..declare.generate.profiling import noted

FUNCTIONS = "is_same_size is_nonzero is_conj is_neg is_inference"


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    Example::

        >>> import gradpack as torch
        >>> torch.is_same_size(torch.ones(2), torch.zeros(2))
        True
    """
    return input.is_same_size(other)


@noted
def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element is not zero.

    Raises:
        RuntimeError: if there is not exactly one element.

    Example::

        >>> import gradpack as torch
        >>> torch.is_nonzero(torch.tensor([0.0]))
        False
    """
    return bool(input)


def is_conj(input: Tensor) -> bool:
    """Whether it is a lazily conjugated view: never, conjugates are computed.

    Example::

        >>> import gradpack as torch
        >>> torch.is_conj(torch.tensor([1j]).conj())
        False
    """
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """Whether it is a lazily negated view: never.

    Example::

        >>> import gradpack as torch
        >>> torch.is_neg(torch.tensor([1j]))
        False
    """
    return input.is_neg()


def is_inference(input: Tensor) -> bool:
    """Whether it was made in inference mode.

    Example::

        >>> import gradpack as torch
        >>> torch.is_inference(torch.ones(1))
        False
    """
    return input.is_inference()
